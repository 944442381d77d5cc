"""Replay a sample through a new table, and read its counters after every phase."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import Any

from rowkey.design import Design
from rowkey.engines import get_time_ms
from rowkey.errors import InvalidArgument, SampleError
from rowkey.observe.proof.cell_sizes import CellSizeCounter
from rowkey.observe.proof.proof_result import (
    MAX_SIZE_DEVIATION,
    PhaseProof,
    Proof,
    ReadProof,
    SizeProof,
    compare_phase,
)
from rowkey.observe.proof.read_prover import ReadProver
from rowkey.observe.proof.temporary_table import make_temporary_table
from rowkey.observe.region_deltas import CounterSnapshot, compute_interval
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress
from rowkey.regions import Boundaries, SplitPolicy
from rowkey.simulate import (
    EventSource,
    ReadSimulator,
    Replay,
    choose_source_splits,
    encode_keys,
    open_source,
)
from rowkey.table import Table, compute_load_salts, create_table
from rowkey.workload import EventBatch, SampleInput

MAX_PHASES = 1_000
MEGABYTE = 1 << 20


@explain_shortage
def prove_design(
    design: Design,
    url: str,
    sample: SampleInput | None = None,
    *,
    format_options: Mapping[str, Any] | None = None,
    phases: int = 20,
    keep_table: bool = False,
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> Proof:
    """Write a sample into a new table, and compare predicted with counted requests.

    The table has a new name, its regions are not split, and it is dropped in the end, also after an
    error or an interrupt; if it cannot be dropped, the error names it. On a cluster the balancer
    should be off during the proof, because a region that moves loses its counters.

    Args:
        url: the cluster or engine on which the table is created.
        sample: a file of recorded events, its recording, or a table in memory; the design's own
            if None.
        format_options: how the file is read, as in `simulate.run`.
        phases: parts of the sample after which the counters are read, from 1 to 1,000.
        keep_table: whether the table is kept; splitting its regions stays disabled then.
        seed: the seed of random numbers.
        progress: called with the number of events written and the number of all events.

    Raises:
        SampleError: there is no sample, or it cannot be read.
        InvalidArgument: the number of phases is out of range.
        Unavailable: the cluster or engine cannot be reached.

    Cost: as `rowkey load`, twice the time of `simulate`, and some scans for each read; some 100
        bytes of memory a row.
    """
    if not 1 <= phases <= MAX_PHASES:
        raise InvalidArgument(
            "phases", f"{phases} is out of range", f"a number from 1 to {MAX_PHASES:,}"
        )
    source = open_source(
        design, sample, format_options, second_half=False, seed=seed, keeps_all_fields=True
    )
    if source.origin != "sample":
        what = "the design declares no sample, and generated events have no columns to write"
        raise SampleError("sample", what, "a file of recorded events", "Give --sample FILE.")
    boundaries = choose_source_splits(design, source, seed).boundaries
    fresh = design.copy_with_options(table=f"{design.table}.proof.{token_hex(4)}", companions=None)
    make = partial(create_table, fresh, url, splits=boundaries.splits)
    with make_temporary_table(fresh, url, make, keep_table=keep_table) as table:
        _disable_splits(table)
        return _run_proof(
            design, source, boundaries, table, phases, seed, progress, keep_table=keep_table
        )


def _disable_splits(table: Table) -> None:
    """Switch automatic region splits of a table off, because a split resets the counters."""
    attributes = table.store.families_and_attributes[1]
    table.store.replace_attributes({**attributes, "SPLIT_POLICY": SplitPolicy.DISABLED.value})


def _run_proof(
    design: Design,
    source: EventSource,
    boundaries: Boundaries,
    table: Table,
    phases: int,
    seed: int,
    progress: ReportProgress | None,
    *,
    keep_table: bool,
) -> Proof:
    """Write the events, run the declared reads, and measure the size on disk."""
    # The table allocates the ids of a dictionary, so its design has them.
    encoded = table.design if design.key.has_coded_fields else design
    replay = Replay(encoded, boundaries, source.replayed_count, seed)
    cells, keys = CellSizeCounter(encoded), set[bytes]()
    phase_proofs = []
    for phase in _run_phases(source, boundaries, table, replay, cells, keys, phases):
        phase_proofs.append(phase)
        if progress is not None:
            progress(Progress("writing", replay.operation_count, source.replayed_count))
    reads = _prove_reads(encoded, boundaries, table, replay, sorted(keys), cells)
    size = _prove_size(table, cells)
    return Proof(
        design,
        source,
        table.design.table,
        keep_table,
        tuple(phase_proofs),
        tuple(reads),
        size,
        tuple(_list_remarks(design, phase_proofs, size)),
    )


def _run_phases(
    source: EventSource,
    boundaries: Boundaries,
    table: Table,
    replay: Replay,
    cells: CellSizeCounter,
    keys: set[bytes],
    phase_count: int,
) -> Iterator[PhaseProof]:
    """Write the events phase by phase; yield the predicted and counted writes of each."""
    before = _take_snapshot(table)
    predicted = replay.writes.copy()
    for number, parts in enumerate(
        split_into_phases(source.read_replayed_events(), source.replayed_count, phase_count), 1
    ):
        for events in parts:
            salts = _choose_salts(replay.design, events.rows)
            replay.add(events, salts)
            cells.add(events.rows, get_time_ms(), salts)
            keys.update(encode_keys(replay.design, events.rows, salts))
            table.load(events.rows)
        after = _take_snapshot(table)
        writes = (replay.writes - predicted).tolist()
        yield compare_phase(number, boundaries.regions, writes, compute_interval(before, after))
        before, predicted = after, replay.writes.copy()


def _choose_salts(design: Design, rows: Any) -> Any:
    """Return the random salts that a load uses for rows; None if the key has no salt."""
    return compute_load_salts(design, rows) if design.key.is_salted else None


def split_into_phases(
    stream: Iterator[EventBatch], count: int, phase_count: int
) -> Iterator[list[EventBatch]]:
    """Yield the events in phases of equal size, each as a list of batches.

    Args:
        count: how many there are.
        phase_count: how many phases; as many as there are events if those are fewer.
    """
    edges = sorted({count * number // phase_count for number in range(1, phase_count + 1)} - {0})
    batches: list[EventBatch] = []
    at = 0
    for events in stream:
        first = 0
        while first < len(events):
            stop = min(first + edges[0] - at, len(events))
            clock = None if events.clock_ms is None else events.clock_ms[first:stop]
            batches.append(EventBatch(events.rows.slice(first, stop - first), clock))
            at += stop - first
            first = stop
            if at == edges[0]:
                yield batches
                batches = []
                edges = edges[1:]


def _take_snapshot(table: Table) -> CounterSnapshot:
    """Return the current counters of the table's regions."""
    return CounterSnapshot.from_regions(time.monotonic(), table.store.list_open_regions(), [])


