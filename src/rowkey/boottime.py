"""A clock that never goes back, and goes on while the machine sleeps."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

read_boottime_s: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)
"""Return seconds that never go back, and on Linux go on while the machine sleeps.

Source: clock_gettime(2), CLOCK_BOOTTIME of Linux; its CLOCK_MONOTONIC stops in a suspend.
"""
