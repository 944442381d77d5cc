"""Estimated rows of an answer, counted by hand where a sample has part of the rows."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.regions import Boundaries
from rowkey.simulate import replay, run
from rowkey.simulate.read_simulator import ReadSimulator
from rowkey.workload import RESERVOIR_CAPACITY

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}


def measure_read(key: str, rows: Sequence[tuple[str, int]], total: int, **read: Any) -> ReadCost:
    """Return the cost of one read of a sample of a table of a given size."""
    design = Design("t", key, fields=FIELDS, reads=[{"name": "it", **read}])
    batch = pa.record_batch(
        [pa.array([host for host, _ in rows]), pa.array([ts for _, ts in rows])],
        names=["host", "ts"],
    )
    keys = design.key.encode_batch(batch, salts=np.zeros(len(rows), np.int64)).to_pylist()
    return ReadSimulator(design, Boundaries(()), batch, keys, total, 100).measure_read(
        design.reads[0]
    )


FOUR = [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
"""Rows that were seen of a table of 13: beside one that is asked for, three stand for twelve."""


def test_a_read_of_one_key_returns_one_row() -> None:
    """A read of one key returns one row, however small the sample is."""
    read = {"where": "host = ? and ts = ?"}
    found = measure_read("[host][ts]", FOUR, 13, **read)
    assert (1.0, 1.0, 1.0) == (found.returned_rows, found.read_rows, found.amplification)
    filtered = measure_read("[host]", FOUR, 13, **read)
    assert 1.0 == filtered.read_rows
    hashed = measure_read("[digest(host, ts, 4)]", FOUR, 13, **read)
    assert (1.0, 1.0) == (hashed.returned_rows, hashed.read_rows)


def test_a_limit_does_not_change_a_read_of_one_key() -> None:
    """A limit above one does not change a read of one key."""
    found = measure_read("[host][ts]", FOUR, 13, where="host = ? and ts = ?", limit=5)
    assert (1.0, 1.0) == (found.returned_rows, found.read_rows)


def test_events_that_overwrite_each_other_are_one_row() -> None:
    """Five events of two rows are a table of two rows."""
    rows = [("a", 1), ("b", 1), ("a", 1), ("a", 1), ("b", 1)]
    found = measure_read("[host][ts]", rows, 2, where="host = ? and ts = ?")
    assert (1.0, 1.0) == (found.returned_rows, found.read_rows)
    every = measure_read("[host][ts]", rows, 2, where="")
    assert (2.0, 2.0) == (every.returned_rows, every.read_rows)


def test_the_sampled_row_that_gave_the_value_is_not_multiplied() -> None:
    """The sampled row that gave the value counts once, and every other sampled row four times."""
    found = measure_read("[host][ts]", FOUR, 13, where="host = ?")
    assert pytest.approx((3 * (1 + 2 * 4) + 1) / 4) == found.returned_rows == found.read_rows


def test_rows_read_and_returned_by_a_filter_are_scaled_by_one_factor() -> None:
    """Read and returned rows of a filter are scaled by one factor, except the row of the value."""
    found = measure_read("[host][ts]", FOUR, 13, where="ts = ?")
    assert (13.0, (1 + 4 + 1 + 1 + 1 + 4) / 4) == (found.read_rows, found.returned_rows)


def test_a_row_excluded_by_its_own_bound_is_not_in_the_answer() -> None:
    """The row that gave an exclusive bound is not part of the answer."""
    found = measure_read("[host][ts]", FOUR, 13, where="ts > ?")
    assert ((2 + 1 + 0 + 2) * 4 / 4, 13.0) == (found.returned_rows, found.read_rows)


def test_a_full_scan_reads_exactly_the_rows_of_the_table() -> None:
    assert 13.0 == measure_read("[host][ts]", FOUR, 13, where="").returned_rows


def test_a_list_read_asks_for_different_values() -> None:
    """A list of three parameters has three different hosts, or two if there are only two."""
    rows = [(host, 1) for host in "abcd"]
    read = {"where": "host in (?, ?, ?) and ts = ?"}
    found = measure_read("[host][ts]", rows, 40, **read)
    assert ((3.0, 3), 3.0, 3.0) == (found.fan_out, found.returned_rows, found.read_rows)
    few = measure_read("[host][ts]", rows[:2], 2, **read)
    assert ((2.0, 2), 2.0) == (few.fan_out, few.returned_rows)


def test_listed_times_of_a_trial_belong_to_the_host_of_the_read() -> None:
    """Listed times belong to the host of the read, or to other hosts if it has too few."""
    rows = [("a", 1), ("a", 2), ("b", 7), ("b", 8)]
    read = {"where": "host = ? and ts in (?, ?)"}
    assert (2.0, (2.0, 2)) == (
        measure_read("[host][ts]", rows, 4, **read).returned_rows,
        measure_read("[host][ts]", rows, 4, **read).fan_out,
    )
    lonely = [("a", 1), ("b", 7)]
    found = measure_read("[host][ts]", lonely, 2, **read)
    assert (1.0, (2.0, 2)) == (found.returned_rows, found.fan_out)


def test_a_limit_applies_to_the_scaled_rows_of_an_answer() -> None:
    """A limit of five reads and returns five of nine scaled rows, but for a little chance."""
    found = measure_read("[host][ts]", FOUR[:3], 9, where="host = ?", limit=5, order="ts")
    assert pytest.approx((5.0, 5.0), rel=0.01) == (found.returned_rows, found.read_rows)


def test_a_limit_is_reached_where_the_matching_rows_of_the_sample_are() -> None:
    """A limit is reached at the position of the matching rows, not at an even share."""
    rows = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 5), ("b", 6), ("b", 7), ("b", 8)]
    read = {"where": "host = ?", "limit": 2, "order": "ts"}
    found = measure_read("[ts][host]", rows, len(rows), **read)
    # Half of the askings are for a, whose two rows are the first two; the others pass four.
    assert (2.0, (2 + 6) / 2) == (found.returned_rows, found.read_rows)


def test_costs_measured_on_sampled_rows_are_scaled_to_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of three rows of each host not half are sampled, and costs are scaled to the whole table."""
    host_count, capacity = (100_000, RESERVOIR_CAPACITY) if IS_LONG else (10_000, 13_000)
    monkeypatch.setattr(replay, "RESERVOIR_CAPACITY", capacity)
    assert 3 * host_count > 2 * capacity
    numbers = random.Random(3).sample(range(3 * host_count), 3 * host_count)
    hosts = [f"h{number % host_count}" for number in numbers]
    rows = pa.table({"host": hosts, "ts": [number // host_count for number in numbers]})
    reads = [
        {"name": "host", "where": "host = ?"},
        {"name": "row", "where": "host = ? and ts = ?"},
    ]
    design = Design("t", "[host][ts]", fields=FIELDS, reads=reads)
    host, row = run(design, rows).reads
    assert pytest.approx(3.0, rel=0.15) == host.returned_rows
    assert (1.0, 1.0) == (row.returned_rows, row.read_rows)


def test_the_true_mean_is_within_the_margin_in_nine_of_ten_recordings() -> None:
    """In nine of ten recordings the mean of all rows lies within the margin of the trials."""
    chance, within = random.Random(11), 0
    count = 50 if IS_LONG else 20
    for _ in range(count):
        rows = [(f"h{int(chance.paretovariate(1.5))}", at) for at in range(1_000)]
        sizes = Counter(host for host, _ in rows)
        expected = sum(sizes[host] for host, _ in rows) / len(rows)
        found = measure_read("[host][ts]", rows, len(rows), where="host = ?")
        within += abs(found.returned_rows - expected) <= found.margins.returned_rows
        assert found.margins.read_rows == found.margins.returned_rows > 0 == found.margins.fan_out
    assert 0.9 * count <= within
