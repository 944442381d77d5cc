"""No cause is taken from stored rows that do not represent the writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from observe.test_table_watch import START_MS, pick_even_host
from rowkey.observe import LiveLoad, watch_table

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16},
    "ts": "timestamp_ms",
    "hits": {"type": "i64", "nullable": True},
}
Write = Callable[["Table", int], object]


def watch_writes(url: str, doing: Write, each: int = 600, **words: Any) -> LiveLoad:
    """Return the load of a table of four servers that is written between some snapshots."""
    words = {"key": "[bucket(host, 16)][host][ts]", "splits": "per_bucket", **words}
    design = rowkey.Design("hits", fields=FIELDS, cluster={"servers": 4}, **words)
    now = [0.0]
    with rowkey.open(design, url) as table:

        def sleep(seconds: float) -> None:
            now[0] += seconds
            for number in range(each if seconds else 0):
                doing(table, number + int(now[0]) * each)

        *_, seen = watch_table(
            "hits", url, every_s=2.0, for_s=6.0, sleep=sleep, clock=lambda: now[0]
        )
    return seen


def put_mixed(table: Table, number: int) -> None:
    """Put rows of which three in four are of one host."""
    table.put({"host": "h3" if number % 4 else pick_even_host(number), "ts": START_MS + number})


def put_or_delete(table: Table, number: int) -> None:
    """Put rows, most of one host, among four times as many deletes of another host."""
    if number % 5:
        table.delete({"host": "h7", "ts": number})
    else:
        put_mixed(table, number // 5)


def put_or_update(table: Table, number: int) -> None:
    """Put the same rows, among four times as many updates of another host's row."""
    if number % 5:
        table.put({"host": "h7", "ts": 5, "hits": number})
    else:
        put_mixed(table, number // 5)


@pytest.mark.parametrize("doing", [put_or_delete, put_or_update])
def test_no_cause_is_named_if_stored_rows_are_in_other_regions_than_writes(
    doing: Write, request: pytest.FixtureRequest
) -> None:
    """No cause is named where stored rows are in other regions than writes, with a remark."""
    seen = watch_writes(f"memory:{request.node.name}", doing)
    assert ("hot", ()) == (seen.writes.level, seen.causes)
    (said,) = (one for one in seen.remarks if one.startswith("the cause is unknown: "))
    assert "region 1 counted 8" in said
    assert "deletes, failed checks and overwritten values leave no cell" in said


def test_a_hot_host_is_named_although_some_writes_are_deletes(
    request: pytest.FixtureRequest,
) -> None:
    """The hot host is named although one write in twelve is a delete."""

    def doing(table: Table, number: int) -> None:
        if number % 12:
            put_mixed(table, number)
        else:
            table.delete({"host": "h7", "ts": number})

    seen = watch_writes(f"memory:{request.node.name}", doing)
    assert "hot" == seen.writes.level
    assert ["hot_entity"] == [one.code for one in seen.causes]
    assert not any(one.startswith("the cause is unknown") for one in seen.remarks)


def test_a_hot_spot_without_a_cause_in_the_sample_is_reported(
    request: pytest.FixtureRequest,
) -> None:
    """A hot spot without a cause in the sampled rows is reported as such."""

    def doing(table: Table, number: int) -> None:
        host = f"h{700 + number * 617 % 90}" if number % 7 else f"h{number % 500}"
        table.put({"host": host, "ts": START_MS + number * 911 % 5_000})

    words: dict[str, Any] = {"key": "[host][ts]", "splits": ["h3", "h5", "h7"]}
    seen = watch_writes(f"memory:{request.node.name}", doing, **words)
    assert ("hot", ()) == (seen.writes.level, seen.causes)
    (said,) = (one for one in seen.remarks if one.startswith("the cause is unknown: "))
    assert "no known cause fits the " in said


def test_a_cause_refers_to_the_bucket_count_after_a_change(request: pytest.FixtureRequest) -> None:
    """After a change of buckets, the cause refers to the current design."""
    url = f"memory:{request.node.name}"
    design = rowkey.Design(
        "hits", "[bucket(host, 4)][host][ts]", fields=FIELDS, cluster={"servers": 4},
        splits="per_bucket",
    )  # fmt: skip
    now, seen = [0.0], []
    with rowkey.open(design, url, max_stale=0.2) as table:

        def sleep(seconds: float) -> None:
            now[0] += seconds
            if 6.0 == now[0]:
                table.set_buckets(32, max_stale=0.2)
            for number in range(600 if seconds else 0):
                put_mixed(table, number + int(now[0]) * 600)

        of: dict[str, Any] = {"every_s": 2.0, "for_s": 10.0, "clock": lambda: now[0]}
        seen = list(watch_table("hits", url, sleep=sleep, **of))
    assert "[bucket(host, 4)][host][ts]" == str(seen[1].design.key)  # type: ignore[union-attr]
    assert "[bucket(host, 32)][host][ts]" == str(seen[-1].design.key)  # type: ignore[union-attr]
    followed = [one for one in seen if "[bucket(host, 32)][host][ts]" == str(one.design.key)]  # type: ignore[union-attr]
    assert all("moving_front" != cause.code for one in followed for cause in one.causes)
    first = seen[-1].causes[0]
    assert "host h3 takes" in first.message
    assert first.needs_key
