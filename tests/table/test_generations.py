"""Tables with several bucket counts in their history hold the same rows as others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from table import test_places, test_scan_order
from table.clients import ManualClock, list_misplaced_rows, open_client, retire_buckets, set_buckets
from table.places import PlacedWorld, draw_placed_worlds
from table.worlds import BUCKETS, Row, World, draw_worlds

if TYPE_CHECKING:
    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 500 if IS_LONG else 6
ON_DISK = 60 if IS_LONG else 2


def list_allowed_counts(table: Table) -> list[int]:
    """Return the bucket counts that a table may have next."""
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
    return [n for n in counts if not has_confused_number((*before, n))]


def has_confused_number(counts: Sequence[int]) -> bool:
    """Return whether a number's remainder is the same by an old and the last count only."""
    *before, last = counts
    return any(
        x % older == x % last != x % newer
        for older, newer in combinations(before, 2)
        for x in range(lcm(older, newer, last))
    )


def change_bucket_count(table: Table, data: st.DataObject) -> None:
    """Change the number of buckets of a table, if allowed, and perhaps retire earlier ones."""
    if counts := list_allowed_counts(table):
        after = data.draw(st.sampled_from(counts))
        assert after == set_buckets(table, after).count_after
        if table.design.layout.cell_timestamp is None and data.draw(st.booleans()):
            retire_buckets(table)
            assert [] == list_misplaced_rows(table)
            assert (after,) == table.buckets.parts[0].live_counts
        event(f"{len(table.buckets.generations)} generations")


def split_into_stages(rows: Sequence[Row], data: st.DataObject) -> list[Sequence[Row]]:
    """Split rows into up to four parts, each for another bucket count."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=1, max_size=3)))
    return [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


@contextmanager
def fill_in_stages(world: World, url: str, data: st.DataObject) -> Iterator[Table]:
    """Open a table for a `with` block, filled under several bucket counts, half of it twice."""
    with open_client(world.design, url, ManualClock(), count(1_700_000_000_000).__next__) as table:
        with table.batch() as batch:
            for row in world.rows[::2]:
                batch.put(row | {"size": 9 - row["size"]})
        for rows in split_into_stages(world.rows, data):
            change_bucket_count(table, data)
            with table.batch() as batch:
                for row in rows:
                    batch.put(row)
        yield table


@settings(max_examples=DEEP)
@given(world=draw_worlds(), data=st.data())
def test_scans_over_several_bucket_counts_return_the_sorted_rows(
    world: World, data: st.DataObject
) -> None:
    """Scans in every order, limited, resumed and as columns return the sorted rows."""
    with fill_in_stages(world, "memory:", data) as table:
        test_scan_order.check_reads(world, table, data)
        assert list(world.rows) == table.get_many(world.rows)
        assert [] == list_misplaced_rows(table)


@settings(max_examples=ON_DISK)
@given(world=draw_worlds(), data=st.data())
def test_scans_over_several_bucket_counts_on_disk_return_the_sorted_rows(
    world: World, data: st.DataObject
) -> None:
    """Scans on the embedded engine return the sorted rows."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        fill_in_stages(world, f"rocks:{place}", data) as table,
    ):
        test_scan_order.check_reads(world, table, data)
        assert [] == list_misplaced_rows(table)


@contextmanager
def fill_placed_world(
    world: PlacedWorld, url: str, data: st.DataObject, *, in_columns: bool
) -> Iterator[Table]:
    """Open a table of any field placements, filled under several bucket counts."""
    fields = world.design.fields
    schema = pa.schema([(name, field.type.build_arrow_type()) for name, field in fields.items()])
    older: Row = {"note": "old", "size": 9}
    is_told = "stamp" not in fields or not world.design.key.is_salted
    with open_client(world.design, url, ManualClock()) as table:
        # A null of a column takes nothing away; between copies of one time nothing tells.
        if is_told and not in_columns:
            with table.batch() as batch:
                for row in world.rows[::2]:
                    batch.put(row | older)
        for rows in split_into_stages(world.rows, data):
            change_bucket_count(table, data)
            if in_columns:
                table.load(pa.RecordBatch.from_pylist(list(rows), schema))
                continue
            with table.batch() as batch:
                for row in rows:
                    batch.put(row)
        yield table


