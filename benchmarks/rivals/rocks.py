"""The same table written by hand with rocksdict, for one key and three columns.

One entry a cell, as HBase stores it: row key, column, newest version first. Reading takes the
newest version of each column. It knows no other design, no deletes and no time to live.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any, cast

import mmh3
import pyarrow as pa
from rocksdict import DBCompressionType, Options, Rdict, ReadOptions, WriteBatch

LONG, SHORT, INT = struct.Struct(">Q"), struct.Struct(">H"), struct.Struct(">I")
LAST = 2**63 - 1
COLUMNS = (b"b", b"m", b"s")
AT_ONCE = 1_000


class RocksTable:
    """`[bucket(host, n)][host][ts]` with the columns status, bytes and message.

    Args:
        path: where it lies.
        buckets: how many buckets; 0 leaves the bucket out.
    """

    def __init__(self, path: Path, buckets: int = 16) -> None:
        options = Options(raw_mode=True)
        options.set_compression_type(DBCompressionType.none())
        self.db = Rdict(str(path), options)
        self.buckets = buckets
        self.start = 1 if buckets else 0

    def encode_row_key(self, host: str, ts: int) -> bytes:
        """Return the row key of a host and time."""
        packed = host.encode() + b"\0"
        if not self.buckets:
            return packed + LONG.pack(ts)
        bucket: int = mmh3.hash(packed, 0, False) % self.buckets
        return bytes([bucket]) + packed + LONG.pack(ts)

    def load(self, batch: pa.RecordBatch, now: int = 1_700_000_000_000) -> None:
        """Write all rows of a batch."""
        stamp = LONG.pack(LAST - now)
        b, m, s = (column + stamp for column in COLUMNS)
        columns = [
            batch.column(n).to_pylist() for n in ("host", "ts", "status", "bytes", "message")
        ]
        waiting, count = WriteBatch(raw_mode=True), 0
        for host, ts, status, size, message in zip(*columns, strict=True):
            key = self.encode_row_key(host, ts)
            waiting.put(key + b, INT.pack(size))
            waiting.put(key + m, message.encode())
            waiting.put(key + s, SHORT.pack(status))
            count += 1
            if count == AT_ONCE:
                self.db.write(waiting)
                waiting, count = WriteBatch(raw_mode=True), 0
        self.db.write(waiting)

    def rows(self, start: bytes, stop: bytes) -> Iterator[dict[str, Any]]:
        """Yield the decoded rows of a key range."""
        for key, cells in self.cells(start, stop):
            yield decode_row(key, cells, self.start)

    def cells(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
        """Yield the row keys of a range with the newest value of each column."""
        options = ReadOptions()
        options.set_iterate_upper_bound(stop)
        items = cast(
            "Iterator[tuple[bytes, bytes]]", self.db.items(from_key=start, read_opt=options)
        )
        for key, found in groupby(items, key=lambda item: item[0][:-9]):
            newest: dict[bytes, bytes] = {}
            for full, value in found:
                newest.setdefault(full[-9:-8], value)
            yield key, newest

    def get(self, host: str, ts: int) -> dict[str, Any] | None:
        """Return one row, or None."""
        key = self.encode_row_key(host, ts)
        return next(self.rows(key, key + b"\xff"), None)

    def read_merged(self, limit: int) -> list[dict[str, Any]]:
        """Return the first rows of all buckets in the order of host and time."""
        runs = [self.cells(bytes([n]), bytes([n, 255, 255, 255])) for n in range(self.buckets)]
        found = heapq.merge(*runs, key=lambda item: item[0][1:])
        return [decode_row(key, cells, 1) for key, cells in islice(found, limit)]

    def to_arrow(self) -> pa.Table:
        """Return all rows as columns, in the order of the stored keys."""
        rows = [(key, c[b"b"], c[b"m"], c[b"s"]) for key, c in self.cells(b"\0", b"\xff" * 64)]
        keys, sizes, messages, statuses = zip(*rows, strict=True)
        return pa.table(
            {
                "host": [key[self.start : -9].decode() for key in keys],
                "ts": [LONG.unpack(key[-8:])[0] for key in keys],
                "status": [SHORT.unpack(one)[0] for one in statuses],
                "bytes": [INT.unpack(one)[0] for one in sizes],
                "message": [one.decode() for one in messages],
            }
        )

    def close(self) -> None:
        """Close the database."""
        self.db.close()


def decode_row(key: bytes, cells: dict[bytes, bytes], start: int) -> dict[str, Any]:
    """Return a row of values; the host begins at byte `start`."""
    return {
        "host": key[start:-9].decode(),
        "ts": LONG.unpack(key[-8:])[0],
        "status": SHORT.unpack(cells[b"s"])[0],
        "bytes": INT.unpack(cells[b"b"])[0],
        "message": cells[b"m"].decode(),
    }
