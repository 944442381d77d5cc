"""A read in words gives what a filter and a sort of all rows give."""

from __future__ import annotations

from bisect import bisect_left
from heapq import merge
from typing import TYPE_CHECKING, Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from plan.designs import KEYS, rows
from plan.questions import questions
from rowkey.errors import RowError
from rowkey.plan import ResidualFilter, bind_read, extract_merge_key, plan_read, sort_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan.questions import Question, Row
    from rowkey.keys import Key
    from rowkey.plan import KeyRange, Plan

Stored = tuple[bytes, "Row"]
"""A row with its key."""


def stored(key: Key, data: st.DataObject) -> list[Stored]:
    """Random rows by their keys, as an engine has them."""
    found = []
    for row in data.draw(rows(key)):
        salt = data.draw(st.integers(0, 2)) if key.is_salted else None
        try:
            found.append((key.encode(row, salt=salt), row))
        except RowError:  # a row of empty text alone has no key
            continue
    return sorted(found, key=lambda one: one[0])


def in_row(key: Key, row: Row) -> tuple[int, ...]:
    """Where an event stands among those of its row: what time slices leave to the qualifier."""
    rests = [part.time_remainder for part in key.parts if part.time_remainder is not None]
    return tuple(
        (-1 if rest.descending else 1) * (row[rest.field] % rest.length_units) for rest in rests
    )


def read(key: Key, plan: Plan, table: list[Stored]) -> list[Row]:
    """The rows of all ranges, merged by what follows their prefixes, as a table reads them."""
    keys = [where for where, _ in table]

    def run(one: KeyRange) -> Iterator[tuple[Any, Row]]:
        stop = bisect_left(keys, one.stop) if one.stop else len(keys)
        found = [
            ((extract_merge_key(one, where), in_row(key, row)), row)
            for where, row in table[bisect_left(keys, one.start) : stop]
        ]
        return iter(sorted(found, key=lambda pair: pair[0], reverse=plan.is_backwards))

    streams = map(run, plan.ranges)
    return [row for _, row in merge(*streams, key=lambda p: p[0], reverse=plan.is_backwards)]


def in_order(question: Question, found: list[Row], expected: list[Row]) -> bool:
    """Whether rows come in an order, where rows that are equal in it may change places."""
    pairs = zip(found, expected, strict=True)
    return all(question.compare(one, other) == 0 for one, other in pairs)


@settings(max_examples=max(100, settings.default.max_examples))  # type: ignore[union-attr]
@given(st.data())
def test_a_read_gives_what_a_filter_and_a_sort_give(data: st.DataObject) -> None:
    """Rows in the ranges, less the residual filter, are all that meet; they come as asked."""
    key = data.draw(KEYS[data.draw(st.sampled_from(sorted(KEYS)))])
    table = stored(key, data)
    question = data.draw(questions(key))
    asked = bind_read(question.where, question.order, question.values, key.declared_fields)
    plan = plan_read(key, asked.bounds, asked.order)
    residual = ResidualFilter(plan.residual_fields, asked.bounds, key.declared_fields)

    everything = read(key, plan, table)
    predicted = sum(plan.has_key(where) for where, _ in table)
    assert predicted == len(everything), (str(key), question, plan)

    found = [row for row in everything if residual(row)]
    expected = question.sorted(row for _, row in table if question.meets(row))
    assert sorted(map(repr, expected)) == sorted(map(repr, found)), (str(key), question, plan)

    event("sorted" if plan.needs_sort else "backwards" if plan.is_backwards else "forwards")
    if plan.needs_sort:
        found = list(map(dict, sort_rows(found, asked.order, key.declared_fields)))
    assert in_order(question, found, expected), (str(key), question, plan)
    event(f"residual {len(plan.residual_fields)} of {len(asked.bounds)}")
    event("full scan" if plan.is_full_scan else "ranges")


@given(st.data())
def test_rows_sorted_in_memory_keep_their_places_where_they_are_equal(
    data: st.DataObject,
) -> None:
    """Any rows in any order, nulls first both ways: as a stable sort by comparison has them."""
    key = data.draw(KEYS["any"])
    question = data.draw(questions(key))
    found = data.draw(rows(key))
    numbered = [{**row, "#": number} for number, row in enumerate(found)]
    expected = question.sorted(numbered)
    assert expected == sort_rows(numbered, question.order, key.declared_fields)
