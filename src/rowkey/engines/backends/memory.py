"""The readable reference engine: what the others do on disk, in dictionaries and lists."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from rowkey import forks
from rowkey.cells import (
    Cell,
    RowCells,
    View,
    appended,
    check_amount,
    check_comparison,
    check_families,
    check_mutation,
    check_row,
    holds,
    incremented,
    stamped,
    survivors,
)
from rowkey.engines.asking import check_ask, check_columns, check_rows, make_views
from rowkey.engines.columns import rows_of
from rowkey.engines.contract import Cursor, Engine, Reader, Store
from rowkey.engines.cursors import RowCursor
from rowkey.engines.held import HeldTable, Picture
from rowkey.engines.requests import ALL, TableSpec, now_ms
from rowkey.engines.specs import check_attributes_of, check_spec, check_splits
from rowkey.engines.territory import SplitLimits
from rowkey.errors import Refused, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.cells import CellBlock, Family
    from rowkey.engines.counts import RegionCount
    from rowkey.engines.ordering.row_clock import RowClock
    from rowkey.engines.requests import Ask, Check, Span

    Clock = Callable[[], int]

C = TypeVar("C")


class _Reading(Reader):
    """Gets and scans of a table, as it is or as it was."""

    def __init__(self, table: HeldTable, clock: Clock) -> None:
        self._table, self._clock, self._closed = table, clock, False

    def _families(self) -> Mapping[str, Family]:
        """The families, by which the rows are judged."""
        return self._table.families

    def _look(self) -> Picture:
        """The rows, to be looked at under the lock."""
        return self._table.now

    def _keep(self) -> Picture:
        """The rows, to be read at leisure."""
        return self._table.kept()

    def _check_open(self) -> None:
        self._table.check_open()
        if self._closed:
            raise Refused("table", f"{self._table.name} is closed", "an open table")

    def _views(self, ask: Ask) -> dict[str, View]:
        self._check_open()
        families = self._families()
        check_ask(ask, families)
        return make_views(ask, families, self._clock())

    def get(self, rows: Sequence[bytes], ask: Ask = ALL) -> list[RowCells]:
        views = self._views(ask)
        check_rows(rows)
        with self._table.lock:
            self._table.territory.count_reads(rows)
            return [self._look().read(row, views) for row in rows]

    def scan(self, spans: Sequence[Span], ask: Ask = ALL) -> list[Cursor]:
        views = self._views(ask)
        with self._table.lock:
            picture = self._keep()
        return [self._cursor(picture, span, ask, views) for span in spans]

    def _cursor(
        self, picture: Picture, span: Span, ask: Ask, views: Mapping[str, View]
    ) -> RowCursor:
        keys = picture.between(span.start, span.stop, reverse=ask.reverse)
        rows = (picture.read(key, views) for key in keys)
        land = self._table.territory
        return RowCursor(rows, ask, tuple(views), lambda row: land.count_reads([row]))

    def close(self) -> None:
        if self._table.state == forks.INHERITED:
            self._table.check_open()
        self._closed = True


class _Snapshot(_Reading):
    """A table as it was."""

    def __init__(self, table: HeldTable, clock: Clock, picture: Picture) -> None:
        super().__init__(table, clock)
        self._picture = picture
        self._described = table.families

    def _families(self) -> Mapping[str, Family]:
        return self._described

    def _look(self) -> Picture:
        return self._picture

    def _keep(self) -> Picture:
        return self._picture


class _MemoryStore(_Reading, Store):
    """A table in memory."""

    def __init__(self, table: HeldTable, clock: Clock) -> None:
        super().__init__(table, clock)
        table.row_clock.clock = clock

    @property
    def row_clock(self) -> RowClock:
        return self._table.row_clock

    @property
    def spec(self) -> TableSpec:
        """The table as it is: its regions may have split since it was made."""
        table = self._table
        families = tuple(table.families.values())
        return TableSpec(table.name, families, table.territory.splits, dict(table.attributes))

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        self._check_open()
        for mutation in mutations:
            check_mutation(mutation, self._table.families)
        with self._table.lock:
            now = self._table.row_clock.now()
            for row, cells in mutations:
                self._table.write([self._stamp(row, cells, now)])

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
        described = self._table.families[family]
        view = View(described, self._clock(), versions=count, qualifiers=(qualifier,))
        return self._table.now.read(row, {family: view}).cells

    def load(self, blocks: Sequence[CellBlock]) -> None:
        self._check_open()
        rows = rows_of(blocks)
        for row in rows:
            check_row(row.row)
            if row.cells:
                check_mutation(row, self._table.families)
        with self._table.lock:
            now = self._table.row_clock.now()
            self._table.write([self._stamp(row, cells, now) for row, cells in rows])

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
        return self._table.territory.regions()

    def split(self, at: bytes) -> None:
        self._check_open()
        with self._table.lock:
            check_splits(self._table.name, (at,))
            self._table.territory.split(at)

    def alter(self, families: Sequence[Family]) -> None:
        self._check_open()
        check_attributes_of(families, Memory.refuses)
        with self._table.lock:
            given = {family.name: family for family in families}
            self._table.families = {**self._table.families, **given}

    def annotate(self, attributes: Mapping[str, str]) -> None:
        self._check_open()
        SplitLimits.read(attributes)
        self._table.attributes = dict(attributes)

    def flush(self) -> None:
        self._check_open()

    def compact(self, *, major: bool = True) -> None:
        self._check_open()
        if not major:
            return
        now = self._clock()
        with self._table.lock:
            picture = self._table.changing()
            for row, held in list(picture.rows.items()):
                described = self._table.families
                kept = {
                    name: survivors(cells, described[name], now) for name, cells in held.items()
                }
                picture.replace(row, kept)

    def size(self) -> int:
        return 0

    def snapshot(self) -> Reader:
        self._check_open()
        with self._table.lock:
            return _Snapshot(self._table, self._clock, self._table.kept())


class _Place:
    """Tables that several engines may share."""

    def __init__(self) -> None:
        self.tables: dict[str, HeldTable] = {}
        self.lock = RLock()


class _Places:
    """The places that have a name, for as long as the process lives; a forked child has none."""

    def __init__(self) -> None:
        self.named: dict[str, _Place] = {}
        forks.register(self)

    def reset_in_child(self) -> None:
        """In a forked child: forget the parent's places."""
        self.named = {}


