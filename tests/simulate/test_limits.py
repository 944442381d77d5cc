"""The part of each range that a limited read reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.plan import Plan, plan_read
from rowkey.schema import OneOf
from rowkey.simulate.ranked_rows import find_last_rows

FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}


def merge_ranges(
    plan: Plan, keys: Sequence[bytes], found: Sequence[tuple[int, int]], fits: Any, wanted: int
) -> list[int | None]:
    """Return the row that a merge of cursors has reached in each range."""
    reached: list[int | None] = [None] * len(found)

    def rows(number: int) -> Iterator[tuple[bytes, int, int]]:
        skipped, (start, stop) = len(plan.ranges[number].prefix), found[number]
        places = range(start, stop)
        for at in reversed(places) if plan.is_backwards else places:
            reached[number] = at
            yield keys[at][skipped:], number, at

    taken = merge(*map(rows, range(len(found))), reverse=plan.is_backwards)
    next(islice((at for _, _, at in taken if fits[at]), wanted - 1, None))
    return reached


@given(st.data())
def test_a_limited_merge_reads_the_same_rows_as_one_row_by_row(data: st.DataObject) -> None:
    """A limited merge reads the same rows as one that is done row by row."""
    design = Design("t", "[host][ts]", fields=FIELDS, reads=[])
    hosts = st.sampled_from(["a", "ab", "b", "c"])
    pairs = st.tuples(hosts, st.integers(0, 6))
    rows = data.draw(st.sets(pairs, min_size=1, max_size=20))
    keys = sorted(design.key.encode({"host": host, "ts": ts}) for host, ts in rows)
    order = data.draw(st.sampled_from(["asc", "desc"]))
    listed = data.draw(st.lists(hosts, min_size=1, unique=True))
    words = [{"name": "it", "where": "host in (?)", "order": f"ts {order}"}]
    read = Design("t", "[host][ts]", fields=FIELDS, reads=words).reads[0]
    plan = plan_read(design.key, {"host": OneOf(tuple(listed))}, read.order)
    found = []
    for one in plan.ranges:
        inside = [at for at, key in enumerate(keys) if one.has_key(key)]
        found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    fits = np.array(data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys))))
    most = sum(int(fits[start:stop].sum()) for start, stop in found)
    if most:
        wanted = data.draw(st.integers(1, most))
        held = np.concatenate([np.arange(*span) for span in found])
        assert merge_ranges(plan, keys, found, fits, wanted) == find_last_rows(
            plan, keys, found, held[fits[held]], wanted
        )
