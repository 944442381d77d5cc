"""Two rows that a key without ends makes one of: found by trying, told only if the bytes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.keys.contract import Part
    from rowkey.keys.key import Key

TRIED = 200
"""Values that are tried: with 16 buckets in front, none of 200 pairs
meets in one of them for one key in 400,000."""
_FORMS: tuple[Callable[[str], Any], ...] = (str, int, str.encode)

Meeting = tuple[tuple[Any, Any], tuple[Any, Any]]


def rows_that_meet(key: Key, index: int) -> Meeting | None:
    """The values of two fields in two rows that have one key, for one of them has no end.

    Args:
        key: the bound row key.
        index: the part without an end.

    Returns:
        In the first row its field's value and that of the next field behind it, then those in the
        second; None if no such rows were found, or encoding them would give out ids.

    >>> from rowkey.keys import bind_key
    >>> key = bind_key("[user:raw]['~'][fan]", {"user": "text", "fan": "text"})
    >>> rows_that_meet(key, 0)
    (('1', '2~3'), ('1~2', '3'))
    """
    part = key.parts[index]
    between, behind = _next(key, index)
    if key.is_coded or behind is None or len(part.fields) != 1 or len(behind.fields) != 1:
        return None
    [first], [second] = part.fields, behind.fields
    others = {
        name: field.type.domain.nth(0)
        for name, field in key.fields.items()
        if name not in (first, second)
    }
    for one, other in _tried(between):
        try:
            keys = {key.encode({**others, first: a, second: b}, salt=0) for a, b in (one, other)}
        except RowError:
            continue
        if len(keys) == 1 and first != second:
            return one, other
    return None


def _next(key: Key, index: int) -> tuple[str, Part | None]:
    """The constants behind a part, as a text, and the first part behind them that is none."""
    between = b""
    for part in key.parts[index + 1 :]:
        if part.fields or part.cardinality != 1:
            return between.decode("latin-1"), part
        between += b"".join(part.images({}).points or ())
    return "", None


def _tried(between: str) -> Iterator[Meeting]:
    """Pairs of rows whose values, one after the other, are the same text."""
    for number in range(1, TRIED + 1):
        texts = (
            (f"{number}", f"2{between}3"),
            (f"{number}{between}2", "3"),
        )
        for left in _FORMS:
            for right in _FORMS:
                try:
                    one, other = ((left(a), right(b)) for a, b in texts)
                except ValueError:
                    continue
                yield one, other
