"""How fast the regions of keys are found."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from timing import measure_ratio

from rowkey import bind_key
from rowkey.regions import Boundaries, locate_key_array

if TYPE_CHECKING:
    from timing import Result

COUNT, LOOP = 2_000_000, 200_000
START = 1_609_459_200_000


def measure_all() -> Iterator[Result]:
    """Yield all results on finding the regions of row keys."""
    names = pa.array([f"user{number:08d}" for number in range(50_000)])
    drawn = np.random.default_rng(0).integers(0, len(names), COUNT)
    users = names.take(pa.array(drawn))
    times = pa.array(np.arange(COUNT, dtype=np.int64) + START)
    batch = pa.record_batch([users, times], names=["user", "ts"])
    fields = {"user": "text", "ts": "timestamp_ms"}
    for name, notation in (
        ("bucket + text + timestamp", "[bucket(user, 16)][user][ts]"),
        ("text + timestamp", "[user][ts]"),
    ):
        keys = bind_key(notation, fields).encode_batch(batch)
        ordered = sorted(keys.slice(0, LOOP).to_pylist())
        for regions in (16, 100, 1_000):
            splits = sorted({ordered[LOOP * n // regions] for n in range(1, regions)})
            yield _measure_placement(name, keys, splits)
    keys = bind_key("[bucket(user, 16)][user][ts]", fields).encode_batch(batch)
    yield _measure_placement("designed splits, one byte", keys, [bytes([n]) for n in range(1, 16)])


def _measure_placement(name: str, keys: pa.Array, splits: list[bytes]) -> Result:
    """Return the rate of finding the region of each key, against bisect."""
    boundaries = Boundaries(splits)
    some = keys.slice(0, LOOP).to_pylist()
    result = measure_ratio(
        f"placement, {name}, {len(boundaries):,} regions",
        "M keys/s",
        (len(keys), lambda: locate_key_array(boundaries, keys)),
        "bisect over a list of split keys",
        (LOOP, lambda: [bisect_right(splits, key) for key in some]),
    )
    if len(boundaries) <= 100:
        result.goal, result.met = "5 M keys/s", result.median >= 5e6
    return result
