"""What a replay makes of streams that are late, out of order, sorted, broken or very long."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import rowkey.hotspots.windows as windows_module
from rowkey.design import Design
from rowkey.errors import InvalidArgument, InvalidDesign, SampleError
from rowkey.simulate import (
    choose_algorithm_splits,
    choose_design_splits,
    replay,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rowkey.simulate import Simulation

FIELDS = {"host": {"type": "text", "max_bytes": 40}, "ts": "timestamp_ms"}


def design_of(key: str = "[host][ts]", **words: Any) -> Design:
    """A design over a host and a time."""
    return Design("t", key, fields=FIELDS, **words)


def sample(folder: Path, rows: Sequence[tuple[Any, Any]], name: str = "sample.csv") -> Path:
    """Rows of host and time as a CSV file."""
    path = folder / name
    path.write_text("host,ts\n" + "".join(f"{host},{ts}\n" for host, ts in rows))
    return path


def shuffled(count: int, seed: int = 0) -> list[tuple[str, int]]:
    """Events of many hosts in no order of time, with many equal times."""
    chance = random.Random(seed)
    return [(f"h{chance.randrange(90)}", chance.randrange(2_000) * 500) for _ in range(count)]


def outcome(found: Simulation) -> object:
    """All that an order of events decides."""
    return (
        [region.writes for region in found.regions], found.region_shares, found.server_shares,
        found.skews, found.overwrite_count, found.boundaries.splits,
    )  # fmt: skip


@pytest.mark.parametrize("room", [7, 100, 999, 1_000, 5_000])
def test_sorting_in_runs_equals_sorting_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """However many events fit into memory, the merged stream is the stably sorted one."""
    rows = shuffled(1_000)
    path = sample(tmp_path, rows)
    ordered = sample(tmp_path, sorted(rows, key=lambda row: row[1]), "ordered.csv")
    splits = {"algorithm": "sample", "regions": 6}
    monkeypatch.setattr("rowkey.workload.event_store.MAX_RUN_EVENTS", room)
    monkeypatch.setattr("rowkey.workload.records.MAX_BATCH_RECORDS", 64)
    found = run(design_of(splits=splits, writes={"sort": True}), path)
    assert outcome(run(design_of(splits=splits), ordered)) == outcome(found)


def test_runs_are_merged_stably_through_many_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events come out in the order of time, equal times in the order of the file."""
    from rowkey.workload import EventStore, open_sample

    rows = [(f"h{n}", time) for n, (_, time) in enumerate(shuffled(40_000, seed=2))]
    design = design_of()
    opened = open_sample(sample(tmp_path, rows), design.collect_needed_fields(), design.writes.time)
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
    """An order of arrival that differs from that of time changes no window of time."""
    rows = [(f"h{n % 7}", n * 2) for n in range(4_000)]
    mixed = [row for at in range(0, 4_000, 800) for row in reversed(rows[at : at + 800])]
    words: dict[str, Any] = {"splits": ["h2", "h4"], "cluster": {"servers": 2}}
    ordered = run(design_of(**words), sample(tmp_path, rows))
    late = run(design_of(**words), sample(tmp_path, mixed, "late.csv"))
    assert ordered.skews == late.skews
    assert ordered.skews[0].server_skew is not None
    assert (0, 0) == (ordered.late_count, late.late_count)


def test_events_behind_a_closed_window_are_counted_as_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where windows must be closed, what comes for them afterwards is told, not lost silently."""
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 8)
    monkeypatch.setattr(replay, "BLOCK_EVENTS", 10)
    rows = [("a", n * 1_000) for n in range(100)] + [("a", 0), ("a", 1_500)]
    found = run(design_of(), sample(tmp_path, rows))
    assert (102, 2) == (found.operation_count, found.late_count)


def test_closed_windows_count_as_much_as_open_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every figure of skew is the same if a busy window at the start is closed early."""
    rows = [(f"h{n % 7}", n * 100) for n in range(1_000)] + [("h1", 3_500)] * 60
    path = sample(tmp_path, sorted(rows, key=lambda row: row[1]))
    monkeypatch.setattr(windows_module, "MIN_EVENTS_PER_SERVER", 1)
    monkeypatch.setattr(replay, "BLOCK_EVENTS", 10)
    words: dict[str, Any] = {"splits": ["h2", "h4"], "cluster": {"servers": 2}}
    kept = run(design_of(**words), path)
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 8)
    closed = run(design_of(**words), path)
    assert closed.replay.windows[0].first_open_window is not None
    assert 0 == closed.late_count
    assert kept.skews == closed.skews


def test_a_sample_without_times_has_shares_and_no_skew(tmp_path: Path) -> None:
    """Nothing tells when the events were, so windows of time are null, each with its reason."""
    path = tmp_path / "a.csv"
    path.write_text("host\n" + "".join(f"h{n % 10}\n" for n in range(500)))
    found = run(Design("t", "[host]", fields={"host": "text"}, splits=["h5"]), path)
    assert [None] * 4 == [skew.server_skew for skew in found.skews]
    assert all(skew.reason for skew in found.skews)
    assert (0.5, None) == (found.region_shares.total, found.load_map)


