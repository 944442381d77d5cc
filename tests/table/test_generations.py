"""Tables that have had several numbers of buckets hold what tables of one number hold."""

from __future__ import annotations

import os
from itertools import accumulate, combinations, count
from math import lcm
from operator import mul
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.errors import InvalidDesign
from table import test_places, test_scan_law
from table.clients import Time, client, misplaced, set_buckets
from table.places import Placed, placed
from table.worlds import BUCKETS, Row, World, worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 2_000 if IS_LONG else 16
ON_DISK = 300 if IS_LONG else 5


def counts_for(table: Table) -> list[int]:
    """The numbers of buckets that a table may get now."""
    found = table.buckets
    if not found.parts or found.parts[0].distinguishing_fields:
        return []
    (part,) = found.parts
    # A leading part of one number has no regions.
    least = 1 if table.design.declaration.splits is None else 2
    counts = [n for n in BUCKETS if n >= least and n != part.count]
    if table.design.layout.cell_timestamp is None or table.design.key.is_salted:
        return counts
    before = [one.counts[part.part_index] for one in found.generations]
    return [n for n in counts if not is_confused((*before, n))]


def is_confused(counts: Sequence[int]) -> bool:
    """Whether a number has one remainder by a count and by the last one, but not by one between."""
    *before, last = counts
    return any(
        x % older == x % last != x % newer
        for older, newer in combinations(before, 2)
        for x in range(lcm(older, newer, last))
    )


def recount(table: Table, data: st.DataObject) -> None:
    """Give a table another number of buckets, if it may have one."""
    if counts := counts_for(table):
        after = data.draw(st.sampled_from(counts))
        assert after == set_buckets(table, after).count_after
        event(f"{len(table.buckets.generations)} generations")


def stages(rows: Sequence[Row], data: st.DataObject) -> list[Sequence[Row]]:
    """Rows in up to four parts, each of which is put under another number of buckets."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=1, max_size=3)))
    return [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def grown(world: World, url: str, data: st.DataObject) -> Table:
    """The table of a world whose rows stand under several numbers; every second one under two."""
    table = client(world.design, url, Time(), count(1_700_000_000_000).__next__)
    with table.batch() as batch:
        for row in world.rows[::2]:
            batch.put(row | {"size": 9 - row["size"]})
    for rows in stages(world.rows, data):
        recount(table, data)
        with table.batch() as batch:
            for row in rows:
                batch.put(row)
    return table


@settings(max_examples=DEEP)
@given(world=worlds(), data=st.data())
def test_a_scan_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """In every order and direction, whole, limited, in pieces and as columns."""
    with grown(world, "memory:", data) as table:
        test_scan_law.check_reads(world, table, data)
        assert list(world.rows) == table.get_many(world.rows)
        assert [] == misplaced(table)


@settings(max_examples=ON_DISK)
@given(world=worlds(), data=st.data())
def test_a_scan_on_disk_is_the_sorted_rows(world: World, data: st.DataObject) -> None:
    """The same on the embedded engine."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place, grown(world, f"rocks:{place}", data) as table:
        test_scan_law.check_reads(world, table, data)
        assert [] == misplaced(table)


def spread(world: Placed, url: str, data: st.DataObject, *, in_columns: bool) -> Table:
    """The table of a world of any places, whose rows stand under several numbers."""
    table = client(world.design, url, Time())
    fields = world.design.fields
    schema = pa.schema([(name, field.type.build_arrow_type()) for name, field in fields.items()])
    older: Row = {"note": "old", "size": 9}
    is_told = "stamp" not in fields or not world.design.key.is_salted
    # A null of a column takes nothing away; between copies of one time nothing tells.
    if is_told and not in_columns:
        with table.batch() as batch:
            for row in world.rows[::2]:
                batch.put(row | older)
    for rows in stages(world.rows, data):
        recount(table, data)
        if in_columns:
            table.load(pa.RecordBatch.from_pylist(list(rows), schema))
            continue
        with table.batch() as batch:
            for row in rows:
                batch.put(row)
    return table


@settings(max_examples=DEEP)
@given(world=placed(), in_columns=st.booleans(), data=st.data())
def test_events_anywhere(world: Placed, in_columns: bool, data: st.DataObject) -> None:
    """Wherever fields live, events come back in order, are counted, limited, got and deleted."""
    with spread(world, "memory:", data, in_columns=in_columns) as table:
        test_places.check(world, table, data)
        recount(table, data)
        test_places.check_events(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=placed(), in_columns=st.booleans(), data=st.data())
