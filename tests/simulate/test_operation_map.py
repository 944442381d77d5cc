"""The operations a second of a map are those of a naive sum over events and reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import Design
from rowkey.simulate import OperationMap, run
from rowkey.workload import count_write_operations

FIELDS: dict[str, Any] = {
    "host": {"type": "u32", "distinct": 300},
    "ts": "timestamp_s",
    "note": {"type": "text", "max_bytes": 90_000, "mean_bytes": 81_000},
}
READ = {"name": "of a host", "where": "host = ?", "limit": 10, "rate": "40/s"}


@st.composite
def draw_maps(draw: st.DrawFn) -> OperationMap:
    """Draw a small map with or without reads."""
    columns, places = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    counts = st.lists(st.integers(0, 9), min_size=places, max_size=places)
    events = np.array(draw(st.lists(counts, min_size=columns, max_size=columns)))
    reads = draw(st.none() | counts)
    rate = draw(st.sampled_from([0.25, 1.0, 3.5]))
    return OperationMap(0, 4, events, rate, None if reads is None else np.array(reads, float))


@given(draw_maps(), st.integers(1, 8))
def test_the_rate_of_a_joined_map_column_is_the_mean_of_its_columns(
    operations: OperationMap, each: int
) -> None:
    """A column of several is their mean, and shares are sums over all cells."""
    columns, places = operations.events.shape
    for load in operations.loads:
        naive = [
            [
                (load != "reads") * int(operations.events[column, place]) * operations.event_rate
                + (0.0 if load == "writes" or operations.reads is None
                   else float(operations.reads[place]))
                for place in range(places)
            ]
            for column in range(columns)
        ]  # fmt: skip
        assert pytest.approx(np.array(naive)) == operations.compute_rates(load)
        parts = [naive[first : first + each] for first in range(0, columns, each)]
        means = [[sum(one) / len(part) for one in zip(*part, strict=True)] for part in parts]
        assert pytest.approx(np.array(means)) == operations.compute_rates(load, each)
        sums = [sum(one) for one in zip(*naive, strict=True)]
        shares = [one / (sum(sums) or 1) for one in sums]
        assert pytest.approx(shares) == operations.compute_shares(load).tolist()


def build_design(**writes: Any) -> Design:
    """Return a design whose events are large and that has a read with a rate."""
    key = "[bucket(host, 6)][host][ts]"
    cluster = {"servers": 3}
    return Design(
        "t", key, fields=FIELDS, splits="per_bucket", cluster=cluster, writes=writes, reads=[READ]
    )


def test_writes_and_reads_of_a_map_are_added_in_operations_per_second() -> None:
    """Large events cost more than one operation, at their rate; reads add theirs in each column."""
    simulation = run(build_design(rate="100/s", **{"for": "20s"}), seed=3)
    operations = simulation.build_operation_map(range(6), 6)
    assert operations is not None
    assert ("writes", "reads", "both") == operations.loads
    each = count_write_operations(simulation.event_bytes)
    assert each > 2
    writes, both = operations.compute_rates("writes"), operations.compute_rates("both")
    assert pytest.approx(100 * each, rel=0.1) == writes.sum() / 20
    reads = simulation.total_read_load
    assert reads is not None
    assert pytest.approx(both - writes) == np.tile(reads.regions.operations, (len(both), 1))
    servers = simulation.build_operation_map([one.server for one in simulation.regions], 3)
    assert servers is not None
    assert pytest.approx(reads.servers.operations) == servers.reads
    assert pytest.approx(both.sum()) == servers.compute_rates("both").sum()


def test_sampled_events_are_scaled_to_the_declared_rate(tmp_path: Any) -> None:
    """Events of a sample are scaled to the declared rate, the mean of the map."""
    path = tmp_path / "rows.csv"
    rows = [f"{number % 50},{1_700_000_000 + number},x" for number in range(2_000)]
    path.write_text("\n".join(["host,ts,note", *rows]))
    for rate, expected in (({}, 1.0), ({"rate": "800/s"}, 800.0)):
        simulation = run(build_design(time="ts", **rate), path)
        operations = simulation.build_operation_map([0] * 6, 1)
        assert operations is not None
        mean = operations.compute_rates("writes").mean() / simulation.write_operations
        assert pytest.approx(expected, rel=0.02) == mean
