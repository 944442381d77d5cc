"""Changing the number of buckets of a table: refusals, steps, interruptions, reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.engines import ScanRange
from rowkey.errors import Conflict, InvalidDesign, Unavailable
from rowkey.progress import Progress
from rowkey.render import build_buckets_document, format_buckets
from rowkey.table.generations.activation import activate_announced
from rowkey.table.generations.bucket_change import BucketChange
from table.buckets import FIELDS, KEY, ROWS, build_design, refuse_to_wait, sort_by_key
from table.clients import (
    ManualClock,
    announce_count,
    list_misplaced_rows,
    open_client,
    set_buckets,
)

if TYPE_CHECKING:
    from rowkey.table import Table


ON_BOTH_ENGINES = pytest.mark.parametrize("url", ["memory", "rocks"], indirect=True)
"""Marks tests of what depends on the engine; all others run on disk in long runs only."""


@pytest.fixture(params=["memory", pytest.param("rocks", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table on each embedded engine."""
    return f"memory:{tmp_path}" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


@pytest.fixture
def logs(url: str) -> Iterator[Table]:
    """A table with ninety rows in 16 buckets."""
    with open_client(build_design(), url, ManualClock()) as table:
        with table.batch() as batch:
            for row in ROWS:
                batch.put(row)
        yield table


@ON_BOTH_ENGINES
def test_changing_the_bucket_count_keeps_old_rows_and_affects_new_ones(logs: Table) -> None:
    """A change splits regions, updates attributes, keeps old rows, and affects new rows."""
    steps: list[Progress] = []
    done = set_buckets(logs, 32, progress=steps.append)
    assert ("bucket(host, 32)", 16, 32, 2, 16) == (
        done.part, done.count_before, done.count_after, done.generation, done.regions_split
    )  # fmt: skip
    assert ((1, 2), (16, 32)) == (done.keys_per_get, done.ranges_per_scan)
    assert [Progress("regions", n, 16, "regions") for n in range(17)] == [
        step for step in steps if step.phase == "regions"
    ]
    waited = 1 if logs.engine.is_exclusive else 66
    assert Progress("seconds", waited, waited, "seconds") == steps[-1]
    assert 32 == len(logs.regions())
    words = logs.store.families_and_attributes[1]
    assert ("2", "0=32", "1:0=16 2:0=32") == (
        words["rowkey.generation"], words["rowkey.counts"], words["rowkey.live"]
    )  # fmt: skip
    assert ROWS == logs.get_many(ROWS)
    assert sort_by_key(ROWS) == list(logs.scan())
    new = {"host": "new-0", "ts": 1, "note": None, "hits": 7}
    logs.put(new)
    under = build_design(KEY.replace("16", "32")).key.encode(new)
    assert under != build_design().key.encode(new)
    assert [new] == [logs.get(new)]
    with logs.store.scan([ScanRange(under, under + b"\0")])[0] as cursor:
        assert [under] == [row.row for row in cursor]
    assert [] == list_misplaced_rows(logs)


@ON_BOTH_ENGINES
def test_a_reopened_table_reads_rows_of_both_bucket_counts(url: str) -> None:
    """A table opened by its name, its old file or a new one reads rows of both counts."""
    with open_client(build_design(), url, ManualClock()) as table:
        table.put(ROWS[0])
        set_buckets(table, 32)
        table.put(ROWS[1])
    for named in ("logs", build_design(), build_design(KEY.replace("16", "32"))):
        with rowkey.open(named, url) as table:
            assert ROWS[:2] == list(table.scan())
            assert "[bucket(host, 32)][host][ts]" == str(table.design.key)
            assert (32, 16) == table.buckets.parts[0].live_counts


