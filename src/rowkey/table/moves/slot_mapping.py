"""How each cell of the target of a move follows from cells of the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import DesignRefused
from rowkey.rows import CellSlot, Layout

if TYPE_CHECKING:
    Column = tuple[str, bytes]
    """The family and the constant part of the qualifier of a cell."""


@dataclass(frozen=True, slots=True)
class RebuiltSlot:
    """A cell of the target whose fields lie in other groups in the source.

    Args:
        sources: the columns of the source's cells from which its values come.
        value_fields: its fields that are read from these cells.
        identity_fields: its fields that identify the event.
    """

    slot: CellSlot
    sources: tuple[Column, ...]
    value_fields: frozenset[str]
    identity_fields: tuple[str, ...]


@dataclass(frozen=True)
class SlotMapping:
    """How the cells of an event in the target follow from those in the source.

    Args:
        mapped: the column of the target for each column of the source with the same bytes.
        derived: cells of the target with no field, or only with fields that identify the event.
        rebuilt: cells of the target that pack or unpack fields of the source.
    """

    mapped: Mapping[Column, Column]
    derived: tuple[CellSlot, ...]
    rebuilt: tuple[RebuiltSlot, ...]
    source_slots: Mapping[Column, CellSlot]

    @classmethod
    def from_layouts(cls, source: Layout, target: Layout) -> SlotMapping:
        """Return the mapping between two layouts of the same fields.

        Raises:
            DesignRefused: they differ in their fields, in those that identify a row, or in the
                field that is the cell timestamp.
        """
        _check_fields(source, target)
        identity = frozenset(target.identity_fields)
        target_lossy = frozenset(target.lossy_key_fields)
        slots = {(slot.family, slot.qualifier): slot for slot in source.slots}
        mapped: dict[Column, Column] = {}
        derived, rebuilt = [], []
        for slot in target.slots:
            same = next((at for at, one in slots.items() if one.has_same_bytes(slot)), None)
            # An increment of a new row leaves out fields that the source's key has.
            is_needed = target_lossy.intersection(slot.field_names) - set(source.lossy_key_fields)
            if same is not None and not (is_needed and identity.issuperset(slot.field_names)):
                mapped[same] = (slot.family, slot.qualifier)
            elif identity.issuperset(slot.field_names):
                derived.append(slot)
            else:
                rebuilt.append(_build_rebuilt_slot(slot, slots, identity))
        return cls(mapped, tuple(derived), tuple(rebuilt), slots)


def _build_rebuilt_slot(
    slot: CellSlot, slots: Mapping[Column, CellSlot], identity: frozenset[str]
) -> RebuiltSlot:
    """Return a cell of the target with the cells of the source that have its values."""
    values = frozenset(slot.field_names) - identity
    identity_fields = tuple(name for name in slot.field_names if name in identity)
    # A cell with a field of the identity exists as long as the event does.
    sources = (
        at for at, one in slots.items() if identity_fields or not values.isdisjoint(one.field_names)
    )
    return RebuiltSlot(slot, tuple(sources), values, identity_fields)


def _check_fields(source: Layout, target: Layout) -> None:
    """Raise unless two layouts have the same fields, identity and cell timestamp."""
    differing = {name: repr(field.type) for name, field in source.fields.items()}.items() ^ {
        name: repr(field.type) for name, field in target.fields.items()
    }.items()
    if differing:
        what = f"the two designs declare {', '.join(sorted({name for name, _ in differing}))} "
        remedy = "Declare the same fields in both designs."
        raise DesignRefused("fields", f"{what}differently", remedy=remedy)
    if set(source.identity_fields) != set(target.identity_fields):
        what = (
            f"rows are identified by {', '.join(source.identity_fields)} in the source, but by "
            f"{', '.join(target.identity_fields)} in the target"
        )
        raise DesignRefused("key", what, remedy="Use the same fields in the key or the qualifier.")
    stamps = [
        None if one.cell_timestamp is None else one.cell_timestamp.field.name
        for one in (source, target)
    ]
    if stamps[0] != stamps[1]:
        what = f"the cell timestamp is {stamps[0]} in the source, but {stamps[1]} in the target"
        raise DesignRefused("fields", what, remedy="Store the same field as the cell timestamp.")
