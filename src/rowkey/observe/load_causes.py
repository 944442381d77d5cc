"""Find why a running table is hot: the causes that a simulation knows, in its counted load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots import (
    BusiestShares,
    CauseFinding,
    LoadResult,
    MeasuredSkew,
    Placements,
    Skew,
    build_declared_facts,
    recognise_causes,
)
from rowkey.observe.write_sample import MIN_EVENTS, WriteSample
from rowkey.regions import Boundaries, locate_key_array
from rowkey.workload import EventBatch, SampleSummary

if TYPE_CHECKING:
    from rowkey.observe.load_balance import LoadBalance
    from rowkey.observe.region_deltas import LoadInterval


def find_load_causes(
    design: Design,
    samples: Sequence[tuple[LoadInterval, WriteSample]],
    intervals: Sequence[LoadInterval],
    balance: LoadBalance,
) -> list[CauseFinding]:
    """Return why the writes of a running table are uneven, the strongest cause first.

    Args:
        samples: some of the intervals, each with its sampled writes; all have the same regions.
        intervals: the intervals with known counters, in the order of time.
    """
    read = [(each, one) for each, one in samples if one.keys]
    if not read or not intervals or balance.skew is None or balance.even_skew is None:
        return []
    judged = _set_server_count(design, balance.servers)
    row_numbers = choose_sample_rows(
        [len(one.keys) for _, one in read], [i.sum_operations("writes") for i, _ in read]
    )
    batches = [one.rows.take(which) for (_, one), which in zip(read, row_numbers, strict=True)]
    rows = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    keys = [one.keys[at] for (_, one), which in zip(read, row_numbers, strict=True) for at in which]
    windows = np.repeat(np.arange(len(read)), [len(which) for which in row_numbers])
    last = intervals[-1]
    boundaries = Boundaries(start for start, _ in last.bounds[1:])
    counts = np.array([[one.writes or 0 for one in each.regions] for each in intervals])
    numbers = {server: number for number, server in enumerate(last.servers)}
    places = np.array([numbers[one.server] for one in last.regions])
    placements = Placements(len(boundaries), len(last.servers), assignment=places)
    summary = SampleSummary(judged.collect_needed_fields())
    summary.add(EventBatch(rows, None))
    evidence = LoadResult(
        judged,
        {**build_declared_facts(judged), **summary.measured_facts},
        boundaries,
        placements,
        counts.sum(axis=0),
        (
            Skew(
                _compute_width_s(intervals),
                balance.window_count,
                1.0,
                balance.skew,
                even_server_skew=balance.even_skew,
            ),
        ),
        MeasuredSkew(
            balance.skew, balance.even_skew, _compute_width_s(intervals), balance.level == "even"
        ),
        compute_busiest_shares(counts),
        compute_busiest_shares(placements.sum_by_server(counts)),
        rows,
        keys,
        locate_key_array(boundaries, pa.array(keys, pa.binary())),
        windows,
    )
    return recognise_causes(evidence)


def choose_sample_rows(
    read_counts: Sequence[int], write_counts: Sequence[int]
) -> list[np.ndarray[Any, Any]]:
    """Return the row numbers to keep of each sample, so that all are sampled at one rate.

    The rate is that of the sample with the most writes per row, or a higher one if that would
    leave too few rows.

    Args:
        read_counts: rows of each sample, at least one.
        write_counts: the writes counted in its interval.

    >>> [len(which) for which in choose_sample_rows([2_000, 1_500], [2_000, 15_000])]
    [200, 1500]
    """
    rows = np.array(read_counts)
    writes_per_row = np.array(write_counts) / rows
    sample_sizes = rows
    for max_writes_per_row in sorted(filter(None, writes_per_row.tolist()), reverse=True):
        sample_sizes = np.maximum(
            (rows * np.minimum(writes_per_row / max_writes_per_row, 1)).astype(np.int64), 1
        )
        if sample_sizes.sum() >= min(MIN_EVENTS, rows.sum()):
            break
    return [
        np.arange(size) * row_count // size
        for size, row_count in zip(sample_sizes, rows, strict=True)
    ]


def _set_server_count(design: Design, servers: int) -> Design:
    if servers == design.cluster.servers:
        return design
    cluster = design.declaration.model_dump(exclude_unset=True).get("cluster", {})
    return design.copy_with_options(cluster={**cluster, "servers": servers})


def _compute_width_s(intervals: Sequence[LoadInterval]) -> int:
    """Return the mean length of the intervals in whole seconds."""
    return max(round(sum(one.length_s for one in intervals) / len(intervals)), 1)


def compute_busiest_shares(counts: np.ndarray[Any, Any]) -> BusiestShares:
    """Return the shares of the busiest column, from counts by interval and column."""
    totals, sums = counts.sum(axis=0), counts.sum(axis=1)
    if not sums.any():
        return BusiestShares(0.0, 0.0, 0.0)
    busiest, total = counts.max(axis=1), counts.sum()
    worst = (busiest[sums > 0] / sums[sums > 0]).max()
    return BusiestShares(float(totals.max() / total), float(busiest.sum() / total), float(worst))
