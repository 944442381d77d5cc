"""Timing of benchmarks: in turn with their rival, after a warm-up, with ratios as results.

Absolute figures move by a factor of two on a shared machine; what was measured in the same minute
moves together.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

REPEATS = 5


@dataclass
class Result:
    """The result of one measurement.

    Args:
        name: what was measured.
        unit: what is counted: `M keys/s`.
        rates: units a second of each repeat.
        rival: what it is compared with, or an empty string.
        rival_rates: the rival's units a second, each measured right after ours.
        goal: the goal, as a sentence.
        met: whether it was reached; None without a goal.
        notes: what a reader should know.
    """

    name: str
    unit: str
    rates: list[float]
    rival: str = ""
    rival_rates: list[float] = field(default_factory=list)
    goal: str = ""
    met: bool | None = None
    notes: str = ""

    @property
    def median(self) -> float:
        """The median rate."""
        return statistics.median(self.rates)

    @property
    def ratio(self) -> float | None:
        """The median of our rates divided by the rival's rates of the same repeat."""
        if not self.rival_rates:
            return None
        return statistics.median(o / r for o, r in zip(self.rates, self.rival_rates, strict=True))

    def to_document(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "min": min(self.rates),
            "median": self.median,
            "max": max(self.rates),
            "rival": self.rival or None,
            "rival_median": statistics.median(self.rival_rates) if self.rival_rates else None,
            "ratio": self.ratio,
            "goal": self.goal or None,
            "met": self.met,
            "notes": self.notes or None,
        }


def time_once(work: Callable[[], object], count: int) -> float:
    """Return the units per second of one run without garbage collection."""
    gc.collect()
    gc.disable()
    try:
        started = time.perf_counter()
        work()
        return count / (time.perf_counter() - started)
    finally:
        gc.enable()


def measure_rate(name: str, unit: str, count: int, work: Callable[[], object]) -> Result:
    """Measure the rate of some work."""
    work()
    return Result(name, unit, [time_once(work, count) for _ in range(REPEATS)])


def measure_ratio(
    name: str,
    unit: str,
    ours: tuple[int, Callable[[], object]],
    rival: str,
    theirs: tuple[int, Callable[[], object]],
) -> Result:
    """Measure the rates of our work and of a rival's, in turn.

    Args:
        name: what is measured.
        unit: what is counted.
        ours: the number of units, and the work.
        rival: the rival's name.
        theirs: the same of the rival.
    """
    ours[1]()
    theirs[1]()
    rates, rival_rates = [], []
    for _ in range(REPEATS):
        rates.append(time_once(ours[1], ours[0]))
        rival_rates.append(time_once(theirs[1], theirs[0]))
    return Result(name, unit, rates, rival, rival_rates)


def describe_machine() -> dict[str, Any]:
    """Return the processor, system and package versions of this machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:  # noqa: PTH123
            names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("rowkey", "numpy", "pyarrow", "mmh3")},
    }
