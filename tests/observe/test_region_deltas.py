"""After any changes of regions between two snapshots, a rate is right or unknown."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observe.worlds import Cluster, encode_bound
from rowkey.engines import OpenRegion
from rowkey.observe import CounterSnapshot, compute_interval, judge_balance

PLACEMENTS = st.integers(0, 11)
EVENTS = st.one_of(
    st.tuples(st.just("write"), PLACEMENTS, st.integers(0, 5_000)),
    st.tuples(st.just("read"), PLACEMENTS, st.integers(0, 5_000)),
    st.tuples(st.just("move"), PLACEMENTS, st.integers(0, 3)),
    st.tuples(st.just("split"), PLACEMENTS),
    st.tuples(st.just("merge"), PLACEMENTS),
    st.tuples(st.just("restart"), st.integers(0, 3)),
)
HISTORIES = st.lists(st.lists(EVENTS, max_size=6), min_size=1, max_size=6)


def replay_events(cluster: Cluster, events: list[tuple[Any, ...]]) -> None:
    """Apply events to a cluster."""
    for name, *arguments in events:
        getattr(cluster, name)(*arguments)


@given(servers=st.integers(1, 4), regions=st.integers(1, 8), history=HISTORIES)
def test_only_a_region_that_stayed_open_has_a_rate(
    servers: int, regions: int, history: Any
) -> None:
    """A region that stayed open has the rate of its writes, and any other has none."""
    cluster = Cluster.build(servers, regions)
    before = cluster.count_writes(0.0)
    for number, events in enumerate(history, 1):
        cluster.reset_true_counts()
        replay_events(cluster, events)
        after = cluster.count_writes(float(number))
        expected = [
            None if one.opening in cluster.disturbed else cluster.truth[one.start, one.stop]
            for one in cluster.regions
        ]
        found = compute_interval(before, after)
        assert expected == [rate.writes for rate in found.regions]
        assert [one is None for one in expected] == [bool(rate.reason) for rate in found.regions]
        assert sum(one or 0 for one in expected) == found.sum_operations("writes")
        assert set(cluster.servers) <= set(found.sum_by_server("writes"))
        before = after


@given(counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=2))
def test_counters_that_fall_give_no_rate(counts: Any) -> None:
    """Counters that fall in an unchanged region, as after a lost log, give no rate."""
    before, after = (
        CounterSnapshot.from_regions(at, [OpenRegion(b"", b"", writes, reads, "", 0)], [""])
        for at, (writes, reads) in enumerate(counts)
    )
    (rate,) = compute_interval(before, after).regions
    (writes, reads), (more, further) = counts
    falls = more < writes or further < reads
    assert (None if falls else more - writes) == rate.writes
    assert (None if falls else further - reads) == rate.reads


def test_each_reason_why_a_region_has_no_rate_is_described() -> None:
    """Each reason why a region has no rate has its own words."""
    said = []
    for happens in ("move", "split", "merge", "restart"):
        cluster = Cluster.build(2, 4)
        before = cluster.count_writes(0.0)
        replay_events(cluster, [(happens, 0, 1) if happens == "move" else (happens, 0)])
        said.append(
            sorted(
                {one.reason for one in compute_interval(before, cluster.count_writes(1.0)).regions}
            )
        )
    assert [
        ["", "moved here from rs0"],
        ["", "created by a split"],
        ["", "created by a merge"],
        ["", "moved here from rs0"],
    ] == said
    cluster = Cluster.build(2, 4)
    before = cluster.count_writes(0.0)
    cluster.move(0, 0)
    assert "reopened" == compute_interval(before, cluster.count_writes(1.0)).regions[0].reason
    nothing = CounterSnapshot.from_regions(0.0, (), ("rs0",))
    assert {"newly opened"} == {one.reason for one in compute_interval(nothing, before).regions}


@given(
    regions=st.integers(3, 12),
    events=st.lists(st.tuples(EVENTS, st.integers(0, 5)), max_size=5),
    hot=st.booleans(),
)
def test_region_changes_never_make_even_load_hot(regions: int, events: Any, hot: bool) -> None:
    """Region changes never make even load hot, and never hide hot load."""
    cluster = Cluster.build(3, 3 * regions)
    before = cluster.count_writes(0.0)
    intervals, shares = [], []
    for number in range(6):
        for event, when in events:
            if when == number and event[0] != "write":
                replay_events(cluster, [event])
        for one in cluster.regions:
            one.writes += 0 if hot else (one.stop - one.start) // 8
        shares.append(max(compute_key_share(cluster, server) for server in cluster.servers))
        cluster.regions[-1].writes += 3_000 if hot else 0
        after = cluster.count_writes(float(number + 1))
        intervals.append(compute_interval(before, after))
        before = after
    found = judge_balance(intervals, "writes")
    if hot and found.window_count:
        assert "hot" == found.level
    elif not hot and max(shares) < 0.5:
        assert not found.is_hot


def compute_key_share(cluster: Cluster, server: str) -> float:
    """Return the share of all keys that lies on a server."""
    return sum(one.stop - one.start for one in cluster.regions if one.server == server) / 65_536


def test_intervals_with_few_writes_are_judged_together() -> None:
    """Intervals with few writes are judged together, and too few writes not at all."""
    cluster = Cluster.build(2, 2)
    counts = [cluster.count_writes(0.0)]
    for number in range(1, 11):
        cluster.write(0, 90)
        counts.append(cluster.count_writes(float(number)))
    intervals = [compute_interval(*pair) for pair in pairwise(counts)]
    thin = judge_balance(intervals[:4], "writes")
    assert ("thin", 360) == (thin.level, thin.operation_count)
    found = judge_balance(intervals, "writes")
    assert ("hot", 2, 900, 2.0, "rs0") == (
        found.level,
        found.window_count,
        found.operation_count,
        found.skew,
        found.fullest_server,
    )
    assert "idle" == judge_balance(intervals, "reads").level
    assert "unknown" == judge_balance([], "writes").level


def restart_server(cluster: Cluster, number: int) -> None:
    """Restart a server: its regions open again under its new name."""
    old = cluster.servers[number]
    new = f"{old}'"
    cluster.servers[number] = new
    for place, region in enumerate(cluster.regions):
        if region.server == old:
            cluster.regions[place] = cluster.open_region(region.start, region.stop, new)


@pytest.mark.parametrize("servers", [2, 8])
@pytest.mark.parametrize("each", [5, 30, 90, 300])
def test_servers_restarted_one_by_one_never_make_a_table_uneven(servers: int, each: int) -> None:
    """An even table whose servers restart one by one is never uneven."""
    cluster = Cluster.build(servers, 2 * servers)
    counts, words = [cluster.count_writes(0.0)], set()
    for number in range(1, 41):
        for place in range(2 * servers):
            cluster.write(place, each)
        if 5 <= number < 5 + servers:
            restart_server(cluster, number - 5)
        counts.append(cluster.count_writes(float(number)))
        found = judge_balance([compute_interval(*pair) for pair in pairwise(counts)], "writes")
        assert servers == found.servers
        words.add(found.level)
    assert "even" in words
    assert words <= {"even", "thin", "unknown"}


def test_a_hot_spot_is_seen_while_an_idle_region_moves() -> None:
    """A move of an idle region does not hide the load of the others."""
    cluster = Cluster.build(3, 12)
    counts = [cluster.count_writes(0.0)]
    for number in range(1, 21):
        for place in range(12):
            cluster.write(place, 20_000 if place == 7 else 10)
        if number > 5:
            cluster.move(number % 7, number)
        counts.append(cluster.count_writes(float(number)))
    intervals = [compute_interval(*pair) for pair in pairwise(counts)]
    assert 15 == sum(not one.is_known("writes") for one in intervals)
    found = judge_balance(intervals, "writes")
    assert ("hot", "rs1", 20) == (found.level, found.fullest_server, found.window_count)
    # Of what was never known nobody knows how much it did.
    assert "unknown" == judge_balance(intervals[6:7], "writes").level


def test_the_last_rate_of_a_region_that_reopens_counts_for_two_more_intervals() -> None:
    """The last rate of a region that opens again and again counts for two more intervals."""
    cluster = Cluster.build(3, 12)
    counts = [cluster.count_writes(0.0)]
    for number in range(1, 11):
        for place in range(12):
            cluster.write(place, 2 if place == 7 else 400)
        if number > 3:
            cluster.move(7, number)
        counts.append(cluster.count_writes(float(number)))
    found = judge_balance([compute_interval(*pair) for pair in pairwise(counts)], "writes")
    assert 3 + 2 == found.window_count


def test_an_interval_with_an_unknown_rate_of_a_busy_region_has_no_verdict() -> None:
    """An interval in which a busy region's rate is unknown has no verdict."""
    cluster = Cluster.build(3, 12)
    counts = [cluster.count_writes(0.0)]
    for number in range(1, 5):
        for place in range(12):
            cluster.write(place, 400)
        if number == 3:
            cluster.move(7, 0)
        counts.append(cluster.count_writes(float(number)))
    found = judge_balance([compute_interval(*pair) for pair in pairwise(counts)], "writes")
    assert ("even", 3, 3 * 12 * 400) == (found.level, found.window_count, found.operation_count)


def test_both_ends_of_the_table_are_the_empty_key() -> None:
    assert [b"", b"\x80\x00", b""] == [encode_bound(number) for number in (0, 32_768, 65_536)]