_PLACES = _Places()


class Memory(Engine):
    """Tables in the process, gone with it.

    `memory:NAME` is one place however often it is opened; `memory:` is another one each time.
    """

    name = scheme = "memory"
    persistent = False
    shared = False
    refuses: ClassVar[Mapping[str, str]] = {
        "new_version_behavior": "deletes hide by timestamp here, not by arrival"
    }

    def __init__(self, where: str, place: _Place, clock: Clock) -> None:
        self._where, self._place, self._clock, self._closed = where, place, clock, False

    @classmethod
    def open(cls, where: str, *, sync: bool = False, clock: Clock = now_ms) -> Self:
        """Open a place in memory.

        Args:
            where: its name; empty for one that nobody else opens.
            sync: no matter here.
            clock: gives the time of day in ms.
        """
        place = _PLACES.named.setdefault(where, _Place()) if where else _Place()
        return cls(where, place, clock)

    @property
    def catalog_url(self) -> str:
        return f"memory:{self._where}"

    def tables(self) -> list[str]:
        self._check_open()
        return sorted(self._place.tables)

    def create(self, spec: TableSpec, progress: Callable[[int, int], None] | None = None) -> Store:
        self._check_open()
        check_spec(spec, self.refuses)
        with self._place.lock:
            if spec.name in self._place.tables:
                raise Refused("table", f"{shown(spec.name)} is there already", "a new name")
            self._place.tables[spec.name] = HeldTable(spec, self._clock)
        return self.table(spec.name)

    def table(self, name: str) -> Store:
        return _MemoryStore(self._found(name), self._clock)

    def _found(self, name: str) -> HeldTable:
        self._check_open()
        table = self._place.tables.get(name)
        if table is None:
            known = ", ".join(self.tables()) or "no table, there is none"
            raise Refused("table", f"there is no {shown(name)}", known)
        return table

    def drop(self, name: str) -> None:
        with self._place.lock:
            self._found(name).state = "dropped"
            del self._place.tables[name]

    def _check_open(self) -> None:
        if self._closed:
            raise Refused("engine", "it is closed", "an open engine")

    def close(self) -> None:
        self._closed = True
