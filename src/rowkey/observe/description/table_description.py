"""Describe a live table as a design file, which makes the same table again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S, Family, find_family_mistakes
from rowkey.design import Design
from rowkey.engines import get_time_ms, open_engine
from rowkey.observe.description.column_fields import build_fields, format_unnamed_columns
from rowkey.observe.description.comments import annotate_design
from rowkey.observe.description.key_format import infer_key_format
from rowkey.observe.description.table_sample import sample_table
from rowkey.observe.entry_lookup import find_table, look_up_entry
from rowkey.open_file_limit import explain_shortage
from rowkey.regions import to_string_binary
from rowkey.schema import NANOSECONDS, parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.engines import Engine, Store
    from rowkey.observe.description.table_sample import TableSample
    from rowkey.observe.entry_lookup import EntryLookup

OWN_ATTRIBUTE_PREFIX = "rowkey."
"""The prefix of the attributes that rowkey keeps with its tables."""


MISSING_FAMILY_TEXT = (
    "Family {name} is in the design and no longer in the table, which has lost what it held: the "
    "file would make it again."
)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A design file of a live table.

    Args:
        text: the file, with what was seen and what is not known as comments.
        design: what it declares.
        is_own_table: whether the table was made by rowkey, so that its design is known, not
            inferred.
        sampled_rows: rows that were looked at.
    """

    text: str
    design: Design
    is_own_table: bool
    sampled_rows: int


@explain_shortage
def describe_table(table: str, url: str) -> TableDescription:
    """Return a design file that makes a live table again, with its families and regions.

    Of a table that rowkey made the design is known. Of another one the first rows of its regions
    are looked at; what they show of the key is declared where all of them bear it out, and said
    with its evidence. Nothing is made up: what is not known is declared as bytes, and said.

    Args:
        table: its name.
        url: where it is.

    Raises:
        InvalidArgument: there is no such table.
        Unavailable: it cannot be reached.

    Cost: a short scan of each region, of 4,096 rows in all.
    """
    with open_engine(url, create=False) as engine:
        store = find_table(engine, table, url)
        known = look_up_entry(engine, store, table)
        splits = store.spec.splits
        if known.entry is not None:
            return _describe_own_table(store, splits, known)
        return _describe_other_table(table, engine, store, splits, known)


def _describe_own_table(
    store: Store, splits: Sequence[bytes], lookup: EntryLookup
) -> TableDescription:
    """Describe a table of a known design, with its current families and regions."""
    entry, design = lookup.entry, lookup.design
    assert entry is not None
    assert design is not None
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    head = [f"The design is {lookup.origin}."]
    counts = entry.active_generation
    if counts.number > 1:
        numbers = ", ".join(f"part {place} counts {n}" for place, n in counts.counts.items())
        head.append(f"It lives in generation {counts.number} of its bucket counts: {numbers}.")
    above: dict[str, list[str]] = {}
    if tuple(splits) != _find_declared_splits(design):
        words["splits"] = [to_string_binary(split) for split in splits]
        was = len(counts.splits) + 1
        above["splits"] = [f"where the {len(splits) + 1} regions begin now; it was made with {was}"]
    order = list(design.families)
    families, notes = _build_families(store, order)
    if list(design.families.values()) != _sort_families(store, order):
        gone = [name for name in order if name not in families]
        notes += [MISSING_FAMILY_TEXT.format(name=name) for name in gone]
        kept = words.get("families", {})
        words["families"] = families | {name: kept.get(name, {}) for name in gone}
        above["families"] = ["as the table has them now; its design says otherwise"]
    head += notes
    text = annotate_design(Design(**words), head, above, {})
    return TableDescription(text, Design.loads(text), is_own_table=True, sampled_rows=0)


