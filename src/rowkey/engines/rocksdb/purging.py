"""What a major compaction drops: RocksDB asks nobody about a cell, so rowkey deletes it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import View, survivors
from rowkey.engines.pairs.columns import take_columns_apart
from rowkey.engines.pairs.layout import END, unescape
from rowkey.engines.pairs.ranges import open_pairs, read_chunks, row_places
from rowkey.engines.pairs.reading import cells_of, seen_columns
from rowkey.engines.pairs.source import EndCheck
from rowkey.engines.requests import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.cells import Family
    from rowkey.engines.rocksdb.open_table import OpenTable


def purge(table: OpenTable) -> None:
    """Delete the cells of a table that a major compaction drops.

    Writers wait for one chunk at a time. What belongs together, a delete and what it hides, goes in
    one batch, so a read never sees one without the other, nor does what a crash leaves.

    Cost: about 0.4 µs a cell where nothing is dropped, 2 µs otherwise.
    """
    now = table.clock()
    for family in list(table.families.values()):
        start: bytes | None = b""
        while start is not None:
            with table.lock:
                table.check_open()
                start = _purge_chunk(table, family, start, now)


def _purge_chunk(table: OpenTable, family: Family, start: bytes, now: int) -> bytes | None:
    """Purge some rows, and give the first that comes behind them; None if there is none."""
    source = table.database.sources[family.name]
    chunks = read_chunks(open_pairs(source, Span(start), EndCheck(source)))
    keys, values = next(chunks, ([], []))
    if not keys:
        return None
    view = View(family, now, versions=family.versions)
    seen = seen_columns(take_columns_apart(keys, values), view)
    if seen is None or len(seen.kinds) < len(keys):
        batch = table.database.start_batch()
        handle = table.database.handles[family.name]
        for key in _dropped(family, keys, values, now):
            batch.delete(key, handle)
        if not batch.is_empty():
            table.commit(batch, ())
    return unescape(keys[-1][: keys[-1].index(END)]) + b"\0"


def _dropped(family: Family, keys: list[bytes], values: list[bytes], now: int) -> Iterator[bytes]:
    """The keys of the cells that are not kept."""
    for row, begin, stop in row_places(keys):
        pairs = zip(keys[begin:stop], values[begin:stop], strict=True)
        cells = cells_of(family.name, pairs, len(row) + 1)
        kept = set(map(id, survivors(cells, family, now)))
        yield from (
            key for key, cell in zip(keys[begin:stop], cells, strict=True) if id(cell) not in kept
        )
