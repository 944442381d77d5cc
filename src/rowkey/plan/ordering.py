"""In which order rows come that are merged by some of the parts of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.schema import Ordering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.keys import Key, Part


def once_each(order: Sequence[Ordering]) -> tuple[Ordering, ...]:
    """An order without what is moot in it: a field that it has already.

    >>> [str(one) for one in once_each((Ordering("ts", True), Ordering("n"), Ordering("ts")))]
    ['ts desc', 'n']
    """
    first: dict[str, Ordering] = {}
    for one in order:
        first.setdefault(one.field, one)
    return tuple(first.values())


def orders_behind(key: Key, pinned: int) -> tuple[Ordering, ...]:
    """The order of rows that are merged by what follows the first `pinned` parts."""
    return orders_from(key, pinned, frozenset())


def orders_from(key: Key, first: int, constant: frozenset[int]) -> tuple[Ordering, ...]:
    """The order of rows merged from a part on, where some parts are the same in all rows."""
    orders: list[Ordering] = []
    for index, part in enumerate(key.parts[first:], first):
        if part.cardinality == 1 or index in constant:
            continue
        if not tells_order(part) or not (part.framing.closed or part is key.parts[-1]):
            break
        name = part.fields[0]
        if name in {one.field for one in orders}:
            continue
        if not _is_completed(key.parts[index:]):
            break
        orders.append(Ordering(name, part.order.descends))
    return tuple(orders)


def tells_order(part: Part) -> bool:
    """Whether one field decides the part's place, or the reverse of it."""
    return len(part.fields) == 1 and (part.order.ascends or part.order.descends)


def _is_completed(parts: Sequence[Part]) -> bool:
    """Whether the first part orders its field whole, alone or with those behind it.

    A stretch of time does if the time itself follows at once, the same way round; or if it ends the
    key and the rest of the time opens the qualifier.
    """
    first = parts[0]
    for part in parts:
        if part.fields != first.fields or part.order.descends != first.order.descends:
            return False
        if not tells_order(part) or not (part.framing.closed or part is parts[-1]):
            return False
        if part.order.is_strict:
            return True
    return first.rest is not None and len(parts) == 1
