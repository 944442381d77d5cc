"""The ranges of a plan hold every matching row, and have the order and prefixes it names."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from plan.random_keys import KEYS, bounds, orders, rows, satisfies_bounds, to_comparable
from rowkey.errors import RowError
from rowkey.keys.transforms.salt import SALT_FIELD
from rowkey.plan import plan_read

if TYPE_CHECKING:
    from rowkey.keys import Key
    from rowkey.plan import Plan
    from rowkey.schema import Bounds, Ordering


@pytest.mark.parametrize("sort", KEYS)
@given(st.data())
def test_planned_ranges_hold_every_matching_row_in_order(sort: str, data: st.DataObject) -> None:
    """Ranges are sorted, hold every matching row, and have the order and prefixes of the plan."""
    # To draw a key and rows costs more than a check, so each plan is given to all.
    key = data.draw(KEYS[sort])
    conditions, requested_order = data.draw(bounds(key)), data.draw(orders(key))
    plan = plan_read(key, conditions, requested_order)
    event(f"decided {len(conditions) - len(plan.residual_fields)} of {len(conditions)}")
    check_ranges_are_sorted(key, plan)
    stored = [
        StoredRow(key.encode(row, salt=salt), row, salt)
        for row in data.draw(rows(key))
        if has_key(key, row)
        for salt in [data.draw(st.integers(0, 2)) if key.is_salted else None]
    ]
    check_matching_rows_are_in_ranges(key, plan, conditions, stored)
    check_merged_order(key, plan, conditions, requested_order, stored)
    check_pinned_parts(key, plan, conditions, stored)


class StoredRow(NamedTuple):
    """A row with its key, and the salt of that key."""

    key: bytes
    row: Mapping[str, Any]
    salt: int | None


def has_key(key: Key, row: Mapping[str, Any]) -> bool:
    """Return whether a row can be encoded, which a row of only empty text cannot."""
    try:
        key.encode(row, salt=0)
    except RowError:
        return False
    return True


def check_ranges_are_sorted(key: Key, plan: Plan) -> None:
    """Check that each range ends before the next begins, and starts with its prefix."""
    for before, after in pairwise(plan.ranges):
        assert before.stop, (str(key), plan)
        assert before.stop <= after.start, (str(key), plan)
    for one in plan.ranges:
        assert not one.stop or one.start < one.stop, (str(key), plan)
        assert one.start.startswith(one.prefix), (str(key), plan)
        assert not plan.is_point or one.stop == one.start + b"\0", (str(key), plan)


def check_matching_rows_are_in_ranges(
    key: Key, plan: Plan, conditions: Bounds, stored: list[StoredRow]
) -> None:
    """Check that matching rows are in ranges, where all rows satisfy all but residual bounds."""
    decided = set(conditions) - set(plan.residual_fields)
    for where, row, _ in stored:
        if satisfies_bounds(row, conditions, set(conditions)):
            assert plan.has_key(where), (str(key), row, conditions, plan)
        if plan.has_key(where):
            assert satisfies_bounds(row, conditions, decided), (str(key), row, conditions, plan)


def check_merged_order(
    key: Key,
    plan: Plan,
    conditions: Bounds,
    requested_order: tuple[Ordering, ...],
    stored: list[StoredRow],
) -> None:
    """Check that rows merged by the bytes after their prefixes are in the order of the plan."""
    merged = sorted(
        (tail for where, row, _ in stored if (tail := _strip_prefix(plan, where, row))),
        key=_find_tail,
    )
    merged = [
        (tail, row) for tail, row in merged if satisfies_bounds(row, conditions, set(conditions))
    ]
    for (here, one), (there, other) in pairwise(merged):
        if here == there and any(part.time_remainder is not None for part in key.parts):
            continue  # one row: its cells are in the order of their qualifiers
        assert _compare_rows(one, other, plan.row_order) <= 0, (
            str(key),
            conditions,
            plan.row_order,
            one,
            other,
        )
        if plan.serves_order:
            assert _compare_rows(one, other, requested_order) <= 0, (
                str(key),
                conditions,
                requested_order,
                one,
                other,
            )
        elif plan.serves_backwards:
            assert _compare_rows(one, other, requested_order, sign=-1) <= 0, (
                str(key),
                requested_order,
                one,
                other,
            )


def check_pinned_parts(key: Key, plan: Plan, conditions: Bounds, stored: list[StoredRow]) -> None:
    """Check that pinned parts are constant in each range, and the first are its merge prefix."""
    for where, row, salt in stored:
        if not satisfies_bounds(row, conditions, set(conditions)):
            continue
        prefixes = {one.prefix for one in plan.ranges if one.has_key(where)}
        pinned = [part.encode({**row, SALT_FIELD: salt}) for part in key.parts[: plan.pinned_count]]
        assert prefixes <= {b"".join(pinned[: plan.merge_prefix_count])}, (str(key), row, plan)
        assert plan.merge_prefix_count <= plan.pinned_count
        assert all(map(tuple.__contains__, plan.pinned_values, pinned)), (str(key), row, plan)


@given(st.data())
def test_a_scan_without_an_order_is_sorted_by_the_fields_after_buckets(data: st.DataObject) -> None:
    """Without an order, rows are sorted by the first fields after buckets and salts."""
    key = data.draw(KEYS["spread"])
    plan = plan_read(key, data.draw(bounds(key)))
    first = next(part for part in key.parts if part.name == "field")
    free = [one for one in plan.row_order if one.field in first.fields]
    assert plan.pinned_count > key.parts.index(first) or free, (str(key), plan)


def _find_tail(pair: tuple[bytes, Any]) -> bytes:
    """Return the bytes of a pair of bytes and row."""
    return pair[0]


def _strip_prefix(plan: Plan, where: bytes, row: Any) -> tuple[bytes, Any] | None:
    """Return the key after the prefix of its range, with its row; None outside of all ranges."""
    for one in plan.ranges:
        if one.has_key(where):
            return where[len(one.prefix) :], row
    return None


def _compare_rows(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    order: tuple[Ordering, ...],
    sign: int = 1,
) -> int:
    """Compare two rows in an order, nulls first in both directions."""
    for ordering in order:
        mine, yours = (to_comparable(ordering.field, row[ordering.field]) for row in (one, other))
        if mine == yours:
            continue
        if mine is None or yours is None:
            return sign * (-1 if mine is None else 1)
        less = -1 if mine < yours else 1
        return sign * (-less if ordering.descending else less)
    return 0
