"""A table as the HBase book describes it: a list of all that is stored, and definitions over it.

Written from the book's chapters on the data model (versions, deletes, time to live, minimum number
of versions, keeping deleted cells) and from what HBase answers; nothing is taken from the engines.
Everything is quadratic and meant to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rowkey.cells import LATEST, Cell, CellType, RowCells, build_sort_key
from rowkey.engines import NEWEST_CELLS, RegionRequestCounts, ScanRange
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.engines import CellCondition, CellSelection

FOREVER_S = 2**31 - 1


class FamilyCells:
    """The stored cells of one row and family at one time, and predicates on them.

    Args:
        cells: all of them, in any order.
        family: the family's attributes.
        now: the time in ms.
    """

    def __init__(self, cells: Sequence[Cell], family: Family, now: int) -> None:
        self.family, self.now = family, now
        self.cells = sorted((c for c in cells if not self.is_over(c)), key=build_sort_key)

    def is_over(self, cell: Cell) -> bool:
        """Return whether the cell's own time to live has ended, after timestamp + TTL."""
        return cell.ttl_ms is not None and cell.timestamp + cell.ttl_ms < self.now

    def is_living(self, cell: Cell) -> bool:
        """Return whether the family's time to live includes the cell: now - TTL is the oldest."""
        ttl = self.family.ttl_s
        return ttl == FOREVER_S or cell.timestamp >= self.now - 1000 * ttl

    def is_kept_at(self, cell: Cell, rank: int) -> bool:
        """Return whether the cell lives or is one of the minimum number of versions."""
        least = self.family.min_versions
        return self.is_living(cell) or (least > 0 and rank <= least)

    def list_seen(self, ask: CellSelection) -> list[Cell]:
        """Return the cells that a read returns."""
        return self.list_raw(ask) if ask.raw else self.list_visible(ask)

    def list_raw(self, ask: CellSelection) -> list[Cell]:
        """Return puts and deletes; a delete is no version and comes with the puts above it."""
        inside = [cell for cell in self.cells if is_in_range(cell, ask)]
        return [c for c in inside if count_versions_above(c, inside) <= ask.versions]

    def list_visible(self, ask: CellSelection) -> list[Cell]:
        """Return the living, unhidden puts in range, up to the versions asked and kept."""
        start, stop = ask.time_range
        past = self.family.keep_deleted != "FALSE"
        deletes = [
            cell
            for cell in self.cells
            if is_delete(cell) and start <= cell.timestamp and (cell.timestamp < stop or not past)
        ]
        puts = [
            cell
            for cell in self.cells
            if not is_delete(cell) and is_in_range(cell, ask) and not is_hidden(cell, deletes)
        ]
        named = bool(ask.columns and ask.columns.get(self.family.name))
        most = min(ask.versions, self.family.versions)
        return [
            put
            for put in puts
            if is_wanted(put, ask)
            and count_versions_above(put, puts) <= most
            and (
                self.is_kept_at(put, count_versions_above(put, puts))
                or self.is_last(put, puts, named)
            )
        ]

    def is_last(self, put: Cell, puts: list[Cell], named: bool) -> bool:
        """Return whether the cell is the one expired version that HBase adds for named columns."""
        if not named or not self.family.min_versions:
            return False
        newer = [c for c in puts if is_same_column(c, put) and c.timestamp > put.timestamp]
        return all(self.is_living(one) for one in newer) and len(newer) >= self.family.min_versions

    def list_compacted(self, delay: int = 0) -> list[Cell]:
        """Return the cells that a major compaction keeps; deletes stay for a delay of some ms."""
        keeps = {
            "FALSE": lambda delete: False,
            "TRUE": lambda delete: True,
            "TTL": self.is_living,
        }[self.family.keep_deleted]
        dropped = [cell for cell in self.cells if is_delete(cell) and not keeps(cell)]
        rest = [
            cell
            for cell in self.cells
            if (keeps(cell) if is_delete(cell) else not is_hidden(cell, dropped))
        ]
        young = [
            cell
            for cell in self.cells
            if is_delete(cell) and delay and self.now - cell.timestamp <= delay
        ]
        return [
            cell
            for cell in self.cells
            if (cell in young and (self.is_living(cell) or self.family.min_versions))
            or (
                cell in rest
                and count_versions_above(cell, rest) <= self.family.versions
                and self.is_kept_at(cell, count_versions_above(cell, rest))
            )
        ]


def is_delete(cell: Cell) -> bool:
    """Return whether the cell is a delete of any type."""
    return cell.cell_type != CellType.PUT


def is_same_column(one: Cell, other: Cell) -> bool:
    """Return whether both cells are in one column."""
    return one.qualifier == other.qualifier