def _describe_other_table(
    table: str, engine: Engine, store: Store, splits: Sequence[bytes], lookup: EntryLookup
) -> TableDescription:
    """Describe a table that another program made, by its attributes and its first rows."""
    found = sample_table(store, splits)
    made = infer_key_format(found.keys, splits, get_time_ms())
    columns, seen = build_fields(found, made.fields)
    families, notes = _build_families(store, [])
    words: dict[str, Any] = {
        "table": table,
        "key": made.key,
        "splits": [to_string_binary(split) for split in splits],
        "fields": {**{name: dict(one) for name, one in made.fields.items()}, **columns},
        "families": families,
    }
    servers = engine.list_servers()
    if servers != [""]:
        words["cluster"] = {"servers": max(len(servers), 1)}
    head = [
        f"Its design is not known: {lookup.origin}.",
        _format_sample_size(found),
        *notes,
        *format_unnamed_columns(found),
        "How rows come in and how they are read is not known: declare [writes] and [[reads]].",
    ]
    above = {"key": ["The key, part by part, as sampled keys show it:", *made.notes]}
    if splits:
        above["splits"] = [f"where its {len(splits) + 1:,} regions begin now"]
    text = annotate_design(Design(**words), head, above, seen)
    return TableDescription(
        text, Design.loads(text), is_own_table=False, sampled_rows=len(found.keys)
    )


def _format_sample_size(sample: TableSample) -> str:
    """Return the size of the sample as text."""
    if not sample.keys:
        return (
            "It has no row."
            if sample.sampled_regions == sample.total_regions
            else f"It has no row in {_format_sampled_regions(sample)}."
        )
    return (
        f"Looked at: the first rows of {_format_sampled_regions(sample)}, {len(sample.keys):,} in "
        "all; no others."
    )


def _format_sampled_regions(sample: TableSample) -> str:
    """Return the sampled regions as a phrase."""
    if sample.sampled_regions < sample.total_regions:
        return f"{sample.sampled_regions:,} of its {sample.total_regions:,} regions, evenly chosen"
    return (
        "its one region" if sample.total_regions == 1 else f"its {sample.total_regions:,} regions"
    )


def _find_declared_splits(design: Design) -> tuple[bytes, ...] | None:
    """Return where the regions of a design begin, if the design alone says so."""
    if design.splits.needs_sample or design.splits.needs_count:
        return None
    return design.splits.compute_boundaries(design.key).splits


def _sort_families(store: Store, design_order: Sequence[str]) -> list[Family]:
    """Return the families of a table in the order of the design, then of their names."""
    there = {family.name: family for family in store.families_and_attributes[0]}
    names = [
        *(name for name in design_order if name in there),
        *sorted(there.keys() - set(design_order)),
    ]
    return [there[name] for name in names]


def _build_families(
    store: Store, design_order: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the families as a design file has them, and what of them it cannot say."""
    words, notes = {}, []
    for family in _sort_families(store, design_order):
        said = _collect_attributes(family)
        wrong = {
            refusal.mistake.path
            for refusal in find_family_mistakes(family.name, _convert_ttl(said))
        }
        words[family.name] = {word: value for word, value in said.items() if word not in wrong}
        notes += [
            f"Family {family.name} has {word} = {said[word]!r}, which a design cannot have."
            for word in sorted(wrong & said.keys())
        ]
    notes += _format_lost_attributes(store)
    return words, notes


def _collect_attributes(family: Family) -> dict[str, Any]:
    """Return the attributes of a family that are not the default."""
    plain = Family(family.name)
    found = {}
    for word, row in ATTRIBUTES.items():
        name = f"{word}_s" if row.is_duration else word
        value = getattr(family, name)
        if value != getattr(plain, name):
            found[word] = (
                _format_duration(value) if row.is_duration and value != FOREVER_S else value
            )
    return found


def _format_duration(seconds: int) -> str:
    """Return a duration in the largest unit that divides it.

    >>> _format_duration(2_592_000), _format_duration(90)
    ('30d', '90s')
    """
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    return next(f"{seconds // each}{unit}" for unit, each in units if seconds % each == 0)


def _convert_ttl(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attribute with its time to live in seconds."""
    return {
        word: _parse_seconds(value) if word == "ttl" and isinstance(value, str) else value
        for word, value in attributes.items()
    }


def _parse_seconds(duration: str) -> int:
    """Return a duration in seconds; the inverse of `_format_duration`."""
    return parse_duration(duration).nanoseconds // NANOSECONDS["s"]


def _format_lost_attributes(store: Store) -> Iterator[str]:
    """Return sentences on attributes that a design file has no place for."""
    for word, value in sorted(store.families_and_attributes[1].items()):
        if not word.startswith(OWN_ATTRIBUTE_PREFIX):
            yield f"The table has {word} = {value}; a design has no option for it."
    for family, others in sorted(store.unmodeled_attributes.items()):
        for word, value in sorted(others.items()):
            yield f"Family {family} has {word} = {value}; a design has no option for it."
