"""How fast designs are judged, and with how much memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from timing import Result, measure_rate

import rowkey

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
    "operations": found.operation_count, "seconds": time.perf_counter() - started,
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


def measure_all() -> Iterator[Result]:
    """Yield all results on simulating designs."""
    for name, draw in (("uniform", "uniform"), ("zipf 0.99", "zipf")):
        result = _measure_simulation(
            f"simulate, designed splits, {name} hosts", 20_000_000, draw=draw
        )
        result.goal, result.met = "20 M events/s", result.median >= 20e6
        yield result
    result = _measure_simulation(
        "simulate, arbitrary splits, 100 regions", 4_000_000, splits=_build_splits()
    )
    result.goal, result.met = "3 M events/s", result.median >= 3e6
    yield result
    yield _measure_billion()


def _build_splits() -> list[str]:
    """Return a hundred boundaries like those of a sample: hosts of different length."""
    return sorted(f"{number:08d}" for number in range(10, 1_000, 10))


def _build_design(key: str, splits: Any, draw: str) -> rowkey.Design:
    """Return the benchmark's design with a key, splits and a distribution of hosts."""
    return rowkey.Design(
        "events",
        key,
        splits=splits,
        fields={"host": {"type": "text", "distinct": 1_000, "draw": draw}, "ts": "timestamp_ms"},
        writes={"rate": "40000/s", "for": "500s"},
    )


def _measure_simulation(
    name: str, count: int, splits: Any = "per_bucket", draw: str = "uniform"
) -> Result:
    """Return the rate of simulating a number of generated events."""
    key = "[bucket(host, 16)][host][ts]" if splits == "per_bucket" else "[host][ts]"
    words = _build_design(key, splits, draw).declaration.model_dump(
        by_alias=True, exclude_defaults=True
    )
    words["writes"]["for"] = f"{count // 40}ms"
    design = rowkey.Design(**words)
    return measure_rate(name, "M events/s", count, lambda: rowkey.simulate.run(design))


def _measure_billion() -> Result:
    """Return the rate and memory of simulating a billion events."""
    run = subprocess.run(
        [sys.executable, "-c", BILLION], check=True, capture_output=True, text=True
    )
    result = json.loads(run.stdout)
    rate = result["operations"] / result["seconds"]
    gigabytes = result["memory"] / 2**30
    return Result(
        "simulate 1,000,000,000 generated events",
        "M events/s",
        [rate],
        goal="at most 1 GB of memory",
        met=gigabytes <= 1 and result["operations"] == 1_000_000_000,
        notes=f"{result['operations']:,} events in {result['seconds']:.0f} s, {gigabytes:.2f} GiB",
    )
