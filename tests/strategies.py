"""Random declarations, keys and rows, made from what field types and transforms declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import assume

from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes, RowError
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
from rowkey.workload import check_time_unit

if TYPE_CHECKING:
    from rowkey.keys import Field, Transform
    from rowkey.schema import Bound, Scalar, Term

    Draw = Callable[[st.SearchStrategy[Any]], Any]

FIELD_NAMES = ("a", "b", "c", "d")

_LETTERS = st.text(
    st.one_of(
        st.sampled_from("abe\u0301\x01\x7f é~"), st.characters(exclude_categories=["Cs"])
    ).filter(lambda c: c != "\0"),
    max_size=8,
)
_TEXTS = _LETTERS | st.sampled_from(["e\u0301", "ae\u0301"])
"""Texts that NFC normalisation often changes."""


_VALUES_BY_OPTION: dict[str, st.SearchStrategy[Any]] = {
    "of": st.lists(_LETTERS, min_size=1, max_size=6, unique=True).map(tuple),
    "precision": st.integers(1, 38),
    "scale": st.integers(0, 3),
    "width": st.integers(1, 9),
    "max_bytes": st.integers(1, 24),
    "normalize": st.just("nfc"),
}
_TYPE_NAMES = st.sampled_from(sorted(TYPES))
_TRANSFORM_NAMES = st.sampled_from(sorted(TRANSFORMS))

# Hypothesis validates a strategy when it is first drawn from, which costs more than the draw: what
# is drawn often is built once, and drawn by functions that take `draw` rather than by composites.


@lru_cache
@st.composite
def declarations(draw: st.DrawFn, type_name: str | None = None) -> FieldDeclaration:
    """Draw the declaration of a field of any type, or of the given one."""
    return _draw_declaration(draw, type_name)


def _draw_declaration(draw: st.DrawFn, type_name: str | None) -> FieldDeclaration:
    """Draw the declaration of a field of any type, or of the given one."""
    name = draw(_TYPE_NAMES) if type_name is None else type_name
    options: dict[str, Any] = {"type": name}
    for option in sorted(TYPES[name].options):
        if option in TYPES[name].required_options or draw(st.booleans()):
            options[option] = draw(_VALUES_BY_OPTION[option])
    if "scale" in options:
        options["scale"] = min(options["scale"], options["precision"])
    options["nullable"] = draw(st.integers(0, 4)) == 0
    return FieldDeclaration(**options)


@lru_cache
@st.composite
def fields(draw: st.DrawFn, type_names: tuple[str, ...] = ()) -> dict[str, Field]:
    """Draw one to four bound fields, the first of the given types."""
    return _draw_fields(draw, type_names)


def _draw_fields(draw: st.DrawFn, type_names: tuple[str, ...]) -> dict[str, Field]:
    """Draw one to four bound fields, the first of the given types."""
    count = draw(st.integers(max(len(type_names), 1), 4))
    all_type_names = [*type_names, *(None for _ in range(count - len(type_names)))]
    declared_fields = {
        FIELD_NAMES[i]: _draw_declaration(draw, kind) for i, kind in enumerate(all_type_names)
    }
    mistakes = Mistakes()
    bound = bind_fields(declared_fields, mistakes)
    assume(len(bound) == len(declared_fields) and not mistakes.mistakes)
    return bound


@lru_cache(maxsize=1_000)
def values(field: Field) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a field, often those at its limits."""
    return values_of_domain(field.type.domain).filter(lambda value: _is_valid(field, value))


def _is_valid(field: Field, value: Any) -> bool:
    """Return whether a field accepts a value."""
    try:
        field.type.to_internal(value)
        check_time_unit(field, value)
    except (InvalidArgument, RowError):
        return False
    return True


