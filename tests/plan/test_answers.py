"""A planned read returns the rows that a filter and a sort of all rows return."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge
from typing import TYPE_CHECKING, Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from plan.random_keys import KEYS, rows
from plan.random_reads import random_reads
from rowkey.errors import RowError
from rowkey.plan import ResidualFilter, bind_read, extract_merge_key, plan_read, sort_rows

if TYPE_CHECKING:
    from plan.random_reads import RandomRead, Row
    from rowkey.keys import Key
    from rowkey.plan import KeyRange, Plan

StoredRow = tuple[bytes, "Row"]
"""A row with its key."""


def store_rows(key: Key, data: st.DataObject) -> list[StoredRow]:
    """Return random rows sorted by their keys, as an engine stores them."""
    found = []
    for row in data.draw(rows(key)):
        salt = data.draw(st.integers(0, 2)) if key.is_salted else None
        try:
            found.append((key.encode(row, salt=salt), row))
        except RowError:  # a row of empty text alone has no key
            continue
    return sorted(found, key=lambda one: one[0])


def find_position_in_row(key: Key, row: Row) -> tuple[int, ...]:
    """Return the position of an event in its row, which time slices keep in the qualifier."""
    rests = [part.time_remainder for part in key.parts if part.time_remainder is not None]
    return tuple(
        (-1 if rest.descending else 1) * (row[rest.field] % rest.length_units) for rest in rests
    )


def read_ranges(key: Key, plan: Plan, table: list[StoredRow]) -> list[Row]:
    """Return the rows of all ranges, merged by the bytes after their prefixes."""
    keys = [where for where, _ in table]

    def read_range(one: KeyRange) -> Iterator[tuple[Any, Row]]:
        stop = bisect_left(keys, one.stop) if one.stop else len(keys)
        found = [
            ((extract_merge_key(one, where), find_position_in_row(key, row)), row)
            for where, row in table[bisect_left(keys, one.start) : stop]
        ]
        return iter(sorted(found, key=lambda pair: pair[0], reverse=plan.is_backwards))

    streams = map(read_range, plan.ranges)
    return [row for _, row in merge(*streams, key=lambda p: p[0], reverse=plan.is_backwards)]


def has_same_order(random_read: RandomRead, found: list[Row], expected: list[Row]) -> bool:
    """Return whether rows are in an order, in which equal rows may change places."""
    pairs = zip(found, expected, strict=True)
    return all(random_read.compare_rows(one, other) == 0 for one, other in pairs)


@settings(max_examples=max(24, settings.default.max_examples))  # type: ignore[union-attr]
@given(st.data())
def test_a_planned_read_returns_exactly_the_matching_rows_in_order(data: st.DataObject) -> None:
    """Ranges and residual filter give exactly the matching rows, in the order of the read."""
    key = data.draw(KEYS[data.draw(st.sampled_from(sorted(KEYS)))])
    table = store_rows(key, data)
    random_read = data.draw(random_reads(key))
    bound_read = bind_read(
        random_read.where, random_read.order, random_read.values, key.declared_fields
    )
    plan = plan_read(key, bound_read.bounds, bound_read.order)
    residual = ResidualFilter(plan.residual_fields, bound_read.bounds, key.declared_fields)

    everything = read_ranges(key, plan, table)
    predicted = sum(plan.has_key(where) for where, _ in table)
    assert predicted == len(everything), (str(key), random_read, plan)

    found = [row for row in everything if residual(row)]
    expected = random_read.sort_rows(row for _, row in table if random_read.matches_row(row))
    assert sorted(map(repr, expected)) == sorted(map(repr, found)), (str(key), random_read, plan)

    event("sorted" if plan.needs_sort else "backwards" if plan.is_backwards else "forwards")
    if plan.needs_sort:
        found = list(map(dict, sort_rows(found, bound_read.order, key.declared_fields)))
    assert has_same_order(random_read, found, expected), (str(key), random_read, plan)
    event(f"residual {len(plan.residual_fields)} of {len(bound_read.bounds)}")
    event("full scan" if plan.is_full_scan else "ranges")


@given(st.data())
def test_sorting_in_memory_is_stable_with_nulls_first(
    data: st.DataObject,
) -> None:
    """Rows are sorted in memory as by a stable sort, nulls first in both directions."""
    key = data.draw(KEYS["any"])
    random_read = data.draw(random_reads(key))
    found = data.draw(rows(key))
    numbered = [{**row, "#": number} for number, row in enumerate(found)]
    expected = random_read.sort_rows(numbered)
    assert expected == sort_rows(numbered, random_read.order, key.declared_fields)
