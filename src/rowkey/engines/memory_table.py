"""A table in dictionaries and lists: its rows at one moment, and the state its stores share."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rowkey import fork_safety
from rowkey.cells import CELL_OVERHEAD_BYTES, Cell, FamilyView, RowCells
from rowkey.engines.embedded_store import EmbeddedTable
from rowkey.engines.region_tracker import RegionTracker, find_middle_row
from rowkey.engines.requests import TableSpec

if TYPE_CHECKING:
    SortKey = tuple[bytes, int, int]


class SortedCells:
    """The cells of one row and family in HBase's order; copied before each change."""

    __slots__ = ("cells", "keys")

    def __init__(self, keys: Iterable[SortKey] = (), cells: Iterable[Cell] = ()) -> None:
        self.keys, self.cells = list(keys), list(cells)


class SortedRows:
    """The rows of a table at one moment, sorted by their keys."""

    def __init__(self, keys: list[bytes], rows: dict[bytes, Mapping[str, SortedCells]]) -> None:
        self.keys, self.rows = keys, rows

    def copy(self) -> SortedRows:
        """Return a copy, so that changes of one leave the other as it is."""
        return SortedRows(self.keys.copy(), self.rows.copy())

    def read_row(self, row: bytes, views: Mapping[str, FamilyView]) -> RowCells:
        """Return the cells of a row that are visible in the given family views."""
        families = self.rows.get(row, {})
        cells = [
            cell
            for name, view in views.items()
            if name in families
            for cell in view.select_visible(families[name].cells)
        ]
        return RowCells(row, cells)

    def iterate_keys(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[bytes]:
        """Return an iterator over the row keys of a range, ascending or descending."""
        first = bisect_left(self.keys, start)
        end = bisect_left(self.keys, stop) if stop else len(self.keys)
        indexes = range(first, end)
        return (self.keys[index] for index in (reversed(indexes) if reverse else indexes))

    def put_cells(self, row: bytes, cells: Iterable[Cell]) -> int:
        """Add cells to a row, replace cells with equal coordinates, and return the bytes added."""
        size, families, copied = 0, dict(self.rows.get(row, ())), set()
        if not families:
            insort(self.keys, row)
        for cell in cells:
            family, qualifier, timestamp, value, cell_type, _ = cell
            if family not in copied:
                copied.add(family)
                previous = families.get(family)
                families[family] = (
                    SortedCells(previous.keys, previous.cells) if previous else SortedCells()
                )
            stored = families[family]
            sort_key = (qualifier, -timestamp, -cell_type)
            start = bisect_left(stored.keys, sort_key)
            stop = start + (stored.keys[start : start + 1] == [sort_key])
            stored.keys[start:stop] = [sort_key]
            stored.cells[start:stop] = [cell]
            size += CELL_OVERHEAD_BYTES + len(row) + len(family) + len(qualifier) + len(value)
        self.rows[row] = families
        return size

    def replace_row(self, row: bytes, cells_by_family: Mapping[str, Iterable[Cell]]) -> None:
        """Replace all cells of a row; a row without cells is removed."""
        self._remove_row(row)
        cells = [cell for family_cells in cells_by_family.values() for cell in family_cells]
        if cells:
            self.put_cells(row, cells)

    def _remove_row(self, row: bytes) -> None:
        """Remove a row that exists."""
        del self.rows[row]
        del self.keys[bisect_left(self.keys, row)]

    def measure_row_bytes(self, row: bytes) -> int:
        """Return the bytes of all cells of a row, computed as in HBase."""
        return sum(
            CELL_OVERHEAD_BYTES + len(row) + len(name) + len(cell.qualifier) + len(cell.value)
            for name, stored in self.rows[row].items()
            for cell in stored.cells
        )


class MemoryTable(EmbeddedTable):
    """A table in memory, shared by all stores that have it open."""

    def __init__(self, spec: TableSpec, clock: Callable[[], int]) -> None:
        self._rows = SortedRows([], {})
        self._is_frozen = False
        super().__init__(spec, RegionTracker(spec.splits), clock)

    def reset_in_child(self) -> None:
        """Make every use raise Closed in a forked child process."""
        self.state = fork_safety.STATE_INHERITED

    @property
    def current_rows(self) -> SortedRows:
        """Return the current rows; the caller must hold the table's lock."""
        return self._rows

    def freeze_rows(self) -> SortedRows:
        """Return the current rows for a reader, and make the next change work on a copy."""
        self._is_frozen = True
        return self._rows

    def get_writable_rows(self) -> SortedRows:
        """Return the rows for a change, copied first if a reader uses them."""
        if self._is_frozen:
            self._rows, self._is_frozen = self._rows.copy(), False
        return self._rows

    def read_cells(self, row: bytes, family: str, view: FamilyView) -> Sequence[Cell]:
        return self._rows.read_row(row, {family: view}).cells

    def write_rows(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Put the cells of the mutations, count the writes, and split large regions."""
        del sync
        writable, rows, sizes = self.get_writable_rows(), [], []
        for row, cells in mutations:
            rows.append(row)
            sizes.append(writable.put_cells(row, cells))
        self.region_tracker.count_writes(rows, sizes)
        self.region_tracker.split_overfull_regions(self.attributes, self._find_middle)

    def store_description(self) -> None:
        """Do nothing: a table in memory is not stored."""

    def _find_middle(self, start: bytes, stop: bytes) -> bytes | None:
        """Return the row at the middle of a region's bytes; None if it cannot be split there."""
        keys = list(self._rows.iterate_keys(start, stop))
        return find_middle_row(keys, map(self._rows.measure_row_bytes, keys))
