"""Timestamps of changes rise for each row, and all writers of a table share their clock."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import RLock
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST
from rowkey.engines.hbase.row_clock import ClusterClock, _SharedClocks
from rowkey.engines.ordering.row_clock import (
    CLOCK_SETBACK_MS,
    LOG,
    MAX_RECORDED_TIMESTAMP,
    MAX_TRACKED_ROWS,
    RowClock,
    TableClock,
)

START = 1_700_000_000_000


@pytest.fixture(params=["table", "cluster"])
def make_clock(request: pytest.FixtureRequest) -> Callable[..., RowClock]:
    """Return a factory of each type of row clock, by a clock and the last timestamp."""

    def made(clock: Callable[[], int], floor: int = -1) -> RowClock:
        if request.param == "table":
            return TableClock(clock, RLock(), floor)
        found = ClusterClock(clock)
        RowClock.__init__(found, clock, floor)
        return found

    return made


def test_advance_to_raises_the_timestamps_of_all_rows(
    make_clock: Callable[..., RowClock],
) -> None:
    """After `advance_to` every row gets timestamps above that of the other table."""
    stamps = make_clock(lambda: START)
    stamps.advance_to(START + 5)
    assert [START + 6] * 2 == [stamps.stamp_row(b"a"), stamps.stamp_row(b"b", 1)]
    stamps.advance_to(START)
    assert START + 7 == stamps.stamp_row(b"b", 1)


def test_deletes_of_one_row_by_threads_get_different_timestamps(
    make_clock: Callable[..., RowClock],
) -> None:
    """Threads that delete one row get different timestamps, while other threads come and go."""
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    now = iter(range(10**9))
    stamps = make_clock(lambda: next(now) // 2)

    def work(thread: int) -> list[int]:
        given = []
        for number in range(5_000):
            given.append(stamps.stamp_row(b"row", 1))
            stamps.stamp_row(b"%d %d" % (thread, number), 1)
        return given

    try:
        with ThreadPoolExecutor(4) as pool:
            given = [stamp for one in pool.map(work, range(4)) for stamp in one]
    finally:
        sys.setswitchinterval(often)
    assert len(given) == len(set(given))


def test_puts_share_a_millisecond_and_a_put_after_a_delete_is_later(
    make_clock: Callable[..., RowClock],
) -> None:
    """Puts share a millisecond, and a put after a delete gets a later one."""
    stamps = make_clock(lambda: 1_000)
    assert [1_000] * 3 == [stamps.stamp_row(b"a") for _ in range(3)]
    assert 1_000 == stamps.stamp_row(b"a", 1)
    assert [1_001] * 2 == [stamps.stamp_row(b"a") for _ in range(2)]
    assert 1_001 == stamps.stamp_row(b"a", 2)
    assert 1_003 == stamps.stamp_row(b"a")
    assert 1_004 == stamps.stamp_all_rows(is_exclusive=False)
    assert [1_004, 1_004, 1_005] == [stamps.stamp_row(row, 1) for row in (b"b", b"c", b"c")]
    assert [1_006, 1_007] == [stamps.stamp_all_rows(is_exclusive=True), stamps.stamp_row(b"a")]


def test_salted_puts_share_a_timestamp_only_within_one_copy(
    make_clock: Callable[..., RowClock],
) -> None:
    """Puts with a random salt share a timestamp only within one copy."""
    stamps = make_clock(lambda: 1_000)
    assert [1_000, 1_000] == [stamps.stamp_copy(b"a", 3) for _ in range(2)]
    assert 3 == stamps.find_last_salt(b"a")
    assert [1_001, 1_002, 1_002] == [stamps.stamp_copy(b"a", salt) for salt in (1, 2, 2)]
    assert 1_003 == stamps.stamp_row(b"a", 1)


@pytest.mark.parametrize("back_ms", [1, 1_000, 3_600_000, 315_360_000_000])
def test_timestamps_continue_from_the_highest_when_the_clock_is_set_back(
    make_clock: Callable[..., RowClock], back_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Timestamps continue from the highest when the clock is set back, with one warning."""
    now = [START]
    stamps = make_clock(lambda: now[0])
    before = [stamps.stamp_row(row, 1) for row in (b"a", b"b")]
    now[0] -= back_ms
    with caplog.at_level(logging.WARNING):
        after = [stamps.stamp_row(row, 1) for row in (b"a", b"c", b"a", b"b")]
    assert min(after) >= max(before)
    assert before[0] < after[0] < after[2]
    assert before[1] < after[3]
    assert stamps.read_time_ms() >= max(after)
    assert (back_ms > CLOCK_SETBACK_MS) == ("behind the last change" in caplog.text)
    assert len(caplog.records) < 2
    stamps.throttle_writer(max(after))