def test_events_anywhere_on_disk(world: Placed, in_columns: bool, data: st.DataObject) -> None:
    """The same on the embedded engine."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        spread(world, f"rocks:{place}", data, in_columns=in_columns) as table,
    ):
        test_places.check(world, table, data)
        recount(table, data)
        table.compact()
        test_places.check_events(world, table, data)


TIMED: dict[str, Any] = {
    "n": "u16",
    "at": {"type": "timestamp_ms", "at": "timestamp"},
    "size": "i64",
}
FEW = st.sampled_from([2, 3, 4, 5, 6, 8, 12, 24])
CHAINS = st.lists(st.sampled_from([2, 3]), min_size=3, max_size=5).map(
    lambda factors: list(accumulate(factors, mul))
)
COUNTS = st.one_of(
    st.lists(FEW, min_size=3, max_size=5), CHAINS, CHAINS.map(lambda chain: chain[::-1])
)
"""Numbers of buckets, one after another: any, and such as grow or shrink by factors."""


@settings(max_examples=DEEP)
@given(
    key=st.sampled_from(["[bucket(n, {})][n]", "[mod(n, {})][n]", "[n][bucket(n, {})]"]),
    numbers=st.lists(st.integers(0, 200), min_size=8, max_size=8, unique=True),
    counts=COUNTS,
    written=st.lists(st.sets(st.integers(0, 7)), min_size=5, max_size=5),
)
def test_of_writes_of_one_time_the_last_one_counts(
    key: str, numbers: list[int], counts: list[int], written: list[set[int]]
) -> None:
    """Where rows are put again at one time, what would confuse them is refused, no more."""
    had = [counts[0]]
    design = rowkey.Design("t", key.format(had[0]), fields=TIMED)
    last: dict[int, Row] = {}
    with client(design, "memory:", Time()) as table:
        for number, after in enumerate(counts):
            if after != had[-1] and is_confused((*had, after)):
                with pytest.raises(
                    InvalidDesign,
                    match="the later of two writes with the same at could not be told",
                ):
                    set_buckets(table, after)
            elif after != had[-1]:
                had.append(set_buckets(table, after).count_after)
            for n in sorted(written[number]):
                last[n] = {"n": numbers[n], "at": 1_000, "size": number}
                table.put(last[n])
            assert list(last.values()) == table.get_many(last.values())
            assert sorted(last.values(), key=by_n) == sorted(table.scan(), key=by_n)
        event(f"{len(had)} generations")


def by_n(row: Row) -> int:
    """Where a row stands by its number."""
    found: int = row["n"]
    return found


def test_a_token_is_valid_after_a_change() -> None:
    """A scan resumed under another count returns each remaining row once."""
    fields: dict[str, Any] = {"host": "text", "ts": "timestamp_ms"}
    rows = [{"host": f"h{n % 5}", "ts": n} for n in range(60)]
    ordered = sorted(rows, key=lambda row: (row["host"], row["ts"]))
    for order, expected in (("", ordered), ("host desc, ts desc", ordered[::-1])):
        for key in ("[bucket(host, 4)][host][ts]", "[salt(4)][host][ts]", "[mod(ts, 4)][host][ts]"):
            with client(rowkey.Design("t", key, fields=fields), "memory:", Time()) as table:
                with table.batch() as batch:
                    for row in rows:
                        batch.put(row)
                found, token = [], None
                for after in (9, 3, 5, 2, 16):
                    scan = table.scan(order=order, limit=11, resume=token)
                    found += list(scan)
                    token = scan.token
                    set_buckets(table, after)
                    moved = table.get(rows[after])
                    table.put(moved)
                found += list(table.scan(order=order, resume=token))
                assert expected == found


def test_a_row_is_put_again_under_fewer_salts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The salt of a row's last put is not used once the table has fewer of them."""
    monkeypatch.setattr("secrets.randbelow", lambda count: count - 1)
    design = rowkey.Design("t", "[salt(16)][n]", fields={"n": "u16", "size": "i64"})
    with client(design, "memory:", Time(), lambda: 1_700_000_000_000) as table:
        table.put({"n": 1, "size": 1})
        set_buckets(table, 2)
        table.put({"n": 1, "size": 2})
        assert [{"n": 1, "size": 2}] == list(table.scan()) == [table.get(n=1)]
