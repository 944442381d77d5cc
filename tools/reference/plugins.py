"""Pages of the plugins, built from their classes; nothing here names a plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tools.reference.markdown import (
    build_page,
    build_table,
    format_code,
    format_codes,
    format_docstring,
    join_blocks,
)

from rowkey import InvalidDesign, bind_key
from rowkey.catalog import CATALOGS
from rowkey.hotspots import CAUSES, READ_CAUSES
from rowkey.keys import TRANSFORMS, TYPES, GoldenVector, NumberArgument, Part
from rowkey.regions import SPLIT_ALGORITHMS, SplitRequest, to_string_binary
from rowkey.rows import PLACEMENTS
from rowkey.schema import FieldDeclaration
from rowkey.workload import ARRIVAL_MODES, DISTRIBUTIONS, FORMATS


def iter_own_plugins(plugins: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the plugins of rowkey with their names, without those of other packages."""
    return ((name, plugin) for name, plugin in plugins.items() if _is_from_rowkey(plugin))


def _is_from_rowkey(plugin: Any) -> bool:
    """Return whether a plugin is defined by rowkey itself."""
    return bool(plugin.__module__.startswith("rowkey."))


def iter_external_plugins(plugins: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the plugins of other packages with their names."""
    return ((name, plugin) for name, plugin in plugins.items() if not _is_from_rowkey(plugin))


def _format_overview(plugins: Mapping[str, Any]) -> str:
    """Return the table of plugin names and descriptions."""
    rows = (
        [f"[{format_code(name)}](#{name})", format_docstring(plugin).split("\n\n")[0]]
        for name, plugin in iter_own_plugins(plugins)
    )
    return build_table(["name", "description"], rows)


def build_catalogs_page() -> str:
    """The places where designs can be stored.

    A design selects one with `catalog`; by default, an engine stores the designs of its tables.
    Every client that opens a table must reach its catalog. [A guide](../guides/catalogs.md) says
    how to choose one, and what happens when it is unavailable.
    """
    sections = (_format_catalog(name, plugin) for name, plugin in iter_own_plugins(CATALOGS))
    return build_page("Catalogs", build_catalogs_page, _format_overview(CATALOGS), *sections)


def _format_catalog(name: str, plugin: Any) -> str:
    """Return the section of a catalog."""
    return join_blocks(f"## {name}", format_docstring(plugin))


def build_fields_page() -> str:
    """The types of fields, with every encoding and its golden vectors.

    The *type* of a field says which values it has, and how they compare. The *encoding*, after a
    colon in the key, says which bytes they become. Each type has a default encoding. The columns
    *order* and *loses* are computed from the encoding, and the property tests check them for every
    type. The vectors are the contract: the bytes of a name never change.

    Any type may be `nullable = true`. The value then follows a byte 00 (null, no value) or 01
    (with a value), outside `desc`, so that nulls come first in both orders.
    """
    return build_page(
        "Fields",
        build_fields_page,
        _format_overview(TYPES),
        *(_format_field(name, plugin) for name, plugin in iter_own_plugins(TYPES)),
    )


def _format_field(name: str, plugin: Any) -> str:
    """Return the section of a field type with its encodings and vectors."""
    declared = next(iter(plugin.vectors[0].fields.values()))
    words = {"type": name} if isinstance(declared, str) else declared
    options = format_codes(
        f"{word} (needed)" if word in plugin.required_options else word
        for word in sorted(plugin.options)
    )
    rows = []
    for word, encoding in plugin.encodings.items():
        arguments = f"({', '.join(encoding.arguments)})" if encoding.arguments else ""
        part = _bind_part(f"[f:{word}{arguments.replace('n', '8')}]" if word else "[f]", words)
        shown = format_code(f":{word}{arguments}") if word else "default"
        rows.append([shown, encoding.description, *_describe_traits(part)])
    return join_blocks(
        f"## {name}",
        format_docstring(plugin),
        f"Options of a field of this type: {options}." if options else "",
        build_table(["encoding", "bytes", "length", "order", "loses"], rows),
        _format_vectors(plugin.vectors),
    )


def _bind_part(notation: str, words: Mapping[str, Any]) -> Part | None:
    """Return the key part of one field, or None if the declaration does not allow the encoding."""
    try:
        return bind_key(notation, {"f": words}).parts[0]
    except InvalidDesign:
        return None


def _describe_traits(part: Part | None) -> list[str]:
    """Return the length, order and losses of a part as cells of a table."""
    if part is None:
        return ["", "", ""]
    losses = "; ".join(
        f"{part.residue(name).description}"
        for name in part.fields
        if part.residue(name).description
    )
    order = part.order.value if len(part.fields) == 1 else "none"
    return [str(part.framing), order, losses or "nothing"]


def _format_vectors(vectors: Iterable[GoldenVector]) -> str:
    """Return the table of golden vectors."""
    rows = [
        [format_code(v.key), _format_fields(v.fields), _format_row(v.row), format_code(v.hex)]
        for v in vectors
    ]
    return build_table(["key", "declared", "row", "bytes"], rows)


def _format_fields(parameters: Mapping[str, Any]) -> str:
    """Return field declarations as inline code."""

    def shown(words: Any) -> str:
        """Return the type and options of a field as text."""
        if isinstance(words, str):
            return words
        rest = ", ".join(f"{word} = {value!r}" for word, value in words.items() if word != "type")
        return f"{words['type']}, {rest}" if rest else str(words["type"])

    return format_codes(f"{name}: {shown(words)}" for name, words in parameters.items())


def _format_row(row: Mapping[str, Any]) -> str:
    """Return the values of a row as inline code."""
    names = {name: name if name.isprintable() else "chance" for name in row}
    return format_codes(f"{names[name]} = {value!r}" for name, value in row.items())


def build_transforms_page() -> str:
    """The functions of a key, with their arguments, traits and golden vectors.

    A key calls a transform with terms first (fields, constants, other transforms), then numbers,
    then named options. The last table has the traits of each vector's key: the length, whether the
    bytes keep the order of the one field, what cannot be decoded, and the number of byte strings.
    """
    sections = (_format_transform(name, plugin) for name, plugin in iter_own_plugins(TRANSFORMS))
    return build_page("Transforms", build_transforms_page, _format_overview(TRANSFORMS), *sections)


def _format_transform(name: str, plugin: Any) -> str:
    """Return the section of a key transform with its arguments and vectors."""
    rows = [
        *(
            [format_code(one.name), _format_range(one), _format_default(one), one.description]
            for one in plugin.scalars
        ),
        *(
            [format_code(f"{one.name}="), _format_range(one), _format_default(one), one.description]
            for one in plugin.options
        ),
    ]
    traits = []
    for vector in plugin.vectors:
        key = bind_key(vector.key, vector.fields)
        part = key.parts[0]
        count = "unbounded" if part.cardinality is None else f"{part.cardinality:,}"
        traits.append(
            [format_code(vector.key), *_describe_traits(part), count, part.determined_by.value]
        )
    return join_blocks(
        f"## {name}",
        format_code(_format_call(name, plugin)),
        format_docstring(plugin),
        build_table(["argument", "range", "default", "meaning"], rows),
        _format_vectors(plugin.vectors),
        build_table(["key", "length", "order", "loses", "byte strings", "decided by"], traits),
        _describe_first_vector(plugin.vectors),
    )


def _describe_first_vector(vectors: Iterable[GoldenVector]) -> str:
    """Return a description of the first vector's bytes, as `rowkey vectors` prints it."""
    first = next(iter(vectors))
    key = bind_key(first.key, first.fields)
    return f"In words, {format_code(key)}: {key.parts[0].describe_encoding()}."


def _format_call(name: str, plugin: Any) -> str:
    """Return how a transform is called in a key."""
    max_terms = plugin.term_limits[1]
    terms = ["x", "…"] if max_terms > 1 else ["x"] * max_terms
    numbers = [f"[{one.name}]" if one.optional else one.name for one in plugin.scalars]
    options = [f"{one.name}=…" for one in plugin.options]
    return f"{name}({', '.join([*terms, *numbers, *options])})"


def _format_range(one: Any) -> str:
    """Return the allowed values of a transform's argument."""
    if not isinstance(one, NumberArgument):
        return format_codes(one.choices)
    return (
        "a length of time, such as `1h`"
        if one.unit == "time"
        else f"{one.minimum:,} to {one.maximum:,}"
    )


def _format_default(one: Any) -> str:
    """Return the default of a transform's argument."""
    if isinstance(one, NumberArgument):
        return "may be left out" if one.optional else "must be given"
    return format_code(one.choices[0])


def build_splits_page() -> str:
    """The algorithms that choose region boundaries, with their inputs and golden vectors.

    In a design file: `splits = "NAME"`, `splits = { algorithm = "NAME", regions = 16 }`, or a list
    of keys in the text form of HBase's shell. Where the file leaves out the number of regions, it
    is computed from size, servers and heap (`rowkey splits` says how).
    """
    sections = (_format_split(name, plugin) for name, plugin in iter_own_plugins(SPLIT_ALGORITHMS))
    return build_page("Splits", build_splits_page, _format_overview(SPLIT_ALGORITHMS), *sections)


def _format_split(name: str, plugin: Any) -> str:
    """Return the section of a split algorithm with its vectors."""
    rows = (
        [
            _format_request(vector.request),
            format_codes(to_string_binary(split) for split in vector.splits) or "none",
        ]
        for vector in plugin.vectors
    )
    return join_blocks(
        f"## {name}",
        format_docstring(plugin),
        f"Needs: {format_codes(sorted(plugin.required_fields)) or 'nothing'}.",
        f"Also takes: {format_codes(sorted(plugin.optional_fields))}."
        if plugin.optional_fields
        else "",
        build_table(["request", "split keys"], rows),
    )


def _format_request(request: SplitRequest) -> str:
    """Return the parameters of a split request as inline code."""
    parameters = ((name, getattr(request, name)) for name in SplitRequest.__dataclass_fields__)
    return format_codes(f"{name} = {value!r}" for name, value in parameters if value is not None)


def _format_options(plugin: Any) -> str:
    """Return the table of a plugin's options."""
    rows = (
        [
            format_code(option.name),
            "must be given" if option.required else _format_default_value(option.default),
            option.meaning,
            option.allowed,
        ]
        for option in plugin.options
    )
    return build_table(["option", "default", "meaning", "allowed"], rows)


def _format_default_value(default: object) -> str:
    """Return the default of a plugin's option as inline code."""
    return "none" if default is None else format_code(default)


def build_distributions_page() -> str:
    """How values are drawn for generated events.

    A field of the design file can declare how often each of its values occurs: `draw = "NAME"`, or
    `draw = { kind = "NAME", … }`. The shares are those of the most frequent of 1,000 values.
    """
    sections = (
        _format_distribution(name, plugin) for name, plugin in iter_own_plugins(DISTRIBUTIONS)
    )
    return build_page(
        "Distributions", build_distributions_page, _format_overview(DISTRIBUTIONS), *sections
    )


def _format_distribution(name: str, plugin: Any) -> str:
    """Return the section of a value distribution."""
    share = plugin({}).compute_heaviest_share(1_000)
    share_text = f"Share of the most frequent of 1,000 values, by default: {share:.3%}."
    return join_blocks(f"## {name}", format_docstring(plugin), _format_options(plugin), share_text)


def build_arrivals_page() -> str:
    """How events arrive.

    `[writes] arrival` says how the fields of the key change as events arrive. It determines the
    events that are generated without a sample, and what `check` can predict.
    """
    rows = (
        [format_code("per(FIELD)" if name == "per" else name), each.meaning]
        for name, each in ARRIVAL_MODES.items()
    )
    return build_page(
        "Arrivals",
        build_arrivals_page,
        build_table(["arrival", "means"], rows),
        "The other options of `[writes]` are in [the design file](design-file.md#writes).",
    )


def build_formats_page() -> str:
    """How samples are read.

    The suffix of a sample's name gives its format, without `.gz` and `.zip`; `[sample] format` or
    `--sample-format` overrides it. Rows are read in batches of bounded size.
    """
    sections = (_format_sample_format(name, plugin) for name, plugin in iter_own_plugins(FORMATS))
    return build_page("Formats", build_formats_page, _format_overview(FORMATS), *sections)


def _format_sample_format(name: str, plugin: Any) -> str:
    """Return the section of a sample format."""
    endings = (
        f"Suffixes: {format_codes(plugin.suffixes)}." if plugin.suffixes else "It has no suffix."
    )
    return join_blocks(f"## {name}", format_docstring(plugin), endings, _format_options(plugin))


def build_placements_page() -> str:
    """Where in a row a value is stored.

    A field that the key does not hold completely has a placement, which follows from its options in
    the design file. The table is computed from the placements.
    """
    return build_page(
        "Placements",
        build_placements_page,
        _format_placement_table(),
        *(_format_placement(name, plugin) for name, plugin in iter_own_plugins(PLACEMENTS)),
    )


def _format_placement_table() -> str:
    """Return the table of placements by what a field declares."""
    declarations: list[dict[str, str]] = [
        {}, {"family": "m"}, {"qualifier": "q"}, {"pack": "p"}, {"at": "qualifier"},
        {"at": "timestamp"},
    ]  # fmt: skip
    rows = []
    for words in declarations:
        declared = FieldDeclaration.model_validate({"type": next(iter(TYPES)), **words})
        placements = [
            name for name, plugin in iter_own_plugins(PLACEMENTS) if plugin.can_hold(declared)
        ]
        shown = ", ".join(f'{word} = "{value}"' for word, value in words.items())
        rows.append([format_code(shown) or "nothing", format_codes(placements)])
    return build_table(["the field declares", "placement"], rows)


def _format_placement(name: str, plugin: Any) -> str:
    """Return the section of a placement."""
    return join_blocks(f"## {name}", format_docstring(plugin))


def build_causes_page() -> str:
    """Why load is uneven.

    `rowkey check` *predicts* causes from the design and the facts of its fields; `rowkey simulate`
    *recognises* them in a replay and prints the evidence. Causes are sorted by the skew over
    servers that each explains, `explained`. Its `bound` is the skew below which no other number of
    buckets, splits of the same sort or placement brings the load, as long as the cause stays: a
    bound of 8 on eight servers needs another key, and one of 1 may need other splits only.

    [Causes of read hot spots](#causes-of-read-hot-spots) are recognised in the load of each
    declared read. They are sorted by the share of the busiest server's operations that each
    explains.
    """
    return build_page(
        "Causes",
        build_causes_page,
        _format_overview(CAUSES),
        *(_format_cause(name, plugin) for name, plugin in iter_own_plugins(CAUSES)),
        "# Causes of read hot spots",
        _format_overview(READ_CAUSES),
        *(_format_read_cause(name, plugin) for name, plugin in iter_own_plugins(READ_CAUSES)),
    )


def _format_cause(name: str, plugin: Any) -> str:
    """Return the section of a cause of hot spots."""
    when = (
        "Predicted only if the boundaries are known without a sample."
        if plugin.needs_boundaries
        else "Predicted for any boundaries."
    )
    return join_blocks(f"## {name}", format_docstring(plugin), when)


def _format_read_cause(name: str, plugin: Any) -> str:
    """Return the section of a cause of read hot spots."""
    when = (
        "Reported for even reads too."
        if plugin.concerns_even_load
        else "Reported if one server takes more of the read than others."
    )
    return join_blocks(f"## {name}", format_docstring(plugin), when)


SECTION_BUILDERS: tuple[tuple[Mapping[str, Any], Callable[[str, Any], str]], ...] = (
    (TYPES, _format_field),
    (TRANSFORMS, _format_transform),
    (SPLIT_ALGORITHMS, _format_split),
    (PLACEMENTS, _format_placement),
    (CATALOGS, _format_catalog),
    (FORMATS, _format_sample_format),
    (DISTRIBUTIONS, _format_distribution),
    (CAUSES, _format_cause),
    (READ_CAUSES, _format_read_cause),
)
"""The registry of each plugin type, with the function that formats one plugin."""
