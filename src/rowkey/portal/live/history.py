"""The load of tables over the last four weeks: the older, the longer the columns."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.portal.live.load_column import MINUTE_MS, LoadColumn, merge_columns

if TYPE_CHECKING:
    from rowkey.portal.live.database import LiveDatabase
    from rowkey.portal.live.load_column import IntArray, KeyRange


@dataclass(frozen=True, slots=True)
class HistoryLayer:
    """Columns of one width that follow those of the finer layer before.

    Args:
        name: how a page names the time, such as `1h`.
        width_ms: milliseconds of a column.
        count: columns that its span has; there are fewer, as the newest are in finer layers.
    """

    name: str
    width_ms: int
    count: int

    @property
    def span_ms(self) -> int:
        """Milliseconds of all columns together."""
        return self.width_ms * self.count

    def align(self, time_ms: int) -> int:
        """Return the begin of the column that a time lies in."""
        return time_ms // self.width_ms * self.width_ms


LAYERS = (
    HistoryLayer("1h", MINUTE_MS, 60),
    HistoryLayer("7h", 2 * MINUTE_MS, 210),
    HistoryLayer("16h", 6 * MINUTE_MS, 160),
    HistoryLayer("6d", 30 * MINUTE_MS, 288),
    HistoryLayer("4w", 240 * MINUTE_MS, 168),
)
"""The layers, finest first: each goes back from now for its span, where no finer one does.

A column holds whole columns of the layer before. Source: TiDB's key visualizer."""
MAX_FILE_BYTES = 256 << 20
"""Bytes of the file; above that the oldest columns are dropped. Ten tables of 1,000 busy regions
take about a quarter of it."""
DROPPED_SHARE = 0.1
"""Share of the columns that are dropped at once."""
MAX_DECODED_LAYOUTS = 64
"""Lists of ranges that are kept decoded; each takes up to 300 kB."""


class LiveHistory:
    """The load of all tables over time, in a file of bounded size.

    Args:
        max_bytes: its size, at most, apart from the newest columns.
    """

    def __init__(self, database: LiveDatabase, max_bytes: int = MAX_FILE_BYTES) -> None:
        self.database = database
        self._max_bytes = max_bytes
        self._layouts: dict[bytes, tuple[KeyRange, ...]] = {}

    def add(self, table: str, columns: Sequence[LoadColumn], now_ms: int) -> None:
        """Add load to the minutes of a table, and move old columns to longer ones.

        Args:
            columns: what each minute has more.
            now_ms: milliseconds since 1970.

        Raises:
            sqlite3.Error: the file cannot be written; nothing is changed.
            OSError: its folder cannot be created.

        Cost: a few ms for 1,000 regions.
        """
        with self.database.change() as connection:
            has_unused = False
            for column in columns:
                has_unused |= self._merge_into(connection, table, 0, column.start_ms, [column])
            for number, layer in enumerate(LAYERS):
                has_unused |= self._roll_up(connection, table, number, layer, now_ms)
            if has_unused:
                self._drop_oldest(connection)
                connection.execute(
                    "DELETE FROM layouts WHERE NOT EXISTS "
                    "(SELECT 1 FROM load_columns WHERE layout = layouts.id)"
                )
                connection.execute("PRAGMA incremental_vacuum").fetchall()

    def read_columns(self, table: str, start_ms: int) -> list[LoadColumn]:
        """Return the columns of a table that begin at some time or later, in the order of time.

        Raises:
            sqlite3.Error: the file cannot be read.

        Cost: about 0.1 ms for each column of 1,000 ranges.
        """
        with self.database.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                f"SELECT {_COLUMN_FIELDS} WHERE table_name = ? AND start_ms >= ? ORDER BY start_ms",
                (table, start_ms),
            ).fetchall()
            return [self._decode(connection, row) for row in rows]

    def _roll_up(
        self,
        connection: sqlite3.Connection,
        table: str,
        number: int,
        layer: HistoryLayer,
        now_ms: int,
    ) -> bool:
        """Move the columns of a layer that are too old to the next layer, or drop them.

        Returns whether there were any.
        """
        oldest_ms = layer.align(now_ms) - (layer.count - 1) * layer.width_ms
        next_layer = LAYERS[number + 1] if number + 1 < len(LAYERS) else None
        where = (table, number, oldest_ms)
        rows = connection.execute(
            f"SELECT {_COLUMN_FIELDS} WHERE table_name = ? AND layer = ? AND start_ms < ?", where
        ).fetchall()
        if next_layer is not None:
            groups: dict[int, list[LoadColumn]] = {}
            for row in rows:
                column = self._decode(connection, row)
                groups.setdefault(next_layer.align(column.start_ms), []).append(column)
            for start_ms, columns in groups.items():
                self._merge_into(connection, table, number + 1, start_ms, columns)
        connection.execute(
            "DELETE FROM load_columns WHERE table_name = ? AND layer = ? AND start_ms < ?", where
        )
        return bool(rows)

    def _merge_into(
        self,
        connection: sqlite3.Connection,
        table: str,
        layer: int,
        start_ms: int,
        columns: Sequence[LoadColumn],
    ) -> bool:
        """Add columns to a stored column, which is created if it is not there.

        Returns whether the ranges of that column have changed.
        """
        place = (table, layer, start_ms)
        where = "WHERE table_name = ? AND layer = ? AND start_ms = ?"
        row = connection.execute(f"SELECT {_COLUMN_FIELDS} {where}", place).fetchone()
        before = [] if row is None else [self._decode(connection, row)]
        merged = merge_columns([*before, *columns], start_ms)
        connection.execute(
            "INSERT OR REPLACE INTO load_columns VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *place,
                merged.length_ms,
                _store_layout(connection, merged.ranges),
                _encode_counts(merged.counts),
                json.dumps(merged.servers, separators=(",", ":")),
            ),
        )
        return bool(before) and before[0].ranges != merged.ranges

    def _decode(self, connection: sqlite3.Connection, row: tuple[Any, ...]) -> LoadColumn:
        start_ms, length_ms, counts, servers, layout, digest = row
        try:
            ranges = self._layouts.get(digest)
            if ranges is None:
                ranges = _read_ranges(connection, layout)
                if len(self._layouts) >= MAX_DECODED_LAYOUTS:
                    self._layouts.clear()
                self._layouts[digest] = ranges
            pairs = {name: (pair[0], pair[1]) for name, pair in json.loads(servers).items()}
            columns = _decode_counts(counts, len(ranges))
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error) as problem:
            raise sqlite3.DatabaseError(f"a column of load is damaged: {problem}") from problem
        return LoadColumn(start_ms, length_ms, ranges, columns, pairs)

    def _drop_oldest(self, connection: sqlite3.Connection) -> None:
        """Drop the oldest columns of all tables if the file has grown too large."""
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        if (pages - free) * page_bytes <= self._max_bytes:
            return
        (count,) = connection.execute("SELECT count(*) FROM load_columns").fetchone()
        connection.execute(
            "DELETE FROM load_columns WHERE rowid IN "
            "(SELECT rowid FROM load_columns ORDER BY start_ms LIMIT ?)",
            (int(count * DROPPED_SHARE) + 1,),
        )


