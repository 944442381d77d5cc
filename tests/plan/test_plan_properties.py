"""Every row of a read lies in its ranges, and nothing else but what the plan names."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from plan.designs import KEYS, bounds, held, matches, orders, rows
from rowkey.keys.transforms.salt import SALT_FIELD
from rowkey.plan import plan_read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys import Key
    from rowkey.plan import Plan
    from rowkey.schema import Ordering


def encoded(key: Key, row: Mapping[str, Any], data: st.DataObject) -> bytes:
    """The row's key, with a salt drawn by the test."""
    return key.encode(row, salt=data.draw(st.integers(0, 2)) if key.is_salted else None)


@pytest.mark.parametrize("sort", KEYS)
@given(st.data())
def test_every_row_of_a_read_lies_in_its_ranges(sort: str, data: st.DataObject) -> None:
    """Rows that satisfy all conditions lie in the ranges; rows there satisfy what is decided."""
    key = data.draw(KEYS[sort])
    asked = data.draw(bounds(key))
    plan = plan_read(key, asked, data.draw(orders(key)))
    decided = set(asked) - set(plan.residual_fields)
    event(f"decided {len(decided)} of {len(asked)}")
    for row in data.draw(rows(key)):
        where = encoded(key, row, data) if _has_key(key, row) else None
        if where is None:
            continue
        if matches(row, asked, set(asked)):
            assert plan.has_key(where), (str(key), row, asked, plan)
        if plan.has_key(where):
            assert matches(row, asked, decided), (str(key), row, asked, plan)


def _has_key(key: Key, row: Mapping[str, Any]) -> bool:
    """Whether the row has a key at all: one of empty text alone has none."""
    from rowkey.errors import RowError

    try:
        key.encode(row, salt=0)
    except RowError:
        return False
    return True


@pytest.mark.parametrize("sort", KEYS)
@given(st.data())
def test_ranges_ascend_and_stand_apart(sort: str, data: st.DataObject) -> None:
    """Each range ends before the next begins, and keeps to its prefix."""
    key = data.draw(KEYS[sort])
    plan = plan_read(key, data.draw(bounds(key)), data.draw(orders(key)))
    for before, after in pairwise(plan.ranges):
        assert before.stop, (str(key), plan)
        assert before.stop <= after.start, (str(key), plan)
    for one in plan.ranges:
        assert not one.stop or one.start < one.stop, (str(key), plan)
        assert one.start.startswith(one.prefix), (str(key), plan)


@pytest.mark.parametrize("sort", KEYS)
@given(st.data())
def test_rows_of_all_ranges_merge_in_the_claimed_order(sort: str, data: st.DataObject) -> None:
    """Merged by the bytes behind their prefixes, rows come in the order that the plan claims."""
    key = data.draw(KEYS[sort])
    asked, wanted = data.draw(bounds(key)), data.draw(orders(key))
    plan = plan_read(key, asked, wanted)
    found = [(encoded(key, row, data), row) for row in data.draw(rows(key)) if _has_key(key, row)]
    merged = sorted((tail for k, row in found if (tail := _tail(plan, k, row))), key=_first)
    merged = [(tail, row) for tail, row in merged if matches(row, asked, set(asked))]
    for (here, one), (there, other) in pairwise(merged):
        if here == there and any(part.time_remainder is not None for part in key.parts):
            continue  # one row: its cells are in the order of their qualifiers
        assert _compare(one, other, plan.row_order) <= 0, (
            str(key),
            asked,
            plan.row_order,
            one,
            other,
        )
        if plan.serves_order:
            assert _compare(one, other, wanted) <= 0, (str(key), asked, wanted, one, other)
        elif plan.serves_backwards:
            assert _compare(one, other, wanted, sign=-1) <= 0, (str(key), wanted, one, other)


@pytest.mark.parametrize("sort", KEYS)
@given(st.data())
def test_what_is_said_to_be_pinned_is_the_prefix(sort: str, data: st.DataObject) -> None:
    """In each range the pinned parts are constant, and those merged without are its prefix."""
    key = data.draw(KEYS[sort])
    asked = data.draw(bounds(key))
    plan = plan_read(key, asked, data.draw(orders(key)))
    for one in plan.ranges:
        assert not plan.is_point or one.stop == one.start + b"\0", (str(key), plan)
    for row in data.draw(rows(key)):
        if not _has_key(key, row) or not matches(row, asked, set(asked)):
            continue
        salt = data.draw(st.integers(0, 2)) if key.is_salted else None
        where = key.encode(row, salt=salt)
        prefixes = {one.prefix for one in plan.ranges if one.has_key(where)}
        pinned = [part.encode({**row, SALT_FIELD: salt}) for part in key.parts[: plan.pinned_count]]
        assert prefixes <= {b"".join(pinned[: plan.merge_prefix_count])}, (str(key), row, plan)
        assert plan.merge_prefix_count <= plan.pinned_count
        assert all(map(tuple.__contains__, plan.pinned_values, pinned)), (str(key), row, plan)


@given(st.data())
def test_a_scan_comes_in_the_order_behind_what_spreads(data: st.DataObject) -> None:
    """Without an order asked for, rows come by the first fields behind buckets and salts."""
    key = data.draw(KEYS["spread"])
    plan = plan_read(key, data.draw(bounds(key)))
    first = next(part for part in key.parts if part.name == "field")
    free = [one for one in plan.row_order if one.field in first.fields]
    assert plan.pinned_count > key.parts.index(first) or free, (str(key), plan)


def _first(pair: tuple[bytes, Any]) -> bytes:
    return pair[0]


def _tail(plan: Plan, where: bytes, row: Any) -> tuple[bytes, Any] | None:
    for one in plan.ranges:
        if one.has_key(where):
            return where[len(one.prefix) :], row
    return None


def _compare(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    order: tuple[Ordering, ...],
    sign: int = 1,
) -> int:
    """How two rows stand in an order; nulls come first both ways."""
    for ordering in order:
        mine, yours = (held(ordering.field, row[ordering.field]) for row in (one, other))
        if mine == yours:
            continue
        if mine is None or yours is None:
            return sign * (-1 if mine is None else 1)
        less = -1 if mine < yours else 1
        return sign * (-less if ordering.descending else less)
    return 0