def is_hiding(delete: Cell, put: Cell) -> bool:
    """Return whether the delete hides the put, in any order of writing."""
    if delete.cell_type == CellType.DELETE:
        return is_same_column(delete, put) and delete.timestamp == put.timestamp
    if delete.cell_type == CellType.DELETE_COLUMN:
        return is_same_column(delete, put) and delete.timestamp >= put.timestamp
    if delete.cell_type == CellType.DELETE_FAMILY_VERSION:
        return delete.timestamp == put.timestamp
    return delete.timestamp >= put.timestamp


def is_hidden(put: Cell, deletes: list[Cell]) -> bool:
    """Return whether some delete hides the put."""
    return any(is_hiding(delete, put) for delete in deletes)


def is_in_range(cell: Cell, ask: CellSelection) -> bool:
    """Return whether the cell's timestamp is in the half-open range of the selection."""
    return ask.time_range[0] <= cell.timestamp < ask.time_range[1]


def is_wanted(cell: Cell, ask: CellSelection) -> bool:
    """Return whether the cell's column is selected."""
    named = (ask.columns or {}).get(cell.family)
    first, last = ask.qualifier_range
    in_names = not named or cell.qualifier in named
    return in_names and cell.qualifier >= first and (last == b"" or cell.qualifier < last)


def count_versions_above(cell: Cell, cells: list[Cell]) -> int:
    """Return the number of puts of the cell's column from the newest down to the cell."""
    above = [
        c for c in cells if is_same_column(c, cell) and build_sort_key(c) <= build_sort_key(cell)
    ]
    return sum(not is_delete(c) for c in above)


