"""Random declarations, keys and rows, made from what the kinds say of themselves."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import assume

from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes
from rowkey.keys import (
    TRANSFORMS,
    TYPES,
    EnumOption,
    Key,
    NumberArgument,
    bind_fields,
    bind_key,
    build_key,
)
from rowkey.keys.base_types import domains
from rowkey.schema import (
    Constant,
    Duration,
    Equal,
    FieldDeclaration,
    FieldRef,
    FunctionCall,
    OneOf,
    Range,
    StartsWith,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys import Field, Transform
    from rowkey.schema import Bound, Scalar, Term

NAMES = ("a", "b", "c", "d")

_LETTERS = st.text(
    st.one_of(
        st.sampled_from("abe\u0301\x01\x7f é~"), st.characters(exclude_categories=["Cs"])
    ).filter(lambda c: c != "\0"),
    max_size=8,
)


def _words(name: str) -> st.SearchStrategy[Any]:
    """A value for a word that a type's `options` mention."""
    return {
        "of": st.lists(_LETTERS, min_size=1, max_size=6, unique=True).map(tuple),
        "precision": st.integers(1, 38),
        "scale": st.integers(0, 3),
        "width": st.integers(1, 9),
        "max_bytes": st.integers(1, 24),
        "normalize": st.just("nfc"),
    }[name]


@st.composite
def field_words(draw: st.DrawFn, kind: str | None = None) -> FieldDeclaration:
    """The words of a declared field of any type, or of the given one."""
    name = draw(st.sampled_from(sorted(TYPES))) if kind is None else kind
    words: dict[str, Any] = {"type": name}
    for option in sorted(TYPES[name].options):
        if option in TYPES[name].required_options or draw(st.booleans()):
            words[option] = draw(_words(option))
    words["nullable"] = draw(st.integers(0, 4)) == 0
    return FieldDeclaration(**words)


@st.composite
def fields(draw: st.DrawFn, kinds: tuple[str, ...] = ()) -> dict[str, Field]:
    """A few bound fields; the first have the given types."""
    count = draw(st.integers(max(len(kinds), 1), 4))
    wanted = [*kinds, *(None for _ in range(count - len(kinds)))]
    declared = {NAMES[i]: draw(field_words(kind)) for i, kind in enumerate(wanted)}
    mistakes = Mistakes()
    bound = bind_fields(declared, mistakes)
    assume(len(bound) == len(declared) and not mistakes.mistakes)
    return bound


def values(field: Field) -> st.SearchStrategy[Any]:
    """Values of a field, the awkward ones often."""
    return of_domain(field.type.domain).filter(lambda value: _fits(field, value))


def _fits(field: Field, value: Any) -> bool:
    try:
        field.type.to_internal(value)
    except InvalidArgument:
        return False
    return True


def of_domain(domain: domains.Domain) -> st.SearchStrategy[Any]:
    """Values of a domain."""
    match domain:
        case domains.IntegerDomain(low, high, start):
            near = st.integers(max(low, start - 3), min(high, start + 3_700))
            edges = st.sampled_from([low, min(low + 1, high), max(high - 1, low), high])
            return st.one_of(near, edges, st.integers(low, high))
        case domains.FloatDomain(bits):
            return st.floats(allow_nan=False, width=32 if bits == 32 else 64)
        case domains.DecimalDomain(precision, scale):
            top = 10**precision - 1
            return st.integers(-top, top).map(lambda n: Decimal(n).scaleb(-scale))
        case domains.TextDomain(most, characters, width):
            if characters is not None:
                return st.text(characters, min_size=width or 0, max_size=width or most)
            return _LETTERS.filter(lambda text: len(text.encode()) <= most)
        case domains.HexDomain(width):
            return st.text("0123456789abcdef", min_size=width, max_size=width)
        case domains.BytesDomain(most, width):
            some = st.one_of(
                st.lists(st.sampled_from([0, 1, 254, 255, 97]), max_size=most).map(bytes),
                st.binary(max_size=most),
            )
            return st.binary(min_size=width, max_size=width) if width else some
        case domains.ChoiceDomain(listed):
            return st.sampled_from(listed)
        case domains.MappedDomain(base, release):
            return of_domain(base).map(release)
    raise AssertionError(domain)


@st.composite
def references(draw: st.DrawFn, field: Field) -> FieldRef:
    """A field in any of its encodings."""
    word = draw(st.sampled_from(sorted(field.type.encodings)))
    arguments = field.type.encodings[word].arguments
    return FieldRef(field.name, word, tuple(draw(st.integers(1, 40)) for _ in arguments))