@settings(max_examples=DEEP)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_events_in_any_placement_are_scanned_and_deleted_over_bucket_counts(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    """Events in any placement are scanned in order, counted, limited, got and deleted."""
    with fill_placed_world(world, "memory:", data, in_columns=in_columns) as table:
        test_places.check_read(world, table, data)
        change_bucket_count(table, data)
        test_places.check_events(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_events_in_any_placement_on_disk_are_read_and_deleted_over_bucket_counts(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    """Events in any placement are read and deleted on the embedded engine."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        fill_placed_world(world, f"rocks:{place}", data, in_columns=in_columns) as table,
    ):
        test_places.check_read(world, table, data)
        change_bucket_count(table, data)
        table.compact()
        test_places.check_events(world, table, data)


TIMED_FIELDS: dict[str, Any] = {
    "n": "u16",
    "at": {"type": "timestamp_ms", "at": "timestamp"},
    "size": "i64",
}
FEW_COUNTS = st.sampled_from([2, 3, 4, 5, 6, 8, 12, 24])
CHAINS = st.lists(st.sampled_from([2, 3]), min_size=3, max_size=5).map(
    lambda factors: list(accumulate(factors, mul))
)
COUNTS = st.one_of(
    st.lists(FEW_COUNTS, min_size=3, max_size=5), CHAINS, CHAINS.map(lambda chain: chain[::-1])
)
"""Numbers of buckets, one after another: any, and such as grow or shrink by factors."""


@settings(max_examples=DEEP)
@given(
    key=st.sampled_from(["[bucket(n, {})][n]", "[mod(n, {})][n]", "[n][bucket(n, {})]"]),
    numbers=st.lists(st.integers(0, 200), min_size=8, max_size=8, unique=True),
    counts=COUNTS,
    written=st.lists(st.sets(st.integers(0, 7)), min_size=5, max_size=5),
)
def test_bucket_counts_that_would_confuse_puts_of_one_time_are_refused(
    key: str, numbers: list[int], counts: list[int], written: list[set[int]]
) -> None:
    """Bucket counts that would confuse two puts of one time are refused, and no others."""
    had = [counts[0]]
    design = rowkey.Design("t", key.format(had[0]), fields=TIMED_FIELDS)
    last: dict[int, Row] = {}
    with open_client(design, "memory:", ManualClock()) as table:
        for number, after in enumerate(counts):
            if after != had[-1] and has_confused_number((*had, after)):
                with pytest.raises(
                    InvalidDesign,
                    match="two writes of the row with the same at could not be ordered",
                ):
                    set_buckets(table, after)
            elif after != had[-1]:
                had.append(set_buckets(table, after).count_after)
            for n in sorted(written[number]):
                last[n] = {"n": numbers[n], "at": 1_000, "size": number}
                table.put(last[n])
            assert list(last.values()) == table.get_many(last.values())
            assert sorted(last.values(), key=get_number) == sorted(table.scan(), key=get_number)
        event(f"{len(had)} generations")


def get_number(row: Row) -> int:
    """Return the number of a row."""
    found: int = row["n"]
    return found


def test_a_scan_token_is_valid_after_a_bucket_change() -> None:
    """A scan resumed under another count returns each remaining row once."""
    fields: dict[str, Any] = {"host": "text", "ts": "timestamp_ms"}
    rows = [{"host": f"h{n % 5}", "ts": n} for n in range(60)]
    ordered = sorted(rows, key=lambda row: (row["host"], row["ts"]))
    for order, expected in (("", ordered), ("host desc, ts desc", ordered[::-1])):
        for key in ("[bucket(host, 4)][host][ts]", "[salt(4)][host][ts]", "[mod(ts, 4)][host][ts]"):
            with open_client(
                rowkey.Design("t", key, fields=fields), "memory:", ManualClock()
            ) as table:
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


def test_a_row_is_put_again_under_a_smaller_number_of_salts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The salt of a row's last put is not used once the table has fewer of them."""
    monkeypatch.setattr("secrets.randbelow", lambda count: count - 1)
    design = rowkey.Design("t", "[salt(16)][n]", fields={"n": "u16", "size": "i64"})
    with open_client(design, "memory:", ManualClock(), lambda: 1_700_000_000_000) as table:
        table.put({"n": 1, "size": 1})
        set_buckets(table, 2)
        table.put({"n": 1, "size": 2})
        assert [{"n": 1, "size": 2}] == list(table.scan()) == [table.get(n=1)]
