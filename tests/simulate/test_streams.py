"""Replays of streams that are late, out of order, sorted, broken or very long."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey.hotspots.windows as windows_module
from example_counts import IS_LONG
from rowkey.design import Design
from rowkey.errors import InvalidArgument, InvalidDesign, SampleError
from rowkey.progress import Progress
from rowkey.simulate import (
    choose_algorithm_splits,
    choose_design_splits,
    replay,
    run,
)
from rowkey.workload import EventBatch, EventStore

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

FIELDS = {"host": {"type": "text", "max_bytes": 40}, "ts": "timestamp_ms"}


def build_design(key: str = "[host][ts]", **words: Any) -> Design:
    """Build a design over a host and a time."""
    return Design("t", key, fields=FIELDS, **words)


def write_sample(folder: Path, rows: Sequence[tuple[Any, Any]], name: str = "sample.csv") -> Path:
    """Write rows of host and time to a CSV file."""
    path = folder / name
    path.write_text("host,ts\n" + "".join(f"{host},{ts}\n" for host, ts in rows))
    return path


def make_shuffled_rows(count: int, seed: int = 0) -> list[tuple[str, int]]:
    """Return events of many hosts in no order of time, with many equal times."""
    chance = random.Random(seed)
    return [(f"h{chance.randrange(90)}", chance.randrange(2_000) * 500) for _ in range(count)]


def list_order_results(found: Simulation) -> object:
    """Return the results that depend on the order of events."""
    return (
        [region.writes for region in found.regions], found.region_shares, found.server_shares,
        found.skews, found.overwrite_count, found.boundaries.splits,
    )  # fmt: skip


@pytest.mark.parametrize("max_run_events", [7, 100, 999, 1_000, 5_000])
def test_sorting_in_runs_equals_sorting_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_run_events: int
) -> None:
    """Sorting with any number of events in memory is a stable sort of the stream."""
    rows = make_shuffled_rows(1_000)
    path = write_sample(tmp_path, rows)
    ordered = write_sample(tmp_path, sorted(rows, key=lambda row: row[1]), "ordered.csv")
    splits = {"algorithm": "sample", "regions": 6}
    monkeypatch.setattr("rowkey.workload.event_store.MAX_RUN_EVENTS", max_run_events)
    monkeypatch.setattr("rowkey.workload.records.MAX_BATCH_RECORDS", 64)
    found = run(build_design(splits=splits, writes={"sort": True}), path)
    assert list_order_results(run(build_design(splits=splits), ordered)) == list_order_results(
        found
    )


def test_merging_sorted_runs_is_stable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged events are in order of time, and equal times in the order of the file."""
    from rowkey.workload import open_sample

    rows = [(f"h{n}", time) for n, (_, time) in enumerate(make_shuffled_rows(40_000, seed=2))]
    design = build_design()
    opened = open_sample(
        write_sample(tmp_path, rows), design.collect_needed_fields(), design.writes.time
    )
    monkeypatch.setattr("rowkey.workload.event_store.MAX_RUN_EVENTS", 17_000)
    store = EventStore.from_unsorted(opened.read_events())
    merged = [
        (host, time)
        for events in store.read_events()
        for host, time in zip(
            events.rows.column("host").to_pylist(),
            events.rows.column("ts").cast("int64").to_pylist(),
            strict=True,
        )
    ]
    assert sorted(rows, key=lambda row: row[1]) == merged


def test_late_events_are_counted_in_their_own_windows(tmp_path: Path) -> None:
    """The order of arrival does not change the counts of windows of time."""
    rows = [(f"h{n % 7}", n * 2) for n in range(4_000)]
    mixed = [row for at in range(0, 4_000, 800) for row in reversed(rows[at : at + 800])]
    words: dict[str, Any] = {"splits": ["h2", "h4"], "cluster": {"servers": 2}}
    ordered = run(build_design(**words), write_sample(tmp_path, rows))
    late = run(build_design(**words), write_sample(tmp_path, mixed, "late.csv"))
    assert ordered.skews == late.skews
    assert ordered.skews[0].server_skew is not None
    assert (0, 0) == (ordered.late_count, late.late_count)


