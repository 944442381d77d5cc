"""A table of a cluster under the contract of engines."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING
from weakref import WeakSet

from rowkey.cells import (
    RowCells,
    check_amount,
    check_comparison,
    check_families,
    check_mutation,
)
from rowkey.engines.asking import check_ask, check_columns, check_rows
from rowkey.engines.contract import Cursor, Reader, Store
from rowkey.engines.counts import OpenRegion, RegionCount
from rowkey.engines.hbase.asking import read_of, scan_of
from rowkey.engines.hbase.cursor import EmptyCursor, HBaseCursor
from rowkey.engines.requests import ALL, Span, TableSpec
from rowkey.engines.specs import check_attributes_of, check_splits
from rowkey.engines.territory import SplitLimits
from rowkey.errors import Refused, Unsupported
from rowkey.hbase import AskedWrongly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell, CellBlock, Family
    from rowkey.engines.ordering.row_clock import RowClock
    from rowkey.engines.requests import Ask, Check
    from rowkey.hbase import Client, Described, Scan


class HBaseReader(Reader):
    """What can be read of one table of a cluster.

    Args:
        client: speaks to the cluster.
        name: the table.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._table = client.table(name)
        described = client.admin.describe(name)
        self._families: dict[str, Family] = {one.name: one for one in described.families}
        self._cursors: WeakSet[HBaseCursor] = WeakSet()
        self._closed = False

    def _check(self, ask: Ask) -> None:
        self._require_open()
        check_ask(ask, self._known(ask.columns or ()))

    def _known(self, names: Iterable[str]) -> Mapping[str, Family]:
        """The families, asked for again if one is named that was not there: others may add one."""
        if not self._families.keys() >= set(names):
            self._look()
        return self._families

    def _names(self, again: bool) -> Sequence[str]:
        """The families in the order of their names."""
        if again:
            self._look()
        return sorted(self._families)

    def _look(self) -> Described:
        """The table as it is described now."""
        described = self.client.admin.describe(self.name)
        self._families = {one.name: one for one in described.families}
        return described

    def _require_open(self) -> None:
        if self._closed:
            raise Refused("table", f"{self.name} is closed", "an open table")

    def get(self, rows: Sequence[bytes], ask: Ask = ALL) -> list[RowCells]:
        self._check(ask)
        check_rows(rows)
        if ask.raw:
            return [self._raw(row, ask) for row in rows]
        read = read_of(ask)
        if len(rows) == 1:
            return [self._table.get(rows[0], read)]
        return self._table.get_many(rows, read)

    def _raw(self, row: bytes, ask: Ask) -> RowCells:
        """Everything of one row, as a scan gives it: a get of HBase cannot be raw."""
        scan = scan_of(Span(row, row), replace(ask, reverse=False, limit=None, batch=None))
        with self._table.scan(replace(scan, include_stop=True)) as scanner:
            return next(scanner.rows(), RowCells(row, []))

    def scan(self, spans: Sequence[Span], ask: Ask = ALL) -> list[Cursor]:
        self._check(ask)
        return [self._cursor(scan_of(span, ask)) for span in spans]

    def _cursor(self, scan: Scan) -> Cursor:
        """One cursor; its first answer is asked for at once, and not waited for."""
        if scan.is_empty:
            return EmptyCursor(raw=scan.raw)
        cursor = HBaseCursor(self._table.scan(scan), self._names, raw=scan.raw)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        self._closed = True
        for cursor in list(self._cursors):
            cursor.close()


