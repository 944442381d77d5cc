"""Describe a live table as a design file, which makes the same table again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowkey.cells import ATTRIBUTES, FOREVER_S, Family, find_family_mistakes
from rowkey.design import Design, format_path
from rowkey.engines import Engine, Store, get_time_ms, open_engine
from rowkey.lint import check_design
from rowkey.messages import shorten_text
from rowkey.observe.description.column_fields import build_fields, format_unnamed_columns
from rowkey.observe.description.key_format import infer_key_format
from rowkey.observe.description.table_sample import TableSample, sample_table
from rowkey.observe.entry_lookup import EntryLookup, find_table, find_table_name, look_up_entry
from rowkey.open_file_limit import explain_shortage
from rowkey.regions import to_string_binary
from rowkey.schema import NANOSECONDS, parse_duration

OWN_ATTRIBUTE_PREFIX = "rowkey."
"""The prefix of the attributes that rowkey keeps with its tables."""
MISSING_FAMILY_TEXT = (
    "Family {name} is declared, but no longer exists in the table. A table created from this file "
    "has it again."
)
COMMENT_WIDTH = 96
"""Characters of a comment line at most."""


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A design file that describes an existing table.

    Args:
        text: the file, with comments on what was observed and what is unknown.
        design: the design that it declares.
        is_own_table: whether rowkey created the table, so that its design is known, not inferred.
        sampled_rows: rows that were sampled.
    """

    text: str
    design: Design
    is_own_table: bool
    sampled_rows: int


@explain_shortage
def describe_table(table: str, url: str) -> TableDescription:
    """Return a design file that can create an existing table again.

    The design of a table that rowkey created is known. For another table, the key and the fields
    are inferred from the first rows of its regions: the file declares what fits all these rows,
    with the evidence as comments, and bytes for the rest.

    Args:
        table: its name.
        url: the cluster or engine that holds it.

    Raises:
        InvalidArgument: there is no such table.
        Unavailable: it cannot be reached.

    Cost: a short scan of each region, of 4,096 rows in all.
    """
    with open_engine(url, create=False) as engine:
        table = find_table_name(engine, table)
        store = find_table(engine, table, url)
        lookup = look_up_entry(engine, store, table)
        splits = store.spec.splits
        if lookup.entry is not None:
            return _describe_own_table(store, splits, lookup)
        return _describe_other_table(table, engine, store, splits, lookup)


def _describe_own_table(
    store: Store, splits: Sequence[bytes], lookup: EntryLookup
) -> TableDescription:
    """Return the design file of a table that rowkey created, with its current regions."""
    entry, design = lookup.entry, lookup.design
    assert entry is not None
    assert design is not None
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    head = [f"The design is {lookup.origin}."]
    counts = entry.active_generation
    if counts.number > 1:
        numbers = ", ".join(f"part {place} has {n} buckets" for place, n in counts.counts.items())
        head.append(
            f"Its number of buckets was changed (bucket generation {counts.number}): {numbers}."
        )
    above: dict[str, list[str]] = {}
    if tuple(splits) != _find_declared_splits(design):
        words["splits"] = [to_string_binary(split) for split in splits]
        old_count = len(counts.splits) + 1
        above["splits"] = [
            f"the current {len(splits) + 1} regions; the table was created with {old_count}"
        ]
    order = list(design.families)
    families, notes = _build_families(store, order)
    if list(design.families.values()) != _sort_families(store, order):
        missing_names = [name for name in order if name not in families]
        notes += [MISSING_FAMILY_TEXT.format(name=name) for name in missing_names]
        declared_families = words.get("families", {})
        words["families"] = families | {
            name: declared_families.get(name, {}) for name in missing_names
        }
        above["families"] = ["the current families of the table; its stored design differs"]
    head += notes
    text = _annotate_design(Design(**words), head, above, {})
    return TableDescription(text, Design.loads(text), is_own_table=True, sampled_rows=0)


def _describe_other_table(
    table: str, engine: Engine, store: Store, splits: Sequence[bytes], lookup: EntryLookup
) -> TableDescription:
    """Return the design file of a table that another program created, inferred from rows."""
    sample = sample_table(store, splits)
    key_format = infer_key_format(sample.keys, splits, get_time_ms())
    columns, field_comments = build_fields(sample, key_format.fields)
    families, notes = _build_families(store, [])
    words: dict[str, Any] = {
        "table": table,
        "key": key_format.key,
        "splits": [to_string_binary(split) for split in splits],
        "fields": {**{name: dict(one) for name, one in key_format.fields.items()}, **columns},
        "families": families,
    }
    servers = engine.list_servers()
    if servers != [""]:
        words["cluster"] = {"servers": max(len(servers), 1)}
    head = [
        f"The design is unknown: {lookup.origin}.",
        _format_sample_size(sample),
        *notes,
        *format_unnamed_columns(sample),
        "How rows are written and read is unknown: declare [writes] and [[reads]].",
    ]
    above = {"key": ["The parts of the key, inferred from the sampled keys:", *key_format.notes]}
    if splits:
        above["splits"] = [f"the current {len(splits) + 1:,} regions"]
    text = _annotate_design(Design(**words), head, above, field_comments)
    return TableDescription(
        text, Design.loads(text), is_own_table=False, sampled_rows=len(sample.keys)
    )


