"""Sampling the rows that were written within an interval."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowkey
from observe.test_table_watch import START_MS, Writer, open_table, pick_even_host
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import TableSpec, open_engine
from rowkey.observe import LiveLoad, LoadInterval, RegionDelta, watch_table
from rowkey.observe.load_causes import choose_sample_rows, compute_busiest_shares
from rowkey.observe.write_sample import MAX_EVENTS, MIN_EVENTS, TARGET_EVENTS, sample_writes

if TYPE_CHECKING:
    from rowkey.observe.write_sample import WriteSample

DESIGN = rowkey.Design(
    "logs",
    "[host][ts]",
    fields={"host": {"type": "text", "max_bytes": 16}, "ts": "timestamp_ms"},
    families={"d": {}},
)
LENGTH_S = 2
END_MS = START_MS + 1_000 * LENGTH_S
SPLITS = (b"h3", b"h5", b"h7")


def read_sample(stamps: list[int], writes: list[int] | None = None) -> WriteSample:
    """Return the sample of rows with given timestamps, nine in ten of one host."""
    with open_engine("memory:looked") as engine:
        store = engine.create_table(TableSpec("logs", (Family("d"),), SPLITS))
        rows, counts = [], [0, 0, 0, 0]
        for number, stamp in enumerate(stamps):
            host = "h79" if number % 10 else f"h{number * 617 % 900}"
            key = DESIGN.key.encode({"host": host, "ts": START_MS + number})
            rows.append(RowCells(key, [Cell("d", b"", stamp, b"")]))
            counts[sum(split <= key for split in SPLITS)] += 1
        store.mutate(rows)
        edges = [b"", *SPLITS, b""]
        regions = tuple(
            RegionDelta(start, stop, "", count, 0)
            for start, stop, count in zip(edges, edges[1:], writes or counts, strict=False)
        )
        found = sample_writes(store, DESIGN, LoadInterval(2.0, LENGTH_S, regions, ("",)), END_MS)
        engine.drop_table("logs")
    return found


@pytest.mark.parametrize(
    ("begins_ms", "lasts_ms", "count"),
    [
        (0, 20, 300),
        (0, 20, 1_500),
        pytest.param(0, 400, 6_000, marks=pytest.mark.long),
        (900, 200, 6_000),
        pytest.param(1_800, 200, 6_000, marks=pytest.mark.long),
        pytest.param(500, 1_000, 6_000, marks=pytest.mark.long),
        (0, 2_000, 6_000),
        (0, 2_000, 300),
    ],
)
def test_a_burst_is_sampled_wherever_it_lies_in_the_interval(
    begins_ms: int, lasts_ms: int, count: int
) -> None:
    """A burst within part of an interval is sampled well, and not from its beginning only."""
    found = read_sample([START_MS + begins_ms + lasts_ms * n // count for n in range(count)])
    assert min(count, MIN_EVENTS) <= len(found.keys) <= MAX_EVENTS
    assert not found.is_truncated
    busy = sum(DESIGN.key.decode(key)["host"] == "h79" for key in found.keys) / len(found.keys)
    assert 0.9 == pytest.approx(busy, abs=0.01)


def test_the_total_of_read_rows_includes_every_scan_for_a_burst() -> None:
    """The total of read rows includes every scan that was needed to find a burst."""
    found = read_sample([START_MS + n // 60 for n in range(6_000)])
    assert (
        sum(found.total_rows_by_region.values())
        > len(found.keys)
        == sum(found.rows_by_region.values())
    )
    assert sum(read_sample([START_MS + n for n in range(300)]).total_rows_by_region.values()) == 300


def test_too_many_rows_of_one_millisecond_are_sampled_in_part() -> None:
    """Too many rows of one millisecond are read in part from each region, with a remark."""
    found = read_sample([START_MS + 7] * 6_000)
    assert frozenset({b"h7"}) == found.truncated_regions
    assert [TARGET_EVENTS, TARGET_EVENTS] < [found.rows_by_region[b"h7"] + 1, len(found.keys)]
    assert {b"", *SPLITS} == found.rows_by_region.keys()


def test_complete_rows_after_a_burst_are_preferred_to_part_of_it() -> None:
    """The complete rows after a burst of one millisecond are preferred to part of the burst."""
    calm = [START_MS + 5 * n for n in range(400)]
    found = read_sample([*[START_MS + 1] * 6_000, *calm])
    assert not found.is_truncated
    assert 300 <= len(found.keys) <= 400


def test_rows_written_during_the_sampling_are_not_in_the_sample() -> None:
    before, after = ([at + n // 4 for n in range(8_000)] for at in (START_MS, END_MS + 500))
    found = read_sample([*before, *after], [1_000, 1_000, 1_000, 5_000])
    assert MIN_EVENTS <= len(found.keys) <= MAX_EVENTS
    assert all(DESIGN.key.decode(key)["ts"] < START_MS + 8_000 for key in found.keys)


def test_rows_of_one_millisecond_are_not_sampled_in_key_order() -> None:
    """Rows of one millisecond are not sampled in key order, which would look like a front."""
    keys = read_sample([START_MS + 100 * (n // 500) for n in range(1_000)]).keys
    rising = sum(one < other for one, other in pairwise(keys))
    assert 0.4 < rising / len(keys) < 0.6


@given(st.lists(st.tuples(st.integers(1, 3_000), st.integers(0, 50_000)), min_size=1, max_size=30))
def test_partly_read_intervals_keep_equal_shares_of_their_writes(
    looks: list[tuple[int, int]],
) -> None:
    """Partly read intervals keep equal shares of their writes, with enough rows in total."""
    kept = [len(which) for which in choose_sample_rows(*map(list, zip(*looks, strict=True)))]
    rows = sum(many for many, _ in looks)
    assert min(MIN_EVENTS, rows) <= sum(kept)
    assert all(1 <= few <= many for few, (many, _) in zip(kept, looks, strict=True))
    read_in_part = [
        (few, many, written)
        for few, (many, written) in zip(kept, looks, strict=True)
        if 1 < few < many
    ]
    for (few, _, written), (other, _, more) in pairwise(read_in_part):
        assert abs(few * more - other * written) <= written + more


def test_hosts_have_their_share_of_all_writes_in_the_sample(
    request: pytest.FixtureRequest,
) -> None:
    """Hosts have their shares of all writes, although busy intervals are read in part."""
    url = f"memory:{request.node.name}"
    words: dict[str, Any] = {"splits": ["h3", "h5", "h7"]}
    with open_table(url, "[host][ts]", **words) as table:
        writer = Writer(table, pick_even_host)
        seen: list[LiveLoad] = []

        def sleep(seconds: float) -> None:
            writer.now += seconds
            is_busy = int(writer.now) % 4 == 0
            with table.batch() as batch:
                for number in range((10_000 if is_busy else 1_000) if seconds else 0):
                    host = "h79" if is_busy else "h70"
                    host = host if number % 10 else f"h{number * 617 % 900}"
                    batch.put({"host": host, "ts": START_MS + int(writer.now) * 20_000 + number})

        of: dict[str, Any] = {"every_s": 2.0, "for_s": 8.0, "clock": writer.clock}
        seen = list(watch_table("logs", url, sleep=sleep, **of))
    first = seen[-1].causes[0]
    assert "hot_entity" == first.code
    assert 0.9 * 20_000 / 22_000 == pytest.approx(first.evidence["share"], abs=0.05)


def test_intervals_of_few_writes_do_not_make_an_even_load_uneven() -> None:
    """Intervals count by their load: those of one write hardly change the busiest share."""
    even, quiet = [[1_000] * 4] * 6, [[1, 0, 0, 0]] * 4
    shares = compute_busiest_shares(np.array(even + quiet))
    assert pytest.approx((0.25, 0.25, 1.0), abs=0.001) == (shares.total, shares.mean, shares.worst)
    assert 0.0 == compute_busiest_shares(np.zeros((2, 4), np.int64)).mean
