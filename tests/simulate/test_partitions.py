"""Simulations of the parts of a stream are merged to that of the whole stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey.hotspots.windows as windows_module
import rowkey.simulate.replay as replay_module
import rowkey.workload.distinct_counter as distinct_counter_module
from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.simulate import open_source, start

if TYPE_CHECKING:
    from rowkey.simulate import EventSource, PartialSimulation, Simulation

EXAMPLES = Path(windows_module.__file__).parents[1] / "examples"
DATA = Path(__file__).parent.parent / "data"
PARTS = (2, 7, 64)
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
CLOSED_COUNT = 1_000
"""Events of a replay that closes windows early: enough to estimate its rows too."""
TEXT = {"type": "text", "max_bytes": 40}
SALTED: dict[str, Any] = {
    "key": "[salt(16)][client][time]",
    "fields": {"time": "timestamp_s", "client": TEXT},
    "splits": "per_bucket",
    "sample": {
        "path": str(EXAMPLES / "apache_access.log.gz"),
        "format": {"kind": "log", "pattern": "apache"},
    },
}
CODED: dict[str, Any] = {
    **SALTED,
    "key": "[code(client)][time]",
    "splits": {"algorithm": "sample", "regions": 9},
    "writes": {"sort": True, "rate": "500/s"},
    "reads": [{"name": "of a client", "where": "client = ?", "limit": 3}],
}
SENSORS: dict[str, Any] = {
    "key": "[mod(timestamp, 16)][sensor][timestamp]",
    "fields": {"timestamp": "timestamp_s", "sensor": {"type": "text", "max_bytes": 80}},
    "splits": "per_bucket",
    "sample": {"path": str(DATA / "nab_real_streams.csv.gz")},
}
DESIGNS: dict[str, str | Path] = {
    "flights of the package": EXAMPLES / "flights" / "hashed.toml",
    "logs of the package": EXAMPLES / "apache" / "time_first.toml",
    "random salts": "SALTED",
    "codes": "CODED",
    "sensors": "SENSORS",
}
QUICK_PARTS = {"logs of the package": 2, "random salts": 64}
CASES = [
    pytest.param(
        case,
        parts,
        id=f"{name}-{parts}",
        marks=() if QUICK_PARTS.get(name) == parts else pytest.mark.long,
    )
    for name, case in DESIGNS.items()
    for parts in PARTS
]
"""Each design in some numbers of parts: the short ones in one number by `make test`."""
FIGURES = (
    "verdict", "skews", "regions", "server_shares", "region_shares", "operation_count",
    "overwrite_count", "is_overwrite_exact", "key_bytes", "event_bytes", "reads", "causes",
    "growth", "late_count", "sampled_keys", "remarks",
)  # fmt: skip


@cache
def open_case(case: str | Path) -> tuple[Design, EventSource, Simulation]:
    """Return a design, its events, and their simulation in one run."""
    design = Design.read(case) if isinstance(case, Path) else Design("t", **globals()[case])
    source = open_source(design, None, None, second_half=False, seed=5)
    return design, source, replay_part(design, source, 0, source.replayed_count).result()


def replay_part(design: Design, source: EventSource, first: int, stop: int) -> PartialSimulation:
    """Replay some of the events by a key that has encoded others before."""
    part = start(design, source, seed=5, first_event=first)
    at = 0
    for events in source.read_replayed_events():
        low, high = max(first - at, 0), min(stop - at, len(events))
        if low < high:
            part.add(events.slice(low, high))
        at += len(events)
    return part


def merge_left(parts: Sequence[PartialSimulation]) -> PartialSimulation:
    """Merge each part into the first."""
    for part in parts[1:]:
        parts[0].merge(part)
    return parts[0]


def merge_right(parts: Sequence[PartialSimulation]) -> PartialSimulation:
    """Merge each part, from the last one, into the part before it."""
    for earlier, later in pairwise(reversed(parts)):
        later.merge(earlier)
    return parts[0]


def merge_pairs(parts: Sequence[PartialSimulation]) -> PartialSimulation:
    """Merge neighbours, then neighbours of the results, until one is left."""
    while len(parts) > 1:
        parts = [merge_left(parts[at : at + 2]) for at in range(0, len(parts), 2)]
    return parts[0]


MERGES = (merge_left, merge_right, merge_pairs)


def merge_parts(
    design: Design,
    source: EventSource,
    count: int,
    stop: int,
    merge: Callable[[Sequence[PartialSimulation]], PartialSimulation] = merge_left,
) -> Simulation:
    """Replay equal parts of the first events apart and merge them."""
    edges = [stop * number // count for number in range(count + 1)]
    return merge(
        [replay_part(design, source, first, stop) for first, stop in pairwise(edges)]
    ).result()


def assert_equal(whole: Simulation, merged: Simulation) -> None:
    """Compare every figure of two simulations."""
    for name in FIGURES:
        assert getattr(whole, name) == getattr(merged, name), name
    assert whole.replay.row_counter.row_counts == merged.replay.row_counter.row_counts
    assert whole.sampled_rows == merged.sampled_rows
    assert (whole.load_map is None) == (merged.load_map is None)
    if whole.load_map is not None and merged.load_map is not None:
        assert whole.load_map[:2] == merged.load_map[:2]
        assert (whole.load_map[2] == merged.load_map[2]).all()


@pytest.mark.parametrize(("case", "parts"), CASES)
def test_the_merged_results_of_parts_equal_one_replay(case: str | Path, parts: int) -> None:
    """Every figure of merged parts is that of one run, to the last bit."""
    design, source, whole = open_case(case)
    assert_equal(whole, merge_parts(design, source, parts, source.replayed_count))


def test_parts_with_early_closed_windows_are_merged_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows that are closed early, and estimated numbers of rows, are merged exactly too."""
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 120)
    monkeypatch.setattr(windows_module, "MIN_EVENTS_PER_SERVER", 1)
    monkeypatch.setattr(replay_module, "BLOCK_EVENTS", 16)
    monkeypatch.setattr(
        replay_module, "DistinctCounter", lambda: distinct_counter_module.DistinctCounter(500)
    )
    design = Design.read(EXAMPLES / "apache" / "hashed.toml")
    source = open_source(design, None, None, second_half=False, seed=5)
    whole = replay_part(design, source, 0, CLOSED_COUNT).result()
    assert whole.replay.windows[0].first_open_window is not None
    assert not whole.is_overwrite_exact
    assert 0 == whole.late_count
    assert whole.skews[3].server_skew is not None
    for parts in PARTS:
        for merge in MERGES if IS_LONG else [MERGES[PARTS.index(parts)]]:
            assert_equal(whole, merge_parts(design, source, parts, CLOSED_COUNT, merge))


def test_events_of_a_window_that_another_part_closed_are_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window that any part has closed is not opened again by the parts after it."""
    monkeypatch.setattr(windows_module, "MAX_OPEN_ENTRIES", 16)
    monkeypatch.setattr(replay_module, "BLOCK_EVENTS", 10)
    path = tmp_path / "sample.csv"
    times = [*range(0, 100_000, 1_000), 70_500]
    path.write_text("ts\n" + "".join(f"{time}\n" for time in times))
    design = Design("t", "[ts]", fields={"ts": "timestamp_s"})
    source = open_source(design, path, None, second_half=False, seed=5)
    parts = [
        replay_part(design, source, first, stop) for first, stop in pairwise((0, 50, 100, 101))
    ]
    found = merge_left(parts).result()
    assert (101, 1) == (found.operation_count, found.late_count)


def test_parts_must_be_merged_in_their_order() -> None:
    """A part that does not begin later is refused."""
    design, source, _ = open_case("SALTED")
    first, second = replay_part(design, source, 0, 50), replay_part(design, source, 50, 90)
    with pytest.raises(InvalidArgument, match="a later part of the replay"):
        second.merge(first)