def _scalar(asked: NumberArgument) -> st.SearchStrategy[Scalar]:
    if asked.unit == "time":
        return st.sampled_from(
            [Duration(n, u) for n, u in ((1, "s"), (90, "s"), (1, "h"), (1, "d"), (5, "ms"))]
        )
    top = min(asked.maximum, 40)
    return st.one_of(
        st.integers(asked.minimum, top), st.sampled_from([asked.minimum, asked.maximum])
    )


@st.composite
def calls(draw: st.DrawFn, bound: Mapping[str, Field], kind: str, depth: int) -> FunctionCall:
    """A transform of the given kind over random terms."""
    transform: type[Transform] = TRANSFORMS[kind]
    least, most = transform.term_limits
    count = draw(st.integers(least, min(most, 3)))
    inner = tuple(draw(terms(bound, depth=depth + 1, constants=False)) for _ in range(count))
    numbers = []
    for scalar in transform.scalars:
        if scalar.optional and draw(st.booleans()):
            break
        numbers.append(draw(_scalar(scalar)))
    options: dict[str, Any] = {}
    for option in transform.options:
        if draw(st.integers(0, 2)) == 0:
            words = (
                st.sampled_from(option.choices)
                if isinstance(option, EnumOption)
                else _scalar(option)
            )
            options[option.name] = draw(words)
    return FunctionCall(kind, inner, tuple(numbers), options)


@st.composite
def terms(
    draw: st.DrawFn, bound: Mapping[str, Field], *, depth: int = 0, constants: bool = True
) -> Term:
    """Any term: a field mostly, else a transform, or a constant."""
    choice = draw(st.integers(0, 9))
    if choice == 0 and constants:
        return Constant(draw(st.binary(min_size=1, max_size=3)))
    if choice < 5 and depth < 2:
        kind = draw(st.sampled_from(sorted(TRANSFORMS)))
        return draw(calls(bound, kind, depth))
    name = draw(st.sampled_from(sorted(bound)))
    return draw(references(bound[name]))


def bind(listed: tuple[Term, ...], bound: Mapping[str, Field]) -> Key | None:
    """The key of some terms, or None if they do not fit together."""
    mistakes = Mistakes()
    try:
        key = build_key(listed, bound, mistakes)
    except InvalidDesign:
        return None
    return None if mistakes.mistakes else key


@lru_cache
def _types_for(kind: str) -> list[str]:
    """The type itself, or the types whose fields a transform takes by themselves."""
    if kind in TYPES:
        return [kind]
    transform = TRANSFORMS[kind]
    numbers = tuple(
        Duration(1, "h") if scalar.unit == "time" else scalar.minimum
        for scalar in transform.scalars
    )
    terms = (FieldRef("a"),) * transform.term_limits[0]
    plain: dict[str, Any] = {"of": ("a",), "precision": 5, "width": 4}
    found = []
    for name, declared in sorted(TYPES.items()):
        words = {option: plain[option] for option in declared.required_options}
        bound = bind_fields({"a": FieldDeclaration(type=name, **words)}, Mistakes())
        if bind((FunctionCall(kind, terms, numbers, {}),), bound):
            found.append(name)
    return found or sorted(TYPES)


@st.composite
def _fitting(draw: st.DrawFn, bound: Mapping[str, Field], kind: str) -> FunctionCall:
    """A transform of the given kind that binds, if one is found soon."""
    call = draw(calls(bound, kind, 0))
    for _ in range(6):
        if bind((call,), bound):
            break
        call = draw(calls({NAMES[0]: bound[NAMES[0]]}, kind, 1))
    return call


@st.composite
def keys(draw: st.DrawFn, kind: str | None = None) -> Key:
    """A random key that binds; with a part of the given kind, if one is given."""
    bound = draw(fields((draw(st.sampled_from(_types_for(kind))),) if kind else ()))
    chosen: list[Term] = []
    for _ in range(draw(st.integers(1, 4))):
        term = draw(terms(bound))
        chosen += [term] if bind((term,), bound) or isinstance(term, Constant) else []
    if kind is not None:
        of_type = kind in TYPES
        wanted: Term = draw(references(bound[NAMES[0]])) if of_type else draw(_fitting(bound, kind))
        chosen.insert(draw(st.integers(0, len(chosen))), wanted)
    key = bind(tuple(chosen), bound) if chosen else None
    assume(key is not None and bool(key.fields))
    assert key is not None
    return key


