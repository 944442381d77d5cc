"""Sort rows in memory, where the key does not give the requested order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from rowkey.errors import ReadError
from rowkey.keys import Field
from rowkey.plan import sort_rows
from rowkey.schema import Ordering

MAX_SORTED_ROWS = 1_000_000
"""Most rows that are sorted in memory."""
MIN_SORT_ROWS = 10_000
"""Fewest rows that are sorted together, so that a small limit does not sort for each row."""


def select_first_rows(
    rows: Iterator[dict[str, Any]],
    order: Sequence[Ordering],
    fields: Mapping[str, Field],
    limit: int | None,
) -> list[Any]:
    """Return the first rows in a requested order; at most twice as many are in memory.

    Args:
        rows: the rows, in any order.
        order: the order, most significant field first.
        fields: the declared fields, by name.
        limit: the maximum number of rows, or None.

    Raises:
        ReadError: without a limit, more than `MAX_SORTED_ROWS` would be in memory.
    """
    max_rows = MAX_SORTED_ROWS if limit is None else min(limit, MAX_SORTED_ROWS)
    first_rows: list[Any] = []
    while some := list(islice(rows, max(max_rows, MIN_SORT_ROWS))):
        first_rows = sort_rows([*first_rows, *some], order, fields)[:limit]
        if len(first_rows) > MAX_SORTED_ROWS:
            what = f"more than {MAX_SORTED_ROWS:,} rows would be sorted in memory"
            remedy = (
                "Give a limit, or an order in which the row key sorts rows: see rowkey explain."
            )
            raise ReadError("argument order", what, remedy=remedy)
    return first_rows