def test_events_of_a_closed_window_are_counted_as_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of a window that is already closed are counted as late, not lost silently."""
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 8)
    monkeypatch.setattr(replay, "BLOCK_EVENTS", 10)
    rows = [("a", n * 1_000) for n in range(100)] + [("a", 0), ("a", 1_500)]
    found = run(build_design(), write_sample(tmp_path, rows))
    assert (102, 2) == (found.operation_count, found.late_count)


def test_closing_a_window_early_changes_no_skew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing a busy first window early changes no figure of skew."""
    rows = [(f"h{n % 7}", n * 100) for n in range(1_000)] + [("h1", 3_500)] * 60
    path = write_sample(tmp_path, sorted(rows, key=lambda row: row[1]))
    monkeypatch.setattr(windows_module, "MIN_EVENTS_PER_SERVER", 1)
    monkeypatch.setattr(replay, "BLOCK_EVENTS", 10)
    words: dict[str, Any] = {"splits": ["h2", "h4"], "cluster": {"servers": 2}}
    kept = run(build_design(**words), path)
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 8)
    closed = run(build_design(**words), path)
    assert closed.replay.windows[0].first_open_window is not None
    assert 0 == closed.late_count
    assert kept.skews == closed.skews


def test_a_sample_without_times_has_shares_and_no_skew(tmp_path: Path) -> None:
    """Without times there is no skew, and each missing figure has a reason."""
    path = tmp_path / "a.csv"
    path.write_text("host\n" + "".join(f"h{n % 10}\n" for n in range(500)))
    found = run(Design("t", "[host]", fields={"host": "text"}, splits=["h5"]), path)
    assert [None] * 4 == [skew.server_skew for skew in found.skews]
    assert all(skew.reason for skew in found.skews)
    assert (0.5, None) == (found.region_shares.total, found.load_map)


def test_rows_that_are_no_events_are_skipped_and_counted(tmp_path: Path) -> None:
    """Rows without a time, with too many values, or without a key are skipped and counted."""
    path = tmp_path / "a.csv"
    good = "".join(f"h{n},{n}\n" for n in range(20))
    path.write_text(f"host,ts\n{good}x,never\ny,1,2\n{'z' * 40_000},3\n{good}")
    design = Design("t", "[host][ts]", fields={"host": "text", "ts": "timestamp_ms"})
    found = run(design, path)
    assert (40, 3) == (found.operation_count, found.source.skipped_rows.count)
    assert "line 23 does not follow the format" in found.source.skipped_rows.first_problem


def test_a_sample_in_which_no_row_has_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("host\n" + "x" * 40_000 + "\n")
    with pytest.raises(SampleError, match=r"1 of 1 rows cannot .*the key has 40,001 bytes"):
        run(Design("t", "[host]", fields={"host": "text"}), path)


def test_a_value_that_an_encoding_refuses_is_counted_once_per_row(tmp_path: Path) -> None:
    """Each refused row counts once, and the message says what the encoding takes."""
    path = tmp_path / "a.csv"
    path.write_text("site,temp\n" + "".join(f"{n},{n % 4 - 3}\n" for n in range(100)))
    design = Design("t", "[site][temp:u16]", fields={"site": "u32", "temp": "i16"})
    with pytest.raises(SampleError) as error:
        run(design, path)
    assert str(error.value) == (
        f"{path}: 75 of 100 rows cannot be read as events: line 2 has no valid row key: field "
        "temp: -3 is out of range; expected 0..32767. Use an encoding that takes all values of "
        "the field, or correct the file. Or allow 75% of the rows to be skipped by max_skipped = "
        "0.75 in the format of the sample."
    )


@pytest.mark.parametrize("value", ["12345", "-1", "70000", ""])
def test_a_row_with_a_value_that_an_encoding_refuses_is_skipped(tmp_path: Path, value: str) -> None:
    """A row with a number that its encoding refuses is skipped, and the replay goes on."""
    path = tmp_path / "a.csv"
    path.write_text(f"id,n\n1,5\n{value},6\n3,7\n")
    design = Design("t", "[id:u8][n]", fields={"id": "u16", "n": "u8"})
    found = run(design, path)
    assert (2, 1) == (found.operation_count, found.source.skipped_rows.count)


def test_splits_from_a_sample_need_a_sample() -> None:
    """Splits of a sample without a sample are refused with a remedy."""
    with pytest.raises(SampleError, match="Give --sample FILE"):
        run(build_design(splits="sample"))


def test_splits_come_from_the_first_half_and_counts_from_the_second(tmp_path: Path) -> None:
    """Splits come from the first half of the sample, and counts from the second."""
    rows = [(f"{'a' if n < 100 else 'b'}{n:04}", n) for n in range(201)]
    design = build_design(splits={"algorithm": "sample", "regions": 4})
    found = run(design, write_sample(tmp_path, rows))
    assert [b"a0025", b"a0050", b"a0075"] == [split[:5] for split in found.boundaries.splits]
    assert [0, 0, 0, 101] == [region.writes for region in found.regions]


