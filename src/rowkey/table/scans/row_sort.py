"""Sort rows in memory, where the key does not give the requested order."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.plan import sort_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import Ordering

MAX_SORTED_ROWS = 1_000_000
"""Rows that are sorted in memory."""
MIN_SORT_ROWS = 10_000
"""Rows that are sorted together at least, so that a small limit does not sort for each row."""


def select_first_rows(
    rows: Iterator[dict[str, Any]],
    order: Sequence[Ordering],
    fields: Mapping[str, Field],
    limit: int | None,
) -> list[Any]:
    """Return the first rows in an order; at most twice as many are held.

    Args:
        rows: in whatever order.
        order: the order, most significant field first.
        fields: the declared fields, by name.
        limit: most rows, or None.

    Raises:
        ReadError: without a limit, more than `MAX_SORTED_ROWS` would be held.
    """
    most = MAX_SORTED_ROWS if limit is None else min(limit, MAX_SORTED_ROWS)
    held: list[Any] = []
    while some := list(islice(rows, max(most, MIN_SORT_ROWS))):
        held = sort_rows([*held, *some], order, fields)
        held = held[:limit]
        if len(held) > MAX_SORTED_ROWS:
            what = f"more than {MAX_SORTED_ROWS:,} rows would be sorted in memory"
            remedy = "Give a limit, or a key that stands in this order: see rowkey explain."
            raise ReadError("order", what, remedy=remedy)
    return held