def test_bucket_counts_describe_generations_and_costs_of_reads(logs: Table) -> None:
    """The bucket counts list parts, generations, and what a get and a full scan read."""
    before = logs.buckets
    (part,) = before.parts
    assert (0, "bucket(host, 16)", 16, (16,), ()) == (
        part.part_index, part.notation, part.count, part.live_counts, part.distinguishing_fields
    )  # fmt: skip
    assert (1, 16, 60.0, [1]) == (
        before.keys_per_get, before.ranges_per_scan, before.max_stale_s,
        [one.number for one in before.generations],
    )  # fmt: skip
    set_buckets(logs, 8, max_stale_s=5.0)
    after = logs.buckets
    assert (8, (8, 16), 2, 16, 5.0, 2) == (
        after.parts[0].count, after.parts[0].live_counts, after.keys_per_get, after.ranges_per_scan,
        after.max_stale_s, after.active_generation,
    )  # fmt: skip
    assert {8: "bucket(host, 8)", 16: "bucket(host, 16)"} == after.parts[0].notations


WRONG: list[tuple[str, Any, dict[str, Any], list[str]]] = [
    (KEY, 0, {}, [r"0 is not a number of buckets; expected a whole number from 1 to 65,53"]),
    (KEY, 65_537, {}, ["buckets: 65537 is not a number of buckets"]),
    (KEY, True, {}, ["buckets: True is not a number of buckets"]),
    (KEY, "32", {}, ["buckets: '32' is not a number of buckets"]),
    (KEY, 16, {}, [r"buckets: the number of buckets of bucket\(host, 16\) is 16 already"]),
    (KEY, 257, {}, [r"257 buckets need 2 bytes .*, but bucket\(host, 16\) is stored in 1 byte"]),
    (KEY, 32, {"part": "salt"}, [r"part: 'salt' names no part.*one of 0 for bucket\(host, 16\)"]),
    (KEY, 32, {"part": 1}, ["part: 1 names no part"]),
    (KEY, 32, {"max_stale_s": 0}, ["max_stale: 0 is not above zero"]),
    (
        KEY, -1, {"part": 7, "max_stale_s": "1"},
        ["buckets: -1 is not a number", "max_stale: '1' is not a length", "part: 7 names no part"],
    ),
    ("[host][ts]", 32, {}, [r"part: no part of the key \[host\]\[ts\] has a number"]),
    (
        "[bucket(host, 4)][mod(ts, 3)][host][ts]", 8, {},
        [r"part: 2 parts of the key have a number.*one of 0 for bucket\(host, 4\), 1 for mod\("],
    ),
    (
        "[bucket(host, 4)][ts]", 8, {},
        [r"key\[0\]: bucket\(host, 4\) is the only part of the key that .* rows by host"],
    ),
    ("[mod(ts, 4)][host]", 8, {}, [r"key\[0\]: mod\(ts, 4\) is the only part .* by ts"]),
    ("[bucket(host, 4)][truncate(host, 2)][ts]", 8, {}, [r"only part of the key that .* by host"]),
    ("[bucket(host, ts, 8, 4)][host][ts]", 2, {}, [r"key\[0\].*m = 4 is more than n = 2"]),
    ("[bucket(host, 16, as=hex)][host][ts]", 17, {}, ["17 buckets need 2 bytes"]),
]  # fmt: skip


@pytest.mark.parametrize(("key", "count", "options", "messages"), WRONG)
def test_wrong_arguments_of_a_bucket_change_are_reported_together(
    key: str, count: Any, options: dict[str, Any], messages: list[str]
) -> None:
    """Wrong arguments are reported all at once, and nothing is changed."""
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        before = table.catalog.read("logs")
        with pytest.raises(InvalidDesign) as caught:
            set_buckets(table, count, options.pop("part", None), **options)
        mistakes = caught.value.mistakes
        assert len(messages) == len(mistakes)
        unlike = [(one, str(m)) for one, m in zip(messages, mistakes, strict=True)
                  if not re.search(one, str(m))]  # fmt: skip
        assert [] == unlike
        assert (before, 1) == (table.catalog.read("logs"), len(table.regions()))


