"""Detect a busy region in which the same few rows are written over and over.

A region counts each mutation, but a scan finds each row once, however often it was written. If many
writes were counted and few rows are found, those rows may be hot: a counter that all clients
increment, or a row with the latest value. That is no proof, because a delete leaves no cell either.
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
"""Writes per row from which a row counts as overwritten: a put with retries, or with one call for
each column, makes two or three."""
MIN_WRITES = 200
"""Writes below which their number in a part of an interval is too uncertain: 7 % at 200."""
MAX_NAMED_ROWS = 3
"""Rows that are listed by their keys."""


def format_overwrites(design: Design, interval: LoadInterval, sample: WriteSample) -> str:
    """Return a remark if the busiest region overwrites the same few rows; else "".

    Args:
        design: the table's design.
        sample: the last writes of the interval.
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

    If it had fewer, there are few rows because few were written then.

    Args:
        sample: the last writes of the interval.
        writes: the writes that the other regions would have counted in the sampled part.
        rows: the rows that were found in them.
    """
    return sample.interval_share >= 1 or (writes >= MIN_WRITES // 4 and 2 * rows >= writes)


def format_key(design: Design | None, key: bytes) -> str:
    """Return a row key as text, decoded by the design if it is known.

    Args:
        design: the table's design; None if it is unknown.
        key: the bytes.
    """
    return to_string_binary(key) if design is None else design.key.format_prefix(key)
