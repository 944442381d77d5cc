"""Parts of prepared tables, so that a test does not wait for a new table.

Creating a table takes 0.6 s, and 0.07 s for each of its regions. One table of the cluster therefore
serves many tests: each test has the rows with a prefix of its own, in regions of their own.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING

from rowkey.cells import CellBlock, RowCells
from rowkey.engines import (
    NEWEST_CELLS,
    Cursor,
    Reader,
    RegionRequestCounts,
    ScanRange,
    Store,
    TableSpec,
)
from rowkey.errors import InvalidArgument
from rowkey.hbase.errors import DoNotRetryIO
from rowkey.regions import compute_prefix_stop

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.cells import Cell, Family
    from rowkey.engines import CellCondition, CellSelection, Engine, SendCheck
    from rowkey.engines.ordering.row_clock import RowClock

PREFIX_LENGTH = 3
TIDY_S = 10.0
"""Seconds until HBase archives the files that a compaction replaced, which block a split."""
_TABLES = count()


class PrefixCursor(Cursor):
    """A cursor of the whole table that removes the prefix from row keys.

    Args:
        cursor: the cursor.
        cut: the length of the prefix.
    """

    def __init__(self, cursor: Cursor, cut: int) -> None:
        self._cursor, self._cut = cursor, cut

    def __iter__(self) -> Iterator[RowCells]:
        return (RowCells(row[self._cut :], cells) for row, cells in self._cursor)

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        return map(self._outside, self._cursor.read_blocks(rows))

    def _outside(self, block: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow as pa

        keys = [row[self._cut :] for row in block["row"].to_pylist()]
        return block.set_column(0, "row", pa.array(keys, pa.binary()))

    def peek_first_row(self) -> bytes | None:
        ahead = self._cursor.peek_first_row()
        return None if ahead is None else ahead[self._cut :]

    def close(self) -> None:
        self._cursor.close()


class PrefixReader(Reader):
    """The rows of a reader that begin with a prefix, as if there were no others.

    Args:
        whole: all rows.
        prefix: added to row keys of requests and removed from row keys of results.
    """

    def __init__(self, whole: Reader, prefix: bytes) -> None:
        self._whole, self.prefix = whole, prefix
        self._stop = compute_prefix_stop(prefix) or b""

    def inside(self, row: bytes) -> bytes:
        """Return the row key in the whole table."""
        if not row:
            raise InvalidArgument(
                "row", "the key is 0 bytes long"
            )  # with its prefix HBase would take it
        return self.prefix + row

    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        found = self._whole.get([self.inside(row) for row in rows], selection)
        return [RowCells(row[len(self.prefix) :], cells) for row, cells in found]

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        inside = [
            ScanRange(
                self.prefix + span.start, self.prefix + span.stop if span.stop else self._stop
            )
            for span in ranges
        ]
        return [
            PrefixCursor(cursor, len(self.prefix)) for cursor in self._whole.scan(inside, selection)
        ]

    def close(self) -> None:
        self._whole.close()


class PrefixStore(PrefixReader, Store):
    """The rows of a table that begin with a prefix, as a table of their own.

    Args:
        whole: the table.
        prefix: the prefix of its row keys.
    """

    def __init__(self, whole: Store, prefix: bytes) -> None:
        super().__init__(whole, prefix)
        self.whole = whole

    @property
    def spec(self) -> TableSpec:
        return self.whole.spec

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        self.whole.mutate(
            [RowCells(self.inside(row), cells) for row, cells in mutations], sync=sync
        )

    def load_blocks(self, blocks: Sequence[CellBlock]) -> None:
        import pyarrow as pa

        def inside(block: CellBlock) -> CellBlock:
            rows = pa.array([self.inside(row) for row in block.rows.to_pylist()], pa.binary())
            return CellBlock(rows, block.family, block.qualifiers, block.values, block.timestamps)

        self.whole.load_blocks([inside(block) for block in blocks])

    @property
    def row_clock(self) -> RowClock:
        return self.whole.row_clock

    def increment(
        self,
        row: bytes,
        amounts: Sequence[tuple[str, bytes, int]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        return self.whole.increment(
            self.inside(row), amounts, after_ms=after_ms, check_send=check_send
        )

    def append(
        self,
        row: bytes,
        pieces: Sequence[tuple[str, bytes, bytes]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        return self.whole.append(self.inside(row), pieces, after_ms=after_ms, check_send=check_send)

    def check_and_mutate(
        self,
        row: bytes,
        condition: CellCondition,
        cells: Sequence[Cell],
        *,
        check_send: SendCheck | None = None,
    ) -> bool:
        return self.whole.check_and_mutate(
            self.inside(row), condition, cells, check_send=check_send
        )

    def list_regions(self) -> list[RegionRequestCounts]:
        cut = len(self.prefix)
        return [
            RegionRequestCounts(
                one.start[cut:],
                one.stop[cut:] if one.stop.startswith(self.prefix) else b"",
                one.writes,
                one.reads,
            )
            for one in self.whole.list_regions()
            if one.start.startswith(self.prefix)
        ]

    def split(self, split_key: bytes) -> None:
        until = time.monotonic() + TIDY_S
        while True:
            try:
                return self.whole.split(self.inside(split_key))
            except DoNotRetryIO as error:
                if "NOT splittable" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def alter_families(self, families: Sequence[Family]) -> None:
        self.whole.alter_families(families)

    def replace_attributes(self, attributes: Mapping[str, str]) -> None:
        self.whole.replace_attributes(attributes)

    def flush(self) -> None:
        self.whole.flush()

    def compact(self, *, major: bool = True) -> None:
        self.whole.compact(major=major)

    def measure_size_bytes(self) -> int:
        return self.whole.measure_size_bytes()

    def snapshot(self) -> Reader:
        return PrefixReader(self.whole.snapshot(), self.prefix)

    def close(self) -> None:
        """Do nothing, since other tests use the table too."""


class Slots:
    """Unused parts of prepared tables by their schema.

    Args:
        engine: where tables are made.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._free: dict[object, list[PrefixStore]] = defaultdict(list)

    def take(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes],
        layouts: Sequence[Sequence[bytes]],
    ) -> PrefixStore:
        """Return an unused part; create a table if there is none.

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
        spec = TableSpec(f"slots{next(_TABLES)}.{token_hex(4)}", tuple(families), tuple(starts))
        whole = self.engine.create_table(spec)
        for prefix, splits in parts:
            self._free[tuple(families), tuple(splits)].append(PrefixStore(whole, prefix))