def _prove_reads(
    design: Design,
    boundaries: Boundaries,
    table: Table,
    replay: Replay,
    keys: Sequence[bytes],
    cells: CellSizeCounter,
) -> list[ReadProof]:
    """Return the results of the declared reads, or why they cannot be compared."""
    why = _format_expiry(cells)
    if design.layout.has_shared_rows:
        why = "many events share a row, which a region counts once for each part it reads"
    if why or not design.reads:
        return [ReadProof(read.name, reason=why) for read in design.reads]
    rows = replay.sampled_rows
    simulator = ReadSimulator(
        design,
        boundaries,
        rows,
        encode_keys(design, rows, _choose_salts(design, rows)),
        len(keys),
        cells.sum_heap_bytes() / len(keys),
    )
    prover = ReadProver(table, keys, boundaries, simulator, cells.sum_heap_bytes() / len(keys))
    proofs = list(map(prover.prove_read, design.reads))
    if why := _format_expiry(cells):  # cells may have expired during the reads
        return [ReadProof(read.name, reason=why) for read in design.reads]
    return proofs


def _format_expiry(cells: CellSizeCounter) -> str:
    """Return which family has expired cells, as a reason; "" if none has."""
    family = cells.find_expired_family(get_time_ms())
    return f"cells of family {family} are older than its ttl and have expired" if family else ""


def _prove_size(table: Table, cells: CellSizeCounter) -> SizeProof | None:
    """Return predicted and measured bytes after a major compaction; None except on HBase."""
    predicted = cells.sum_bytes()
    if predicted is None or _format_expiry(cells) or table.engine.list_servers() == [""]:
        return None
    table.flush()
    table.compact()
    families = table.design.families.values()
    is_plain = all((one.compression, one.encoding) == ("NONE", "NONE") for one in families)
    return SizeProof(
        predicted, table.store.measure_size_bytes(), len(table.regions()) * MEGABYTE, is_plain
    )


def _list_remarks(
    design: Design, phases: Sequence[PhaseProof], size: SizeProof | None
) -> Iterator[str]:
    """Yield remarks on salts, lost counts and bytes on disk."""
    if design.key.is_salted:
        yield (
            "the key has a random salt: the prediction uses the salts that were written, not those "
            "of simulate"
        )
    if any(phase.unknown_count for phase in phases):
        yield (
            "regions were reopened, split or merged, and lost their counts: switch balancer, "
            "splits and merges off, and prove again"
        )
    apart = size.deviation if size is not None and size.is_plain else None
    if apart is not None and abs(apart) > MAX_SIZE_DEVIATION:
        yield (
            f"bytes on disk differ by {apart:+.1%} from the bytes of the cells; the verdict "
            f"ignores them, because file indexes and headers are not predicted"
        )
