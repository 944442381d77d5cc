"""Estimates the size of a table from its events; a row that is written again does not grow it.

Of its cells the newest versions stay, as many as the family keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, prod
from typing import TYPE_CHECKING

from rowkey.cells import FOREVER_S, MAX_JAVA_INT

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.keys import Field
    from rowkey.rows import Layout
    from rowkey.schema import RowCounts
    from rowkey.workload.write_pattern import WritePattern

NANOS_PER_S = 10**9
YEAR_S = 365 * 86_400
"""Seconds within which what can be written is taken to be, where cells are kept for ever."""
MAX_WRITTEN_IMAGES = 1 << 16
"""Images of a field that all come to be written; of a digest there are more than will ever be."""


def estimate_table_bytes(
    layout: Layout,
    families: Mapping[str, Family],
    writes: WritePattern,
    event_bytes: Mapping[str, float],
    counts: RowCounts | None = None,
) -> float | None:
    """Return the size that a table grows to in bytes; None if its row count is unknown.

    Each family holds what came within its ttl: of each row as many versions as were written, and
    are kept. A family that keeps versions beyond its ttl keeps its rows for ever. There is no final
    size where all versions are kept for ever.

    Args:
        layout: what tells one row from another.
        families: how long cells are kept, and how many versions.
        writes: how events come.
        event_bytes: what an event adds to each family.
        counts: how many rows the events of a sample were; None where nobody counted.
    """
    total = 0.0
    for name, each in event_bytes.items():
        family = families[name]
        events = inf if family.ttl_s == FOREVER_S else (writes.rate or inf) * family.ttl_s
        come = inf if family.min_versions else events
        rows = _estimate_rows(layout, writes, come, counts)
        has_end = family.ttl_s != FOREVER_S or family.versions < MAX_JAVA_INT
        if rows is None or not has_end:
            return None
        written = max(events / rows, family.min_versions, 1)
        total += rows * min(written, family.versions) * each
    return total


def estimate_table_rows(
    layout: Layout,
    families: Mapping[str, Family],
    writes: WritePattern,
    counts: RowCounts | None = None,
) -> float | None:
    """Return the rows that a table grows to; None if that is unknown.

    Args:
        layout: what tells one row from another.
        families: how long cells are kept; rows live as long as their oldest cells.
        writes: how events come.
        counts: how many rows the events of a sample were; None where nobody counted.
    """
    events = (writes.rate or inf) * _find_row_life(layout, families)
    return _estimate_rows(layout, writes, events, counts)


def count_key_values(
    layout: Layout, families: Mapping[str, Family], writes: WritePattern, step_ns: int
) -> dict[str, float]:
    """Return how many values each field has that tells rows apart, in the time of the table.

    Args:
        layout: what tells one row from another.
        families: how long cells are kept.
        writes: how events come.
        step_ns: the time between events of the same values, as far as it is known; else 1.

    Returns:
        Infinite where it is unknown.
    """
    seconds = _find_row_life(layout, families)
    return {
        name: _count_values(layout, layout.fields[name], writes, seconds, step_ns)
        for name in layout.identity_fields
    }


def _find_row_life(layout: Layout, families: Mapping[str, Family]) -> float:
    """Return for how many seconds a row has cells; infinite if for ever."""
    written = [families[cell.family] for cell in layout.estimate_cells()]
    if any(family.ttl_s == FOREVER_S or family.min_versions for family in written):
        return inf
    return max((family.ttl_s for family in written), default=0)


def _estimate_rows(
    layout: Layout, writes: WritePattern, events: float, counts: RowCounts | None
) -> float | None:
    """Return the rows of a table after some events: infinite if it only grows, None if unknown."""
    time = writes.time
    seconds = events / writes.rate if writes.rate else inf
    value_counts = [
        _count_values(layout, layout.fields[name], writes, seconds)
        for name in layout.identity_fields
    ]
    is_known = time is not None and _is_identifying(layout, time.name)
    max_rows = _bound_rows(value_counts, writes, events)
    rows = min(events, max_rows)
    if counts is not None and not _has_endless_rows(layout):
        is_known = True
        rows = min(events, max(max_rows, counts.row_count), counts.estimate_rows(events))
    return rows if rows < inf and (is_known or inf not in value_counts) else None


def _bound_rows(value_counts: list[float], writes: WritePattern, events: float) -> float:
    """Return the maximum number of rows that the key's values allow, perhaps infinite.

    The product of several fields' values counts the possible keys. Often few of them occur, as few
    of all pairs of users. So without a limit of events it is the number of rows only if a year
    brings as many events.
    """
    max_rows = prod(value_counts)
    are_several = sum(values > 1 for values in value_counts) > 1
    is_open = events == inf and (writes.rate or 0) * YEAR_S < max_rows
    return inf if are_several and is_open else max_rows


def _is_identifying(layout: Layout, name: str) -> bool:
    """Return whether each value of a field leads to a separate row or cell."""
    opened = layout.qualifier_prefix.fields if layout.qualifier_prefix is not None else ()
    is_beside = any(field.name == name for field in opened)
    return is_beside or (name in layout.identity_fields and name not in layout.lossy_key_fields)


def _has_endless_rows(layout: Layout) -> bool:
    """Return whether times identify rows, so that new rows come for ever."""
    return any(layout.fields[name].type.unit_ns is not None for name in layout.identity_fields)


def _count_values(
    layout: Layout, field: Field, writes: WritePattern, seconds: float, step_ns: int = 1
) -> float:
    """Return how many distinct values a field has within some seconds; infinite if unknown."""
    parts = [part for part in layout.key.parts if field.name in part.fields]
    is_whole = _is_identifying(layout, field.name)
    if writes.time is not None and field.name == writes.time.name:
        if not writes.has_advancing_time:
            return inf
        steps = [part.resolution_ns for part in parts if part.resolution_ns is not None]
        step = field.type.unit_ns if is_whole else min(steps, default=None)
        return inf if step is None else max(seconds * NANOS_PER_S / max(step, step_ns), 1.0)
    listed = field.type.possible_values
    count: float = inf if listed is None else len(listed)
    count = min(count, field.declaration.distinct or inf)
    if not is_whole:
        images = prod(part.cardinality or inf for part in parts)
        count = min(count, images if images <= MAX_WRITTEN_IMAGES or count < inf else inf)
    return count