ALLOWED_CHANGES = [
    ("[bucket(host, 4, width=2)][host][ts]", 300, None),
    ("[bucket(host, 4)][host][ts]", 256, None),
    ("[bucket(digest(host, 4), 4)][digest(host, 4)][ts]", 8, None),
    ("[bucket(4, over=rest)][truncate(host, 2)][ts]", 8, 0),
    ("[bucket(host, 4)][host][mod(ts, 3)][ts]", 8, "mod(ts, 3)"),
    ("[bucket(host, 4)][host][mod(ts, 3)][ts]", 8, "bucket"),
    ("[host][salt(4)][ts]", 8, 1),
    ("[time_bucket(ts, 1h)][bucket(ts, 4)][ts][host]", 8, None),
]


@pytest.mark.parametrize(("key", "count", "part"), ALLOWED_CHANGES)
def test_the_bucket_count_of_a_computed_part_can_change_anywhere_in_the_key(
    key: str, count: int, part: Any
) -> None:
    """A part computed from other key fields gets another count, wherever the part is."""
    with open_client(build_design(key, splits=None), "memory:", ManualClock()) as table:
        for row in ROWS[:30]:
            table.put(row)
        assert count == set_buckets(table, count, part).count_after
        for row in ROWS[20:40]:
            table.put(row)
        assert ROWS[:40] == table.get_many(ROWS[:40])
        assert ROWS[:40] == sorted(table.scan(), key=lambda row: row["ts"])
        assert 40 == table.count()


STAMPED_FIELDS = {"host": "text", "at": {"type": "timestamp_ms", "at": "timestamp"}, "n": "u32"}


def test_of_cells_with_one_timestamp_that_of_the_later_generation_is_read() -> None:
    """Where a field is the timestamp, the cell of the later generation is read."""
    stamped = rowkey.Design("logs", "[bucket(host, 4)][host]", fields=STAMPED_FIELDS)
    with open_client(stamped, "memory:", ManualClock()) as table:
        for number, count in enumerate((0, 8, 16, 48)):
            if count:
                set_buckets(table, count)
            given = [{"host": f"h{n}", "at": 1_000, "n": number} for n in range(40)]
            if number:
                earlier = [{**row, "n": number - 1} for row in given]
                assert earlier == table.get_many(given)
                assert earlier == sorted(
                    table.scan(), key=lambda row: given.index({**row, "n": number})
                )
            for row in given:
                table.put(row)
            assert given == table.get_many(given)


@pytest.mark.parametrize("names_it", [True, False])
def test_a_put_of_a_deleted_time_is_visible_only_in_another_bucket(names_it: bool) -> None:
    """A put after a delete of the same time is visible if its bucket changed, else hidden."""
    stamped = rowkey.Design("logs", "[bucket(host, 4)][host]", fields=STAMPED_FIELDS)
    with open_client(stamped, "memory:", ManualClock()) as table:
        given = [{"host": f"h{n}", "at": 1_000, "n": n} for n in range(40)]
        for row in given:
            table.put(row)
            table.delete(row if names_it else {"host": row["host"]})
            table.put(row)
        assert [None] * 40 == table.get_many(given)
        before = [table.get_state().active_design.key.encode(row) for row in given]
        set_buckets(table, 8)
        for row in given:
            table.put(row)
        has_moved = [
            table.get_state().active_design.key.encode(row) != key
            for row, key in zip(given, before, strict=True)
        ]
        assert {True, False} == set(has_moved)
        assert has_moved == [row is not None for row in table.get_many(given)]
        table.compact()
        for row in given:
            table.put(row)
        assert given == table.get_many(given)


REFUSED_RETURNS = [
    (4, 8, 4, "16 or 24 or 32"),
    (16, 32, 8, "64 or 96 or 128"),
    (16, 32, 33, "64 or 96 or 128"),
    (16, 8, 12, "5 or 6 or 7"),
    (24, 16, 32, ""),
]