@lru_cache(maxsize=1_000)
def values_of_domain(domain: domains.Domain) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a domain."""
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
            return _TEXTS.filter(lambda text: len(text.encode()) <= most)
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
            return values_of_domain(base).map(release)
    raise AssertionError(domain)


def _draw_field_ref(draw: st.DrawFn, field: Field) -> FieldRef:
    """Draw a field in one of its encodings."""
    encoding = draw(st.sampled_from(sorted(field.type.encodings)))
    arguments = field.type.encodings[encoding].arguments
    return FieldRef(field.name, encoding, tuple(draw(st.integers(1, 40)) for _ in arguments))


@lru_cache
def _scalar_values(argument: NumberArgument) -> st.SearchStrategy[Scalar]:
    """Return a strategy for the values of a number or duration of a transform."""
    if argument.unit == "time":
        return st.sampled_from(
            [Duration(n, u) for n, u in ((1, "s"), (90, "s"), (1, "h"), (1, "d"), (5, "ms"))]
        )
    top = min(argument.maximum, 40)
    return st.one_of(
        st.integers(argument.minimum, top), st.sampled_from([argument.minimum, argument.maximum])
    )


def _draw_call(
    draw: st.DrawFn, bound: Mapping[str, Field], transform_name: str, depth: int
) -> FunctionCall:
    """Draw a call of a transform with random terms."""
    transform: type[Transform] = TRANSFORMS[transform_name]
    min_terms, max_terms = transform.term_limits
    count = draw(st.integers(min_terms, min(max_terms, 3)))
    inner = tuple(draw_term(draw, bound, depth=depth + 1, constants=False) for _ in range(count))
    numbers = []
    for scalar in transform.scalars:
        if scalar.optional and draw(st.booleans()):
            break
        numbers.append(draw(_scalar_values(scalar)))
    options: dict[str, Any] = {}
    for option in transform.options:
        if draw(st.integers(0, 2)) == 0:
            option_values = (
                st.sampled_from(option.choices)
                if isinstance(option, EnumOption)
                else _scalar_values(option)
            )
            options[option.name] = draw(option_values)
    return FunctionCall(transform_name, inner, tuple(numbers), options)


def draw_term(
    draw: st.DrawFn, bound: Mapping[str, Field], *, depth: int = 0, constants: bool = True
) -> Term:
    """Draw a term: mostly a field, else a transform or a constant."""
    choice = draw(st.integers(0, 9))
    if choice == 0 and constants:
        return Constant(draw(st.binary(min_size=1, max_size=3)))
    if choice < 5 and depth < 2:
        return _draw_call(draw, bound, draw(_TRANSFORM_NAMES), depth)
    name = draw(st.sampled_from(sorted(bound)))
    return _draw_field_ref(draw, bound[name])


def try_build_key(terms: tuple[Term, ...], bound: Mapping[str, Field]) -> Key | None:
    """Build the key of some terms; None if they do not fit together."""
    mistakes = Mistakes()
    try:
        key = build_key(terms, bound, mistakes)
    except InvalidDesign:
        return None
    return None if mistakes.mistakes else key


@lru_cache
def _accepted_types(plugin_name: str) -> st.SearchStrategy[str]:
    """Return a strategy for a field type itself, or for the types that a transform accepts."""
    if plugin_name in TYPES:
        return st.just(plugin_name)
    transform = TRANSFORMS[plugin_name]
    numbers = tuple(
        Duration(1, "h") if scalar.unit == "time" else scalar.minimum
        for scalar in transform.scalars
    )
    terms = (FieldRef("a"),) * transform.term_limits[0]
    required_values: dict[str, Any] = {"of": ("a",), "precision": 5, "width": 4}
    accepted = []
    for name, declared in sorted(TYPES.items()):
        options = {option: required_values[option] for option in declared.required_options}
        bound = bind_fields({"a": FieldDeclaration(type=name, **options)}, Mistakes())
        if try_build_key((FunctionCall(plugin_name, terms, numbers, {}),), bound):
            accepted.append(name)
    return st.sampled_from(accepted) if accepted else _TYPE_NAMES


def _draw_valid_call(
    draw: st.DrawFn, bound: Mapping[str, Field], transform_name: str
) -> FunctionCall:
    """Draw a call of a transform, if possible one that fits the fields."""
    call = _draw_call(draw, bound, transform_name, 0)
    for _ in range(6):
        if try_build_key((call,), bound):
            break
        call = _draw_call(draw, {FIELD_NAMES[0]: bound[FIELD_NAMES[0]]}, transform_name, 1)
    return call


@lru_cache
@st.composite
def keys(draw: st.DrawFn, plugin_name: str | None = None) -> Key:
    """Draw a valid key, with a part of the given field type or transform."""
    type_names = (draw(_accepted_types(plugin_name)),) if plugin_name else ()
    bound = _draw_fields(draw, type_names)
    chosen: list[Term] = []
    for _ in range(draw(st.integers(1, 4))):
        term = draw_term(draw, bound)
        chosen += [term] if try_build_key((term,), bound) or isinstance(term, Constant) else []
    if plugin_name is not None:
        is_type = plugin_name in TYPES
        plugin_term: Term = (
            _draw_field_ref(draw, bound[FIELD_NAMES[0]])
            if is_type
            else _draw_valid_call(draw, bound, plugin_name)
        )
        chosen.insert(draw(st.integers(0, len(chosen))), plugin_term)
    key = try_build_key(tuple(chosen), bound) if chosen else None
    assume(key is not None and bool(key.fields))
    assert key is not None
    return key


_SIZES_OF_SAME_WIDTH = {
    "text": ("max_bytes", ((3, 4), (8, 40), (40, None))),
    "bytes": ("max_bytes", ((3, 4), (8, 40), (40, None))),
    "choice": ("of", ((2, 3), (200, 256))),
    "decimal": ("precision", ((5, 6), (8, 9), (10, 18), (19, 38))),
}
_SIZES_OF_OTHER_WIDTH = {
    "choice": ("of", ((256, 257),)),
    "decimal": ("precision", ((9, 10), (18, 19))),
}


@st.composite
def widened_keys(draw: st.DrawFn, *, changes_width: bool) -> tuple[Key, Key, list[dict[str, Any]]]:
    """Draw a key, the same key with more values of one field, and rows of the first.

    Args:
        draw: passed by Hypothesis.
        changes_width: whether the default encoding of the field then has another width.
    """
    type_name, (option, sizes) = draw(
        st.sampled_from(
            sorted((_SIZES_OF_OTHER_WIDTH if changes_width else _SIZES_OF_SAME_WIDTH).items())
        )
    )
    shapes = ["[a]", "[desc(a)]", "[bucket(a, 16)][a]", "[bucket(16, over=rest)][n][a]"]
    if not changes_width:
        shapes += ["[a][digest(a, 4)]", "[code(a)]", "[truncate(a, 2)][a]"]
        shapes += {"choice": ["[a:u16]", "[a:text]"], "decimal": [], "text": ["[a:fixed(40)]"]}.get(
            type_name, ["[a:tail]", "[desc(a:tail)]", "[reverse(a)]"]
        )
    notation = draw(st.sampled_from(shapes))
    nullable = draw(st.booleans())
    keys = []
    for size in draw(st.sampled_from(sizes)):
        value: Any = tuple(f"c{n:03}" for n in range(size or 0)) if option == "of" else size
        declaration = {"type": type_name, "nullable": nullable, option: value}
        keys.append(bind_key(notation, {"a": declaration, "n": "u8"}))
    return keys[0], keys[1], [draw_row(draw, keys[0]) for _ in range(4)]


@st.composite
def rows(draw: st.DrawFn, key: Key, *, normal: bool = True) -> dict[str, Any]:
    """Draw a row for a key, with nulls where they are allowed.

    Args:
        draw: passed by Hypothesis.
        key: the key.
        normal: whether values are in their normal form.
    """
    return draw_row(draw, key, normal=normal)


def draw_row(draw: Draw, key: Key, *, normal: bool = True) -> dict[str, Any]:
    """Draw a row for a key, with nulls where they are allowed."""
    row: dict[str, Any] = {}
    for name, field in key.fields.items():
        absent = field.nullable and draw(_THIRDS) == 0
        value = None if absent else draw(values(field))
        row[name] = value if absent or not normal else field.normalize(value)
    return row


_THIRDS = st.integers(0, 2)
_SHAPES = st.integers(0, 6)
_INSERTED_BYTES = st.one_of(
    st.sampled_from([b"\0", b"\1", b"\xff", b"\0\0"]), st.binary(max_size=3)
)
_OTHER_BYTES = st.binary(max_size=12)


@st.composite
def mutated_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw a changed, shortened or extended copy of some bytes, or other bytes."""
    return draw_mutated_bytes(draw, data)


