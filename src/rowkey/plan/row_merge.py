"""Merging and sorting of the rows of several ranges.

The prefix of a range is the same for all its rows, so only the bytes after it decide their
order. Intervals after one prefix are separate ranges with that same prefix: they merge in the
order of their keys. Read backwards, the same bytes merge descending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.plan.ranges import KeyRange
    from rowkey.schema import Ordering, Value


def extract_merge_key(key_range: KeyRange, key: bytes) -> bytes:
    """Return the bytes by which rows of several ranges are merged.

    Rows of one range ascend by it as they do by their keys. Two rows of different ranges may have
    the same one, such as a row under two salts; `(extract_merge_key(one, key), key)` is total, and
    descends where ranges are read backwards. Events of one row that live in its qualifiers merge
    by what opens the qualifier, once the rows are merged by this.

    Args:
        key_range: the range that holds the key.

    >>> from rowkey.plan import KeyRange
    >>> extract_merge_key(KeyRange(b"07a", b"07b", b"07"), b"07abc")
    b'abc'
    """
    return key[len(key_range.prefix) :]


def sort_rows(
    rows: Iterable[Mapping[str, Value]], order: Sequence[Ordering], fields: Mapping[str, Field]
) -> list[Mapping[str, Value]]:
    """Return rows sorted by value, with nulls first in both directions.

    Args:
        rows: rows of normal values; rows with equal sort keys stay in their order.
        order: the order, most significant field first.
        fields: the declared fields, by name.

    Cost: all rows in memory, and one sort for each field of the order.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import parse_order
    >>> fields = bind_key("[n]", {"n": {"type": "u8", "nullable": True}}).fields
    >>> rows = [{"n": 1}, {"n": None}, {"n": 2}]
    >>> [row["n"] for row in sort_rows(rows, parse_order("n desc"), fields)]
    [None, 2, 1]
    """
    sorted_rows = list(rows)
    for ordering in reversed(order):
        place = _build_sort_key(fields[ordering.field], is_null_greatest=ordering.descending)
        sorted_rows.sort(key=place, reverse=ordering.descending)
    return sorted_rows


def _build_sort_key(
    field: Field, *, is_null_greatest: bool
) -> Callable[[Mapping[str, Value]], Any]:
    """Return a function that computes the sort key of a row for one field.

    Args:
        is_null_greatest: whether a null is greater than every value, as a descending sort wants it.
    """
    name, hold = field.name, field.type.to_internal

    def place(row: Mapping[str, Value]) -> Any:
        value = row.get(name)
        return (is_null_greatest, 0) if value is None else (not is_null_greatest, hold(value))

    return place
