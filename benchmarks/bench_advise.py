"""How fast better keys are searched for, with all candidates, tables and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from timing import Result, measure_ratio

from rowkey import Design
from rowkey.advise import JudgedDesign, search
from rowkey.proposals import apply_proposal, list_candidates

SECONDS = {50_000: 2, 1_000_000: 10}
"""Within how long a search by so many events should end."""
SIMULATED = 10
"""Candidates that the rival simulates."""
ORDERS: dict[str, Any] = {
    "fields": {
        "user": {"type": "text", "max_bytes": 8},
        "shop": {"type": "text", "max_bytes": 4},
        "at": "timestamp_ms",
        "number": "u64",
    },
    "reads": [
        {"name": "of user", "where": "user = ?", "order": "at desc", "limit": 20, "rate": "300/s"},
        {
            "name": "of shop",
            "where": "shop = ? and at between ? and ?",
            "span": "1m",
            "rate": "5/s",
        },
        {"name": "one", "where": "number = ?", "rate": "200/s"},
    ],
    "splits": {"algorithm": "sample", "regions": 16},
    "writes": {"rate": "200/s", "time": "at"},
    "families": {"d": {"compression": "ZSTD", "ttl": "30d"}},
}


def measure_all() -> Iterator[Result]:
    """Yield all results on searching for keys."""
    for count, seconds in SECONDS.items():
        yield _measure_search(count, seconds)


def _measure_search(event_count: int, seconds: int) -> Result:
    """Return the rate of a search, in keys compared, against judging them one by one."""
    design, events = Design("orders", "[user][at][number]", **ORDERS), make_orders(event_count)
    keys = search(design, events).candidate_count
    facts = JudgedDesign(design, events).facts
    candidates = list_candidates(design, facts, has_sample=True, added_fields=design.fields)
    proposed = [apply_proposal(design, one) for one in candidates[:: keys // SIMULATED]]

    def judge_each() -> None:
        """Judge some of the keys in full, as a user would who compares designs."""
        for one in proposed:
            _ = JudgedDesign(one, events).verdict

    result = measure_ratio(
        f"advise, {event_count:,} orders in memory, {keys} keys compared",
        "M keys/s",
        (keys, partial(search, design, events)),
        "each key judged in full",
        (len(proposed), judge_each),
    )
    result.goal, result.met = f"{keys} keys in {seconds} s", keys / result.median <= seconds
    result.notes = f"{keys / result.median:.1f} s, with second tables and verdicts of all picks"
    return result


def make_orders(count: int) -> pa.Table:
    """Return orders of skewed users and shops, the earliest first."""
    chance = np.random.default_rng(0)
    users = np.minimum(chance.zipf(1.3, count), 20_000) * 7_919 % 100_003
    shops = np.minimum(chance.zipf(1.5, count), 400)
    return pa.table(
        {
            "user": [f"u{one:06d}" for one in users.tolist()],
            "shop": [f"s{one:03d}" for one in shops.tolist()],
            "at": pa.array(1_700_000_000_000 + 20 * np.arange(count)),
            "number": pa.array(10_000_000 + np.arange(count), pa.uint64()),
        }
    )
