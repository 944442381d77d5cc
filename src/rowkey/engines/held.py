"""A table held in dictionaries and lists: its rows at one moment, and what is shared of it."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import accumulate
from threading import RLock
from typing import TYPE_CHECKING

from rowkey import forks
from rowkey.cells import Cell, RowCells, cell_bytes, in_order
from rowkey.engines.ordering.row_clock import TableClock
from rowkey.engines.territory import Territory
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import View
    from rowkey.engines.requests import TableSpec

    Families = Mapping[str, Sequence[Cell]]
    """The cells of one row by family, each in their order; never changed, only replaced."""


class Picture:
    """The rows of a table at one moment."""

    def __init__(self, keys: list[bytes], rows: dict[bytes, Families]) -> None:
        self.keys, self.rows = keys, rows

    def copy(self) -> Picture:
        """The same rows, to be changed apart."""
        return Picture(self.keys.copy(), self.rows.copy())

    def read(self, row: bytes, views: Mapping[str, View]) -> RowCells:
        """What is seen of one row."""
        families = self.rows.get(row, {})
        cells = [
            cell
            for name, view in views.items()
            if name in families
            for cell in view.sees(families[name])
        ]
        return RowCells(row, cells)

    def between(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[bytes]:
        """The keys of a range, in order."""
        first = bisect_left(self.keys, start)
        behind = bisect_left(self.keys, stop) if stop else len(self.keys)
        places = range(first, behind)
        return (self.keys[place] for place in (reversed(places) if reverse else places))

    def replace(self, row: bytes, families: Families) -> None:
        """Give a row other cells; none removes it."""
        if not any(families.values()):
            if self.rows.pop(row, None) is not None:
                del self.keys[bisect_left(self.keys, row)]
            return
        if row not in self.rows:
            insort(self.keys, row)
        self.rows[row] = families

    def put(self, row: bytes, cells: Iterable[Cell]) -> None:
        """Add cells to a row; one of the same coordinates is replaced."""
        families = {name: list(held) for name, held in self.rows.get(row, {}).items()}
        for cell in cells:
            held = families.setdefault(cell.family, [])
            place = bisect_left(held, in_order(cell), key=in_order)
            same = place < len(held) and in_order(held[place]) == in_order(cell)
            held[place : place + same] = [cell]
        self.replace(row, families)


class HeldTable:
    """What all who have a table open share."""

    def __init__(self, spec: TableSpec, clock: Callable[[], int]) -> None:
        self.name = spec.name
        self.families = {family.name: family for family in spec.families}
        self.attributes = dict(spec.attributes)
        self.territory = Territory(spec.splits)
        self.lock = RLock()
        self.row_clock = TableClock(clock, self.lock, name=spec.name)
        self.state = "open"
        self._picture = Picture([], {})
        self._is_shown = False
        forks.register(self)

    def check_open(self) -> None:
        """Raise unless it can be used.

        Raises:
            Refused: it was dropped, or opened before this process was forked.
        """
        if self.state == forks.INHERITED:
            raise forks.inherited_error(self.name)
        if self.state != "open":
            raise Refused("table", f"{self.name} is {self.state}", "an open table")

    def reset_in_child(self) -> None:
        """In a forked child: refuse everything from now on; the parent has the table."""
        self.state = forks.INHERITED

    @property
    def now(self) -> Picture:
        """The rows as they are, to be looked at under the lock."""
        return self._picture

    def kept(self) -> Picture:
        """The rows as they are, for a reader who keeps them: the next change is made to a copy."""
        self._is_shown = True
        return self._picture

    def changing(self) -> Picture:
        """The rows to be changed, which no reader keeps."""
        if self._is_shown:
            self._picture, self._is_shown = self._picture.copy(), False
        return self._picture

    def write(self, written: Sequence[RowCells]) -> None:
        """Put stamped cells, count each piece as one write, and split what has grown too large."""
        picture = self.changing()
        for row, cells in written:
            picture.put(row, cells)
        self.territory.count_writes([row for row, _ in written], [_size(one) for one in written])
        for start, stop in self.territory.overfull(self.attributes):
            middle = self._middle(start, stop)
            if middle is None:
                self.territory.postpone(start)
            else:
                self.territory.split(middle)

    def _middle(self, start: bytes, stop: bytes) -> bytes | None:
        """The row at the middle of a region's bytes, unless the region begins with it."""
        keys = list(self._picture.between(start, stop))
        sizes = [
            sum(_size(RowCells(key, cells)) for cells in self._picture.rows[key].values())
            for key in keys
        ]
        sums = list(accumulate(sizes))
        place = bisect_left(sums, sums[-1] / 2) if sums else 0
        return keys[place] if place else None


def _size(row: RowCells) -> int:
    return sum(
        cell_bytes(len(row.row), len(cell.family), len(cell.qualifier), len(cell.value))
        for cell in row.cells
    )