@pytest.mark.parametrize(("first", "then", "back", "near"), REFUSED_RETURNS)
def test_a_return_to_an_old_bucket_count_is_refused_if_old_cells_would_reappear(
    first: int, then: int, back: int, near: str
) -> None:
    """A return to an old count is refused if old cells would reappear, with counts that work."""
    key = f"[bucket(host, {first})][host]"
    with open_client(
        rowkey.Design("logs", key, fields=STAMPED_FIELDS), "memory:", ManualClock()
    ) as table:
        set_buckets(table, then)
        with pytest.raises(InvalidDesign) as refused:
            set_buckets(table, back)
        (mistake,) = refused.value.mistakes
        said = f"with {back} buckets a row may return from its row key under {then} buckets to"
        assert said in mistake.problem
        assert near == mistake.expected
        assert mistake.remedy.startswith("Otherwise move the rows to a table")
        for count in near.split(" or ") if near else ():
            BucketChange(table.tracker, int(count))
    timed = STAMPED_FIELDS | {"at": {"type": "timestamp_ms", "nullable": True}}
    with open_client(rowkey.Design("logs", key, fields=timed), "memory:", ManualClock()) as table:
        set_buckets(table, then)
        assert back == set_buckets(table, back).count_after


# Step by step


class SetterStopped(Exception):
    """The process that changes the buckets has ended."""


def test_an_interrupted_bucket_change_is_continued_by_another_client(url: str) -> None:
    """A change stopped at any step is continued by another client, and no row is missing."""
    reached = []
    for stop in range(100):
        place = f"{url}-{stop}"
        with open_client(build_design(), place, ManualClock()) as table:
            for row in ROWS[:20]:
                table.put(row)
            steps = iter(range(stop))

            def pause(seconds: float, table: Table = table) -> None:
                table.lease.clock.now += 30.0  # type: ignore[attr-defined]
                del seconds

            def notify(now: Progress, steps: Iterator[int] = steps) -> None:
                del now
                if next(steps, None) is None:
                    raise SetterStopped

            change = BucketChange(table.tracker, 20, progress=notify, pause=pause)
            try:
                change.run()
                is_done = True
            except SetterStopped:
                is_done = False
            reached.append(table.lease.renew_entry().announced_generation is not None)
            assert ROWS[:20] == table.get_many(ROWS[:20])
            table.put(ROWS[20])
        with open_client("logs", place, ManualClock()) as table:
            if not is_done:
                assert 20 == set_buckets(table, 20).count_after
            assert (20, 2) == (table.buckets.parts[0].count, table.buckets.active_generation)
            assert 20 == len(table.regions())
            assert sort_by_key(ROWS[:21]) == list(table.scan())
        if is_done:
            break
    assert {False, True} == set(reached)


def test_a_second_bucket_change_is_refused_during_an_announced_one(logs: Table) -> None:
    """During an announced change another one is refused, and anyone may finish the first."""
    first = BucketChange(logs.tracker, 32, pause=refuse_to_wait)
    first._announce_counts()
    with pytest.raises(Conflict, match=r"its number of buckets is under way, of key\[0\] to 32"):
        set_buckets(logs, 64)
    with pytest.raises(Conflict, match="change of its number of buckets is under way"):
        set_buckets(logs, 16)
    assert 2 == len(logs.buckets.generations)
    assert (2, 32) == (set_buckets(logs, 32).generation, logs.buckets.parts[0].count)


def test_a_bucket_change_must_be_finished_with_its_announced_time(logs: Table) -> None:
    """A change is only finished with the waiting time that it was announced with."""
    BucketChange(logs.tracker, 8, max_stale_s=7.0)._announce_counts()
    said = r"was begun with max_stale = 7 s; expected max_stale = 7 s, or none\. Repeat the call"
    with pytest.raises(Conflict, match=said):
        set_buckets(logs, 8, max_stale_s=10.0)
    assert (1, 7.0) == (logs.buckets.active_generation, logs.buckets.max_stale_s)
    assert 2 == set_buckets(logs, 8, max_stale_s=7.0).generation
    BucketChange(logs.tracker, 16)._announce_counts()
    assert 3 == set_buckets(logs, 16).generation
    assert 4 == set_buckets(logs, 4, max_stale_s=10.0).generation
    assert 10.0 == logs.buckets.max_stale_s


