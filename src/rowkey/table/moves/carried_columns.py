"""Which undeclared cells a move carries along with their rows, and why others stay behind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Self

from rowkey.design import Design
from rowkey.messages import Message
from rowkey.rows import Layout, UndeclaredCell

if TYPE_CHECKING:
    Column = tuple[str, bytes]
    """The family of a cell, and its qualifier without the prefix of its event."""


class StayReason(Enum):
    """Why a cell is in only one of the tables of a move."""

    ROW = Message("move.stays_row", "the design cannot read the row")
    EVENT = Message("move.stays_event", "the qualifier names none of the events that share the row")
    IDENTITY = Message(
        "move.stays_identity",
        "the row has no cell of a declared column, so its row key in the other table is not known",
    )
    FAMILY = Message("move.stays_family", "only one of the two designs has the family")
    COLUMN = Message("move.stays_column", "the other design declares the column")
    DELETES = Message(
        "move.stays_deletes", "deletes of rows would delete the cell in only one of the two tables"
    )
    ALONE = Message("move.stays_alone", "the other table does not have the cell")


@dataclass(frozen=True, slots=True)
class CarriedColumns:
    """Which columns that no design declares are the same in both tables of a move.

    An undeclared cell keeps its family, its name within the event, timestamp, value and type. What
    holds for a move holds for its way back: the order of the designs does not matter.

    Args:
        families: for each family that both designs have, why its undeclared cells stay; None if
            they are carried.
        declared: the columns that one of the designs declares.
        needs_declared_cell: whether a row key of one of the tables is known only from declared
            cells.
    """

    families: Mapping[str, StayReason | None]
    declared: frozenset[Column]
    needs_declared_cell: bool

    @classmethod
    def from_designs(cls, first: Design, second: Design) -> Self:
        """Return the columns that are carried between the tables of two designs."""
        layouts = [one.layout for one in (first, second)]
        # A replace of a row with a random salt deletes its other copies whole.
        has_other_rows = (
            layouts[0].has_shared_rows != layouts[1].has_shared_rows
            or first.key.is_salted
            or second.key.is_salted
        )
        used = [{slot.family for slot in layout.slots} for layout in layouts]
        families: dict[str, StayReason | None] = {}
        for name in first.families:
            if name in second.families:
                # A row's deletes cover the families of its fields, those of an event its columns.
                is_alike = layouts[0].has_shared_rows or (name in used[0]) == (name in used[1])
                families[name] = StayReason.DELETES if has_other_rows or not is_alike else None
        declared = frozenset(
            (slot.family, slot.qualifier) for layout in layouts for slot in layout.slots
        )
        return cls(families, declared, any(map(_needs_declared_cell, layouts)))

    @property
    def carried_families(self) -> frozenset[str]:
        """The families whose undeclared cells are carried."""
        return frozenset(name for name, reason in self.families.items() if reason is None)

    def find_stay_reason(self, family: str, name: bytes) -> StayReason | None:
        """Return why the undeclared cells of a column stay behind; None if they are carried."""
        if (family, name) in self.declared:
            return StayReason.COLUMN
        return self.families.get(family, StayReason.FAMILY)

    def has_column(self, family: str, name: bytes) -> bool:
        """Return whether the cells of a column are carried; a declared one is none of them."""
        return self.find_stay_reason(family, name) is None

    def find_cell_stay_reason(
        self, cell: UndeclaredCell, event_prefixes: Collection[bytes]
    ) -> StayReason | None:
        """Return why an undeclared cell stays behind; None if it is carried.

        Args:
            event_prefixes: the prefixes of those events of its row that have declared cells.
        """
        if cell.event_prefix is None:
            return StayReason.EVENT
        if self.needs_declared_cell and cell.event_prefix not in event_prefixes:
            return StayReason.IDENTITY
        return self.find_stay_reason(*cell.column)


def _needs_declared_cell(layout: Layout) -> bool:
    """Return whether a field of an event's identity is stored in nothing but a declared cell."""
    prefix = layout.qualifier_prefix
    known = () if prefix is None else prefix.field_names
    return not {*layout.lossy_key_fields} <= {*known}
