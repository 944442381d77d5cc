"""Whether a table can move from one design to another, by the designs alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rowkey.cells import FOREVER_S, Family
from rowkey.design import Design
from rowkey.errors import DesignRefused, Mistake
from rowkey.findings import Finding
from rowkey.messages import Message
from rowkey.table import RowTranslator

BYTE_OPTIONS = ("of", "precision", "scale", "width", "normalize")
"""Options of a field that bear on its bytes; limits such as `max_bytes` are compared with rows."""


def compare_designs(source: Design, target: Design, *, has_splits: bool = False) -> list[Finding]:
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
    ...     print([one.message for one in found if one.severity == "error"])
    []
    ['level would identify rows, but is a plain column that may change']
    ['at identifies rows, and would be lost from key and qualifiers']
    """
    found = [
        *_compare_names(source, target, has_splits=has_splits),
        *_compare_keys(source, target),
        *_compare_fields(source, target),
    ]
    if not any(one.path.startswith("fields") for one in found):
        found += _compare_identities(source, target)
        found += _compare_timestamps(source, target)
        found += _compare_packing(source, target)
        found += _compare_families(source, target)
    return sorted(found, key=lambda one: -one.rank)


def _compare_names(source: Design, target: Design, *, has_splits: bool) -> Iterator[Finding]:
    """Yield what speaks against the target as a table: its name, companions and regions."""
    designs = (source, target)
    declared = [one.declaration.model_dump(exclude={"table"}) for one in designs]
    if declared[0] == declared[1] and not has_splits:
        what = Message(
            "move.same_design",
            "the target has the design of the table, so the move would change nothing",
        )
        allowed = Message("move.other_design", "another design")
        remedy = Message("move.give_new_file", "Give the file of the new design.")
        yield Finding.from_mistake(Mistake("design", what, allowed, remedy))
    if source.table == target.table:
        what = Message(
            "move.own_name", "{table} is the name of the table itself", table=target.table
        )
        allowed = Message("move.other_name", "another name")
        remedy = Message("move.give_name", "Give the target a name of its own.")
        yield Finding.from_mistake(Mistake("table", what, allowed, remedy))
    names = [", ".join(sorted(one.declaration.companions)) for one in (source, target)]
    if names[0] != names[1]:
        what = Message(
            "move.companions",
            "the table has {mine} as companions, the target {others}",
            mine=names[0] or Message("move.none", "none"),
            others=names[1] or Message("move.none", "none"),
        )
        allowed = Message("move.same_companions", "the companions of the table, which stay")
        remedy = Message(
            "move.declare_companions",
            "Declare them in the new design; add or drop one before the move, or after it.",
        )
        yield Finding.from_mistake(Mistake("companions", what, allowed, remedy))
    if not has_splits and (target.splits.needs_sample or target.splits.needs_count):
        lacks = (
            Message("move.a_sample", "a sample")
            if target.splits.needs_sample
            else Message("move.region_count", "the number of regions")
        )
        what = Message(
            "move.no_splits",
            "the boundaries of the target's regions depend on {lacks}, which is not given",
            lacks=lacks,
        )
        allowed = Message("move.row_keys", "row keys, ascending")
        remedy = Message(
            "move.give_splits", "Give splits=: rowkey splits DESIGN --sample FILE prints them."
        )
        yield Finding.from_mistake(Mistake("splits", what, allowed, remedy))


def _compare_keys(source: Design, target: Design) -> Iterator[Finding]:
    """Yield what speaks against the keys: salts, and a key that cannot be decoded."""
    if source.key.is_salted:
        what = Message(
            "move.salted_source",
            "the key of the source has a random salt, so each row may have copies",
        )
        remedy = Message("move.merged_copies", "Copies are merged, newest cell first.")
        yield Finding.from_mistake(Mistake("key", what, remedy=remedy), "warning")
    if target.key.is_salted:
        what = Message(
            "move.salted_target",
            "the key of the target has a random salt, so two writes of a row within a "
            "millisecond could not be ordered as in the source",
        )
        allowed = Message("move.no_salt", "a key without salt")
        remedy = Message(
            "move.use_bucket", "Use bucket(field, n), by which a row can be found as well."
        )
        yield Finding.from_mistake(Mistake("key", what, allowed, remedy))
    for check in (
        target.key.check_decodable,
        lambda: RowTranslator.check_row_copies(source.layout),
    ):
        try:
            check()
        except DesignRefused as refusal:
            yield Finding.from_mistake(refusal.mistake)


