"""Detect a busy region in which the same few rows are written over and over.

A region counts each mutation, a look finds each row once, however often it was written. Where many
were counted and few rows are found, those few may be what is hot: a counter that all increment, a
row for a latest value. That is no proof, for a delete leaves no cell either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.messages import pluralize
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.observe.region_deltas import LoadInterval
    from rowkey.observe.write_sample import WriteSample

MIN_WRITES_PER_ROW = 5
"""Writes a row from which it is written over and over: puts, retries and the columns that a client
writes one by one come to two or three."""
MIN_WRITES = 200
"""Writes below which their number in a part of an interval is too uncertain: 7 % at 200."""
MAX_NAMED_ROWS = 3
"""Rows that are named one by one."""


def format_overwrites(design: Design, interval: LoadInterval, sample: WriteSample) -> str:
    """Return a remark if the busiest region overwrites the same few rows; else "".

    Args:
        design: the table's design.
        interval: what the regions did.
        sample: what of it came last.
    """
    number, region = max(enumerate(interval.regions), key=lambda one: one[1].writes or 0)
    rows = sample.rows_by_region.get(region.start, 0)
    region_keys = [
        k for k in sample.keys if region.start <= k and (not region.stop or k < region.stop)
    ]
    event_count = max(rows, len(region_keys))  # many events may share a row
    writes = (region.writes or 0) * sample.interval_share
    if (
        not rows
        or region.start in sample.truncated_regions
        or writes < max(MIN_WRITES, MIN_WRITES_PER_ROW * event_count)
    ):
        return ""
    other_writes = (
        interval.sum_operations("writes") - (region.writes or 0)
    ) * sample.interval_share
    if not _is_as_busy_as_rest(sample, other_writes, len(sample.keys) - event_count):
        return ""
    names = [format_key(design, key) for key in sorted(set(region_keys))[:MAX_NAMED_ROWS]]
    row_names = f", {' and '.join(names)}" if rows <= len(names) else ""
    consequence = (
        "this row is written over and over, and no key spreads one row"
        if rows == 1
        else "these rows are written over and over"
    )
    return (
        f"region {number} counted about {round(writes, -1):,.0f} writes, but only "
        f"{pluralize(rows, 'row')} changed{row_names}: unless the writes were deletes, failed "
        f"checks or cells with other timestamps, {consequence}"
    )


def _is_as_busy_as_rest(sample: WriteSample, writes: float, rows: int) -> bool:
    """Return whether the sampled part of an interval had as many writes as the rest of it.

    If it was not, few rows are there for few were written then.

    Args:
        sample: what of the interval came last.
        writes: what the other regions would have counted meanwhile.
        rows: what was found in them.
    """
    return sample.interval_share >= 1 or (writes >= MIN_WRITES // 4 and 2 * rows >= writes)


def format_key(design: Design | None, key: bytes) -> str:
    """Return a row key as text, decoded by the design if it is known.

    Args:
        design: the table's design; None if nobody knows it.
        key: the bytes.
    """
    return to_string_binary(key) if design is None else design.key.format_prefix(key)
