"""Wait until every client of a table knows a changed catalog entry, or has stopped.

This is how all clients come to do something new together, whether the number of buckets changes or
rows move to another table: the change is announced in the entry, and takes effect after the longest
time for which a client may use the entry from before.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rowkey.boottime import read_boottime_s
from rowkey.catalog import CatalogEntry
from rowkey.engines import Engine
from rowkey.progress import Progress, ReportProgress

WAIT_MARGIN = 1.1
"""Factor on the longest time of a client: for clocks of different speed and calls under way."""
EXCLUSIVE_WAIT_S = 1.0
"""Seconds of waiting if no other process can have the table open: for calls of other threads."""
SHARED_STALE_S = EXCLUSIVE_WAIT_S / 2
"""The longest time without a look at the catalog, of a table that shares such an engine with other
tables of its process: below what these wait."""
POLL_INTERVAL_S = 0.25
"""Seconds between two looks at the clock."""


def compute_wait_s(entry: CatalogEntry, engine: Engine) -> float:
    """Return the seconds until every client of a table uses a new entry, or has stopped."""
    longest_s = entry.longest_stale_s * WAIT_MARGIN
    return min(EXCLUSIVE_WAIT_S, longest_s) if engine.is_exclusive else longest_s


def wait_for_clients(
    seconds: float,
    progress: ReportProgress,
    phase: str,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = read_boottime_s,
) -> None:
    """Wait until every client has read an announcement, or has stopped.

    Args:
        seconds: how long; see `compute_wait_s`.
        progress: called with the whole seconds that are over, and with all of them.
        phase: what the progress calls it.
        pause: waits for a number of seconds.
        clock: seconds that only grow, also while the machine sleeps.
    """
    end, total = clock() + seconds, max(1, round(seconds))
    while (left := end - clock()) > 0:
        progress(Progress(phase, round(seconds - left), total, "seconds"))
        pause(min(left, POLL_INTERVAL_S))