class HBaseStore(HBaseReader, Store):
    """One table of a cluster, shared with everyone who reaches it.

    Args:
        client: speaks to the cluster.
        name: the table.
        clock: orders and stamps what this process changes.
        sync: whether a write is on disk before the call returns, unless the call says otherwise.
    """

    is_shared = True

    def __init__(self, client: Client, name: str, clock: RowClock, *, sync: bool) -> None:
        super().__init__(client, name)
        self._clock, self._sync = clock, sync

    @property
    def row_clock(self) -> RowClock:
        return self._clock

    @property
    def spec(self) -> TableSpec:
        self._require_open()
        described = self._look()
        starts = [region.start for region in self.client.admin.regions(self.name)]
        return TableSpec(self.name, described.families, tuple(starts[1:]), described.attributes)

    @property
    def described(self) -> tuple[tuple[Family, ...], Mapping[str, str]]:
        self._require_open()
        described = self._look()
        return described.families, described.attributes

    @property
    def unsaid(self) -> Mapping[str, Mapping[str, str]]:
        self._require_open()
        return self._look().others

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        self._require_open()
        named = {cell.family for mutation in mutations for cell in mutation.cells}
        check_families(sorted(named), self._known(named))
        if mutations:
            with _as_unsupported():
                self._table.mutate(mutations, sync=self._sync if sync is None else sync)

    def load(self, blocks: Sequence[CellBlock]) -> None:
        self._require_open()
        check_families([block.family for block in blocks], self._known(b.family for b in blocks))
        if blocks:
            with _as_unsupported():
                self._table.load(blocks, sync=self._sync)

    def increment(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, after_ms: int = -1
    ) -> list[Cell]:
        self._check_columns(row, amounts)
        for _, _, amount in amounts:
            check_amount(amount)
        return self._table.increment_cells(row, amounts, sync=self._sync)

    def append(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, after_ms: int = -1
    ) -> list[Cell]:
        self._check_columns(row, pieces)
        return self._table.append_cells(row, pieces, sync=self._sync)

    def _check_columns(self, row: bytes, changes: Sequence[tuple[str, bytes, object]]) -> None:
        self._require_open()
        columns = [(family, qualifier) for family, qualifier, _ in changes]
        check_columns(row, columns, self._known(family for family, _ in columns))

    def check_and_mutate(self, row: bytes, check: Check, cells: Sequence[Cell]) -> bool:
        self._require_open()
        known = self._known((check.family, *(cell.family for cell in cells)))
        check_mutation(RowCells(row, cells), known)
        check_families([check.family], known)
        check_comparison(check.operator, check.value)
        column = (check.family, check.qualifier)
        return self._table.check_and_mutate(
            row, *column, check.operator, check.value, cells, sync=self._sync
        )

    def regions(self) -> list[RegionCount]:
        self._require_open()
        return [
            RegionCount(one.start, one.stop, one.writes, one.reads)
            for one in self.client.admin.counters(self.name)
        ]

    def openings(self, wait_s: float | None = None) -> list[OpenRegion]:
        self._require_open()
        return [
            OpenRegion(
                one.start,
                one.stop,
                one.writes,
                one.reads,
                str(one.server),
                (one.load.name, one.server, one.seqnum),
            )
            for one in self.client.admin.counters(self.name, wait_s=wait_s)
        ]

    def split(self, at: bytes) -> None:
        self._require_open()
        check_splits(self.name, (at,))
        self.client.admin.split(self.name, at)

    def alter(self, families: Sequence[Family]) -> None:
        self._require_open()
        check_attributes_of(families, {})
        self.client.admin.alter(self.name, families)
        self._look()

    def annotate(self, attributes: Mapping[str, str]) -> None:
        self._require_open()
        SplitLimits.read(attributes)
        gone = dict.fromkeys(self._look().attributes.keys() - attributes.keys())
        self.client.admin.annotate(self.name, {**gone, **attributes})

    def flush(self) -> None:
        self._require_open()
        self.client.admin.flush(self.name)

    def compact(self, *, major: bool = True) -> None:
        self._require_open()
        self.client.admin.compact(self.name, major=major)

    def size(self) -> int:
        self._require_open()
        return sum(one.load.files_mb << 20 for one in self.client.admin.counters(self.name))

    def snapshot(self) -> Reader:
        self._require_open()
        return HBaseSnapshot.take(self.client, self.name)


class HBaseSnapshot(HBaseReader):
    """A table as it was: a copy that shares its files, dropped when closed."""

    @classmethod
    def take(cls, client: Client, name: str) -> HBaseSnapshot:
        """A copy of a table as it is now."""
        copy = f"{name}.at.{token_hex(8)}"
        client.admin.snapshot(name, copy.replace(":", "."))
        try:
            client.admin.clone(copy.replace(":", "."), copy)
        finally:
            client.admin.delete_snapshot(copy.replace(":", "."))
        return cls(client, copy)

    def close(self) -> None:
        if not self._closed:
            super().close()
            self.client.admin.delete(self.name, disable=True)


@contextmanager
def _as_unsupported() -> Iterator[None]:
    """What the cluster refuses although the rows are sound is none of their mistakes.

    A table may be disabled, a user may lack the right: who is told `Refused` would change the row.
    """
    try:
        yield
    except AskedWrongly as refusal:
        told = refusal.mistake
        raise Unsupported(told.path, told.what, told.allowed, told.remedy) from refusal
