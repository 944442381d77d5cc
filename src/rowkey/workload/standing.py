"""What stands of the events that come: a row that is written again does not grow a table.

Of its cells the newest versions stay, as many as the family keeps.
"""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING

from rowkey.cells import FOREVER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from rowkey.cells import Family
    from rowkey.keys import Field, Key, Pieces
    from rowkey.rows import Layout
    from rowkey.schema import RowCounts
    from rowkey.workload.writes import Writes

NANOS = 10**9
YEAR_S = 365 * 86_400
"""Seconds within which what can be written is taken to be, where cells are kept for ever."""
FEW = 1 << 16
"""Images of a field that all come to be written; of a digest there are more than will ever be."""


def standing_bytes(
    layout: Layout,
    families: Mapping[str, Family],
    writes: Writes,
    event_bytes: Mapping[str, float],
    counts: RowCounts | None = None,
) -> float | None:
    """Bytes that a table comes to hold; None where nobody knows how many rows it gets.

    Each family holds what came within its ttl: of each row as many versions as were written, and
    are kept. A family that keeps versions beyond its ttl keeps its rows for ever.

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
        rows = _rows(layout, writes, come, counts)
        if rows is None:
            return None
        written = max(events / rows, family.min_versions, 1)
        total += rows * min(written, family.versions) * each
    return total


def _rows(layout: Layout, writes: Writes, events: float, counts: RowCounts | None) -> float | None:
    """How many rows stand of so many events, which may be without end; None where nobody knows."""
    time = writes.time
    seconds = events / writes.rate if writes.rate else inf
    told = [_values(layout, layout.fields[name], writes, seconds) for name in layout.identity]
    is_told = time is not None and _is_whole(layout, time.name)
    most = _most(told, writes, events)
    rows = min(events, most)
    if counts is not None and not _goes_on(layout):
        is_told = True
        rows = min(events, max(most, counts.rows), counts.among(events))
    return rows if rows < inf and (is_told or inf not in told) else None


def _most(told: list[float], writes: Writes, events: float) -> float:
    """How many rows there are at most, by the values that tell them; without end if nobody knows.

    Values of several fields multiplied count what could be written: of all pairs of users few may
    ever be. They say how many rows there are only where as many events come.
    """
    most = prod(told)
    are_several = sum(values > 1 for values in told) > 1
    is_open = events == inf and (writes.rate or 0) * YEAR_S < most
    return inf if are_several and is_open else most


def _is_whole(layout: Layout, name: str) -> bool:
    """Whether rows, or cells beside each other in one, are told apart by every value of a field."""
    opened = layout.opening.fields if layout.opening is not None else ()
    is_beside = any(field.name == name for field in opened)
    return is_beside or (name in layout.identity and name not in layout.kept)


def _goes_on(layout: Layout) -> bool:
    """Whether times tell rows apart: new ones come then for ever, whatever a sample repeats."""
    return any(layout.fields[name].type.tick is not None for name in layout.identity)


def _values(layout: Layout, field: Field, writes: Writes, seconds: float) -> float:
    """How many values of a field rows are told apart by; without end where nothing tells."""
    parts = [part for part in layout.key.parts if field.name in part.fields]
    is_whole = _is_whole(layout, field.name)
    if writes.time is not None and field.name == writes.time.name:
        if not writes.goes_on:
            return inf
        steps = [part.resolution for part in parts if part.resolution is not None]
        step = field.type.tick if is_whole else min(steps, default=None)
        return inf if step is None else max(seconds * NANOS / step, 1.0)
    listed = field.type.listed_values
    count: float = inf if listed is None else len(listed)
    count = min(count, field.words.distinct or inf)
    if not is_whole:
        images = prod(part.cardinality or inf for part in parts)
        count = min(count, images if images <= FEW or count < inf else inf)
    return count


def key_pieces(key: Key, rows: pa.RecordBatch) -> Pieces:
    """The row keys of some rows, as if every salt were 0.

    Raises:
        RowError: a row has none.
    """
    import numpy as np

    from rowkey.keys import Columns

    columns = Columns.of(rows, list(key.fields.values()))
    columns.salts = np.zeros(rows.num_rows, np.int64)
    return key.pieces(columns, key.parts)
