"""Which events a design is judged by: a recorded sample, or events made from the file alone."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rowkey.schema import Facts
from rowkey.workload import Events, LeftOut, Profile, Workload, open_sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.design import Design
    from rowkey.workload import Sample

HALF = 2


@dataclass(slots=True)
class Source:
    """Events to judge a design by.

    Args:
        kind: `sample` or `generated`.
        name: the sample's file, or an empty string.
        total: how many events there are.
        first: the number of the first event that is replayed.
        facts: what is known of the fields.
        left_out: rows of a sample that were no events.
        assumed: what was assumed for lack of a declaration, as sentences.
        stream: gives all events, anew at each call.
    """

    kind: str
    name: str
    total: int
    first: int
    facts: Mapping[str, Facts]
    stream: Any
    left_out: LeftOut = field(default_factory=LeftOut)
    assumed: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many events are replayed."""
        return self.total - self.first

    def earlier(self) -> Iterator[Events]:
        """The events before those that are replayed."""
        yield from _between(self.stream(), 0, self.first)

    def replayed(self) -> Iterator[Events]:
        """The events that are replayed."""
        yield from _between(self.stream(), self.first, self.total)


def _between(stream: Iterator[Events], start: int, stop: int) -> Iterator[Events]:
    """The events from one number up to another."""
    at = 0
    for events in stream:
        low, high = max(start - at, 0), min(stop - at, len(events))
        if low < high:
            clock = None if events.clock_ms is None else events.clock_ms[low:high]
            yield Events(events.rows.slice(low, high - low), clock)
        at += len(events)
        if at >= stop:
            return


def generated(design: Design, seed: int) -> Source:
    """Events made from the design file.

    Args:
        design: the design.
        seed: the same seed makes the same events.
    """
    workload = Workload(design.writes, design.wanted_fields(), seed)
    facts = {}
    for name, declared in design.wanted_fields().items():
        if declared is not design.writes.time:
            distinct = workload.distinct(declared)
            draw = design.writes.draws.get(name)
            share = draw.heaviest_share(distinct) if draw is not None else 1 / distinct
            heaviest = ((declared.type.domain.nth(0), share),) if draw is not None else ()
            facts[name] = Facts(distinct=distinct, heaviest=heaviest)
    return Source(
        "generated", "", workload.count, 0, facts, workload.events, assumed=workload.assumed
    )


def recorded(
    design: Design,
    path: Path,
    format_words: Mapping[str, Any] | None,
    *,
    second_half: bool,
    seed: int,
) -> Source:
    """Events of a sample, looked at once to count and profile them.

    Args:
        design: the design.
        path: the sample's file.
        format_words: how it is read; told by its name if None.
        second_half: whether only the second half is replayed.
        seed: where the profile's sample begins.

    Raises:
        SampleError: the sample cannot be read, or does not have the design's fields.
    """
    fields = design.wanted_fields()
    sample = open_sample(path, fields, design.writes.time, format_words)
    profile = Profile(fields, seed)
    for events in sample.events():
        profile.add(events)
    first = profile.count // HALF if second_half else 0
    facts = _with_declared(design, profile.facts())
    stream = _sorted_stream(sample) if design.writes.sort else sample.events
    return Source(
        "sample", str(path), profile.count, first, facts, stream, left_out=sample.left_out
    )


def _with_declared(design: Design, seen: Mapping[str, Facts]) -> dict[str, Facts]:
    """What a sample showed; where it showed nothing, what was declared."""
    facts = dict(seen)
    for name, declared in design.fields.items():
        words = declared.words
        if name not in facts and (words.distinct or words.mean_bytes):
            facts[name] = Facts(distinct=words.distinct, bytes_mean=words.mean_bytes)
    return facts


MOST_SORTED = 1 << 20
"""Events sorted in memory at a time; longer samples are sorted in runs on disk and merged."""


def _sorted_stream(sample: Sample) -> Any:
    """A sample's events in the order of their times; equal times stay in the order of the file."""

    def stream() -> Iterator[Events]:
        with TemporaryDirectory(prefix="rowkey-sort-") as folder:
            runs = [
                _written(run, Path(folder) / f"{n}.arrow") for n, run in enumerate(_runs(sample))
            ]
            yield from _merged(runs)

    return stream


def _runs(sample: Sample) -> Iterator[Any]:
    """Sorted tables of at most a million events; the column `\\0clock` holds their times."""
    import pyarrow as pa

    held: list[Any] = []
    count = 0
    for events in sample.events():
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
