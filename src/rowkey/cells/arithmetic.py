"""Increment, append and compare: changes of a row that depend on a cell it holds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from rowkey.cells.cell import LATEST, Cell
from rowkey.errors import InvalidArgument

COUNTER_BYTES = 8
"""Bytes of a counter, a big-endian signed number. Source: Bytes.SIZEOF_LONG."""

_COUNTER_LIMIT = 2**63
_OPERATORS: Mapping[str, Callable[[bytes, bytes], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def check_amount(amount: object) -> None:
    """Raise unless a number can be added to a counter.

    Raises:
        InvalidArgument: it is no number of 64 bits with a sign.
    """
    if not isinstance(amount, int) or not -_COUNTER_LIMIT <= amount < _COUNTER_LIMIT:
        raise InvalidArgument(
            "amount",
            f"{amount!r:.80} does not fit in 64 bits with a sign",
            "an int from -2^63 to 2^63-1",
        )


def increment_cell(
    family: str, qualifier: bytes, amount: int, current_cell: Cell | None, now_ms: int
) -> Cell:
    """Return the cell of a counter after an increment.

    Args:
        qualifier: its column.
        amount: added to it; the sum wraps at the ends of 64 bits.
        current_cell: its newest cell, or None where it counts from 0.
        now_ms: now; the new cell is at least 1 ms later than the current one, and sorts before it.

    Returns:
        A put with the time to live of the current cell.

    Raises:
        InvalidArgument: the cell is not 8 bytes long.

    Source: HRegion.reckonDelta; TagUtil.carryForwardTags for the time to live.

    >>> increment_cell("d", b"n", 2, Cell("d", b"n", 5, bytes(7) + b"\\x01"), 9).value.hex()
    '0000000000000003'
    """
    current_value = 0
    if current_cell is not None:
        if len(current_cell.value) != COUNTER_BYTES:
            what = f"the cell has {len(current_cell.value):,} bytes, so it is not a counter"
            raise InvalidArgument(
                f"column {family}:{repr(qualifier[:40])[2:-1]}",
                what,
                f"{COUNTER_BYTES} bytes in a counter",
                "Increment another column, or first put 8 bytes into this column.",
            )
        current_value = int.from_bytes(current_cell.value, "big", signed=True)
    total = (current_value + amount + _COUNTER_LIMIT) % (2 * _COUNTER_LIMIT) - _COUNTER_LIMIT
    value = total.to_bytes(COUNTER_BYTES, "big", signed=True)
    return _build_next_cell(family, qualifier, value, current_cell, now_ms)


def append_to_cell(
    family: str, qualifier: bytes, piece: bytes, current_cell: Cell | None, now_ms: int
) -> Cell:
    """Return a cell after bytes were appended to it; arguments as for `increment_cell`."""
    value = piece if current_cell is None else current_cell.value + piece
    return _build_next_cell(family, qualifier, value, current_cell, now_ms)


def _build_next_cell(
    family: str, qualifier: bytes, value: bytes, current_cell: Cell | None, now_ms: int
) -> Cell:
    """Return the cell that replaces the current one, with a later timestamp and its TTL."""
    if current_cell is None:
        return Cell(family, qualifier, now_ms, value)
    moment = max(now_ms, min(current_cell.timestamp + 1, LATEST - 1))
    return Cell(family, qualifier, moment, value, ttl_ms=current_cell.ttl_ms)


def check_comparison(sign: str, value: bytes | None) -> None:
    """Raise unless a comparison of a cell is valid.

    Raises:
        InvalidArgument: the operator is unknown, or orders against nothing: HBase takes an empty
            value for "no cell", which has no order.

    Source: HRegion.checkAndMutateInternal: valueIsNull.
    """
    if sign not in tuple(_OPERATORS):  # a tuple compares what cannot be hashed
        raise InvalidArgument(
            "operator", f"{sign!r:.40} is not an operator", f"one of {' '.join(_OPERATORS)}"
        )
    if not value and sign not in ("=", "!="):
        raise InvalidArgument(
            "value",
            f"the operator {sign} cannot compare with an empty value",
            "bytes, or the operator = or !=",
        )


def is_comparison_true(sign: str, value: bytes | None, current_cell: Cell | None) -> bool:
    """Return whether *cell OP value* is true for the newest cell of a column.

    Args:
        sign: one of = != < <= > >=.
        value: compared bytewise; None and empty mean "no cell, or an empty one".
        current_cell: the newest cell, or None where there is none.

    Returns:
        False for a column that is absent, except = without a value.

    Source: HRegion.checkAndMutateInternal.

    >>> is_comparison_true("<", b"b", Cell("d", b"q", 1, b"a"))
    True
    >>> is_comparison_true("!=", b"b", None)
    False
    """
    if not value:
        return (current_cell is None or not current_cell.value) == (sign == "=")
    return current_cell is not None and _OPERATORS[sign](current_cell.value, value)
