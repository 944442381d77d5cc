"""A sample replayed through a fresh table, and its counters read after every phase."""

from __future__ import annotations

import time
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.engines import now_ms
from rowkey.errors import Refused, SampleError
from rowkey.observe.counting import Counted, between
from rowkey.observe.proving.dropping import dropped
from rowkey.observe.proving.proof import COARSE, PhaseProof, Proof, ReadProof, Sized, phase_of
from rowkey.observe.proving.reading import Reading
from rowkey.observe.proving.sizes import Cells
from rowkey.open_file_limit import explains_shortage
from rowkey.regions import SplitPolicy
from rowkey.simulate import Asked, Replay, cut_by_source, keys_of, source_of
from rowkey.table import create_table, load_salts
from rowkey.workload import Events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rowkey.regions import Boundaries
    from rowkey.simulate import Source
    from rowkey.table import Table

PHASES_MOST = 1_000
MEGABYTE = 1 << 20


@explains_shortage
def prove(
    design: Design,
    url: str,
    sample: str | Path | None = None,
    *,
    format_words: Mapping[str, Any] | None = None,
    phases: int = 20,
    keep: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Replay a sample through a fresh table, and compare what was predicted with what is counted.

    The table has a name of its own, its regions are not split, and it is dropped in the end, also
    when the proof is broken off; an error names it where it is left. On a cluster the balancer
    should be off meanwhile, for a region that moves forgets what it counted.

    Args:
        design: the design.
        url: where the table is made.
        sample: a file of recorded events; the design's own if None.
        format_words: how the file is read, as in `simulate.run`.
        phases: parts of the sample after which the counters are read, from 1 to 1,000.
        keep: whether the table stays; its regions are never split then, until that is changed.
        seed: where randomness begins.
        progress: told how many events are written, and of how many.

    Raises:
        SampleError: there is no sample, or it cannot be read.
        Refused: there cannot be so many phases.
        Unsupported: the place cannot be reached.

    Cost: as `rowkey load`, twice the time of `simulate`, and some scans for each read; some 100
        bytes of memory a row.
    """
    if not 1 <= phases <= PHASES_MOST:
        raise Refused("phases", f"{phases} is out of range", f"1..{PHASES_MOST:,}")
    source = source_of(
        design, sample, format_words, second_half=False, seed=seed, fields=design.fields
    )
    if source.kind != "sample":
        what = "events made from the file have no columns that could be written"
        raise SampleError("sample", what, "a file of recorded events", "Give --sample FILE.")
    boundaries = cut_by_source(design, source, seed).boundaries
    fresh = _named(design, f"{design.table}.proof.{token_hex(4)}")
    make = partial(create_table, fresh, url, splits=boundaries.splits)
    with dropped(fresh, url, make, keep=keep) as table:
        _unsplit(table)
        return _proved(design, source, boundaries, table, phases, seed, progress, keep=keep)


def _named(design: Design, name: str) -> Design:
    """The design under another name."""
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    named = Design(**{**words, "table": name})
    named.directory = design.directory
    return named


def _unsplit(table: Table) -> None:
    """Let no region split by itself: a split forgets what was counted."""
    words = {**table.store.described[1], "SPLIT_POLICY": SplitPolicy.DISABLED.value}
    table.store.annotate(words)


def _proved(
    design: Design,
    source: Source,
    boundaries: Boundaries,
    table: Table,
    phases: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    *,
    keep: bool,
) -> Proof:
    """Everything that is done with the table."""
    # The ids of a dictionary are those that the table gives out.
    encoded = table.design if design.key.is_coded else design
    replay = Replay(encoded, boundaries, source.count, seed)
    cells, keys = Cells(encoded), set[bytes]()
    found = []
    for phase in _phases(source, boundaries, table, replay, cells, keys, phases):
        found.append(phase)
        if progress is not None:
            progress(replay.operations, source.count)
    reads = _reads(encoded, boundaries, table, replay, sorted(keys), cells)
    size = _size(table, cells)
    return Proof(
        design,
        source,
        table.design.table,
        keep,
        tuple(found),
        tuple(reads),
        size,
        tuple(_remarks(design, found, size)),
    )


def _phases(
    source: Source,
    boundaries: Boundaries,
    table: Table,
    replay: Replay,
    cells: Cells,
    keys: set[bytes],
    phases: int,
) -> Iterator[PhaseProof]:
    """Write the events, phase by phase, with what was predicted and counted of each."""
    before = _counted(table)
    predicted = replay.writes.copy()
    for number, parts in enumerate(parted(source.replayed(), source.count, phases), 1):
        for events in parts:
            salts = _salts(replay.design, events.rows)
            replay.add(events, salts)
            cells.add(events.rows, now_ms(), salts)
            keys.update(keys_of(replay.design, events.rows, salts))
            table.load(events.rows)
        after = _counted(table)
        writes = (replay.writes - predicted).tolist()
        yield phase_of(number, boundaries.regions, writes, between(before, after))
        before, predicted = after, replay.writes.copy()


def _salts(design: Design, rows: Any) -> Any:
    """The random salts with which a load writes rows; None if the key has none."""
    return load_salts(design, rows) if design.key.is_salted else None


def parted(stream: Iterator[Events], count: int, phases: int) -> Iterator[list[Events]]:
    """Events in phases of equal numbers.

    Args:
        stream: the events.
        count: how many there are.
        phases: how many phases; as many as there are events if those are fewer.
    """
    edges = sorted({count * number // phases for number in range(1, phases + 1)} - {0})
    held: list[Events] = []
    at = 0
    for events in stream:
        first = 0
        while first < len(events):
            behind = min(first + edges[0] - at, len(events))
            clock = None if events.clock_ms is None else events.clock_ms[first:behind]
            held.append(Events(events.rows.slice(first, behind - first), clock))
            at += behind - first
            first = behind
            if at == edges[0]:
                yield held
                held = []
                edges = edges[1:]


def _counted(table: Table) -> Counted:
    return Counted.of(time.monotonic(), table.store.openings(), [])


def _reads(
    design: Design,
    boundaries: Boundaries,
    table: Table,
    replay: Replay,
    keys: Sequence[bytes],
    cells: Cells,
) -> list[ReadProof]:
    """The declared reads, where the keys of all rows are known, and all of their cells live."""
    why = _expired(cells)
    if design.layout.shares_rows:
        why = "many events share a row, and regions count the pieces in which it is read"
    if why or not design.reads:
        return [ReadProof(read.name, why=why) for read in design.reads]
    from rowkey.keys import Columns

    rows = replay.reservoir.rows()
    columns = Columns.of(rows, [design.fields[name] for name in rows.schema.names])
    asked = Asked(
        design, boundaries, columns, keys_of(design, rows, _salts(design, rows)), len(keys)
    )
    reading = Reading(table, keys, boundaries, asked, cells.heap() / len(keys))
    found = list(map(reading.prove, design.reads))
    if why := _expired(cells):  # while they were asked
        return [ReadProof(read.name, why=why) for read in design.reads]
    return found


def _expired(cells: Cells) -> str:
    """Why nothing can be said of what stands; an empty string where no cell has expired."""
    family = cells.expired(now_ms())
    return f"cells of family {family} are older than its ttl, and live no longer" if family else ""


def _size(table: Table, cells: Cells) -> Sized | None:
    """Bytes on disk, once everything is flushed and merged; our own engines have other formats."""
    predicted = cells.bytes()
    if predicted is None or _expired(cells) or table.engine.servers() == [""]:
        return None
    table.flush()
    table.compact()
    families = table.design.families.values()
    is_plain = all((one.compression, one.encoding) == ("NONE", "NONE") for one in families)
    return Sized(predicted, table.store.size(), len(table.regions()) * MEGABYTE, is_plain)


def _remarks(design: Design, found: Sequence[PhaseProof], size: Sized | None) -> Iterator[str]:
    """What should be known of the figures."""
    if design.key.is_salted:
        yield (
            "the key has a random salt: predicted with the salts that were written, where simulate "
            "draws others"
        )
    if any(phase.unknown for phase in found):
        yield (
            "regions were opened anew, split or merged, and forgot what they had counted: switch "
            "balancer, splits and merges off while a design is proved"
        )
    apart = size.deviation if size is not None and size.is_plain else None
    if apart is not None and abs(apart) > COARSE:
        yield (
            f"bytes on disk are {apart:+.1%} from those of the cells, and the verdict is on counts "
            f"alone: what a file has beside its cells is not predicted"
        )
