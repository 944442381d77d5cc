"""Load of a table whose regions are split, merged and moved, for the tests of its history."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from rowkey.observe import LoadInterval, RegionDelta

DAY_MS = 86_400_000
START_MS = 1_700_000_000_000
SERVERS = ("rs0,16020,1", "rs1,16020,1", "rs2,16020,1")


def build_interval(edges: Sequence[int], seed: int, length_s: float = 60.0) -> LoadInterval:
    """Return an interval of regions between one-byte keys, with counts that depend on the seed."""
    keys = [b"", *(bytes([edge]) for edge in edges), b""]
    regions = []
    for number, (start, stop) in enumerate(pairwise(keys)):
        chosen = (seed * 7_919 + number * 104_729) % 1_009
        known = chosen % 11 > 0
        regions.append(
            RegionDelta(
                start,
                stop,
                SERVERS[(seed + number) % 3],
                chosen if known else None,
                chosen // 3 if known else None,
                "" if known else "reopened",
            )
        )
    return LoadInterval(seed * 60.0, length_s, tuple(regions), SERVERS)


@st.composite
def draw_intervals(draw: st.DrawFn, max_size: int = 30) -> list[tuple[int, LoadInterval]]:
    """Return ends in milliseconds and intervals in the order of time, with splits and merges."""
    edges = set(draw(st.lists(st.integers(1, 255), max_size=4)))
    now_ms, intervals = START_MS, []
    for seed in range(draw(st.integers(1, max_size))):
        changed = draw(st.sampled_from([0, 0, 0, *range(1, 256)]))
        edges ^= {changed} - {0}  # a split, or a merge
        pause_ms = draw(st.sampled_from([0, 0, 1_000, 3_600_000, DAY_MS]))
        length_ms = draw(st.sampled_from([2_000, 2_000, 59_999, 60_000, 61_000, 600_000]))
        now_ms += pause_ms + length_ms
        interval = build_interval(sorted(edges), seed, length_ms / 1_000)
        intervals.append((now_ms, interval))
    return intervals
