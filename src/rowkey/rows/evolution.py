"""Which changes of a design leave the rows that are stored readable and writable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes
from rowkey.keys import Change

if TYPE_CHECKING:
    from rowkey.errors import Mistake
    from rowkey.keys import Field
    from rowkey.rows.contract import Slot
    from rowkey.rows.layout import Layout

MOVE = "Move the rows to a table of the new design."


@dataclass(frozen=True, slots=True)
class Home:
    """Where a field lives beside the key.

    Args:
        place: the cell, the opening of the qualifier, or the timestamp, in words.
        number: its place among the fields that share it.
        format: what decides its bytes there beside its type.
        slot: its cell, if it lives in one.
    """

    place: str = ""
    number: int = 0
    format: str = ""
    slot: Slot | None = None

    @property
    def words(self) -> str:
        """The home as a sentence names it."""
        return self.place or "the key alone"

    def is_same(self, other: Home) -> bool:
        """Whether bytes stored in one home are looked for in the other."""
        return (self.place, self.number, self.format) == (other.place, other.number, other.format)


def mistakes_between(old: Layout, new: Layout) -> list[Mistake]:
    """What keeps stored rows from being read and written anew; see `Layout.evolves`."""
    found = Mistakes()
    if old.key.evolves(new.key) is Change.BREAKS:
        what = f"{new.key} gives stored rows other keys, or lacks some of their values"
        found.add("key", what, str(old.key), MOVE)
    homes, others = _homes(old), _homes(new)
    for name, field in old.fields.items():
        if name not in new.fields:
            found.add(_path(name), "stored rows have it, the design does not", remedy=MOVE)
        elif not homes[name].is_same(others[name]):
            what = f"it moves from {homes[name].words} to {others[name].words}"
            found.add(_path(name), what, homes[name].words, MOVE)
        else:
            _check_field(field, new.fields[name], homes[name], found)
    for name, field in new.fields.items():
        if name not in old.fields:
            _check_added(field, others[name], found)
    _check_marker(old, new, found)
    return found.found


def _path(name: str) -> str:
    return f"fields.{name}"


def _check_field(old: Field, new: Field, home: Home, mistakes: Mistakes) -> None:
    """Note what is wrong with a field that stays where it is."""
    if not home.place:
        return  # the key tells
    path = _path(old.name)
    change = old.type.evolves(new.type)
    is_alone = home.slot is not None and len(home.slot.fields) == 1
    if is_alone and old.type.own().layout != new.type.own().layout:
        change = Change.BREAKS
    if home.slot is None and old.type.codec("", ()).layout != new.type.codec("", ()).layout:
        change = Change.BREAKS
    if change is Change.BREAKS:
        what = f"stored values are of {old.type!r}, not of {new.type!r}"
        mistakes.add(path, what, "the same type, or one that holds more", MOVE)
    if old.nullable and not new.nullable and home.slot is not None:
        mistakes.add(f"{path}.nullable", "stored rows may lack it", "true")
    if old.nullable != new.nullable and home.slot is None:
        what = "its encoding has a marker only where it may be null"
        mistakes.add(f"{path}.nullable", what, str(old.nullable).lower(), MOVE)


def _check_added(field: Field, home: Home, mistakes: Mistakes) -> None:
    """Note what is wrong with a field that stored rows do not have."""
    path = _path(field.name)
    if not home.place:
        return  # the key tells
    if home.slot is None:
        mistakes.add(path, f"stored rows do not have it in {home.words}", "a column", MOVE)
    elif not field.nullable:
        remedy = "Declare it nullable."
        mistakes.add(path, "stored rows lack it", "a field that may be null", remedy)


def _check_marker(old: Layout, new: Layout, mistakes: Mistakes) -> None:
    """Note that the cell which marks a row would be looked for elsewhere."""
    before, after = (_marks(layout) for layout in (old, new))
    if before and after and before != after:
        what = f"the cell that marks a row moves from {before[0]} to {after[0]}"
        mistakes.add("families", what, f"{old.family} first")


def _marks(layout: Layout) -> list[str]:
    return [slot.title for slot in layout.slots if not slot.fields]


def _homes(layout: Layout) -> dict[str, Home]:
    """Where each field lives."""
    found = dict.fromkeys(layout.fields, Home())
    for slot in layout.slots:
        for number, name in enumerate(slot.names):
            found[name] = Home(slot.title, number, slot.kind, slot)
    if layout.opening is not None:
        for number, field in enumerate(layout.opening.fields):
            found[field.name] = Home("the qualifier", number)
    if layout.stamp is not None:
        found[layout.stamp.field.name] = Home("the timestamp")
    return found