def test_the_second_of_two_concurrent_bucket_changes_gets_a_conflict(tmp_path: Path) -> None:
    """Of two changes of the count at once, the second one fails with a conflict."""
    place = f"memory:{tmp_path}"
    clients = [open_client(build_design(), place, ManualClock()) for _ in range(2)]
    changes = [
        BucketChange(one.tracker, n, pause=refuse_to_wait)
        for one, n in zip(clients, (32, 64), strict=True)
    ]
    won: list[int] = []
    lost: list[Conflict] = []

    def announce(change: BucketChange) -> None:
        try:
            won.append(change._announce_counts().generations[-1].counts[0])
        except Conflict as overtaken:
            lost.append(overtaken)

    threads = [Thread(target=announce, args=(change,)) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (1, 1) == (len(won), len(lost))
    assert "change of its number of buckets is under way" in str(lost[0])
    entry = clients[0].lease.renew_entry()
    assert [16, *won] == [one.counts[0] for one in entry.generations]
    for one in clients:
        one.close()


def test_a_bucket_change_on_an_outdated_state_gets_a_conflict(tmp_path: Path) -> None:
    """A change that another client has overtaken fails with a conflict."""
    place = f"memory:{tmp_path}"
    one, other = (open_client(build_design(), place, ManualClock()) for _ in range(2))
    change = BucketChange(one.tracker, 32, pause=refuse_to_wait)
    set_buckets(other, 64)
    with pytest.raises(
        Conflict, match="another client has changed its number of buckets meanwhile"
    ):
        change.run()
    one.close()
    other.close()


def test_a_bucket_change_loses_no_ids_allocated_meanwhile(tmp_path: Path) -> None:
    """A change of buckets and allocations of ids at the same time lose nothing."""
    coded = rowkey.Design("logs", "[bucket(code(host), 4)][code(host)][ts]", fields=FIELDS)
    with open_client(coded, f"memory:{tmp_path}", ManualClock()) as table:

        class AssigningCatalog(type(table.catalog)):  # type: ignore[misc]
            """A catalog in which another client assigns an id between a read and a write."""

            gives = 0

            def read(self, name: str) -> Any:
                found = super().read(name)
                if found is not None and self.gives:
                    self.gives -= 1
                    codes = {"host": (*found.codes.get("host", ()), f"x{self.gives}")}
                    super().write(name, replace(found, codes=codes), found.version)
                return found

        table.catalog.__class__ = AssigningCatalog
        table.catalog.gives = 3  # type: ignore[attr-defined]
        set_buckets(table, 8)
        entry = table.lease.renew_entry()
        assert ([4, 8], 3) == ([g.counts[0] for g in entry.generations], len(entry.codes["host"]))


@ON_BOTH_ENGINES
def test_a_new_bucket_count_is_written_to_attributes_before_it_is_activated(logs: Table) -> None:
    """The table's attributes have a new count before the catalog activates it."""
    change = BucketChange(logs.tracker, 32, pause=refuse_to_wait, max_stale_s=90.0)
    announced = change._announce_counts().generations[-1]
    assert "90" == logs.store.families_and_attributes[1]["rowkey.stale"]
    write = logs.catalog.write

    def raise_stopped(*_: object) -> int:
        raise Unavailable("catalog", "it is lost", remedy="")

    logs.catalog.write = raise_stopped  # type: ignore[method-assign, assignment]
    with pytest.raises(Unavailable, match="it is lost"):
        activate_announced(logs.catalog, "logs", announced, logs.store)
    words = logs.store.families_and_attributes[1]
    assert ("2", "1:0=16 2:0=32") == (words["rowkey.generation"], words["rowkey.live"])
    logs.catalog.write = write  # type: ignore[method-assign]
    set_buckets(logs, 32)
    set_buckets(logs, 4, max_stale_s=60.0)
    assert "rowkey.stale" not in logs.store.families_and_attributes[1]


def test_a_generation_removed_from_the_entry_is_not_activated(logs: Table) -> None:
    """A change is not activated if its announcement was removed from the entry."""
    before = logs.lease.renew_entry()
    announced = announce_count(logs, 32).generations[-1]
    now = logs.lease.renew_entry()
    version = logs.catalog.write("logs", before, now.version)
    with pytest.raises(Unavailable, match="no longer lists the change of the number of buckets"):
        activate_announced(logs.catalog, "logs", announced, logs.store)
    for again in (
        before.announce_generation({0: 64}, (), 5),
        before.announce_generation({0: 32}, (), 5),
    ):
        version = logs.catalog.write("logs", again, version)
        with pytest.raises(Unavailable, match="change of the number of buckets that is under way"):
            activate_announced(logs.catalog, "logs", announced, logs.store)
    assert "1" == logs.store.families_and_attributes[1]["rowkey.generation"]


def test_a_region_with_sampled_boundaries_begins_at_each_new_bucket(tmp_path: Path) -> None:
    cut = build_design(splits="sample")
    place = f"memory:{tmp_path}"
    time = ManualClock()
    with rowkey.open(cut, place, splits=[b"\4", b"\x08\1"]) as table:
        table.lease.clock, table.lease._read_at_s = time, 0.0
        assert 4 == set_buckets(table, 20).regions_split
        starts = [region.start for region in table.regions()]
        assert [b"", b"\4", b"\x08\1", b"\x10", b"\x11", b"\x12", b"\x13"] == starts
        assert 0 == set_buckets(table, 8).regions_split


def test_listed_boundaries_do_not_change_with_the_bucket_count(tmp_path: Path) -> None:
    """Listed boundaries do not change with the number of buckets."""
    place, listed = f"memory:{tmp_path}", ["\\x04", "\\x08"]
    with open_client(build_design(splits=listed), place, ManualClock()) as table:
        assert (0, 3) == (set_buckets(table, 32).regions_split, len(table.regions()))


def test_an_explanation_lists_the_ranges_of_all_bucket_counts(logs: Table) -> None:
    """The explanation of a read lists the ranges of all counts, and a note says why."""
    assert 16 == logs.explain("").fan_out
    set_buckets(logs, 32)
    found = logs.explain("host = ?", "w1")
    assert (2, "get") == (found.fan_out, logs.explain("host = ? and ts = ?", "w1", 1).access_type)
    assert 1 == logs.explain("host = ?", "w3").fan_out
    assert "bucket(host, 32) and bucket(host, 16)" in found.warnings[-1]
    assert 32 == logs.explain("").fan_out


def test_a_bucket_change_waits_for_the_longest_lease_of_any_client(logs: Table) -> None:
    """A change waits for the longest time of any client, even while a shorter one is announced."""
    lone = logs.engine.is_exclusive
    before = logs.buckets
    assert (60.0, 60.0, 1.0 if lone else 66.0) == (
        before.max_stale_s, before.longest_stale_s, round(before.wait_s, 6)
    )  # fmt: skip
    BucketChange(logs.tracker, 32, max_stale_s=0.5, pause=refuse_to_wait)._announce_counts()
    amid = logs.buckets
    assert (0.5, 60.0, before.wait_s) == (amid.max_stale_s, amid.longest_stale_s, amid.wait_s)
    waits = f"some for 60 s still; a change waits for {1 if lone else 66} s"
    assert f"clients     may work for 0.5 s without the catalog, {waits}" in format_buckets(amid)
    document = build_buckets_document(amid)
    assert (0.5, 60.0, 1.0 if lone else 66.0) == (
        document["max_stale_s"], document["longest_s"], document["patience_s"]
    )  # fmt: skip
    set_buckets(logs, 32)
    assert (0.5, 0.55) == (logs.buckets.longest_stale_s, round(logs.buckets.wait_s, 6))
