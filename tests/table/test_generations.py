"""Tables that have had several numbers of buckets hold what tables of one number hold."""

from __future__ import annotations

import os
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM
from table import test_places, test_scan_law
from table.clients import Time, client, misplaced, set_buckets
from table.places import Placed, placed
from table.worlds import BUCKETS, Row, World, worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 2_000 if IS_LONG else 150
ON_DISK = 300 if IS_LONG else 40


def counts_for(table: Table) -> list[int]:
    """The numbers of buckets that a table may get now."""
    found = table.buckets
    if not found.parts or found.parts[0].apart_by:
        return []
    (part,) = found.parts
    # A leading part of one number has no regions; of two writes of one time none may be the later.
    least = 1 if table.design.declaration.splits is None else 2
    held = part.live if table.design.layout.stamp is not None else (part.count,)
    return [n for n in BUCKETS if n >= least and n not in held]


def recount(table: Table, data: st.DataObject) -> None:
    """Give a table another number of buckets, if it may have one."""
    if counts := counts_for(table):
        after = data.draw(st.sampled_from(counts))
        assert after == set_buckets(table, after).after
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
    with TemporaryDirectory(dir=RAM) as place, grown(world, f"rocks:{place}", data) as table:
        test_scan_law.check_reads(world, table, data)
        assert [] == misplaced(table)


def spread(world: Placed, url: str, data: st.DataObject, *, in_columns: bool) -> Table:
    """The table of a world of any places, whose rows stand under several numbers."""
    table = client(world.design, url, Time())
    fields = world.design.fields
    schema = pa.schema([(name, field.type.arrow()) for name, field in fields.items()])
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
        TemporaryDirectory(dir=RAM) as place,
        spread(world, f"rocks:{place}", data, in_columns=in_columns) as table,
    ):
        test_places.check(world, table, data)
        recount(table, data)
        table.compact()
        test_places.check_events(world, table, data)


def test_a_token_goes_on_behind_a_change() -> None:
    """What was read before, and what is read after under another number, are all rows once."""
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