def test_rows_that_are_no_events_are_left_out_and_counted(tmp_path: Path) -> None:
    """A row without a time, one with too many values and one with no key are all counted."""
    path = tmp_path / "a.csv"
    good = "".join(f"h{n},{n}\n" for n in range(20))
    path.write_text(f"host,ts\n{good}x,never\ny,1,2\n{'z' * 40_000},3\n{good}")
    design = Design("t", "[host][ts]", fields={"host": "text", "ts": "timestamp_ms"})
    found = run(design, path)
    assert (40, 3) == (found.operation_count, found.source.skipped_rows.count)
    assert "line 23 does not follow the format" in found.source.skipped_rows.first_problem


def test_a_sample_of_rows_that_have_no_key_is_refused(tmp_path: Path) -> None:
    """Where no row at all has a key there is nothing to judge."""
    path = tmp_path / "a.csv"
    path.write_text("host\n" + "x" * 40_000 + "\n")
    with pytest.raises(SampleError, match="no row of the sample has a valid row key"):
        run(Design("t", "[host]", fields={"host": "text"}), path)


@pytest.mark.parametrize("value", ["12345", "-1", "70000", ""])
def test_values_that_an_encoding_refuses_are_left_out(tmp_path: Path, value: str) -> None:
    """A number that does not fit its encoding is no event, and does not stop the replay."""
    path = tmp_path / "a.csv"
    path.write_text(f"id,n\n1,5\n{value},6\n3,7\n")
    design = Design("t", "[id:u8][n]", fields={"id": "u16", "n": "u8"})
    found = run(design, path)
    assert (2, 1) == (found.operation_count, found.source.skipped_rows.count)


def test_boundaries_from_a_sample_need_one() -> None:
    """Without a sample the quantiles of one cannot be taken; the remedy is said."""
    with pytest.raises(SampleError, match="Give --sample FILE"):
        run(design_of(splits="sample"))


def test_the_first_half_decides_and_the_second_is_replayed(tmp_path: Path) -> None:
    """No design knows its future: splits lie within the first half, counts within the second."""
    rows = [(f"{'a' if n < 100 else 'b'}{n:04}", n) for n in range(201)]
    design = design_of(splits={"algorithm": "sample", "regions": 4})
    found = run(design, sample(tmp_path, rows))
    assert [b"a0025", b"a0050", b"a0075"] == [split[:5] for split in found.boundaries.splits]
    assert [0, 0, 0, 101] == [region.writes for region in found.regions]


def test_cutting_a_design_takes_the_whole_sample(tmp_path: Path) -> None:
    """What `create` would take are quantiles of all rows, not of their first half."""
    rows = [(f"{n:04}", n) for n in range(200)]
    design = design_of(splits={"algorithm": "sample", "regions": 4})
    cut = choose_design_splits(design, sample(tmp_path, rows))
    assert [b"0050", b"0100", b"0150"] == [split[:4] for split in cut.boundaries.splits]


def test_a_bare_algorithm_is_found_by_either_spelling() -> None:
    """`hex-string` and `hex_string` are one; an unknown name is refused with the nearest."""
    assert choose_algorithm_splits("hex-string", 4) == choose_algorithm_splits("hex_string", 4)
    with pytest.raises(InvalidDesign, match="Did you mean hex_string"):
        choose_algorithm_splits("hex_strin", 4)
    with pytest.raises(InvalidDesign):
        choose_algorithm_splits("hex_string", None)


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    """The caller hears how many of how many events are done, the last time of all."""
    told: list[tuple[int, int]] = []
    run(design_of(), sample(tmp_path, shuffled(500)), progress=lambda *done: told.append(done))
    assert (500, 500) == told[-1]


def test_a_sorted_import_goes_through_the_regions_one_by_one() -> None:
    """Rows imported in the order of their keys are at one region at a time, whatever the key."""
    words: dict[str, Any] = {"rate": "20000/s", "for": "40s", "arrival": "bulk_sorted"}
    design = design_of("[bucket(host, 8)][host][ts]", splits="per_bucket", writes=words)
    found = run(design)
    assert found.skews[0].server_skew is not None
    assert found.skews[0].server_skew > 6.5
    assert (
        pytest.approx(1, abs=0.2) == found.skews[3].server_skew
        or found.skews[3].server_skew is None
    )
    assert ["moving_front"] == [cause.code for cause in found.causes]


def test_a_sorted_import_too_large_to_sort_is_refused() -> None:
    """Above four million events the import is refused by name, with the remedy."""
    design = design_of(writes={"rate": "100000/s", "for": "1h", "arrival": "bulk_sorted"})
    with pytest.raises(InvalidArgument, match=r"360,000,000 events; expected at most 4,194,304"):
        run(design)


def test_a_declared_rate_plays_the_sample_with_its_own_alignment(tmp_path: Path) -> None:
    """Times in steps of five minutes stay so at any rate: four of sixteen remainders, not more."""
    fields = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}
    rows = [(f"h{n % 50}", 300 * (n // 50)) for n in range(5_000)]
    design = Design(
        "t", "[mod(ts, 16)][ts][host]", fields=fields, splits="per_bucket",
        writes={"rate": "4000/s"},
    )  # fmt: skip
    found = run(design, sample(tmp_path, rows))
    assert found.scaled_run is not None
    assert 2_400_000 == found.scaled_run.operation_count
    assert 8 == found.scaled_run.skews[0].server_skew
