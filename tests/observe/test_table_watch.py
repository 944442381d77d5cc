"""A watched table is found hot where it is hot, for the right cause, and even otherwise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.engines import OpenRegion, get_time_ms
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.observe import CounterSnapshot, LiveLoad, TableReader, watch_table
from rowkey.observe.table_watch import TableWatch
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from rowkey import Design
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 16}, "ts": "timestamp_ms"}
START_MS = 1_700_000_000_000
ROWS_PER_LOOK = 1_000
"""Rows between two looks."""
ROWS_PER_MS = 50
"""Rows with one timestamp."""


class Writer:
    """Writes rows while the watcher sleeps, so that no clock decides what is counted.

    Args:
        table: the table.
        hosts: returns the host of a row's number.
    """

    def __init__(self, table: Table, hosts: Callable[[int], str]) -> None:
        self.table, self.hosts = table, hosts
        self.now = 0.0
        self.numbers = count()
        self.happens: dict[int, Callable[[], None]] = {}
        self.looks = 0

    def sleep(self, seconds: float) -> None:
        """Let time pass, and write the rows of that time."""
        self.now += seconds
        if seconds:
            for _ in range(ROWS_PER_LOOK // ROWS_PER_MS):
                with self.table.batch() as batch:
                    for number in (next(self.numbers) for _ in range(ROWS_PER_MS)):
                        batch.put({"host": self.hosts(number), "ts": START_MS + number})
                written_ms = get_time_ms()
                while get_time_ms() == written_ms:  # the order of rows is known to a millisecond
                    pass
        self.looks += 1
        self.happens.get(self.looks, lambda: None)()

    def clock(self) -> float:
        """Return the seconds that were slept."""
        return self.now

    def watched(self, looks: int, url: str, design: Design | None = None) -> list[LiveLoad]:
        """Return the snapshots of the table."""
        return list(
            watch_table(
                self.table.design.table,
                url,
                design=design,
                every_s=2.0,
                for_s=2.0 * (looks - 1),
                sleep=self.sleep,
                clock=self.clock,
            )
        )


def pick_even_host(number: int) -> str:
    """Return one of 500 hosts, all equally busy."""
    return f"web-{number * 617 % 500}"


def pick_skewed_host(number: int) -> str:
    """Return one of 500 hosts, of which one sends half of all rows."""
    return "web-7" if number % 2 else pick_even_host(number)


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    """A URL of an engine in memory for one test."""
    return f"memory:{request.node.name}"


def open_table(url: str, key: str, **words: Any) -> Table:
    """Open an empty table for four servers."""
    design = rowkey.Design("logs", key, fields=FIELDS, cluster={"servers": 4}, **words)
    return rowkey.open(design, url)


def list_time_splits() -> list[str]:
    """Return split keys within the times of the rows, as a design file lists them."""
    keys = ((START_MS + 4 * ROWS_PER_LOOK * number).to_bytes(8, "big") for number in range(1, 8))
    return [to_string_binary(key) for key in keys]


def test_rows_in_hashed_buckets_are_even_in_each_snapshot(url: str) -> None:
    """Rows in hashed buckets are even in each snapshot, and no cause is found."""
    with open_table(url, "[bucket(host, ts, 16)][host][ts]", splits="per_bucket") as table:
        seen = Writer(table, pick_even_host).watched(6, url)
    assert ["unknown", *["even"] * 5] == [one.writes.level for one in seen]
    assert {()} == {one.causes for one in seen}
    assert [None, *[ROWS_PER_LOOK] * 5] == [
        one.intervals[-1].sum_operations("writes") if one.intervals else None for one in seen
    ]
    assert 5 * ROWS_PER_LOOK == seen[-1].writes.operation_count


def test_a_time_first_key_is_hot_and_the_front_is_named(url: str) -> None:
    """A key that begins with time is hot, and the moving front is named."""
    with open_table(url, "[ts][host]", splits=list_time_splits()) as table:
        seen = Writer(table, pick_even_host).watched(3, url)[-1]
    assert "hot" == seen.writes.level
    assert "moving_front" == seen.causes[0].code
    assert seen.is_hot


def test_a_host_that_sends_half_of_all_rows_is_named(url: str) -> None:
    with open_table(url, "[bucket(host, 16)][host][ts]", splits="per_bucket") as table:
        seen = Writer(table, pick_skewed_host).watched(3, url)[-1]
    assert "hot" == seen.writes.level
    assert ["hot_entity"] == [cause.code for cause in seen.causes]
    assert "web-7" in seen.causes[0].message


def test_a_bucket_of_only_the_time_is_named_as_the_cause(url: str) -> None:
    """If all times share one remainder of mod(ts, 16), the cause is the time-only bucket."""
    with open_table(url, "[mod(ts, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_even_host)
        writer.numbers = count(0, 16)
        seen = writer.watched(3, url)[-1]
    assert "hot" == seen.writes.level
    assert "time_only_bucket" == seen.causes[0].code
    assert "1 of 16" in seen.causes[0].message


def test_a_split_between_snapshots_raises_no_alarm(url: str) -> None:
    """The interval of a split has no figure, and the intervals around it are even."""
    with open_table(url, "[bucket(host, ts, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_even_host)
        writer.happens[3] = lambda: table.store.split(b"\x05m")
        seen = writer.watched(7, url)
    assert ["unknown", *["even"] * 6] == [one.writes.level for one in seen]
    split = seen[2].intervals[-1]
    assert not split.is_known("writes")
    assert {"", "created by a split"} == {one.reason for one in split.regions}
    rates = [r.writes for one in seen for i in one.intervals for r in i.regions]
    assert min(rate for rate in rates if rate is not None) >= 0
    assert any("created by a split" in said for said in seen[2].remarks)


def test_rates_are_right_after_a_failed_snapshot_that_is_reported(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed snapshot is reported, and the rates of the longer interval after it are right."""
    with open_table(url, "[bucket(host, ts, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_even_host)
        kind = type(table.store)
        openings = kind.list_open_regions

        def failing(store: Any, wait_s: float | None = None) -> Any:
            if writer.looks == 3:
                raise Unavailable("logs", "some of its regions are on no server")
            return openings(store, wait_s)

        monkeypatch.setattr(kind, "list_open_regions", failing)
        seen = writer.watched(5, url)
    assert [0, 0, 1, 1, 1] == [one.missed_count for one in seen]
    assert any("on no server" in said for said in seen[2].remarks)
    assert [(2.0, ROWS_PER_LOOK), (4.0, 2 * ROWS_PER_LOOK), (2.0, ROWS_PER_LOOK)] == [
        (one.length_s, one.sum_operations("writes")) for one in seen[-1].intervals
    ]
    assert "even" == seen[-1].writes.level


def test_a_slow_snapshot_delays_the_next_and_not_the_end(url: str) -> None:
    """A slow snapshot delays the next one, and the end of the watch stays."""
    with open_table(url, "[bucket(host, ts, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_even_host)

        def take_long() -> None:
            writer.now += 5.0

        writer.happens[3] = take_long
        seen = writer.watched(7, url)
    assert 5 == len(seen)
    assert [2.0, 7.0, 1.0, 2.0] == [one.length_s for one in seen[-1].intervals]
    assert 12.0 == seen[-1].intervals[-1].end_s


def test_a_second_snapshot_is_always_taken(url: str) -> None:
    """A second snapshot is always taken, however late, since a rate needs two."""
    with open_table(url, "[bucket(host, ts, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_even_host)

        def take_long() -> None:
            writer.now += 50.0

        writer.happens[1] = take_long
        seen = writer.watched(3, url)
    assert [[], [2.0]] == [[i.length_s for i in one.intervals] for one in seen]


def test_a_table_without_a_design_has_rates_and_no_causes(url: str) -> None:
    """A table without a design has rates and no causes, and a remark says so."""
    with open_table(url, "[ts][host]", splits=list_time_splits()) as table:
        table.store.replace_attributes({})
        table.catalog.remove("logs", table.catalog.read("logs").version)  # type: ignore[union-attr]
        writer = Writer(table, pick_even_host)
        seen = writer.watched(3, url)[-1]
        told = writer.watched(3, url, design=table.design)[-1]
    assert seen.design is None
    assert ("even", 1) == (seen.writes.level, seen.writes.servers)
    assert "hot" == told.writes.level
    # Rows are ordered by the milliseconds of the real clock: a pause changes which cause is first.
    assert {"moving_front", "missed_splits"} & {cause.code for cause in told.causes}


def test_watching_with_the_design_of_another_table_is_refused(url: str) -> None:
    """A design of another table is refused with the name of its table."""
    with open_table(url, "[host][ts]") as table:
        other = rowkey.Design("doors", "[ts][host]", fields=FIELDS)
        seen = Writer(table, pick_even_host).watched(2, url, design=other)[-1]
        own = Writer(table, pick_even_host).watched(2, url, design=table.design)[-1]
    said = "the given design declares the table doors, not logs"
    assert (True, False) == (said in seen.remarks, said in own.remarks)


def build_snapshot(regions: int, at_s: float, servers: str = "") -> CounterSnapshot:
    """Return a snapshot of regions with equal writes, each on the server of its number."""
    edges = [b"", *(n.to_bytes(2, "big") for n in range(1, regions)), b""]
    opened = [
        OpenRegion(start, stop, int(100 * at_s), 0, f"rs{n % 3}{servers}", (n, servers))
        for n, (start, stop) in enumerate(pairwise(edges))
    ]
    return CounterSnapshot.from_regions(at_s, opened, [f"rs{n}{servers}" for n in range(3)])


def test_the_verdict_covers_the_last_minute_whatever_the_snapshot_interval() -> None:
    """Twenty snapshots a second give a map of 240 columns and a verdict on sixty seconds."""
    seen = TableWatch("t", None)
    for number in range(2_000):
        seen.add_snapshot(build_snapshot(3, number / 20))
    found = seen.build_live_load(0)
    assert (240, 3 * 100 * 60) == (len(found.intervals), found.writes.operation_count)
    assert 1_200 == len(seen.intervals)


def test_regions_that_moved_for_one_reason_are_one_remark() -> None:
    """Thousands of regions that moved for one reason are reported in one remark."""
    seen = TableWatch("t", None)
    seen.add_snapshot(build_snapshot(3_000, 1.0))
    seen.add_snapshot(build_snapshot(3_000, 2.0, "'"))
    assert (
        "1,000 regions have no rate, at the first row, 0003, 0006, ...: moved here from rs0",
        "1,000 regions have no rate, at 0001, 0004, 0007, ...: moved here from rs1",
        "1,000 regions have no rate, at 0002, 0005, 0008, ...: moved here from rs2",
    ) == seen.build_live_load(0).remarks


def test_watching_a_missing_table_or_with_invalid_times_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"no table logs\. There are no tables yet\. Create"):
        next(watch_table("logs", "memory:"))
    with open_table(url, "[ts][host]"):
        with pytest.raises(InvalidArgument, match="there is no table lags; expected one of logs"):
            next(watch_table("lags", url))
        with pytest.raises(InvalidArgument, match="every: 0 s is out of range"):
            watch_table("logs", url, every_s=0)
        with pytest.raises(
            InvalidArgument, match=r"for: a watch of 1 s ends before the second reading, after 2 s"
        ):
            watch_table("logs", url, every_s=2, for_s=1)


def test_counters_are_read_although_no_master_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters of a hot table are read although no master answers for its catalog."""
    design = rowkey.Design("hot", "[id]", fields={"id": "u64"}, cluster={"servers": 3})
    splits = [(1 << 20).to_bytes(8, "big"), (1 << 30).to_bytes(8, "big")]
    with rowkey.open(design, "memory:", splits=splits) as table:
        reader = TableReader(table.engine, table.store, "hot")
        reader.read(1.0)
        with table.batch() as batch:
            for number in range(3_000):
                batch.put({"id": number})

        def fail(*_: object) -> None:
            raise Unavailable("hot", "no master answers")

        monkeypatch.setattr("rowkey.observe.table_reader.look_up_entry", fail)
        live = reader.read(1.0)
    assert live.is_hot
    assert (3_000, "") == (live.intervals[-1].sum_operations("writes"), reader.watch.missed_reason)
