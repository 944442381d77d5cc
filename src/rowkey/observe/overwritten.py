"""Whether a busy region changes few rows: the same ones are written over and over.

A region counts each mutation, a look finds each row once, however often it was written. Where many
were counted and few rows are found, those few may be what is hot: a counter that all increment, a
row for a latest value. That is no proof, for a delete leaves no cell either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import counted
from rowkey.regions import to_binary

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.observe.counting import Interval
    from rowkey.observe.looking import Look

OFTEN = 5
"""Writes a row from which it is written over and over: puts, retries and the columns that a client
writes one by one come to two or three."""
ENOUGH = 200
"""Writes below which their number in a part of an interval is too uncertain: 7 % at 200."""
NAMED = 3
"""Rows that are named one by one."""


def few_rows_of(design: Design, interval: Interval, found: Look) -> str:
    """What is to be said of the busiest region, if few of its rows change; else an empty string.

    Args:
        design: the table's design.
        interval: what the regions did.
        found: what of it came last.
    """
    number, region = max(enumerate(interval.regions), key=lambda one: one[1].writes or 0)
    rows = found.read.get(region.start, 0)
    here = [k for k in found.keys if region.start <= k and (not region.stop or k < region.stop)]
    changed = max(rows, len(here))  # many events may share a row
    writes = (region.writes or 0) * found.part
    if not rows or region.start in found.cut or writes < max(ENOUGH, OFTEN * changed):
        return ""
    others = (interval.total("writes") - (region.writes or 0)) * found.part
    if not _is_as_busy(found, others, len(found.keys) - changed):
        return ""
    names = [shown(design, key) for key in sorted(set(here))[:NAMED]]
    named = f", {' and '.join(names)}" if rows <= len(names) else ""
    so = (
        "it is written over and over, and no key spreads one row"
        if rows == 1
        else "they are written over and over"
    )
    return (
        f"region {number} counted about {round(writes, -1):,.0f} writes while "
        f"{counted(rows, 'row')} of it changed{named}: if these were no deletes or refused checks, "
        f"which leave no cell, nor cells of another time, {so}"
    )


def _is_as_busy(found: Look, writes: float, rows: int) -> bool:
    """Whether the part of an interval that was looked at was as busy as the rest of it.

    If it was not, few rows are there for few were written then.

    Args:
        found: what of the interval came last.
        writes: what the other regions would have counted meanwhile.
        rows: what was found in them.
    """
    return found.part >= 1 or (writes >= ENOUGH // 4 and 2 * rows >= writes)


def shown(design: Design | None, key: bytes) -> str:
    """A row key, or the beginning of one, as a person names it.

    Args:
        design: the table's design; None if nobody knows it.
        key: the bytes.
    """
    return to_binary(key) if design is None else design.key.show(key)
