"""rowkey's own client at the same tasks."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rivals.hbase.contract import (
    BUCKETS,
    CACHING,
    FAMILY,
    QUALIFIER,
    RANGES,
    VALUE,
    Rival,
    TaskTime,
    build_row_key,
    check_row_count,
    draw_keys,
    run_in_threads,
    time_task,
)
from rowkey.cells import LATEST, Cell, CellBlock, RowCells
from rowkey.hbase import ScanSpec, connect, to_columns

if TYPE_CHECKING:
    import pyarrow as pa

CELLS = [Cell(FAMILY, QUALIFIER, LATEST, VALUE)]
BLOCK = 100_000


class Ours(Rival):
    """The client of `rowkey.hbase`.

    Args:
        url: of the cluster.
        source: the table to read.
        sink: the table to write.
        rows: how many rows the table to read has.
    """

    name = "rowkey"

    def __init__(self, url: str, source: str, sink: str, rows: int) -> None:
        super().__init__(rows)
        self._client = connect(url)
        self._source, self._sink = self._client.table(source), self._client.table(sink)

    def load(self, rows: int) -> TaskTime:
        """Write `rows` rows with row objects."""
        return time_task(rows, lambda: self._load(rows))

    def _load(self, rows: int) -> None:
        """Write rows in batches of row objects."""
        for start in range(0, rows, CACHING):
            numbers = range(start, min(start + CACHING, rows))
            self._sink.mutate_rows([RowCells(build_row_key(number), CELLS) for number in numbers])

    def load_columns(self, rows: int) -> TaskTime:
        """Write `rows` rows from Arrow columns."""
        return time_task(rows, lambda: self._load_columns(rows))

    def _load_columns(self, rows: int) -> None:
        """Write rows in blocks of Arrow columns."""
        import pyarrow as pa

        for start in range(0, rows, BLOCK):
            keys = _build_keys(start, min(start + BLOCK, rows))
            values = pa.repeat(pa.scalar(VALUE, pa.binary()), len(keys))
            self._sink.put_blocks([CellBlock(keys, FAMILY, QUALIFIER, values)])

    def scan(self) -> TaskTime:
        """Read all rows with one scanner."""
        return time_task(
            self.rows, lambda: check_row_count(self.rows, self._source.scan().iter_row_cells())
        )

    def scan_columns(self) -> TaskTime:
        """Read all rows with one scanner into Arrow columns."""
        return time_task(self.rows, self._scan_columns)

    def _scan_columns(self) -> None:
        """Read all rows as Arrow columns and check their number."""
        count = 0
        for answer in self._source.scan().iter_blocks():
            count += to_columns(answer.cells, [FAMILY]).num_rows
        check_row_count(self.rows, range(count))

    def salted_scan(self) -> TaskTime:
        """Read all rows in the order of the key after the bucket."""
        return time_task(self.rows, lambda: check_row_count(self.rows, self._iter_merged()))

    def _iter_merged(self) -> Iterator[RowCells]:
        """Yield the rows of all buckets, merged by the key after the bucket."""
        # Each scan is begun at once, and asks one answer ahead.
        runs = [self._source.scan(ScanSpec(start, stop)).iter_row_cells() for start, stop in RANGES]
        return heapq.merge(*runs, key=lambda row: row.row[2:])

    def get(self, count: int, threads: int) -> TaskTime:
        """Read random single rows."""
        keys = draw_keys(count, self.rows)
        return time_task(count, lambda: run_in_threads(keys, threads, self._get))

    def _get(self, key: bytes) -> None:
        """Read one row; raise if it does not exist."""
        if not self._source.get(key).cells:
            raise ValueError(f"{key!r} is not found")

    def put(self, count: int, threads: int) -> TaskTime:
        """Write single rows."""
        keys = [build_row_key(number) for number in range(count)]
        return time_task(count, lambda: run_in_threads(keys, threads, self._put))

    def _put(self, key: bytes) -> None:
        """Write one row."""
        self._sink.put(key, {(FAMILY, QUALIFIER): VALUE})

    def close(self) -> None:
        """Close the client."""
        self._client.close()


def _build_keys(start: int, stop: int) -> pa.Array[Any]:
    """Return the keys of rows as a column."""
    import numpy as np
    import pyarrow as pa

    numbers = np.arange(start, stop, dtype=np.int64)
    digits = np.empty((len(numbers), 17), np.uint8)
    for place in range(16, 1, -1):
        digits[:, place] = numbers % 10
        numbers //= 10
    buckets = np.arange(start, stop) % BUCKETS
    digits[:, 0], digits[:, 1] = buckets // 10, buckets % 10
    flat = pa.py_buffer((digits + ord("0")).tobytes())
    return pa.Array.from_buffers(pa.binary(17), len(digits), [None, flat]).cast(pa.binary())
