"""The remark that a hot region's rows are overwritten again and again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from observe.test_table_watch import (
    START_MS,
    Writer,
    list_time_splits,
    pick_even_host,
    pick_skewed_host,
)
from rowkey.observe import LoadInterval, RegionDelta, watch_table
from rowkey.observe.overwrites import format_overwrites
from rowkey.observe.write_sample import WriteSample
from rowkey.table import drop_table

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16},
    "ts": "timestamp_ms",
    "hits": {"type": "i64", "nullable": True},
}
Write = Callable[["Table", int], object]
OVERWRITE_REMARK = "written over and over"


def watch_writes(key: str, doing: Write, looks: int = 3, **words: Any) -> tuple[str, list[str]]:
    """Return the verdict and the remarks on a table that is written while it is watched."""
    url = "memory:overwritten"
    design = rowkey.Design("hits", key, fields=FIELDS, cluster={"servers": 4}, **words)
    with rowkey.open(design, url) as table:
        now = [0.0]

        def sleep(seconds: float) -> None:
            now[0] += seconds
            for number in range(900 if seconds else 0):
                doing(table, number)

        of: dict[str, Any] = {"every_s": 2.0, "for_s": 2.0 * (looks - 1)}
        *_, seen = watch_table("hits", url, sleep=sleep, clock=lambda: now[0], **of)
    drop_table("hits", url)
    return seen.writes.level, [one for one in seen.remarks if OVERWRITE_REMARK in one]


def count_one(table: Table, number: int) -> None:
    """Increment one counter among many rows."""
    if number % 2:
        table.increment({"host": "all", "ts": 0}, hits=1)
    else:
        table.put({"host": pick_even_host(number), "ts": START_MS + number})


def write_one(table: Table, number: int) -> None:
    """Write the latest value of all into one row."""
    table.put({"host": "all", "ts": 0, "hits": number})


def write_three(table: Table, number: int) -> None:
    """Overwrite three rows of one region in turn."""
    table.put({"host": f"all{number % 3}", "ts": 0, "hits": number})


BY_HOST: dict[str, Any] = {"key": "[host][ts]", "splits": ["web-2", "web-3", "web-4"]}
"""A table of four regions; `all` lies in the first."""


def test_a_counter_with_most_writes_of_its_region_is_named() -> None:
    """A counter with most of its region's writes is named."""
    word, (said,) = watch_writes(doing=count_one, **BY_HOST)
    assert "hot" == word
    assert said.startswith("region 0 counted about ")
    assert "cells with other timestamps" in said


def test_the_only_changing_row_of_a_region_is_named_as_hot() -> None:
    word, (said,) = watch_writes(doing=write_one, **BY_HOST)
    assert "hot" == word
    assert "but only 1 row changed, host all, ts 1970-01-01" in said
    assert "no key spreads one row" in said


def test_two_or_three_overwritten_rows_are_named_without_a_hot_one() -> None:
    """Two or three overwritten rows are named, without a claim that one of them is hot."""
    _, (said,) = watch_writes(doing=write_three, **BY_HOST)
    assert "but only 3 rows changed, host all0, " in said
    assert said.endswith("these rows are written over and over")


def delete_one(table: Table, number: int) -> None:
    """Delete a row that does not exist."""
    table.delete({"host": "all", "ts": number})


@pytest.mark.parametrize(
    ("doing", "options"),
    [
        (lambda table, n: table.put({"host": pick_skewed_host(n), "ts": START_MS + n}), BY_HOST),
        (
            lambda table, n: table.put({"host": pick_even_host(n), "ts": START_MS + n}),
            {"key": "[ts][host]", "splits": list_time_splits()},
        ),
        (delete_one, BY_HOST),
    ],
    ids=["a busy host", "a front", "deletes"],
)
def test_a_busy_host_or_front_gets_no_remark_on_overwritten_rows(
    doing: Write, options: dict[str, Any]
) -> None:
    """A busy host, a front and deletes are hot without a remark on overwritten rows."""
    assert ("hot", []) == watch_writes(doing=doing, **options)


def test_a_counter_in_a_table_with_even_load_gets_no_remark() -> None:
    def spread(table: Table, number: int) -> None:
        table.put({"host": f"w{number % 16}", "ts": 0, "hits": number})

    splits = [f"w{n}" for n in (11, 15, 5)]
    assert ("even", []) == watch_writes(key="[host][ts]", splits=splits, doing=spread)


def test_a_host_that_writes_all_rows_is_named_as_the_cause(tmp_path: Any) -> None:
    """A host that writes all rows is named as the cause, although its rows follow the clock."""
    design = rowkey.Design(
        "logs",
        "[host][ts]",
        fields={"host": {"type": "text", "max_bytes": 16}, "ts": "timestamp_ms"},
        splits=["web-2", "web-4", "web-8"],
        cluster={"servers": 4},
    )
    url = f"memory:{tmp_path}"
    with rowkey.open(design, url) as table:
        seen = Writer(table, lambda _: "web-7").watched(4, url)[-1]
    assert "hot" == seen.writes.level
    assert "hot_entity" == seen.causes[0].code
    assert seen.causes[0].message.startswith("host web-7 takes 100.0% of the events")


@pytest.mark.parametrize(("elsewhere", "part", "is_said"), [
    (500, 0.5, True), (300, 0.5, True), (200, 0.5, False), (0, 0.5, False), (0, 1.0, True),
])  # fmt: skip
def test_overwritten_rows_are_reported_after_a_burst_only_with_enough_rows(
    elsewhere: int, part: float, is_said: bool
) -> None:
    """After a burst the remark is made only if other regions have enough recent rows."""
    design = rowkey.Design("hits", fields=FIELDS, **BY_HOST)
    edges = [b"", b"web-2", b""]
    regions = tuple(
        RegionDelta(start, stop, "", writes, 0)
        for (start, stop), writes in zip(pairwise(edges), (10_000, 1_000), strict=True)
    )
    here, there = (
        [design.key.encode({"host": host, "ts": n}) for n in range(count)]
        for host, count in (("all", 100), ("web-3", elsewhere))
    )
    batch = pa.RecordBatch.from_pylist([], pa.schema([]))
    read = {b"": len(here), b"web-2": len(there)}
    found = WriteSample(batch, [*here, *there], 0, read, part)
    said = format_overwrites(design, LoadInterval(2.0, 2.0, regions, ("",)), found)
    assert is_said == (OVERWRITE_REMARK in said)


def test_no_cause_is_claimed_for_hot_reads(tmp_path: Any) -> None:
    """For hot reads only the busiest region is named, and a remark says that no cause is known."""
    design = rowkey.Design("hits", fields=FIELDS, cluster={"servers": 4}, **BY_HOST)
    url, now = f"memory:{tmp_path}", [0.0]
    with rowkey.open(design, url) as table:
        table.put({"host": "web-3x", "ts": 0})

        def sleep(seconds: float) -> None:
            now[0] += seconds
            for _ in range(1_000 if seconds else 0):
                table.get({"host": "web-3x", "ts": 0})

        *_, seen = watch_table(
            "hits", url, every_s=2.0, for_s=6.0, sleep=sleep, clock=lambda: now[0]
        )
    assert ("idle", "hot") == (seen.writes.level, seen.reads.level)
    (said,) = (one for one in seen.remarks if "reads" in one and "region" in one)
    assert said.startswith("the cause of uneven reads is not searched")
    assert (
        "region 2, which begins at 7765622d33…, took 100% of the reads in the last interval" in said
    )
