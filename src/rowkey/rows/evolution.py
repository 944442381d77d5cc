"""Find the changes of a design that would make stored rows unreadable."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.errors import Mistake, Mistakes
from rowkey.keys import Compatibility, Field
from rowkey.rows.layout import Layout
from rowkey.rows.placement_interface import CellSlot

COPY_REMEDY = "Restore the old declaration, or copy the rows to a new table with the new design."
MOVE_REMEDY = "Restore the old declaration, or move the rows to the new design: rowkey move plan."


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """Where a field is stored: in the key, the qualifier, the timestamp or a cell.

    Args:
        location: the cell, the qualifier or the timestamp, in words; empty for the key alone.
        index: its index among the fields that share the location.
        encoding_name: what decides its bytes there besides its type.
        slot: its cell, if it is stored in one.
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
    """Return the changes of a layout that make rows stored under the old one unreadable.

    Safe changes are: new nullable columns, new fields at the end of a packed cell, new choices at
    the end of their list, and wider types.
    """
    mistakes = Mistakes()
    if old.key.check_compatibility(new.key) is Compatibility.BREAKS:
        what = f"the key {new.key} gives stored rows other row keys, or loses some of their values"
        mistakes.add("key", what, str(old.key), MOVE_REMEDY)
    old_locations, new_locations = _locate_fields(old), _locate_fields(new)
    for name, field in old.fields.items():
        if name not in new.fields:
            what = "stored rows have this field, but the design does not"
            mistakes.add(_format_path(name), what, "a declaration of this field", COPY_REMEDY)
        elif not old_locations[name].is_same_location(new_locations[name]):
            old_place, new_place = old_locations[name].description, new_locations[name].description
            what = (
                f"the field moves from {old_place} to {new_place}, but stored rows have its value "
                f"in {old_place}"
            )
            if old_place == new_place:
                what = (
                    f"the position or format of the field within {old_place} differs from that in "
                    "stored rows"
                )
            mistakes.add(_format_path(name), what, old_place, MOVE_REMEDY)
        else:
            _check_field(field, new.fields[name], old_locations[name], mistakes)
    for name, field in new.fields.items():
        if name not in old.fields:
            _check_added_field(field, new_locations[name], mistakes)
    _check_marker(old, new, mistakes)
    return mistakes.mistakes


def _format_path(name: str) -> str:
    return f"fields.{name}"


def _check_field(old: Field, new: Field, location: FieldLocation, mistakes: Mistakes) -> None:
    """Note how a changed field would make stored rows unreadable."""
    if not location.location:
        return  # the comparison of the keys covers it
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
        what = f"stored values have the type {old.type!r}, not {new.type!r}"
        mistakes.add(path, what, "the same type, or a wider one", COPY_REMEDY)
    if old.nullable and not new.nullable and location.slot is not None:
        what = "stored rows may have no value for this field"
        mistakes.add(f"{path}.nullable", what, "true", "Declare the field nullable again.")
    if old.nullable != new.nullable and location.slot is None:
        what = (
            "nullable adds a marker byte before the value, and stored rows were written with "
            f"nullable = {str(old.nullable).lower()}"
        )
        mistakes.add(f"{path}.nullable", what, str(old.nullable).lower(), MOVE_REMEDY)


def _check_added_field(field: Field, location: FieldLocation, mistakes: Mistakes) -> None:
    """Note how a field that only the new design has would make stored rows unreadable."""
    path = _format_path(field.name)
    if not location.location:
        return  # the comparison of the keys covers it
    if location.slot is None:
        what = f"stored rows do not have the new field in {location.description}"
        remedy = "Store the field in a column, or copy the rows to a new table with the new design."
        mistakes.add(path, what, "a column", remedy)
    elif not field.nullable:
        what = "stored rows have no value for this new field"
        mistakes.add(path, what, "a nullable field", "Declare the field nullable.")


def _check_marker(old: Layout, new: Layout, mistakes: Mistakes) -> None:
    """Note if the new design stores the empty cell that every row has in another column."""
    before, after = (_list_marker_titles(layout) for layout in (old, new))
    if before and after and before != after:
        what = f"the empty cell that marks each row moves from {before[0]} to {after[0]}"
        remedy = f"Declare the family {old.family} first."
        mistakes.add("families", what, f"{old.family} as the first family", remedy)


def _list_marker_titles(layout: Layout) -> list[str]:
    """Return the names of the empty cells that only show that a row exists."""
    return [slot.title for slot in layout.slots if not slot.fields]


def _locate_fields(layout: Layout) -> dict[str, FieldLocation]:
    """Return where a layout stores each field, by the field's name."""
    locations = dict.fromkeys(layout.fields, FieldLocation())
    for slot in layout.slots:
        for number, name in enumerate(slot.field_names):
            locations[name] = FieldLocation(slot.title, number, slot.encoding_name, slot)
    if layout.qualifier_prefix is not None:
        for number, field in enumerate(layout.qualifier_prefix.fields):
            locations[field.name] = FieldLocation("the qualifier", number)
    if layout.cell_timestamp is not None:
        locations[layout.cell_timestamp.field.name] = FieldLocation("the timestamp")
    return locations