class Book:
    """A table whose calls are named as a store's, so that the same steps can be taken on both.

    Args:
        families: its families.
        clock: gives now, in ms.
        splits: where its regions begin.
    """

    def __init__(
        self, families: Sequence[Family], clock: Callable[[], int], splits: Sequence[bytes] = ()
    ) -> None:
        self.families = {family.name: family for family in families}
        self.clock = clock
        self.splits = sorted(splits)
        self.stored: list[tuple[bytes, Cell]] = []
        self.written: list[bytes] = []
        self.read: list[bytes] = []

    def get_cells(self, row: bytes, family: str) -> FamilyCells:
        """Return the stored cells of a row and family."""
        cells = [cell for held, cell in self.stored if held == row and cell.family == family]
        return FamilyCells(cells, self.families[family], self.clock())

    def add(self, row: bytes, cell: Cell) -> None:
        """Store a cell; a cell with the same coordinates and type is replaced."""
        self.stored = [
            (held, old)
            for held, old in self.stored
            if held != row or build_sort_key(old) != build_sort_key(cell)
        ]
        self.stored.append((row, cell))

    def find_newest(self, row: bytes, family: str, qualifier: bytes, count: int = 1) -> list[Cell]:
        """Return the newest visible versions of a column."""
        ask = type(NEWEST_CELLS)(columns={family: (qualifier,)}, versions=count)
        return self.get_cells(row, family).list_visible(ask)

    def mutate(self, mutations: Sequence[RowCells]) -> None:
        """Store cells; a delete of the newest version finds its target before that."""
        for row, cells in mutations:
            now = self.clock()
            for cell in self.resolve_deletes(row, cells, now, now):
                self.add(row, cell)
            self.written.append(row)

    def resolve_deletes(self, row: bytes, cells: Sequence[Cell], now: int, puts: int) -> list[Cell]:
        """Return cells with timestamps: the n-th such delete of a column hides its n-th newest."""
        done: list[Cell] = []
        seen: list[tuple[str, bytes]] = []
        for cell in cells:
            moment = now if is_delete(cell) else puts
            if cell.cell_type == CellType.DELETE and cell.timestamp == LATEST:
                column = (cell.family, cell.qualifier)
                seen.append(column)
                rank = seen.count(column)
                versions = self.find_newest(row, *column, rank)
                if len(versions) == rank:
                    moment = versions[-1].timestamp
            done.append(cell._replace(timestamp=moment) if cell.timestamp == LATEST else cell)
        return done

    def increment(self, row: bytes, amounts: Sequence[tuple[str, bytes, int]]) -> list[Cell]:
        """Add to counters and return the sums."""
        sums = []
        for family, qualifier, amount in amounts:
            old = self.find_newest(row, family, qualifier)
            if old and len(old[0].value) != 8:
                raise InvalidArgument("amount", "no counter")
            before = int.from_bytes(old[0].value, "big") if old else 0
            sums.append((before + amount) % 2**64)
        values = [total.to_bytes(8, "big") for total in sums]
        columns = [(family, qualifier) for family, qualifier, _ in amounts]
        return self.change(row, columns, values)

    def append(self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]]) -> list[Cell]:
        """Append to cells and return the new values."""
        olds = [self.find_newest(row, family, qualifier) for family, qualifier, _ in pieces]
        values = [
            (old[0].value if old else b"") + piece[2]
            for old, piece in zip(olds, pieces, strict=True)
        ]
        return self.change(row, [(family, qualifier) for family, qualifier, _ in pieces], values)

    def change(
        self, row: bytes, columns: Sequence[tuple[str, bytes]], values: Sequence[bytes]
    ) -> list[Cell]:
        """Put values with a later timestamp than the current cell, and with its time to live."""
        cells = []
        for (family, qualifier), value in zip(columns, values, strict=True):
            moment, ttl = self.clock(), None
            for old in self.find_newest(row, family, qualifier):
                moment, ttl = max(moment, old.timestamp + 1), old.ttl_ms
            cells.append(Cell(family, qualifier, moment, value, ttl_ms=ttl))
        for cell in cells:
            self.add(row, cell)
        self.written.append(row)
        return cells

    def check_and_mutate(self, row: bytes, check: CellCondition, cells: Sequence[Cell]) -> bool:
        """Apply cells if the check holds."""
        old = self.find_newest(row, check.family, check.qualifier)
        value = old[0].value if old else None
        if not check.value:
            holds = (not value) == (check.operator == "=")
        elif value is None:
            holds = False
        else:
            signs = {"=": value == check.value, "!=": value != check.value}
            signs |= {"<": value < check.value, "<=": value <= check.value}
            signs |= {">": value > check.value, ">=": value >= check.value}
            holds = signs[check.operator]
        if holds:
            now = self.clock()
            puts = max(now, old[0].timestamp) if old else now
            for cell in self.resolve_deletes(row, cells, now, puts):
                self.add(row, cell)
            self.written.append(row)
        return holds

    def read_row(self, row: bytes, ask: CellSelection) -> RowCells:
        """Return the cells of a row that a read returns."""
        wanted = sorted(self.families if ask.columns is None else ask.columns)
        return RowCells(
            row, [cell for name in wanted for cell in self.get_cells(row, name).list_seen(ask)]
        )

    def get(self, rows: Sequence[bytes], ask: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        """Return some rows."""
        self.read += rows
        return [self.read_row(row, ask) for row in rows]

    def scan(
        self, spans: Sequence[ScanRange], ask: CellSelection = NEWEST_CELLS
    ) -> list[Iterator[RowCells]]:
        """Return the rows of some ranges."""
        return [iter(self.cut_rows(span, ask)) for span in spans]

    def cut_rows(self, span: ScanRange, ask: CellSelection) -> list[RowCells]:
        """Return the rows of a range, cut by the batch size."""
        keys = sorted({row for row, _ in self.stored}, reverse=ask.reverse)
        inside = [key for key in keys if key >= span.start and (key < span.stop or not span.stop)]
        rows = [row for row in (self.read_row(key, ask) for key in inside) if row.cells][
            : ask.limit
        ]
        self.read += [row.row for row in rows]
        return [
            RowCells(row, cells[start : start + (ask.batch or len(cells))])
            for row, cells in rows
            for start in range(0, len(cells), ask.batch or len(cells))
        ]

    def flush(self) -> None:
        """Do nothing, since the book has neither memory nor files."""

    def compact(self, *, major: bool = True) -> None:
        """Drop the cells that a major compaction drops."""
        if major:
            coordinates = {(row, cell.family) for row, cell in self.stored}
            self.stored = [
                (row, cell)
                for row, family in sorted(coordinates)
                for cell in self.get_cells(row, family).list_compacted()
            ]

    def snapshot(self) -> Book:
        """Return a copy of the table, whose reads count as reads of the table."""
        kept = Book(tuple(self.families.values()), self.clock, self.splits)
        kept.stored, kept.read = list(self.stored), self.read
        return kept

    def close(self) -> None:
        """Do nothing."""

    def alter_families(self, families: Sequence[Family]) -> None:
        """Replace the attributes of families, also for cells that are stored."""
        self.families |= {family.name: family for family in families}

    def split(self, at: bytes) -> None:
        """Add a region."""
        if at in self.splits or not at:
            raise InvalidArgument("at", "a region begins there")
        self.splits = sorted([*self.splits, at])

    def list_regions(self) -> list[RegionRequestCounts]:
        """Return the regions with the counts that they would have had from the start."""
        bounds = list(zip([b"", *self.splits], [*self.splits, b""], strict=True))

        def count(rows: list[bytes], start: bytes, stop: bytes) -> int:
            return sum(start <= row and (row < stop or not stop) for row in rows)

        return [
            RegionRequestCounts(
                start, stop, count(self.written, start, stop), count(self.read, start, stop)
            )
            for start, stop in bounds
        ]
