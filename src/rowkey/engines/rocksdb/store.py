"""What can be done with a table: reads and snapshots, changes of rows, care of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rowkey import forks
from rowkey.cells import (
    LATEST,
    Kind,
    RowCells,
    View,
    appended,
    check_amount,
    check_comparison,
    check_families,
    check_mutation,
    holds,
    incremented,
    stamped,
)
from rowkey.engines.asking import check_ask, check_columns, check_rows, make_views
from rowkey.engines.contract import Cursor, Reader, Store
from rowkey.engines.pairs.paging import stretch_pairs
from rowkey.engines.pairs.ranges import PairReader, open_pairs
from rowkey.engines.pairs.reading import row_cells
from rowkey.engines.pairs.source import EndCheck, FrozenPairs
from rowkey.engines.requests import ALL, Ask
from rowkey.engines.rocksdb.cursor import Cursors
from rowkey.engines.rocksdb.loading import load_blocks
from rowkey.engines.rocksdb.options import check_codecs
from rowkey.engines.rocksdb.purging import purge
from rowkey.engines.specs import check_attributes_of, check_splits
from rowkey.engines.territory import SplitLimits
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.cells import Cell, CellBlock, Family
    from rowkey.engines.counts import RegionCount
    from rowkey.engines.ordering.row_clock import RowClock
    from rowkey.engines.pairs.source import Source
    from rowkey.engines.requests import Check, Span, TableSpec
    from rowkey.engines.rocksdb.open_table import OpenTable
    from rowkey.errors import RowkeyError

C = TypeVar("C")


class RocksReader(Reader):
    """Gets and scans of a table, as it is or as it was.

    Args:
        table: the table.
        kept: its families as they were, for a snapshot.
    """

    def __init__(self, table: OpenTable, kept: Mapping[str, FrozenPairs] | None = None) -> None:
        self._table, self._kept, self._closed = table, kept, False
        self._described = None if kept is None else table.families
        self._whole: tuple[int, Mapping[str, Family], dict[str, View]] | None = None
        if kept is not None:
            with table.lock:
                table.readers.add(self)

    def _check_open(self) -> None:
        self._table.check_open()
        if self._closed:
            raise Refused("table", f"{self._table.name} is closed", "an open table")

    @property
    def _families(self) -> Mapping[str, Family]:
        """The families by which rows are judged: a snapshot's are those of its moment."""
        return self._table.families if self._described is None else self._described

    def _views(self, ask: Ask) -> dict[str, View]:
        self._check_open()
        check_ask(ask, self._families)
        return make_views(ask, self._families, self._table.clock())

    def _views_of_all(self) -> dict[str, View]:
        """The views of `ALL`, which gets within one millisecond share: a tenth of their time."""
        self._check_open()
        now, families = self._table.clock(), self._families
        known = self._whole
        if known is None or known[0] != now or known[1] is not families:
            self._whole = known = now, families, make_views(ALL, families, now)
        return known[2]

    def get(self, rows: Sequence[bytes], ask: Ask = ALL) -> list[RowCells]:
        views = self._views_of_all() if ask is ALL else self._views(ask)
        check_rows(rows)
        self._table.ledger.count_reads(rows)
        if self._kept is None and len(views) > 1:
            return [self._read_at_once(row, views) for row in rows]
        sources = self._kept or self._table.database.sources
        if len(views) == 1:  # nothing to be put together, row by row
            ((family, view),) = views.items()
            source = sources[family]
            return [RowCells(row, row_cells(source, family, row, view)) for row in rows]
        return [_read(row, sources, views) for row in rows]

    def _read_at_once(self, row: bytes, views: Mapping[str, View]) -> RowCells:
        """A row of several families, with no write between them."""
        with self._table.lock:
            return _read(row, self._table.database.sources, views)

    def scan(self, spans: Sequence[Span], ask: Ask = ALL) -> list[Cursor]:
        views = self._views(ask)
        with self._table.lock:
            self._check_open()
            sources: Mapping[str, Source] = self._kept or self._table.database.sources
            ends = {
                name: EndCheck(source)
                for name, source in sources.items()
                if name in views and not isinstance(source, FrozenPairs)
            }
            opened = [
                {
                    name: _open_range(sources[name], span, view, ask, ends.get(name))
                    for name, view in views.items()
                }
                for span in spans
            ]
            scan = Cursors(self._table.ledger, views, ask)
            cursors = scan.over(opened)
            self._table.readers.add(scan)
        return list(cursors)

    def close(self) -> None:
        if self._table.state == forks.INHERITED:
            self._table.check_open()
        self._closed = True
        for source in (self._kept or {}).values():
            source.close()

    def leak(self, error: RowkeyError) -> None:
        """In a forked child: raise an error from now on, and free nothing of the parent's."""
        del error  # the table raises it
        for source in (self._kept or {}).values():
            source.leak()


def _read(row: bytes, sources: Mapping[str, Source], views: Mapping[str, View]) -> RowCells:
    found: list[Cell] = []
    for family, view in views.items():
        found += row_cells(sources[family], family, row, view)
    return RowCells(row, found)


