"""A plan names exactly the rows that the regions count as read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.engines import ScanRange
from rowkey.explanations import explain_read
from rowkey.keys import Determinant
from rowkey.plan import bind_read, plan_read
from rowkey.schema import Equal, FieldFacts, OneOf
from table.places import PlacedWorld, draw_placed_reads, draw_placed_worlds
from table.worlds import World, draw_reads, draw_worlds

if TYPE_CHECKING:
    from rowkey.plan import BoundRead, Plan
    from rowkey.table import Scan, Table
    from table.places import PlacedRead
    from table.worlds import DrawnRead as Words
    from table.worlds import Row

StoredKeys = dict[bytes, set[bytes]]
"""Row keys, and the qualifiers of each."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 1_000 if IS_LONG else 10
ON_DISK = 100 if IS_LONG else 2
READ_METHODS: dict[str, Callable[[Scan], int]] = {
    "rows": lambda scan: len(list(scan)),
    "a count": lambda scan: scan.count(),
    "columns": lambda scan: scan.to_arrow().num_rows,
}
"""How a scan is read to its end."""


@st.composite
def draw_cases(draw: st.DrawFn) -> tuple[World | PlacedWorld, Words | PlacedRead]:
    """Draw a table of any design, and a read of the table."""
    if draw(st.booleans()):
        tall = draw(draw_worlds())
        assume(tall.rows)
        return tall, draw(draw_reads(tall))
    world = draw(draw_placed_worlds())
    assume(world.rows)
    return world, draw(draw_placed_reads(world))


def fill_table(world: World | PlacedWorld, url: str) -> Table:
    """Create a table in which each put has its own time, so that salts differ."""
    table = rowkey.open(world.design, url, clock=count(1_700_000_000_000).__next__)
    with table.batch() as batch:
        for row in (*world.rows[::3], *world.rows):
            batch.put(row)
    return table


def list_stored_keys(world: World | PlacedWorld, table: Table) -> StoredKeys:
    """Return the stored row keys, encoded again under each salt and checked in the table."""
    key = table.design.key
    salts = [
        part.cardinality or 0 for part in key.parts if part.determined_by is Determinant.CHANCE
    ]
    numbers = range(max(salts, default=1))
    encoded = [{key.encode(row, salt=number) for number in numbers} for row in world.rows]
    (cursor,) = table.store.scan([ScanRange()])
    found = {row.row: {cell.qualifier for cell in row.cells} for row in cursor}
    assert found.keys() <= set().union(*encoded)
    assert all(copies & found.keys() for copies in encoded)
    return found


def count_region_reads(table: Table) -> Counter[bytes]:
    """Return how many rows each region has read."""
    return Counter({region.start: region.reads for region in table.regions()})


def predict_region_reads(
    table: Table, plan: Plan, asked: BoundRead, keys: StoredKeys
) -> Counter[bytes]:
    """Return how many of the keys are in the ranges of a plan, by region.

    A row of many events counts only if a qualifier is in the range of the read.
    """
    starts = [region.start for region in table.regions()]
    low, high = table.design.layout.find_qualifier_range(asked.bounds)
    return Counter(
        max(start for start in starts if start <= key)
        for key, qualifiers in keys.items()
        if plan.has_key(key) and any(low <= q and (q < high or not high) for q in qualifiers)
    )


def compute_facts(rows: Sequence[Row], name: str) -> FieldFacts:
    """Return exact facts of a field's values."""
    values = Counter(row[name] for row in rows)
    nulls = values.pop(None, 0)
    listed = tuple((value, times / len(rows)) for value, times in values.items())
    return FieldFacts(
        distinct_count=len(values), heaviest_values=listed, null_share=nulls / len(rows)
    )


def check_read(
    world: World | PlacedWorld, asked: Words | PlacedRead, table: Table, way: str
) -> None:
    """Run one read, and compare counted reads with those predicted from the keys."""
    keys = list_stored_keys(world, table)
    bound = bind_read(asked.where, "", asked.values, table.design.fields)
    plan = plan_read(table.design.key, bound.bounds, bound.order)
    before = count_region_reads(table)
    returned = READ_METHODS[way](table.scan(asked.where, *asked.values))
    found = count_region_reads(table) - before
    assert predict_region_reads(table, plan, bound, keys) == found
    event(
        f"{'full scan' if plan.is_full_scan else 'ranges'}, residual {bool(plan.residual_fields)}"
    )
    check_explained_rows(world, bound, plan, found.total(), returned)


def check_explained_rows(
    world: World | PlacedWorld, bound: BoundRead, plan: Plan, read: int, returned: int
) -> None:
    """Check rows read per returned row wherever `explain` knows them exactly."""
    if world.design.layout.has_shared_rows or world.design.key.is_salted or not plan.fan_out:
        return
    known = {name: compute_facts(world.rows, name) for name in plan.residual_fields}
    told = explain_read(world.design.key, bound, facts=known).rows_read
    if not plan.residual_fields:
        event("told: one for one")
        assert 1 == told
        assert read == returned
    elif plan.is_full_scan and len(plan.residual_fields) == 1 and returned:
        (bounds,) = (bound.bounds[name] for name in plan.residual_fields)
        if isinstance(bounds, Equal | OneOf):
            event("told: from the shares of values")
            assert read == pytest.approx(returned * (told or 0))


def check_limit(asked: Words | PlacedRead, table: Table, limit: int) -> None:
    """Check that a limited read reads its rows and at most one more in each range.

    Two more where events share rows: a page of cells does not say that it ends an event.
    """
    scan = table.scan(asked.where, *asked.values, limit=limit)
    if scan.plan.residual_fields or scan.plan.needs_sort:
        return
    before = count_region_reads(table)
    given = len(list(scan))
    copies = 2 if table.design.key.is_salted else 1  # a row is put twice at most
    more = 2 if table.design.layout.has_shared_rows else 1
    most = given * copies + more * scan.plan.fan_out
    assert (count_region_reads(table) - before).total() <= most


@settings(max_examples=DEEP)
@given(case=draw_cases(), way=st.sampled_from(sorted(READ_METHODS)), limit=st.integers(0, 9))
def test_a_full_read_reads_exactly_the_keys_in_its_planned_ranges(
    case: Any, way: str, limit: int
) -> None:
    """A complete scan reads exactly the stored keys in its plan's ranges."""
    world, asked = case
    with fill_table(world, "memory:") as table:
        check_read(world, asked, table, way)
        check_limit(asked, table, limit)


@settings(max_examples=ON_DISK)
@given(case=draw_cases(), way=st.sampled_from(sorted(READ_METHODS)), limit=st.integers(0, 9))
def test_a_full_read_on_disk_reads_exactly_the_keys_in_its_planned_ranges(
    case: Any, way: str, limit: int
) -> None:
    """On the embedded engine a scan reads exactly the keys in its plan's ranges."""
    world, asked = case
    with TemporaryDirectory(dir=RAM_FOLDER) as place, fill_table(world, f"rocks:{place}") as table:
        check_read(world, asked, table, way)
        check_limit(asked, table, limit)
