"""Whether a table can move from one design to another, by the designs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import FOREVER_S
from rowkey.errors import DesignRefused
from rowkey.move.finding import FindingLevel, MoveFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.cells import Family
    from rowkey.design import Design
    from rowkey.rows import CellSlot

BLOCKING, WARNING, NOTE = FindingLevel.BLOCKING, FindingLevel.WARNING, FindingLevel.NOTE
BYTE_OPTIONS = ("of", "precision", "scale", "width", "normalize")
"""Options of a field that bear on its bytes; limits such as `max_bytes` are compared with rows."""


def compare_designs(
    source: Design, target: Design, *, has_splits: bool = False
) -> list[MoveFinding]:
    """Return what speaks against a move from one design to another, the worst first.

    Args:
        source: the design of the table.
        target: the new design.
        has_splits: whether the boundaries of the target's regions are given.

    >>> from rowkey import Design
    >>> fields = {"host": "text", "at": "timestamp_ms", "level": "u8"}
    >>> source = Design("logs", "[host][at]", fields=fields)
    >>> for key in ("[at][host]", "[level][host][at]", "[host]"):
    ...     found = compare_designs(source, Design("logs2", key, fields=fields))
    ...     print([one.mistake.problem for one in found if one.level is FindingLevel.BLOCKING])
    []
    ['level would identify rows, but is a plain column that may change']
    ['at identifies rows, and would be lost from key and qualifiers']
    """
    found = [
        *_compare_names(source, target, has_splits=has_splits),
        *_compare_fields(source, target),
    ]
    if not any(one.mistake.path.startswith("fields") for one in found):
        found += _compare_identities(source, target)
        found += _compare_timestamps(source, target)
        found += _compare_packing(source, target)
        found += _compare_families(source, target)
    return sorted(found, key=lambda one: list(FindingLevel).index(one.level))


def _compare_names(source: Design, target: Design, *, has_splits: bool) -> Iterator[MoveFinding]:
    """Yield what speaks against the target as a table: its name, companions, key and regions."""
    build = MoveFinding.build
    designs = (source, target)
    declared = [one.declaration.model_dump(exclude={"table"}) for one in designs]
    if declared[0] == declared[1] and not has_splits:
        what = "the target has the design of the table, so the move would change nothing"
        yield build(BLOCKING, "design", what, "another design", "Give the file of the new design.")
    if source.table == target.table:
        what = f"{target.table} is the name of the table itself"
        yield build(BLOCKING, "table", what, "another name", "Give the target a name of its own.")
    for name, design in (("source", source), ("target", target)):
        if companions := design.declaration.companions:
            what = f"the {name} has the companions {', '.join(companions)}, which cannot move"
            remedy = "Move without companions, and declare them again afterwards."
            yield build(BLOCKING, "companions", what, "a design without companions", remedy)
        if design.key.is_salted and design is source:
            what = "the key of the source has a random salt, so each row may have copies"
            yield build(WARNING, "key", what, remedy="Copies are merged, newest cell first.")
        elif design.key.is_salted:
            what = (
                "the key of the target has a random salt, so two writes of a row within a "
                "millisecond could not be ordered as in the source"
            )
            remedy = "Use bucket(field, n), by which a row can be found as well."
            yield build(BLOCKING, "key", what, "a key without salt", remedy)
    try:
        target.key.check_decodable()
    except DesignRefused as refusal:
        mistake = refusal.mistake
        yield build(BLOCKING, mistake.path, mistake.problem, mistake.expected, mistake.remedy)
    if not has_splits and (target.splits.needs_sample or target.splits.needs_count):
        lacks = "a sample" if target.splits.needs_sample else "the number of regions"
        what = f"the boundaries of the target's regions depend on {lacks}, which is not given"
        remedy = "Give splits=: rowkey splits DESIGN --sample FILE prints them."
        yield build(BLOCKING, "splits", what, "row keys, ascending", remedy)


def _compare_fields(source: Design, target: Design) -> Iterator[MoveFinding]:
    """Yield the fields that differ, apart from where they are stored."""
    remedy = "Declare the fields of the target as the source does; change them after the move."
    for name in source.fields.keys() ^ target.fields.keys():
        sides = ("source", "target") if name in source.fields else ("target", "source")
        what = f"only the {sides[0]} has this field"
        expected = f"the field in the {sides[1]} too"
        yield MoveFinding.build(BLOCKING, f"fields.{name}", what, expected, remedy)
    for name in source.fields.keys() & target.fields.keys():
        old, new = source.fields[name], target.fields[name]
        if old.type.name != new.type.name:
            what = f"the target declares the type {new.type.name}"
            yield MoveFinding.build(BLOCKING, f"fields.{name}", what, old.type.name, remedy)
            continue
        for option in BYTE_OPTIONS:
            here, there = (getattr(one.declaration, option) for one in (old, new))
            if here != there:
                path, what = f"fields.{name}.{option}", f"the target declares {_format(there)}"
                yield MoveFinding.build(BLOCKING, path, what, _format(here), remedy)
        if old.nullable and not new.nullable:
            what = "stored rows may have no value, and the target requires one"
            path = f"fields.{name}.nullable"
            yield MoveFinding.build(BLOCKING, path, what, "true", "Declare the field nullable.")


def _compare_identities(source: Design, target: Design) -> Iterator[MoveFinding]:
    """Yield the fields that identify rows in only one design."""
    old, new = source.layout.identity_fields, target.layout.identity_fields
    allowed = f"a key and qualifiers with {', '.join(old)}, in any order"
    for name in sorted({*new} - {*old}):
        what = f"{name} would identify rows, but is a plain column that may change"
        remedy = f"Leave {name} out of the key, or load the rows into a new table yourself."
        yield MoveFinding.build(BLOCKING, "key", what, allowed, remedy)
    for name in sorted({*old} - {*new}):
        what = f"{name} identifies rows, and would be lost from key and qualifiers"
        remedy = f"Add {name} to the key, or store it in the qualifier."
        yield MoveFinding.build(BLOCKING, "key", what, allowed, remedy)


def _compare_timestamps(source: Design, target: Design) -> Iterator[MoveFinding]:
    """Yield the difference between the fields that are the timestamps of cells."""
    old, new = (
        None if (stamp := one.layout.cell_timestamp) is None else stamp.field.name
        for one in (source, target)
    )
    if old != new:
        field = new or old
        what = f"the cell timestamp is {new or 'the time of the write'} in the target"
        remedy = "Timestamps order the changes of a row, so they must mean the same in both tables."
        allowed = old or "the time of the write"
        yield MoveFinding.build(BLOCKING, f"fields.{field}.at", what, allowed, remedy)


def _compare_packing(source: Design, target: Design) -> Iterator[MoveFinding]:
    """Yield the cells of the target that hold fields which the source stores apart."""
    old = {frozenset(slot.field_names) for slot in source.layout.slots}
    for slot in target.layout.slots:
        if len(slot.field_names) > 1 and frozenset(slot.field_names) not in old:
            names = ", ".join(slot.field_names)
            what = f"the target packs {names} into one cell, which is written whole"
            remedy = "After the cutover, give all of them in each put; one of only some is refused."
            yield MoveFinding.build(WARNING, f"fields.{slot.field_names[0]}.pack", what, "", remedy)


def _compare_families(source: Design, target: Design) -> Iterator[MoveFinding]:
    """Yield the fields that the target keeps for a shorter time, or in fewer versions."""
    old, new = ({name: slot for slot in one.layout.slots for name in slot.field_names}
                for one in (source, target))  # fmt: skip
    told: set[tuple[str, str]] = set()
    for name in sorted(old.keys() & new.keys()):
        pair = (old[name].family, new[name].family)
        if pair not in told:
            told.add(pair)
            yield from _compare_family(
                source.families[pair[0]], target.families[pair[1]], new[name]
            )


def _compare_family(old: Family, new: Family, slot: CellSlot) -> Iterator[MoveFinding]:
    """Yield what a family of the target drops that one of the source keeps."""
    for option in ("versions", "ttl_s", "min_versions"):
        here, there = getattr(old, option), getattr(new, option)
        if there < here:
            name = option.removesuffix("_s")
            what = (
                f"the target keeps {_format(there)}, of {', '.join(slot.field_names)} and others: "
                "what is beyond that is lost"
            )
            allowed = f"{_format(here)}, as in the source"
            remedy = f"Declare the {name} of the source, if the cells are still needed."
            yield MoveFinding.build(WARNING, f"families.{new.name}.{name}", what, allowed, remedy)


def _format(value: Any) -> str:
    """Return the value of an option as a message shows it."""
    if value is None:
        return "nothing"
    return "unlimited" if value == FOREVER_S else str(value).lower()
