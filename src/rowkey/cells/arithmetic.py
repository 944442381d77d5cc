"""What comes of a cell when a row is changed by what it holds: counting, appending, comparing."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from rowkey.cells.cell import LATEST, Cell
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COUNTER_BYTES = 8
"""Bytes of a counter, a big-endian signed number. Source: Bytes.SIZEOF_LONG."""

_HALF = 2**63
_ORDERS: Mapping[str, Callable[[bytes, bytes], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def check_amount(amount: object) -> None:
    """Raise unless this can be added to a counter.

    Raises:
        Refused: it is no number of 64 bits with a sign.
    """
    if not isinstance(amount, int) or not -_HALF <= amount < _HALF:
        raise Refused("amount", f"{amount!r:.80} is out of range", f"{-_HALF}..{_HALF - 1}")


def incremented(
    family: str, qualifier: bytes, amount: int, found: Cell | None, now_ms: int
) -> Cell:
    """The cell a counter becomes.

    Args:
        family: its family.
        qualifier: its column.
        amount: added to it; the sum wraps at the ends of 64 bits.
        found: its newest cell, or None where it counts from 0.
        now_ms: now; the new cell is at least 1 ms later than the one before, which stays below it.

    Returns:
        A put with the time to live of the cell before.

    Raises:
        Refused: the cell is not 8 bytes long.

    Source: HRegion.reckonDelta; TagUtil.carryForwardTags for the time to live.

    >>> incremented("d", b"n", 2, Cell("d", b"n", 5, bytes(7) + b"\\x01"), 9).value.hex()
    '0000000000000003'
    """
    before = 0
    if found is not None:
        if len(found.value) != COUNTER_BYTES:
            what = f"the cell {qualifier[:40]!r} is {len(found.value):,} bytes long"
            raise Refused("amount", what, f"{COUNTER_BYTES} bytes in a counter")
        before = int.from_bytes(found.value, "big", signed=True)
    total = (before + amount + _HALF) % (2 * _HALF) - _HALF
    value = total.to_bytes(COUNTER_BYTES, "big", signed=True)
    return _after(family, qualifier, value, found, now_ms)


def appended(family: str, qualifier: bytes, piece: bytes, found: Cell | None, now_ms: int) -> Cell:
    """The cell that a cell becomes when bytes are appended to it; as `incremented`."""
    value = piece if found is None else found.value + piece
    return _after(family, qualifier, value, found, now_ms)


def _after(family: str, qualifier: bytes, value: bytes, found: Cell | None, now_ms: int) -> Cell:
    if found is None:
        return Cell(family, qualifier, now_ms, value)
    moment = max(now_ms, min(found.timestamp + 1, LATEST - 1))
    return Cell(family, qualifier, moment, value, ttl_ms=found.ttl_ms)


def check_comparison(sign: str, value: bytes | None) -> None:
    """Raise unless a cell can be compared like this.

    Raises:
        Refused: the operator is unknown, or orders against nothing: HBase takes an empty value for
            "no cell", which has no order.

    Source: HRegion.checkAndMutateInternal: valueIsNull.
    """
    if sign not in _ORDERS:
        raise Refused("operator", f"{sign!r:.40} is unknown", " ".join(_ORDERS))
    if not value and sign not in ("=", "!="):
        raise Refused("value", f"there is none to compare with by {sign}", "= or != without one")


def holds(sign: str, value: bytes | None, found: Cell | None) -> bool:
    """Whether *cell OP value* is true of a column's newest cell.

    Args:
        sign: one of = != < <= > >=.
        value: compared bytewise; None and empty mean "no cell, or an empty one".
        found: the newest cell, or None where there is none.

    Returns:
        False for a column that is absent, except = without a value.

    Source: HRegion.checkAndMutateInternal.

    >>> holds("<", b"b", Cell("d", b"q", 1, b"a")), holds("!=", b"b", None)
    (True, False)
    """
    if not value:
        return (found is None or not found.value) == (sign == "=")
    return found is not None and _ORDERS[sign](found.value, value)
