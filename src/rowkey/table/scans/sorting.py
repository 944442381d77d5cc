"""Rows sorted in memory, where the key does not give the order asked for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.plan import sorted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import Ordering

MOST = 1_000_000
"""Rows that are sorted in memory."""
TOGETHER = 10_000
"""Rows that are sorted together at least, so that a small limit does not sort for each row."""


def best_of(
    rows: Iterator[dict[str, Any]],
    order: Sequence[Ordering],
    fields: Mapping[str, Field],
    limit: int | None,
) -> list[Any]:
    """The first rows in an order; at most twice as many are held.

    Args:
        rows: in whatever order.
        order: the order, most significant field first.
        fields: the declared fields, by name.
        limit: most rows, or None.

    Raises:
        ReadError: without a limit, more than `MOST` would be held.
    """
    most = MOST if limit is None else min(limit, MOST)
    held: list[Any] = []
    while some := list(islice(rows, max(most, TOGETHER))):
        held = sorted_rows([*held, *some], order, fields)
        held = held[:limit]
        if len(held) > MOST:
            what = f"more than {MOST:,} rows would be sorted in memory"
            remedy = "Give a limit, or a key that stands in this order: see rowkey explain."
            raise ReadError("order", what, remedy=remedy)
    return held
