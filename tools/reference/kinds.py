"""The pages of the drawers: each kind tells of itself, and nothing here names one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.reference.markdown import code, codes, docstring, page, section, table

from rowkey import DeclarationError, bind_key
from rowkey.catalog import CATALOGS
from rowkey.heat import CAUSES
from rowkey.keys import TRANSFORMS, TYPES, Count, Part, Vector
from rowkey.regions import SPLITS, CutRequest, to_binary
from rowkey.rows import PLACES
from rowkey.schema import FieldWords
from rowkey.workload import ARRIVALS, DRAWS, FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


def own(kinds: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The kinds that come with the package, by name; those of other packages are left out."""
    return ((name, kind) for name, kind in kinds.items() if _is_own(kind))


def _is_own(kind: Any) -> bool:
    return bool(kind.__module__.startswith("rowkey."))


def others(kinds: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The kinds that other packages offer, by name."""
    return ((name, kind) for name, kind in kinds.items() if not _is_own(kind))


def _overview(kinds: Mapping[str, Any]) -> str:
    rows = (
        [f"[{code(name)}](#{name})", docstring(kind).split("\n\n")[0]] for name, kind in own(kinds)
    )
    return table(["kind", "gives"], rows)


def catalogs() -> str:
    """The places where designs may be remembered.

    A design names one by `catalog`; without that word, what an engine holds is remembered beside
    it. Everyone who opens a table must reach its catalog, and nobody else need. How to choose, and
    what happens when one is away, is told [in a guide](../guides/where-designs-are-remembered.md).
    """
    sections = (_catalog(name, kind) for name, kind in own(CATALOGS))
    return page("Catalogs", catalogs, _overview(CATALOGS), *sections)


def _catalog(name: str, kind: Any) -> str:
    return section(f"## {name}", docstring(kind))


def fields() -> str:
    """The types a field may have, with every encoding and its golden vectors.

    A field has a *type*: which values there are, and how they compare. After a colon in the key
    comes an *encoding*: which bytes they become. Each type has a default encoding. What stands
    under *order* and *loses* is computed from the encoding, and the tests hold every type to it.
    The vectors are the contract: the bytes of a name never change.

    Any type may be `nullable = true`: a byte 00 (null, nothing follows) or 01 (a value follows)
    then stands before the value, outside `desc`, so that nulls come first both ways.
    """
    return page(
        "Fields", fields, _overview(TYPES), *(_field(name, kind) for name, kind in own(TYPES))
    )


def _field(name: str, kind: Any) -> str:
    declared = next(iter(kind.vectors[0].fields.values()))
    words = {"type": name} if isinstance(declared, str) else declared
    taken = codes(
        f"{word} (needed)" if word in kind.required else word for word in sorted(kind.options)
    )
    rows = []
    for word, encoding in kind.encodings.items():
        arguments = f"({', '.join(encoding.arguments)})" if encoding.arguments else ""
        part = _bound(f"[f:{word}{arguments.replace('n', '8')}]" if word else "[f]", words)
        shown = code(f":{word}{arguments}") if word else "default"
        rows.append([shown, encoding.meaning, *_traits(part)])
    return section(
        f"## {name}",
        docstring(kind),
        f"Words of a declared field that mean something to it: {taken}." if taken else "",
        table(["encoding", "bytes", "length", "order", "loses"], rows),
        _vectors(kind.vectors),
    )


def _bound(notation: str, words: Mapping[str, Any]) -> Part | None:
    """The part of a key of one field; None where the declaration is none for this encoding."""
    try:
        return bind_key(notation, {"f": words}).parts[0]
    except DeclarationError:
        return None


def _traits(part: Part | None) -> list[str]:
    """Length, order and what is lost, as the part answers."""
    if part is None:
        return ["", "", ""]
    lost = "; ".join(
        f"{part.residue(name).what}" for name in part.fields if part.residue(name).what
    )
    order = part.order.value if len(part.fields) == 1 else "none"
    return [str(part.framing), order, lost or "nothing"]


def _vectors(vectors: Iterable[Vector]) -> str:
    rows = [[code(v.key), _declared(v.fields), _row(v.row), code(v.hex)] for v in vectors]
    return table(["key", "declared", "row", "bytes"], rows)


def _declared(given: Mapping[str, Any]) -> str:
    def shown(words: Any) -> str:
        if isinstance(words, str):
            return words
        rest = ", ".join(f"{word} = {value!r}" for word, value in words.items() if word != "type")
        return f"{words['type']}, {rest}" if rest else str(words["type"])

    return codes(f"{name}: {shown(words)}" for name, words in given.items())


def _row(row: Mapping[str, Any]) -> str:
    names = {name: name if name.isprintable() else "chance" for name in row}
    return codes(f"{names[name]} = {value!r}" for name, value in row.items())


def transforms() -> str:
    """What a key may compute from fields, with arguments, traits and golden vectors.

    A transform stands in a key as a call: terms first (fields, constants, other transforms), then
    numbers, then named options. Under each vector's key stand the traits that the part computes of
    itself: its length, how its bytes follow the order of its one field, what cannot be read back,
    and how many byte strings there are.
    """
    sections = (_transform(name, kind) for name, kind in own(TRANSFORMS))
    return page("Transforms", transforms, _overview(TRANSFORMS), *sections)


def _transform(name: str, kind: Any) -> str:
    rows = [
        *([code(one.name), _range(one), _default(one), one.meaning] for one in kind.scalars),
        *([code(f"{one.name}="), _range(one), _default(one), one.meaning] for one in kind.options),
    ]
    traits = []
    for vector in kind.vectors:
        key = bind_key(vector.key, vector.fields)
        part = key.parts[0]
        count = "unbounded" if part.cardinality is None else f"{part.cardinality:,}"
        traits.append([code(vector.key), *_traits(part), count, part.source.value])
    return section(
        f"## {name}",
        code(_signature(name, kind)),
        docstring(kind),
        table(["argument", "range", "default", "meaning"], rows),
        _vectors(kind.vectors),
        table(["key", "length", "order", "loses", "byte strings", "decided by"], traits),
        _in_words(kind.vectors),
    )


def _in_words(vectors: Iterable[Vector]) -> str:
    """The bytes of the first vector in words, as `rowkey vectors` prints them."""
    first = next(iter(vectors))
    key = bind_key(first.key, first.fields)
    return f"In words, {code(key)}: {key.parts[0].words()}."


def _signature(name: str, kind: Any) -> str:
    most = kind.terms[1]
    terms = ["x", "…"] if most > 1 else ["x"] * most
    numbers = [f"[{one.name}]" if one.optional else one.name for one in kind.scalars]
    options = [f"{one.name}=…" for one in kind.options]
    return f"{name}({', '.join([*terms, *numbers, *options])})"


def _range(one: Any) -> str:
    if not isinstance(one, Count):
        return codes(one.words)
    return (
        "a length of time, such as `1h`" if one.unit == "time" else f"{one.least:,} to {one.most:,}"
    )


def _default(one: Any) -> str:
    if isinstance(one, Count):
        return "may be left out" if one.optional else "must be given"
    return code(one.words[0])


def splits() -> str:
    """The ways to choose region boundaries, with what each needs and its golden vectors.

    In a design file: `splits = "NAME"`, `splits = { algorithm = "NAME", regions = 16 }`, or a list
    of keys in the text form of HBase's shell. Where the file leaves out the number of regions, it
    is computed from size, servers and heap (`rowkey splits` says how).
    """
    sections = (_split(name, kind) for name, kind in own(SPLITS))
    return page("Splits", splits, _overview(SPLITS), *sections)


def _split(name: str, kind: Any) -> str:
    rows = (
        [_request(vector.request), codes(to_binary(split) for split in vector.splits) or "none"]
        for vector in kind.vectors
    )
    return section(
        f"## {name}",
        docstring(kind),
        f"Needs: {codes(sorted(kind.needs)) or 'nothing'}.",
        f"Also takes: {codes(sorted(kind.takes))}." if kind.takes else "",
        table(["asked", "split keys"], rows),
    )


def _request(request: CutRequest) -> str:
    given = ((name, getattr(request, name)) for name in CutRequest.__dataclass_fields__)
    return codes(f"{name} = {value!r}" for name, value in given if value is not None)


def _options(kind: Any) -> str:
    rows = (
        [
            code(option.name),
            "must be given" if option.required else _otherwise(option.default),
            option.meaning,
            option.allowed,
        ]
        for option in kind.options
    )
    return table(["option", "default", "meaning", "allowed"], rows)


def _otherwise(default: object) -> str:
    return "none" if default is None else code(default)


def draws() -> str:
    """How values are drawn for generated events.

    A field of the design file may say how often each of its values comes: `draw = "NAME"`, or `draw
    = { kind = "NAME", … }`. The shares are of the most frequent of 1,000 values.
    """
    sections = (_draw(name, kind) for name, kind in own(DRAWS))
    return page("Draws", draws, _overview(DRAWS), *sections)


def _draw(name: str, kind: Any) -> str:
    share = kind({}).heaviest_share(1_000)
    told = f"Share of the most frequent of 1,000 values, by default: {share:.3%}."
    return section(f"## {name}", docstring(kind), _options(kind), told)


def arrivals() -> str:
    """How rows come in.

    `[writes] arrival` says how the fields of the key move while rows come in. It decides what is
    generated where there is no sample, and what `check` can foresee.
    """
    rows = (
        [code("per(FIELD)" if name == "per" else name), each.says]
        for name, each in ARRIVALS.items()
    )
    return page(
        "Arrivals",
        arrivals,
        table(["arrival", "means"], rows),
        "The other words of `[writes]` are in [the design file](design-file.md#writes).",
    )


def formats() -> str:
    """How samples are read.

    A sample's format is told by its name, `.gz` and `.zip` aside; `[sample] format` or `--format`
    says otherwise. Rows are read a bounded number at a time.
    """
    sections = (_format(name, kind) for name, kind in own(FORMATS))
    return page("Formats", formats, _overview(FORMATS), *sections)


def _format(name: str, kind: Any) -> str:
    endings = f"Endings: {codes(kind.suffixes)}." if kind.suffixes else "No ending means it."
    return section(f"## {name}", docstring(kind), endings, _options(kind))


def places() -> str:
    """Where in a row a value may live.

    A field that the key does not hold whole lives in a place; its words in the design file say in
    which. The table is computed by asking every place.
    """
    return page("Places", places, _claims(), *(_place(name, kind) for name, kind in own(PLACES)))


def _claims() -> str:
    tried: list[dict[str, str]] = [
        {}, {"family": "m"}, {"qualifier": "q"}, {"pack": "p"}, {"at": "qualifier"},
        {"at": "timestamp"},
    ]  # fmt: skip
    rows = []
    for words in tried:
        declared = FieldWords.model_validate({"type": next(iter(TYPES)), **words})
        claimed = [name for name, kind in own(PLACES) if kind.claims(declared)]
        shown = ", ".join(f'{word} = "{value}"' for word, value in words.items())
        rows.append([code(shown) or "nothing", codes(claimed)])
    return table(["the field declares", "its place"], rows)


def _place(name: str, kind: Any) -> str:
    return section(f"## {name}", docstring(kind))


def causes() -> str:
    """Why load lies unevenly.

    Each cause can be *foreseen* from the design and what is known of its fields, which `rowkey
    check` prints, and *recognised* in a replay, which `rowkey simulate` prints with its evidence.
    Causes are named in the order of their `bound`: the skew over servers that each explains.
    """
    return page(
        "Causes", causes, _overview(CAUSES), *(_cause(name, kind) for name, kind in own(CAUSES))
    )


def _cause(name: str, kind: Any) -> str:
    when = (
        "Foreseen only where the boundaries are known without a sample."
        if kind.needs_boundaries
        else "Foreseen whatever the boundaries are."
    )
    return section(f"## {name}", docstring(kind), when)


TELLERS: tuple[tuple[Mapping[str, Any], Callable[[str, Any], str]], ...] = (
    (TYPES, _field),
    (TRANSFORMS, _transform),
    (SPLITS, _split),
    (PLACES, _place),
    (CATALOGS, _catalog),
    (FORMATS, _format),
    (DRAWS, _draw),
    (CAUSES, _cause),
)
"""The drawers of this page with the function that tells of one of their kinds."""