def draw_mutated_bytes(draw: Draw, data: bytes) -> bytes:
    """Draw a changed, shortened or extended copy of some bytes, or other bytes."""
    position = draw(st.integers(0, len(data)))
    inserted: bytes = draw(_INSERTED_BYTES)
    shape = draw(_SHAPES)
    if shape == 0:
        return data
    if shape == 1:
        return data[:position]
    if shape == 2:
        return data + inserted
    if shape == 3:
        return data[:position] + inserted + data[position:]
    if shape == 4:
        return data[:position] + data[position + len(inserted) :]
    if shape == 5:
        return data[:position] + inserted + data[position + len(inserted) :]
    other: bytes = draw(_OTHER_BYTES)
    return other


@st.composite
def bounds_around(draw: st.DrawFn, field: Field, value: Any) -> Bound:
    """Draw a bound that a value satisfies."""
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
    return _draw_range(draw, field, value, others)


def _draw_range(draw: st.DrawFn, field: Field, value: Any, others: list[Any]) -> Range:
    """Draw a range that contains a value."""
    to_internal = field.type.to_internal
    below = [one for one in others if to_internal(one) < to_internal(value)]
    above = [one for one in others if to_internal(one) > to_internal(value)]
    low = draw(st.sampled_from([None, value, *below]))
    high = draw(st.sampled_from([None, value, *above]))
    with_low = low is None or to_internal(low) == to_internal(value) or draw(st.booleans())
    with_high = high is None or to_internal(high) == to_internal(value) or draw(st.booleans())
    return Range(low, high, with_low, with_high)