def test_create_takes_its_splits_from_the_whole_sample(tmp_path: Path) -> None:
    """`create` takes its splits from the whole sample, not from the first half."""
    rows = [(f"{n:04}", n) for n in range(200)]
    design = build_design(splits={"algorithm": "sample", "regions": 4})
    cut = choose_design_splits(design, write_sample(tmp_path, rows))
    assert [b"0050", b"0100", b"0150"] == [split[:4] for split in cut.boundaries.splits]


def test_a_split_algorithm_is_found_with_hyphens_or_underscores() -> None:
    """`hex-string` is `hex_string`, and an unknown name is refused with the nearest one."""
    assert choose_algorithm_splits("hex-string", 4) == choose_algorithm_splits("hex_string", 4)
    with pytest.raises(InvalidDesign, match="Did you mean hex_string"):
        choose_algorithm_splits("hex_strin", 4)
    with pytest.raises(InvalidDesign):
        choose_algorithm_splits("hex_string", None)


def test_the_progress_callback_reports_each_phase_up_to_the_total(tmp_path: Path) -> None:
    """The progress callback gets each phase with done and total events, at last the total."""
    told: list[Progress] = []
    run(
        build_design(),
        write_sample(tmp_path, make_shuffled_rows(500)),
        progress=told.append,
    )
    assert ["reading", "replaying"] == list(dict.fromkeys(one.phase for one in told))
    assert {Progress("reading", 500, 500), Progress("replaying", 500, 500)} <= set(told)


def test_a_sorted_import_writes_one_region_at_a_time() -> None:
    """A sorted import writes one region at a time, also with a bucket in front of the key."""
    words: dict[str, Any] = {"rate": "4000/s", "for": "40s", "arrival": "bulk_sorted"}
    design = build_design("[bucket(host, 8)][host][ts]", splits="per_bucket", writes=words)
    found = run(design)
    assert found.skews[0].server_skew is not None
    assert found.skews[0].server_skew > 6.5
    assert (
        pytest.approx(1, abs=0.2) == found.skews[3].server_skew
        or found.skews[3].server_skew is None
    )
    assert ["moving_front"] == [cause.code for cause in found.causes]


def test_a_sorted_import_of_more_than_four_million_events_is_refused() -> None:
    """A sorted import of more than four million events is refused with a remedy."""
    design = build_design(writes={"rate": "100000/s", "for": "1h", "arrival": "bulk_sorted"})
    with pytest.raises(InvalidArgument, match=r"360,000,000 events; expected at most 4,194,304"):
        run(design)


def test_a_declared_rate_keeps_the_time_step_of_the_sample(tmp_path: Path) -> None:
    """A declared rate keeps the step of times: five minutes reach 4 of 16 remainders."""
    fields = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}
    rows = [(f"h{n % 50}", 300 * (n // 50)) for n in range(5_000)]
    design = Design(
        "t", "[mod(ts, 16)][ts][host]", fields=fields, splits="per_bucket",
        writes={"rate": "2000/s"},
    )  # fmt: skip
    found = run(design, write_sample(tmp_path, rows))
    assert found.scaled_run is not None
    assert 1_200_000 == found.scaled_run.operation_count
    assert 8 == found.scaled_run.skews[0].server_skew


@settings(max_examples=40 if IS_LONG else 16)
@given(st.lists(st.lists(st.integers(0, 30), max_size=9), max_size=30))
def test_sorted_runs_are_merged_as_by_a_stable_sort(batches: list[list[int]]) -> None:
    """Events sorted in runs come by their times; of equal times, those that were first."""
    events, numbers = [], count()
    for clock_ms in batches:
        rows = pa.record_batch({"number": pa.array([next(numbers) for _ in clock_ms], pa.int64())})
        events.append(EventBatch(rows, np.array(clock_ms, np.int64)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("rowkey.workload.event_store.MAX_RUN_EVENTS", 20)
        monkeypatch.setattr("rowkey.workload.event_store.SORTED_BATCH_EVENTS", 4)
        store = EventStore.from_unsorted(events)
    found = [row["number"] for one in store.read_events() for row in one.rows.to_pylist()]
    times = [time for clock_ms in batches for time in clock_ms]
    assert sorted(range(len(times)), key=times.__getitem__) == found


def test_runs_with_the_same_times_are_merged_in_large_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs of the same times are not cut into batches of single events."""
    monkeypatch.setattr("rowkey.workload.event_store.MAX_RUN_EVENTS", 1_000)
    clock_ms = np.arange(1_000)
    rows = pa.record_batch({"number": pa.array(clock_ms)})
    store = EventStore.from_unsorted(EventBatch(rows, clock_ms) for _ in range(4))
    assert [3_997, 1, 1, 1] == [len(one) for one in store.read_events()]