def _compare_fields(source: Design, target: Design) -> Iterator[Finding]:
    """Yield the fields that differ, apart from where they are stored."""
    remedy = Message(
        "move.same_fields",
        "Declare the fields of the target as the source does; change them after the move.",
    )
    sides = (Message("move.source", "source"), Message("move.target", "target"))
    for name in source.fields.keys() ^ target.fields.keys():
        side, other = sides if name in source.fields else reversed(sides)
        what = Message("move.missing_field", "only the {side} has this field", side=side)
        allowed = Message("move.field_in_both", "the field in the {side} too", side=other)
        yield Finding.from_mistake(Mistake(f"fields.{name}", what, allowed, remedy))
    for name in source.fields.keys() & target.fields.keys():
        old, new = source.fields[name], target.fields[name]
        if old.type.name != new.type.name:
            what = Message(
                "move.other_type", "the target declares the type {type}", type=new.type.name
            )
            yield Finding.from_mistake(Mistake(f"fields.{name}", what, old.type.name, remedy))
            continue
        for option in BYTE_OPTIONS:
            here, there = (getattr(one.declaration, option) for one in (old, new))
            if here != there:
                what = Message(
                    "move.other_option", "the target declares {value}", value=_format_option(there)
                )
                path = f"fields.{name}.{option}"
                yield Finding.from_mistake(Mistake(path, what, _format_option(here), remedy))
        if old.nullable and not new.nullable:
            what = Message(
                "move.not_nullable",
                "stored rows may have no value, and the target requires one",
            )
            declare = Message("move.declare_nullable", "Declare the field nullable.")
            yield Finding.from_mistake(Mistake(f"fields.{name}.nullable", what, "true", declare))


def _compare_identities(source: Design, target: Design) -> Iterator[Finding]:
    """Yield the fields that identify rows in only one design."""
    old, new = source.layout.identity_fields, target.layout.identity_fields
    allowed = Message(
        "move.same_identity",
        "a key and qualifiers with {fields}, in any order",
        fields=", ".join(old),
    )
    for name in sorted({*new} - {*old}):
        what = Message(
            "move.added_identity",
            "{field} would identify rows, but is a plain column that may change",
            field=name,
        )
        remedy = Message(
            "move.leave_out_identity",
            "Leave {field} out of the key, or load the rows into a new table yourself.",
            field=name,
        )
        yield Finding.from_mistake(Mistake("key", what, allowed, remedy))
    for name in sorted({*old} - {*new}):
        what = Message(
            "move.lost_identity",
            "{field} identifies rows, and would be lost from key and qualifiers",
            field=name,
        )
        remedy = Message(
            "move.add_identity",
            "Add {field} to the key, or store it in the qualifier.",
            field=name,
        )
        yield Finding.from_mistake(Mistake("key", what, allowed, remedy))


def _compare_timestamps(source: Design, target: Design) -> Iterator[Finding]:
    """Yield the difference between the fields that are the timestamps of cells."""
    old, new = (
        None if (stamp := one.layout.cell_timestamp) is None else stamp.field.name
        for one in (source, target)
    )
    if old != new:
        write_time = Message("move.write_time", "the time of the write")
        what = Message(
            "move.other_timestamp",
            "the cell timestamp is {value} in the target",
            value=new or write_time,
        )
        remedy = Message(
            "move.same_timestamp",
            "Timestamps order the changes of a row, so they must mean the same in both tables.",
        )
        path = f"fields.{new or old}.at"
        yield Finding.from_mistake(Mistake(path, what, old or write_time, remedy))


def _compare_packing(source: Design, target: Design) -> Iterator[Finding]:
    """Yield the cells of the target that hold fields which the source stores apart."""
    old = {frozenset(slot.field_names) for slot in source.layout.slots}
    for slot in target.layout.slots:
        if len(slot.field_names) > 1 and frozenset(slot.field_names) not in old:
            what = Message(
                "move.packed",
                "the target packs {fields} into one cell, which is written whole",
                fields=", ".join(slot.field_names),
            )
            remedy = Message(
                "move.write_packed",
                "After the cutover, give all these fields in each put; a put of only some of "
                "them is refused.",
            )
            yield Finding.from_mistake(
                Mistake(f"fields.{slot.field_names[0]}.pack", what, "", remedy), "warning"
            )


def _compare_families(source: Design, target: Design) -> Iterator[Finding]:
    """Yield the fields that the target keeps for a shorter time, or in fewer versions."""
    old, new = ({name: slot for slot in one.layout.slots for name in slot.field_names}
                for one in (source, target))  # fmt: skip
    compared: set[tuple[str, str]] = set()
    for name in sorted(old.keys() & new.keys()):
        pair = (old[name].family, new[name].family)
        if pair not in compared:
            compared.add(pair)
            fields = ", ".join(new[name].field_names)
            yield from _compare_family(source.families[pair[0]], target.families[pair[1]], fields)
    undeclared = Message("move.undeclared_cells", "undeclared cells")
    for name in sorted(source.families.keys() & target.families.keys()):
        if (name, name) not in compared:
            yield from _compare_family(source.families[name], target.families[name], undeclared)


def _compare_family(old: Family, new: Family, fields: str) -> Iterator[Finding]:
    """Yield what a family of the target drops of some fields that one of the source keeps."""
    for option in ("versions", "ttl_s", "min_versions"):
        here, there = getattr(old, option), getattr(new, option)
        if there < here:
            name = option.removesuffix("_s")
            what = Message(
                "move.keeps_less",
                "the target declares {value} for {fields} and others: cells beyond that are lost",
                value=_format_option(there),
                fields=fields,
            )
            allowed = Message(
                "move.as_in_source", "{value}, as in the source", value=_format_option(here)
            )
            remedy = Message(
                "move.keep_as_much",
                "Declare the {option} of the source, if the cells are still needed.",
                option=name,
            )
            yield Finding.from_mistake(
                Mistake(f"families.{new.name}.{name}", what, allowed, remedy), "warning"
            )


def _format_option(value: Any) -> str:
    if value is None:
        return "nothing"
    return "unlimited" if value == FOREVER_S else str(value).lower()
