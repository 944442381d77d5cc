"""How fast designs are judged, and how much memory that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from timing import Result, alone

import rowkey

if TYPE_CHECKING:
    from collections.abc import Iterator

BILLION = """
import json, resource, time
import rowkey
design = rowkey.Design(
    "events", "[bucket(host, 16)][host][ts]", splits="per_bucket",
    fields={"host": {"type": "text", "distinct": 1000, "draw": "zipf"}, "ts": "timestamp_us"},
    writes={"rate": "1000000/s", "for": "1000s"},
)
started = time.perf_counter()
found = rowkey.simulate.run(design)
print(json.dumps({
    "operations": found.operations, "seconds": time.perf_counter() - started,
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


def results() -> Iterator[Result]:
    """Every figure of this page."""
    for name, draw in (("uniform", "uniform"), ("zipf 0.99", "zipf")):
        found = _judged(f"simulate, designed splits, {name} hosts", 20_000_000, draw=draw)
        found.goal, found.met = "20 M events/s", found.median >= 20e6
        yield found
    found = _judged("simulate, arbitrary splits, 100 regions", 4_000_000, splits=_arbitrary())
    found.goal, found.met = "3 M events/s", found.median >= 3e6
    yield found
    yield _billion()


def _arbitrary() -> list[str]:
    """A hundred boundaries as a sample would give them: whole hosts of unequal length."""
    return sorted(f"{number:08d}" for number in range(10, 1_000, 10))


def _design(key: str, splits: Any, draw: str) -> rowkey.Design:
    return rowkey.Design(
        "events",
        key,
        splits=splits,
        fields={"host": {"type": "text", "distinct": 1_000, "draw": draw}, "ts": "timestamp_ms"},
        writes={"rate": "40000/s", "for": "500s"},
    )


def _judged(name: str, count: int, splits: Any = "per_bucket", draw: str = "uniform") -> Result:
    key = "[bucket(host, 16)][host][ts]" if splits == "per_bucket" else "[host][ts]"
    words = _design(key, splits, draw).declaration.model_dump(by_alias=True, exclude_defaults=True)
    words["writes"]["for"] = f"{count // 40}ms"
    design = rowkey.Design(**words)
    return alone(name, "M events/s", count, lambda: rowkey.simulate.run(design))


def _billion() -> Result:
    run = subprocess.run(
        [sys.executable, "-c", BILLION], check=True, capture_output=True, text=True
    )
    found = json.loads(run.stdout)
    rate = found["operations"] / found["seconds"]
    gigabytes = found["memory"] / 2**30
    return Result(
        "simulate 1,000,000,000 generated events",
        "M events/s",
        [rate],
        goal="at most 1 GB of memory",
        met=gigabytes <= 1 and found["operations"] == 1_000_000_000,
        notes=f"{found['operations']:,} events in {found['seconds']:.0f} s, {gigabytes:.2f} GiB",
    )