_GROWN = {
    "text": ("max_bytes", ((3, 4), (8, 40), (40, None))),
    "bytes": ("max_bytes", ((3, 4), (8, 40), (40, None))),
    "choice": ("of", ((2, 3), (200, 256))),
    "decimal": ("precision", ((5, 6), (8, 9), (10, 18), (19, 38))),
}
_CROSSED = {
    "choice": ("of", ((256, 257),)),
    "decimal": ("precision", ((9, 10), (18, 19))),
}


@st.composite
def grown(draw: st.DrawFn, *, crosses: bool) -> tuple[Key, Key, list[dict[str, Any]]]:
    """A key twice, one of its fields with more values the second time; and rows of the first.

    Args:
        draw: Hypothesis' own.
        crosses: whether the field's default encoding needs another width then.
    """
    kind, (word, sizes) = draw(st.sampled_from(sorted((_CROSSED if crosses else _GROWN).items())))
    shapes = ["[a]", "[desc(a)]", "[bucket(a, 16)][a]", "[bucket(16, over=rest)][n][a]"]
    if not crosses:
        shapes += ["[a][digest(a, 4)]", "[code(a)]", "[truncate(a, 2)][a]"]
        shapes += {"choice": ["[a:u16]", "[a:text]"], "decimal": [], "text": ["[a:fixed(40)]"]}.get(
            kind, ["[a:tail]", "[desc(a:tail)]", "[reverse(a)]"]
        )
    notation = draw(st.sampled_from(shapes))
    nullable = draw(st.booleans())
    keys = []
    for size in draw(st.sampled_from(sizes)):
        given: Any = tuple(f"c{n:03}" for n in range(size or 0)) if word == "of" else size
        words = {"type": kind, "nullable": nullable, word: given}
        keys.append(bind_key(notation, {"a": words, "n": "u8"}))
    return keys[0], keys[1], [draw(rows(keys[0])) for _ in range(4)]


@st.composite
def rows(draw: st.DrawFn, key: Key, *, normal: bool = True) -> dict[str, Any]:
    """A row for a key; nulls where they may be.

    Args:
        draw: Hypothesis' own.
        key: the key.
        normal: whether values are in their normal form already.
    """
    row: dict[str, Any] = {}
    for name, field in key.fields.items():
        absent = field.nullable and draw(st.integers(0, 2)) == 0
        value = None if absent else draw(values(field))
        row[name] = value if absent or not normal else field.normalize(value)
    return row


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes of a key with something changed, cut off, put in or added; or any bytes at all."""
    at = draw(st.integers(0, len(data)))
    some = draw(st.one_of(st.sampled_from([b"\0", b"\1", b"\xff", b"\0\0"]), st.binary(max_size=3)))
    shape = draw(st.integers(0, 6))
    if shape == 0:
        return data
    if shape == 1:
        return data[:at]
    if shape == 2:
        return data + some
    if shape == 3:
        return data[:at] + some + data[at:]
    if shape == 4:
        return data[:at] + data[at + len(some) :]
    return data[:at] + some + data[at + len(some) :] if shape == 5 else draw(st.binary(max_size=12))


@st.composite
def bounds_around(draw: st.DrawFn, field: Field, value: Any) -> Bound:
    """A bound that a value satisfies."""
    if value is None:
        return Equal(None) if draw(st.booleans()) else OneOf((None,))
    others = [field.normalize(one) for one in draw(st.lists(values(field), max_size=3))]
    shape = draw(st.integers(0, 4))
    if shape == 0:
        return Equal(value)
    if shape == 1:
        listed = list(dict.fromkeys([*others, value]))
        return OneOf(tuple(draw(st.permutations(listed))))
    if shape == 2 and field.type.is_sequence:
        return StartsWith(value[: draw(st.integers(0, len(value)))])
    return _range_around(draw, field, value, others)


def _range_around(draw: st.DrawFn, field: Field, value: Any, others: list[Any]) -> Range:
    hold = field.type.to_internal
    below = [one for one in others if hold(one) < hold(value)]
    above = [one for one in others if hold(one) > hold(value)]
    low = draw(st.sampled_from([None, value, *below]))
    high = draw(st.sampled_from([None, value, *above]))
    with_low = low is None or hold(low) == hold(value) or draw(st.booleans())
    with_high = high is None or hold(high) == hold(value) or draw(st.booleans())
    return Range(low, high, with_low, with_high)
