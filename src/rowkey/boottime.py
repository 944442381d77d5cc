"""A clock that never goes back, and goes on while the machine sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

read_boottime_s: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)
"""Return seconds that never go back, and on Linux go on while the machine sleeps.

Source: clock_gettime(2), CLOCK_BOOTTIME of Linux; its CLOCK_MONOTONIC stops in a suspend.
"""