def _open_range(
    source: Source, span: Span, view: View, ask: Ask, end: EndCheck | None
) -> PairReader:
    """Return a reader of what is wanted of a range in one family."""
    if ask.qualifiers == (b"", b"") or ask.reverse:
        return open_pairs(source, span, end, reverse=ask.reverse)
    return PairReader(stretch_pairs(source, span, view))


class RocksStore(RocksReader, Store):
    """A table on disk."""

    @property
    def row_clock(self) -> RowClock:
        return self._table.row_clock

    @property
    def spec(self) -> TableSpec:
        """The table as it is: its regions may have split since it was made."""
        return self._table.spec

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        self._check_open()
        for mutation in mutations:
            check_mutation(mutation, self._table.families)
        with self._table.lock:
            now: int | None = None
            ready: list[RowCells] = []
            for mutation in mutations:
                if any(cell.timestamp == LATEST for cell in mutation.cells):
                    now = self._table.row_clock.now() if now is None else now
                    if ready and _depends_on_row(mutation.cells):
                        self._table.write(ready, sync=sync)
                        ready = []
                    ready.append(self._stamp(*mutation, now))
                else:
                    ready.append(mutation)
            if ready:
                self._table.write(ready, sync=sync)

    def _stamp(
        self, row: bytes, cells: Sequence[Cell], now: int, *, puts_ms: int | None = None
    ) -> RowCells:
        def newest(family: str, qualifier: bytes, count: int) -> list[int]:
            return [cell.timestamp for cell in self._versions(row, family, qualifier, count)]

        return RowCells(row, stamped(cells, now, newest, puts_ms=puts_ms))

    def _versions(
        self, row: bytes, family: str, qualifier: bytes, count: int = 1
    ) -> Sequence[Cell]:
        """Return up to so many versions of a column, as a read would see them now."""
        described, now = self._table.families[family], self._table.clock()
        view = View(described, now, versions=count, qualifiers=(qualifier,))
        return row_cells(self._table.database.sources[family], family, row, view)

    def load(self, blocks: Sequence[CellBlock]) -> None:
        self._check_open()
        load_blocks(self._table, blocks)

    def increment(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, after_ms: int = -1
    ) -> list[Cell]:
        for _, _, amount in amounts:
            check_amount(amount)
        return self._change(row, amounts, incremented, after_ms)

    def append(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, after_ms: int = -1
    ) -> list[Cell]:
        return self._change(row, pieces, appended, after_ms)

    def _change(
        self,
        row: bytes,
        changes: Sequence[tuple[str, bytes, C]],
        make: Callable[[str, bytes, C, Cell | None, int], Cell],
        after_ms: int,
    ) -> list[Cell]:
        """Put in place of some cells what is made of them."""
        self._check_open()
        columns = [(family, qualifier) for family, qualifier, _ in changes]
        check_columns(row, columns, self._table.families)
        with self._table.lock:
            at = max(self._table.row_clock.now(), after_ms + 1)
            cells = [
                make(family, qualifier, change, self._newest(row, family, qualifier), at)
                for family, qualifier, change in changes
            ]
            check_mutation(RowCells(row, cells), self._table.families)
            self._table.write([RowCells(row, cells)])
        return cells

    def _newest(self, row: bytes, family: str, qualifier: bytes) -> Cell | None:
        return next(iter(self._versions(row, family, qualifier)), None)

    def check_and_mutate(self, row: bytes, check: Check, cells: Sequence[Cell]) -> bool:
        self._check_open()
        check_mutation(RowCells(row, cells), self._table.families)
        check_families([check.family], self._table.families)
        check_comparison(check.operator, check.value)
        with self._table.lock:
            found = self._newest(row, check.family, check.qualifier)
            if not holds(check.operator, check.value, found):
                return False
            now = self._table.row_clock.now()
            seen = now if found is None else max(now, found.timestamp)
            self._table.write([self._stamp(row, cells, now, puts_ms=seen)])
            return True

    def regions(self) -> list[RegionCount]:
        self._check_open()
        with self._table.lock:
            readers = list(self._table.readers)
        for reader in readers:
            if isinstance(reader, Cursors):
                reader.settle()
        return self._table.ledger.regions()

    def split(self, at: bytes) -> None:
        self._check_open()
        with self._table.lock:
            check_splits(self._table.name, (at,))
            self._table.ledger.split(at)
            self._table.describe()

    def alter(self, families: Sequence[Family]) -> None:
        self._check_open()
        check_attributes_of(families, {})
        for family in families:
            check_codecs(family)
        with self._table.lock:
            self._table.alter(families)

    def annotate(self, attributes: Mapping[str, str]) -> None:
        self._check_open()
        SplitLimits.read(attributes)
        with self._table.lock:
            self._table.attributes = dict(attributes)
            self._table.describe()

    def flush(self) -> None:
        self._check_open()
        self._table.flush()

    def compact(self, *, major: bool = True) -> None:
        self._check_open()
        if major:
            purge(self._table)
        self._table.database.compact()

    def size(self) -> int:
        self._check_open()
        return self._table.database.size_bytes()

    def snapshot(self) -> Reader:
        self._check_open()
        with self._table.lock:
            return RocksReader(self._table, self._table.freeze())


def _depends_on_row(cells: Sequence[Cell]) -> bool:
    """Return whether what these cells do depends on what the row holds."""
    return any(cell.kind == Kind.DELETE and cell.timestamp == LATEST for cell in cells)
