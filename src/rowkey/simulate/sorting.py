"""A sample in the order of its times, however long it is: runs sorted on disk, then merged."""

from __future__ import annotations

import heapq
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rowkey.workload import Events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stream = Callable[[], Iterator[Events]]

MOST_SORTED = 1 << 20
"""Events sorted in memory at a time; longer samples are sorted in runs on disk and merged."""


def sorted_stream(unsorted: Stream) -> Stream:
    """The same events in the order of their times; equal times stay in the order they had.

    Args:
        unsorted: gives all events, anew at each call.
    """

    def stream() -> Iterator[Events]:
        with TemporaryDirectory(prefix="rowkey-sort-") as folder:
            runs = [
                _written(run, Path(folder) / f"{n}.arrow")
                for n, run in enumerate(_runs(unsorted()))
            ]
            yield from _merged(runs)

    return stream


def _runs(unsorted: Iterator[Events]) -> Iterator[Any]:
    """Sorted tables of at most a million events; the column `\\0clock` holds their times."""
    import pyarrow as pa

    held: list[Any] = []
    count = 0
    for events in unsorted:
        clock = pa.array(events.clock_ms)
        held.append(events.rows.append_column("\0clock", clock))
        count += len(events)
        if count >= MOST_SORTED:
            yield _sorted_table(held)
            held, count = [], 0
    if held:
        yield _sorted_table(held)


def _sorted_table(batches: list[Any]) -> Any:
    import numpy as np
    import pyarrow as pa

    table = pa.Table.from_batches(batches).combine_chunks()
    clock = table.column("\0clock").to_numpy()
    return table.take(pa.array(np.argsort(clock, kind="stable")))


def _written(table: Any, path: Path) -> Path:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 14)
    return path


def _merged(runs: list[Path]) -> Iterator[Events]:
    """Sorted runs as one stream: whole stretches of a run are taken up to the next run's head."""
    import numpy as np
    import pyarrow as pa

    sources = [pa.memory_map(str(path)) for path in runs]
    readers = [pa.ipc.open_file(source) for source in sources]
    heads: list[tuple[int, int, int, Any]] = []

    def push(run: int, chunk: int) -> None:
        if chunk < readers[run].num_record_batches:
            batch = readers[run].get_batch(chunk)
            heapq.heappush(heads, (batch.column("\0clock")[0].as_py(), run, chunk, batch))

    for run in range(len(readers)):
        push(run, 0)
    while heads:
        _, run, chunk, batch = heapq.heappop(heads)
        clock = batch.column("\0clock").to_numpy()
        limit = heads[0][0] if heads else None
        count = len(clock)
        if limit is not None:
            before = run < heads[0][1]
            count = int(np.searchsorted(clock, limit, "right" if before else "left"))
        yield Events(batch.slice(0, count).drop_columns(["\0clock"]), clock[:count].copy())
        if count < len(clock):
            heapq.heappush(heads, (int(clock[count]), run, chunk, batch.slice(count)))
        else:
            push(run, chunk + 1)
    for source in sources:
        source.close()
