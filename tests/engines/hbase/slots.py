"""Parts of prepared tables, so that a test that needs a table does not wait for one.

A table takes 0.6 s and 0.07 s for each of its regions. One table of the cluster therefore serves
many tests: each has the rows that begin with a prefix of its own, in regions of their own.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

from cluster import JudgedStore
from cluster.judged import JudgedCursor, refusing
from rowkey.cells import RowCells
from rowkey.engines import ALL, Cursor, RegionCount, Span, TableSpec
from rowkey.errors import Refused
from rowkey.regions import next_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cluster import JudgedEngine
    from rowkey.cells import Cell, Family
    from rowkey.engines import Ask, Check

PREFIX_LENGTH = 3
_TABLES = count()


class Slot(JudgedStore):
    """The rows of a table that begin with a prefix, as if they were a table.

    Args:
        whole: the table.
        prefix: put before every row key that is sent, taken off every one that comes.
    """

    def __init__(self, whole: JudgedStore, prefix: bytes) -> None:
        super().__init__(whole.cluster, whole.judge, whole.name)
        self.prefix = prefix
        self._stop = next_prefix(prefix) or b""

    def _row(self, row: bytes, ask: Ask) -> list[Cell]:
        return super()._row(self._inside(row), ask)

    def _inside(self, row: bytes) -> bytes:
        if not row:
            raise Refused("row", "the key is 0 bytes long")  # with its prefix HBase would take it
        return self.prefix + row

    def get(self, rows: Sequence[bytes], ask: Ask = ALL) -> list[RowCells]:
        if ask.raw:
            return super().get(rows, ask)
        found = super().get([self._inside(row) for row in rows], ask)
        return [self._outside(row) for row in found]

    def _outside(self, row: RowCells) -> RowCells:
        return RowCells(row.row[len(self.prefix) :], row.cells)

    def scan(self, spans: Sequence[Span], ask: Ask = ALL) -> list[Cursor]:
        inside = [
            Span(self.prefix + span.start, self.prefix + span.stop if span.stop else self._stop)
            for span in spans
        ]
        cursors = super().scan(inside, ask)
        return [JudgedCursor([self._outside(row) for row in cursor]) for cursor in cursors]

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        super().mutate([RowCells(self._inside(row), cells) for row, cells in mutations])

    def increment(self, row: bytes, amounts: Sequence[tuple[str, bytes, int]]) -> list[int]:
        return super().increment(self._inside(row), amounts)

    def append(self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        return super().append(self._inside(row), pieces)

    def check_and_mutate(self, row: bytes, check: Check, cells: Sequence[Cell]) -> bool:
        return super().check_and_mutate(self._inside(row), check, cells)

    def regions(self) -> list[RegionCount]:
        cut = len(self.prefix)
        return [
            RegionCount(
                one.start[cut:],
                one.stop[cut:] if one.stop.startswith(self.prefix) else b"",
                one.writes,
                one.reads,
            )
            for one in super().regions()
            if one.start.startswith(self.prefix)
        ]

    def split(self, at: bytes) -> None:
        if not at or any(region.start == at for region in self.regions()):
            raise Refused("at", f"a region begins at {at!r} already")
        with refusing():
            self.cluster.split(self.name, self.prefix + at)


class Slots:
    """Free parts of prepared tables, by what the tables are.

    Args:
        engine: where tables are made.
    """

    def __init__(self, engine: JudgedEngine) -> None:
        self.engine = engine
        self._free: dict[object, list[Slot]] = defaultdict(list)

    def take(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes],
        layouts: Sequence[Sequence[bytes]],
    ) -> Slot:
        """A part that nobody has used; a table is made if there is none.

        Args:
            families: the table's.
            splits: where regions begin within the part; one of the layouts.
            layouts: the splits of each part of a table, should one have to be made.
        """
        kind = (tuple(families), tuple(splits))
        if not self._free[kind]:
            self._make(families, layouts)
        return self._free[kind].pop()

    def _make(self, families: Sequence[Family], layouts: Sequence[Sequence[bytes]]) -> None:
        prefixes = [b"%0*d" % (PREFIX_LENGTH, number) for number in range(len(layouts))]
        parts = list(zip(prefixes, layouts, strict=True))
        starts = [prefix + at for prefix, splits in parts for at in (b"", *splits)]
        spec = TableSpec(f"slots{next(_TABLES)}", tuple(families), tuple(starts))
        whole = self.engine.create(spec)
        for prefix, splits in parts:
            self._free[tuple(families), tuple(splits)].append(Slot(whole, prefix))