def test_a_reopened_table_continues_after_its_highest_timestamp(
    make_clock: Callable[..., RowClock],
) -> None:
    stamps = make_clock(lambda: START, START + 5_000)
    assert START + 5_001 == stamps.stamp_row(b"a")
    assert START + 5_001 == stamps.stamp_row(b"b", 1)
    assert START + 5_000 == stamps.find_last_timestamp(b"c")


def test_a_row_clock_remembers_a_bounded_number_of_rows(
    make_clock: Callable[..., RowClock],
) -> None:
    """A row clock that was set back remembers a bounded number of rows."""
    now = [START]
    stamps = make_clock(lambda: now[0])
    stamps.stamp_row(b"first", 1)
    now[0] -= 10**9
    last = 0
    for number in range(MAX_TRACKED_ROWS + 10):
        last = stamps.stamp_row(b"%d" % number, 1)
    assert len(stamps._row_timestamps) < 100
    assert stamps.stamp_row(b"0", 1) >= last


def test_a_timestamp_from_a_wrong_clock_affects_only_its_row(
    make_clock: Callable[..., RowClock],
) -> None:
    """A timestamp from another client's wrong clock affects only its row."""
    stamps = make_clock(lambda: START)
    stamps.record_timestamp(b"a", START + 10**10)
    assert START + 10**10 + 1 == stamps.stamp_row(b"a", 1)
    assert stamps.stamp_row(b"b", 1) < START + 10
    assert stamps.stamp_all_rows(is_exclusive=False) < START + 10**10


@given(high=st.integers(MAX_RECORDED_TIMESTAMP + 1, LATEST))
def test_an_implausible_timestamp_is_logged_and_not_followed(high: int) -> None:
    """Later changes of the row get timestamps of the clock, and the log names the row."""
    stamps = TableClock(lambda: START, RLock(), name="t")
    with patch.object(LOG, "warning") as warn:
        stamps.record_timestamp(b"a", high)
    assert ("table t", b"a".hex(), high) == warn.call_args.args[1:]
    assert START == stamps.stamp_row(b"a", 1)
    stamps.record_timestamp(b"a", MAX_RECORDED_TIMESTAMP)
    assert MAX_RECORDED_TIMESTAMP + 1 == stamps.stamp_row(b"a", 1)


def test_waiting_for_a_clock_that_does_not_advance_ends(
    make_clock: Callable[..., RowClock],
) -> None:
    """A wait for a clock that does not advance ends and returns whether the time came."""
    stamps = make_clock(lambda: 1_000)
    assert not stamps.wait_until(1_001)
    assert stamps.wait_until(1_000)
    ticking = make_clock(count(1_000).__next__)
    assert ticking.wait_until(1_010)


def test_all_stores_of_a_cluster_table_share_its_clock() -> None:
    """All stores of a cluster's table share a clock as long as one is open."""
    shared, clock = _SharedClocks(), lambda: START
    one = shared.find_clock("hbase://a", "t", clock)
    assert one is shared.find_clock("hbase://a", "t", clock)
    assert one is not shared.find_clock("hbase://a", "u", clock)
    assert one is not shared.find_clock("hbase://b", "t", clock)
    shared.reset_in_child()
    assert one is not shared.find_clock("hbase://a", "t", clock)
