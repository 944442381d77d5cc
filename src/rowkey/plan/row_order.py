"""The order of rows after their ranges are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowkey.schema import Ordering

if TYPE_CHECKING:
    from rowkey.keys import Key, Part


def drop_repeated_orderings(order: Sequence[Ordering]) -> tuple[Ordering, ...]:
    """Return an order in which each field occurs once.

    >>> orderings = (Ordering("ts", True), Ordering("n"), Ordering("ts"))
    >>> [str(one) for one in drop_repeated_orderings(orderings)]
    ['ts desc', 'n']
    """
    first: dict[str, Ordering] = {}
    for one in order:
        first.setdefault(one.field, one)
    return tuple(first.values())


def compute_merged_order(key: Key, pinned: int) -> tuple[Ordering, ...]:
    """Return the order of rows merged without the first `pinned` key parts."""
    return compute_row_order(key, pinned, frozenset())


def compute_row_order(key: Key, first: int, constant: frozenset[int]) -> tuple[Ordering, ...]:
    """Return the fields by which rows are sorted, from a key part on."""
    orders: list[Ordering] = []
    for index, part in enumerate(key.parts[first:], first):
        if part.cardinality == 1 or index in constant:
            continue
        if not has_field_order(part) or not (
            part.framing.is_self_delimiting or part is key.parts[-1]
        ):
            break
        name = part.fields[0]
        if name in {one.field for one in orders}:
            continue
        if not _has_complete_order(key.parts[index:]):
            break
        orders.append(Ordering(name, part.order.is_descending))
    return tuple(orders)


def has_field_order(part: Part) -> bool:
    """Return whether a key part sorts rows by exactly one field."""
    return len(part.fields) == 1 and (part.order.is_ascending or part.order.is_descending)


def _has_complete_order(parts: Sequence[Part]) -> bool:
    """Return whether the first key part, with the next ones, sorts by a full field.

    A stretch of time does if the time itself follows at once, the same way round; or if it ends the
    key and the rest of the time opens the qualifier.
    """
    first = parts[0]
    for part in parts:
        if part.fields != first.fields or part.order.is_descending != first.order.is_descending:
            return False
        if not has_field_order(part) or not (part.framing.is_self_delimiting or part is parts[-1]):
            return False
        if part.order.is_strict:
            return True
    return first.time_remainder is not None and len(parts) == 1