_COLUMN_FIELDS = (
    "start_ms, length_ms, counts, servers, layouts.id, digest "
    "FROM load_columns JOIN layouts ON layouts.id = layout"
)
"""What a column is decoded from."""


def _store_layout(connection: sqlite3.Connection, ranges: Iterable[KeyRange]) -> int:
    """Return the id of a list of ranges, which is stored once for all columns that have it."""
    content = _encode_ranges(ranges)
    digest = sha256(content).digest()
    found = connection.execute("SELECT id FROM layouts WHERE digest = ?", (digest,)).fetchone()
    if found is None:
        found = connection.execute(
            "INSERT INTO layouts (digest, content) VALUES (?, ?) RETURNING id",
            (digest, zlib.compress(content)),
        ).fetchone()
    return int(found[0])


def _encode_ranges(ranges: Iterable[KeyRange]) -> bytes:
    """Return row keys with their lengths, two bytes each, as no row key is longer."""
    return b"".join(
        len(key).to_bytes(2, "big") + key for start, stop in ranges for key in (start, stop)
    )


def _read_ranges(connection: sqlite3.Connection, layout: int) -> tuple[KeyRange, ...]:
    (content,) = connection.execute(
        "SELECT content FROM layouts WHERE id = ?", (layout,)
    ).fetchone()
    content, at, keys = zlib.decompress(content), 0, []
    while at < len(content):
        end = at + 2 + int.from_bytes(content[at : at + 2], "big")
        keys.append(content[at + 2 : end])
        at = end
    return tuple(zip(keys[::2], keys[1::2], strict=True))


def _encode_counts(counts: IntArray) -> bytes:
    """Return numbers as compressed bytes, all lowest bytes first: the others are mostly zero."""
    planes = counts.astype("<i8").reshape(-1).view(np.uint8).reshape(-1, 8).T
    return zlib.compress(planes.tobytes())


def _decode_counts(content: bytes, count: int) -> IntArray:
    """Return the counts of a column by range."""
    planes = np.frombuffer(zlib.decompress(content), np.uint8).reshape(8, -1)
    counts: IntArray = np.ascontiguousarray(planes.T).view("<i8").reshape(3, count)
    return counts
