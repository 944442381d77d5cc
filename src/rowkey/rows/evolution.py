"""Changes of a design that keep stored rows readable and writable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes
from rowkey.keys import Compatibility

if TYPE_CHECKING:
    from rowkey.errors import Mistake
    from rowkey.keys import Field
    from rowkey.rows.layout import Layout
    from rowkey.rows.placement_interface import CellSlot

MOVE_REMEDY = "Move the rows to a table of the new design."


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """Where a field is stored: in the key, the qualifier, the timestamp or a cell.

    Args:
        location: the cell, the opening of the qualifier, or the timestamp, in words.
        index: its place among the fields that share it.
        encoding_name: what decides its bytes there beside its type.
        slot: its cell, if it lives in one.
    """

    location: str = ""
    index: int = 0
    encoding_name: str = ""
    slot: CellSlot | None = None

    @property
    def description(self) -> str:
        """The location in words, for a message."""
        return self.location or "the key alone"

    def is_same_location(self, other: FieldLocation) -> bool:
        """Return whether both locations name the same bytes of a row."""
        return (self.location, self.index, self.encoding_name) == (
            other.location,
            other.index,
            other.encoding_name,
        )


def find_incompatibilities(old: Layout, new: Layout) -> list[Mistake]:
    """Return the changes that would break stored rows; see `Layout.find_incompatibilities`."""
    found = Mistakes()
    if old.key.check_compatibility(new.key) is Compatibility.BREAKS:
        what = f"{new.key} gives stored rows other keys, or lacks some of their values"
        found.add("key", what, str(old.key), MOVE_REMEDY)
    homes, others = _locate_fields(old), _locate_fields(new)
    for name, field in old.fields.items():
        if name not in new.fields:
            found.add(
                _format_path(name), "stored rows have it, the design does not", remedy=MOVE_REMEDY
            )
        elif not homes[name].is_same_location(others[name]):
            what = f"it moves from {homes[name].description} to {others[name].description}"
            found.add(_format_path(name), what, homes[name].description, MOVE_REMEDY)
        else:
            _check_field(field, new.fields[name], homes[name], found)
    for name, field in new.fields.items():
        if name not in old.fields:
            _check_added_field(field, others[name], found)
    _check_marker(old, new, found)
    return found.mistakes


def _format_path(name: str) -> str:
    return f"fields.{name}"


def _check_field(old: Field, new: Field, location: FieldLocation, mistakes: Mistakes) -> None:
    """Add mistakes of a field that both designs have."""
    if not location.location:
        return  # the key tells
    path = _format_path(old.name)
    change = old.type.check_compatibility(new.type)
    is_alone = location.slot is not None and len(location.slot.fields) == 1
    if (
        is_alone
        and old.type.build_plain_codec().byte_layout != new.type.build_plain_codec().byte_layout
    ):
        change = Compatibility.BREAKS
    if (
        location.slot is None
        and old.type.build_codec("", ()).byte_layout != new.type.build_codec("", ()).byte_layout
    ):
        change = Compatibility.BREAKS
    if change is Compatibility.BREAKS:
        what = f"stored values are of {old.type!r}, not of {new.type!r}"
        mistakes.add(path, what, "the same type, or one that holds more", MOVE_REMEDY)
    if old.nullable and not new.nullable and location.slot is not None:
        mistakes.add(f"{path}.nullable", "stored rows may lack it", "true")
    if old.nullable != new.nullable and location.slot is None:
        what = "its encoding has a marker only where it may be null"
        mistakes.add(f"{path}.nullable", what, str(old.nullable).lower(), MOVE_REMEDY)


def _check_added_field(field: Field, location: FieldLocation, mistakes: Mistakes) -> None:
    """Add mistakes of a field that only the new design has."""
    path = _format_path(field.name)
    if not location.location:
        return  # the key tells
    if location.slot is None:
        mistakes.add(
            path, f"stored rows do not have it in {location.description}", "a column", MOVE_REMEDY
        )
    elif not field.nullable:
        remedy = "Declare it nullable."
        mistakes.add(path, "stored rows lack it", "a field that may be null", remedy)


def _check_marker(old: Layout, new: Layout, mistakes: Mistakes) -> None:
    """Add a mistake if the new design stores the marker of a row in another cell."""
    before, after = (_list_marker_titles(layout) for layout in (old, new))
    if before and after and before != after:
        what = f"the cell that marks a row moves from {before[0]} to {after[0]}"
        mistakes.add("families", what, f"{old.family} first")


def _list_marker_titles(layout: Layout) -> list[str]:
    """Return the titles of the cells that show that a row exists."""
    return [slot.title for slot in layout.slots if not slot.fields]


def _locate_fields(layout: Layout) -> dict[str, FieldLocation]:
    """Return the location of each field."""
    found = dict.fromkeys(layout.fields, FieldLocation())
    for slot in layout.slots:
        for number, name in enumerate(slot.field_names):
            found[name] = FieldLocation(slot.title, number, slot.encoding_name, slot)
    if layout.qualifier_prefix is not None:
        for number, field in enumerate(layout.qualifier_prefix.fields):
            found[field.name] = FieldLocation("the qualifier", number)
    if layout.cell_timestamp is not None:
        found[layout.cell_timestamp.field.name] = FieldLocation("the timestamp")
    return found
