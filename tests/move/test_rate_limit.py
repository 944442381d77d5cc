"""A rate limit is held by all threads together, and changes while it is in use."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rowkey.errors import InvalidArgument
from rowkey.move import RateLimit


@dataclass
class SimulatedTime:
    """A clock that passes only while someone sleeps or writes."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


@pytest.fixture
def time() -> SimulatedTime:
    """Return a clock of the test."""
    return SimulatedTime()


def write_until(limit: RateLimit, time: SimulatedTime, end: float, call_s: float = 0.0) -> int:
    """Write chunks of 8,192 rows until a time; return how many rows were written."""
    written = 0
    while time.now < end:
        for piece in limit.iterate_slices(range(8_192), lambda: time.now >= end):
            written += len(piece)
            time.now += call_s
            limit.record_call(call_s)
    return written


@pytest.mark.parametrize("rate", [300, 5_000, 200_000])
def test_copied_rows_are_within_5_percent_of_the_rate_limit(rate: int, time: SimulatedTime) -> None:
    """Over 30 seconds the rows are within 5 percent of the limit."""
    limit = RateLimit(rate, clock=time, sleep=time.sleep)
    assert 30 * rate == pytest.approx(write_until(limit, time, 30, 0.001), rel=0.05)


def test_a_new_rate_limit_acts_within_a_second(time: SimulatedTime) -> None:
    """A new limit acts within a second, although the old one left a debt."""
    limit = RateLimit(100, clock=time, sleep=time.sleep)
    write_until(limit, time, 5)
    limit.rows_per_s = 10_000
    assert 10_000 == pytest.approx(write_until(limit, time, 6), rel=0.15)
    limit.rows_per_s = 100
    write_until(limit, time, 7)
    assert 1_000 == pytest.approx(write_until(limit, time, 17), rel=0.05)


def test_a_pause_stops_writes_at_once_and_is_not_made_up_for(time: SimulatedTime) -> None:
    """While paused nothing is written, and what was not is not made up for."""
    limit = RateLimit(1_000, clock=time, sleep=time.sleep)
    write_until(limit, time, 2)
    limit.pause()
    assert limit.is_paused
    assert 0 == write_until(limit, time, 10)
    limit.resume()
    assert 1_000 == pytest.approx(write_until(limit, time, 11), rel=0.15)


def test_slow_calls_halve_the_rate_and_fast_ones_raise_it(time: SimulatedTime) -> None:
    """The rate falls to the half while calls are too slow, and rises again."""
    limit = RateLimit(10_000, max_p99_ms=20, clock=time, sleep=time.sleep)
    write_until(limit, time, 10, 0.030)
    slow = limit.effective_rows_per_s
    assert slow is not None
    assert slow < 2_000
    write_until(limit, time, 60, 0.005)
    assert 10_000 == limit.effective_rows_per_s
    limit.max_p99_ms = None
    write_until(limit, time, 70, 0.030)
    assert 10_000 == limit.effective_rows_per_s


def test_slow_calls_lower_the_rate_without_a_limit(time: SimulatedTime) -> None:
    """The first rate is derived from what was written."""
    limit = RateLimit(max_p99_ms=20, clock=time, sleep=time.sleep)
    assert limit.effective_rows_per_s is None
    write_until(limit, time, 2, 0.030)
    assert limit.effective_rows_per_s is not None


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_rate_limit_must_be_above_zero(value: float) -> None:
    """A rate that would never end, or is none, is refused."""
    with pytest.raises(InvalidArgument, match="rows_per_s"):
        RateLimit(value)
    limit = RateLimit(5)
    with pytest.raises(InvalidArgument, match="max_p99_ms"):
        limit.max_p99_ms = value
