"""A limit of the rows that all threads of a copy write a second, which may change while it runs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TypeVar

from rowkey.errors import InvalidArgument
from rowkey.messages import format_value

T = TypeVar("T")

MAX_WAIT_S = 0.1
"""Seconds after which a waiting thread looks at the limit again."""
SLICE_S = 0.1
"""Seconds of the limit that one write takes, so that a pause or a new limit acts at once."""
MAX_DEBT_ROWS = 1e-3
"""Owed rows that do not matter: a wait for them may be too short for the clock to show it."""
MIN_CALLS = 20
"""Write calls from which a quantile is judged."""
MAX_CALLS = 100
"""Write calls that a quantile is computed of, the last ones: then p99 is the second slowest."""
SLOWDOWN, SPEEDUP = 0.5, 1.25
"""Factors of the rate where calls are too slow, or fast enough: down fast, up slowly, as TCP does.
"""
FAST_SHARE = 0.8
"""Share of the allowed p99 below which the rate rises."""


class RateLimit:
    """Makes the threads of a copy wait, so that all of them together keep to a rate.

    With `max_p99_ms` the rate also falls to the half while the slowest hundredth of the copy's own
    write calls takes longer, and rises by a quarter while it takes less than four fifths of that;
    each after 20 calls or more.

    Args:
        rows_per_s: the limit; None for none.
        max_p99_ms: milliseconds of a write call that at most one in a hundred may exceed; None
            for any.
        clock: seconds that only grow.
        sleep: waits some seconds.

    Raises:
        InvalidArgument: a limit is not above 0.

    >>> limit = RateLimit(1_000)
    >>> limit.rows_per_s = 5_000
    >>> limit.is_paused
    False
    """

    def __init__(
        self,
        rows_per_s: float | None = None,
        max_p99_ms: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._lock = Lock()
        self._rows_per_s = validate_limit("rows_per_s", rows_per_s)
        self._max_p99_ms = validate_limit("max_p99_ms", max_p99_ms)
        self._adapted_rows_per_s: float | None = None
        self._credit = 0.0
        """Rows that may be written now; below 0 while they are owed."""
        self._updated_at = self._judged_at = clock()
        self._rows_since_judged = 0
        self._call_ms: deque[float] = deque(maxlen=MAX_CALLS)
        self.is_paused = False
        """Whether no thread may write; set it by `pause` and `resume`."""

    @property
    def rows_per_s(self) -> float | None:
        """The limit in rows a second; None for none. Setting it acts within a second."""
        return self._rows_per_s

    @rows_per_s.setter
    def rows_per_s(self, rows_per_s: float | None) -> None:
        with self._lock:
            self._update_credit()
            self._rows_per_s = validate_limit("rows_per_s", rows_per_s)

    @property
    def max_p99_ms(self) -> float | None:
        """The milliseconds that at most one write call in a hundred may exceed; None for any."""
        return self._max_p99_ms

    @max_p99_ms.setter
    def max_p99_ms(self, max_p99_ms: float | None) -> None:
        with self._lock:
            self._max_p99_ms = validate_limit("max_p99_ms", max_p99_ms)
            self._adapted_rows_per_s = None
            self._call_ms.clear()

    @property
    def effective_rows_per_s(self) -> float | None:
        """The rate now: the limit, or less where write calls were too slow; None for any."""
        rates = [one for one in (self._rows_per_s, self._adapted_rows_per_s) if one is not None]
        return min(rates, default=None)

    def pause(self) -> None:
        """Make all threads wait before their next write, within a second."""
        self.is_paused = True

    def resume(self) -> None:
        """Let all threads write again."""
        with self._lock:
            self._updated_at = self._clock()  # what was not written meanwhile is not made up for
            self.is_paused = False

    def iterate_slices(
        self, items: Sequence[T], is_stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Sequence[T]]:
        """Yield parts of a list, each when it may be written; none more once stopped.

        Args:
            items: what is written, one for each row.
            is_stopped: returns whether to end early.
        """
        start = 0
        while start < len(items):
            rate = self.effective_rows_per_s
            size = len(items) if rate is None else max(1, math.ceil(rate * SLICE_S))
            piece = items[start : start + size]
            if not self._wait_for(len(piece), is_stopped):
                return
            yield piece
            start += len(piece)

    def _wait_for(self, row_count: int, is_stopped: Callable[[], bool]) -> bool:
        """Wait until some rows may be written; return whether they may."""
        while not is_stopped():
            with self._lock:
                if not self.is_paused:
                    rate = self._update_credit()
                    if rate is None or self._credit > -MAX_DEBT_ROWS:
                        self._credit = 0.0 if rate is None else self._credit - row_count
                        self._rows_since_judged += row_count
                        return True
                    wait_s = -self._credit / rate
                else:
                    wait_s = MAX_WAIT_S
            self._sleep(min(wait_s, MAX_WAIT_S))
        return False

    def _update_credit(self) -> float | None:
        """Add the rows of the time that has passed to the credit; return the rate."""
        now, rate = self._clock(), self.effective_rows_per_s
        if rate is not None:
            earned = (now - self._updated_at) * rate
            self._credit = min(self._credit + earned, rate * SLICE_S)
        self._updated_at = now
        return rate

    def record_call(self, seconds: float) -> None:
        """Take note of how long a write call took, and change the rate if `max_p99_ms` is set."""
        with self._lock:
            if self._max_p99_ms is None:
                return
            self._call_ms.append(seconds * 1_000)
            if len(self._call_ms) < MIN_CALLS:
                return
            slowest = sorted(self._call_ms)
            p99_ms = slowest[max(0, math.ceil(len(slowest) * 0.99) - 1)]
            now = self._clock()
            rate = self._rows_since_judged / max(now - self._judged_at, 1e-3)
            if p99_ms > self._max_p99_ms:
                allowed = self.effective_rows_per_s
                used = rate if allowed is None else min(rate, allowed)
                self._adapted_rows_per_s = max(1.0, used * SLOWDOWN)
            elif p99_ms < FAST_SHARE * self._max_p99_ms and self._adapted_rows_per_s is not None:
                faster = self._adapted_rows_per_s * SPEEDUP
                # Rows that could be written are not there: the limit limits nothing any more.
                self._adapted_rows_per_s = None if faster > 4 * rate else faster
            self._call_ms.clear()
            self._judged_at, self._rows_since_judged = now, 0


def validate_limit(name: str, value: float | None) -> float | None:
    """Return a limit, after checking that it is above 0.

    Raises:
        InvalidArgument: it is not.
    """
    if value is not None and not 0 < value < math.inf:
        what = f"{format_value(value)} is no limit"
        raise InvalidArgument(f"argument {name}", what, "a number above 0, or None")
    return value
