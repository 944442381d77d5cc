"""What a plan says it reads is what the regions count: no more, no less, region by region."""

from __future__ import annotations

import os
from collections import Counter
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
from table.places import Placed, placed, questions
from table.worlds import World, reads, worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.plan import BoundRead, Plan
    from rowkey.table import Scan, Table
    from table.places import Question
    from table.worlds import Asked as Words
    from table.worlds import Row

Stored = dict[bytes, set[bytes]]
"""Row keys, and the qualifiers of each."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 5_000 if IS_LONG else 60
ON_DISK = 500 if IS_LONG else 12
WAYS: dict[str, Callable[[Scan], int]] = {
    "rows": lambda scan: len(list(scan)),
    "a count": lambda scan: scan.count(),
    "columns": lambda scan: scan.to_arrow().num_rows,
}
"""How a scan is read to its end."""


@st.composite
def cases(draw: st.DrawFn) -> tuple[World | Placed, Words | Question]:
    """A table of any design, and a read of it."""
    if draw(st.booleans()):
        tall = draw(worlds())
        assume(tall.rows)
        return tall, draw(reads(tall))
    world = draw(placed())
    assume(world.rows)
    return world, draw(questions(world))


def filled(world: World | Placed, url: str) -> Table:
    """The table of a world; each put has a moment of its own, so that salts differ."""
    table = rowkey.open(world.design, url, clock=count(1_700_000_000_000).__next__)
    with table.batch() as batch:
        for row in (*world.rows[::3], *world.rows):
            batch.put(row)
    return table


def stored(world: World | Placed, table: Table) -> Stored:
    """The keys under which rows are stored, encoded again; which salts they have the table says."""
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


def counted(table: Table) -> Counter[bytes]:
    """How many rows each region has read."""
    return Counter({region.start: region.reads for region in table.regions()})


def predicted(table: Table, plan: Plan, asked: BoundRead, keys: Stored) -> Counter[bytes]:
    """How many of the keys lie in the ranges of a plan, by region.

    Of rows that many events share, those without a qualifier in the range asked for do not count.
    """
    starts = [region.start for region in table.regions()]
    low, high = table.design.layout.find_qualifier_range(asked.bounds)
    return Counter(
        max(start for start in starts if start <= key)
        for key, qualifiers in keys.items()
        if plan.has_key(key) and any(low <= q and (q < high or not high) for q in qualifiers)
    )


def facts_of(rows: Sequence[Row], name: str) -> FieldFacts:
    """Everything about the values of a field, so that shares are exact."""
    values = Counter(row[name] for row in rows)
    nulls = values.pop(None, 0)
    listed = tuple((value, times / len(rows)) for value, times in values.items())
    return FieldFacts(
        distinct_count=len(values), heaviest_values=listed, null_share=nulls / len(rows)
    )


def check(world: World | Placed, asked: Words | Question, table: Table, way: str) -> None:
    """One read drained, its rows counted by the regions and predicted from the keys alone."""
    keys = stored(world, table)
    bound = bind_read(asked.where, "", asked.values, table.design.fields)
    plan = plan_read(table.design.key, bound.bounds, bound.order)
    before = counted(table)
    returned = WAYS[way](table.scan(asked.where, *asked.values))
    found = counted(table) - before
    assert predicted(table, plan, bound, keys) == found
    event(
        f"{'full scan' if plan.is_full_scan else 'ranges'}, residual {bool(plan.residual_fields)}"
    )
    check_told(world, bound, plan, found.total(), returned)


def check_told(
    world: World | Placed, bound: BoundRead, plan: Plan, read: int, returned: int
) -> None:
    """The rows read for each that is returned, wherever `explain` knows them exactly."""
    if world.design.layout.has_shared_rows or world.design.key.is_salted or not plan.fan_out:
        return
    known = {name: facts_of(world.rows, name) for name in plan.residual_fields}
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


def check_limit(asked: Words | Question, table: Table, limit: int) -> None:
    """A limited read takes the rows it gives, and one of each range to compare them with."""
    scan = table.scan(asked.where, *asked.values, limit=limit)
    if scan.plan.residual_fields or scan.plan.needs_sort:
        return
    before = counted(table)
    given = len(list(scan))
    copies = 2 if table.design.key.is_salted else 1  # a row is put twice at most
    assert (counted(table) - before).total() <= given * copies + scan.plan.fan_out


@settings(max_examples=DEEP)
@given(case=cases(), way=st.sampled_from(sorted(WAYS)), limit=st.integers(0, 9))
def test_regions_count_the_rows_that_the_plan_names(case: Any, way: str, limit: int) -> None:
    """The stored keys in the ranges, told one by one, are the rows that a drained scan reads."""
    world, asked = case
    with filled(world, "memory:") as table:
        check(world, asked, table, way)
        check_limit(asked, table, limit)


@settings(max_examples=ON_DISK)
@given(case=cases(), way=st.sampled_from(sorted(WAYS)), limit=st.integers(0, 9))
def test_regions_on_disk_count_the_rows_that_the_plan_names(
    case: Any, way: str, limit: int
) -> None:
    """The same on the embedded engine."""
    world, asked = case
    with TemporaryDirectory(dir=RAM_FOLDER) as place, filled(world, f"rocks:{place}") as table:
        check(world, asked, table, way)
        check_limit(asked, table, limit)