def _format_sample_size(sample: TableSample) -> str:
    """Return a sentence on how many rows of how many regions were sampled."""
    if not sample.keys:
        return (
            "The table has no row."
            if sample.sampled_regions == sample.total_regions
            else f"The table has no row in {_format_sampled_regions(sample)}."
        )
    return (
        f"Sampled: {len(sample.keys):,} rows, the first ones of {_format_sampled_regions(sample)}."
    )


def _format_sampled_regions(sample: TableSample) -> str:
    """Return how many regions were sampled, as a phrase."""
    if sample.sampled_regions < sample.total_regions:
        return f"{sample.sampled_regions:,} of its {sample.total_regions:,} regions, evenly chosen"
    return (
        "its one region" if sample.total_regions == 1 else f"its {sample.total_regions:,} regions"
    )


def _find_declared_splits(design: Design) -> tuple[bytes, ...] | None:
    """Return the split keys of a design; None if they need a sample or a count."""
    if design.splits.needs_sample or design.splits.needs_count:
        return None
    return design.splits.compute_boundaries(design.key).splits


def _sort_families(store: Store, design_order: Sequence[str]) -> list[Family]:
    """Return the families of a table in the order of the design, then of their names."""
    families_by_name = {family.name: family for family in store.families_and_attributes[0]}
    names = [
        *(name for name in design_order if name in families_by_name),
        *sorted(families_by_name.keys() - set(design_order)),
    ]
    return [families_by_name[name] for name in names]


def _build_families(
    store: Store, design_order: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the families as options of a design, and notes on what a design cannot declare."""
    words, notes = {}, []
    for family in _sort_families(store, design_order):
        options = _collect_attributes(family)
        rejected_names = {
            refusal.mistake.path
            for refusal in find_family_mistakes(family.name, _convert_ttl(options))
        }
        words[family.name] = {
            option: value for option, value in options.items() if option not in rejected_names
        }
        notes += [
            f"Family {family.name} has {option} = {options[option]!r}, "
            "which a design cannot declare."
            for option in sorted(rejected_names & options.keys())
        ]
    notes += _format_lost_attributes(store)
    return words, notes


def _collect_attributes(family: Family) -> dict[str, Any]:
    """Return the attributes of a family that differ from the defaults."""
    plain = Family(family.name)
    options = {}
    for word, row in ATTRIBUTES.items():
        name = f"{word}_s" if row.is_duration else word
        value = getattr(family, name)
        if value != getattr(plain, name):
            options[word] = (
                _format_duration(value) if row.is_duration and value != FOREVER_S else value
            )
    return options


def _format_duration(seconds: int) -> str:
    """Return a duration in the largest unit that divides it.

    >>> _format_duration(2_592_000), _format_duration(90)
    ('30d', '90s')
    """
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    return next(f"{seconds // each}{unit}" for unit, each in units if seconds % each == 0)


def _convert_ttl(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return family attributes with the time to live in seconds."""
    return {
        word: _parse_seconds(value) if word == "ttl" and isinstance(value, str) else value
        for word, value in attributes.items()
    }


def _parse_seconds(duration: str) -> int:
    """Return a duration in seconds; the inverse of `_format_duration`."""
    return parse_duration(duration).nanoseconds // NANOSECONDS["s"]


def _format_lost_attributes(store: Store) -> Iterator[str]:
    """Yield a sentence for each table or family attribute that a design cannot declare."""
    for word, value in sorted(store.families_and_attributes[1].items()):
        if not word.startswith(OWN_ATTRIBUTE_PREFIX):
            yield f"The table has {word} = {value}; a design has no option for it."
    for family, others in sorted(store.unmodeled_attributes.items()):
        for word, value in sorted(others.items()):
            yield f"Family {family} has {word} = {value}; a design has no option for it."


def _annotate_design(
    design: Design,
    header: Sequence[str],
    path_comments: Mapping[str, Sequence[str]],
    field_comments: Mapping[str, str],
) -> str:
    """Return the text of a design file with comments above its options and fields.

    Args:
        design: the design to write.
        header: sentences at the top of the file.
        path_comments: sentences above an option, by its path.
        field_comments: what was observed of a field, by its name.
    """
    text = design.dumps()
    places = Design.loads(text).source.source_map  # type: ignore[union-attr]
    lines = {places.find_line(path): list(sentences) for path, sentences in path_comments.items()}
    for name, sentence in field_comments.items():
        lines.setdefault(places.find_line(format_path(("fields", name))), []).append(sentence)
    for finding in check_design(design).filter_by_severity("error"):
        sentence = f"rowkey: allow {finding.name} - as in the existing table"
        lines.setdefault(places.find_line(finding.path), []).append(sentence)
    body = [
        f"# {line}".rstrip()
        for sentence in header
        for line in _wrap_sentence(shorten_text(sentence))
    ]
    body.append("")
    for number, line in enumerate(text.split("\n"), 1):
        for sentence in lines.get(number, ()):
            body += [f"# {one}".rstrip() for one in _wrap_sentence(shorten_text(sentence))]
        body.append(line)
    return "\n".join(body)


def _wrap_sentence(text: str) -> Iterator[str]:
    """Yield a sentence as comment lines of limited length.

    >>> list(_wrap_sentence("a " * 60))[1]
    '  a a a a a a a a a a a a a a'
    """
    line = ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > COMMENT_WIDTH - 4:
            yield line
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    yield line
