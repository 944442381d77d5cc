"""How the row of one event becomes its cells, and which deletes take them away again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell, Kind, RowCells
from rowkey.errors import RowError, did_you_mean
from rowkey.rows.contract import Left

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rowkey.rows.contract import Slot
    from rowkey.rows.layout import Layout

_cell = tuple.__new__  # half the time of calling Cell
_ALONE, _PUT, _DELETE = Left.ALONE, Kind.PUT, Kind.DELETE_COLUMN


class EventWriting:
    """Writes events of one layout; compiled when it is made.

    Args:
        layout: where the fields live.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.key = layout.key
        self.fields = frozenset(layout.fields)
        self.opening = layout.opening
        self.stamp = layout.stamp
        self.half_keyed = _half_keyed(layout)
        self.families = tuple(dict.fromkeys(slot.family for slot in layout.slots))
        self.slots = [(slot.family, slot.qualifier, slot.writer()) for slot in layout.slots]

    def write(self, row: Mapping[str, Any], timestamp: int, salt: int | None) -> RowCells:
        """The row key and cells of one event; see `Layout.write`."""
        if not row.keys() <= self.fields:
            raise self._unknown(row)
        self.check_given(row.keys())
        key = self.key.encode(row, salt=salt)
        before = b"" if self.opening is None else self.opening.write(row)
        if self.stamp is not None:
            timestamp = self.stamp.of(row)
        cells = []
        for family, qualifier, write in self.slots:
            value = write(row)
            if value is None:
                deleted = (family, before + qualifier, timestamp, b"", _DELETE, None)
                cells.append(_cell(Cell, deleted))
            elif value is not _ALONE:
                put = (family, before + qualifier, timestamp, value, _PUT, None)
                cells.append(_cell(Cell, put))
        if not cells:
            raise self._empty()
        return RowCells(key, cells)

    def check_given(self, names: Collection[str]) -> None:
        """Refuse what would empty a packed cell that shares a field with the key.

        Such a field is given with every row, be it new or not, so that the cell is written anew.

        Args:
            names: the fields that are given.

        Raises:
            RowError: of such a cell nothing but fields of the key is given.
        """
        for slot, others in self.half_keyed:
            if others.isdisjoint(names):
                held = ", ".join(name for name in slot.names if name not in others)
                lost = ", ".join(name for name in slot.names if name in others)
                what = f"it holds {held} of the key, so it is written without {lost}"
                raise RowError(slot.title, what, remedy=f"Give {lost} too, or null for none.")

    def _unknown(self, row: Mapping[str, Any]) -> RowError:
        """The refusal of fields that the design does not have, all of them."""
        names = [str(name) for name in row if name not in self.fields]
        known = ", ".join(list(self.layout.fields)[:12])
        remedy = did_you_mean(names[0], self.layout.fields)
        what = "the design has no such field"
        if len(names) > 1:
            what = f"the design has no such fields: {', '.join(names[:12])}"
        return RowError(names[0], what, known, remedy)

    def _empty(self) -> RowError:
        """The refusal of a row that would write nothing."""
        stored = [name for slot in self.layout.slots for name in slot.names]
        what = "no field with a cell of its own is given, so nothing would be written"
        return RowError("row", what, f"one of {', '.join(stored[:12])}")

    def erase(self, row: Mapping[str, Any], timestamp: int, salt: int | None) -> RowCells:
        """The deletes of one event; see `Layout.erase`."""
        if not row.keys() <= self.fields:
            raise self._unknown(row)
        key = self.key.encode(row, salt=salt)
        is_one_version = self.stamp is not None and row.get(self.stamp.field.name) is not None
        if self.stamp is not None and is_one_version:
            timestamp = self.stamp.of(row)
        if self.opening is None:
            kind = Kind.DELETE_FAMILY_VERSION if is_one_version else Kind.DELETE_FAMILY
            return RowCells(key, [Cell(one, b"", timestamp, kind=kind) for one in self.families])
        kind = Kind.DELETE if is_one_version else Kind.DELETE_COLUMN
        before = self.opening.write(row)
        slots = self.layout.slots
        cells = [Cell(s.family, before + s.qualifier, timestamp, kind=kind) for s in slots]
        return RowCells(key, cells)

    def clears(self, row: Mapping[str, Any], timestamp: int) -> list[Cell]:
        """The deletes of the cells that the row says nothing of; see `Layout.clears`."""
        if not row.keys() <= self.fields:
            raise self._unknown(row)
        before = b"" if self.opening is None else self.opening.write(row)
        if self.stamp is not None:
            timestamp = self.stamp.of(row)
        return [
            Cell(family, before + qualifier, timestamp, kind=Kind.DELETE_COLUMN)
            for family, qualifier, write in self.slots
            if write(row) is Left.ALONE
        ]


def _half_keyed(layout: Layout) -> list[tuple[Slot, frozenset[str]]]:
    """The cells that identifying fields share with others, and these others."""
    shared = ((slot, frozenset(slot.names).difference(layout.identity)) for slot in layout.slots)
    return [(slot, others) for slot, others in shared if 0 < len(others) < len(slot.names)]
