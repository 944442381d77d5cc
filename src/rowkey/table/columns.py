"""A read by blocks of cells, decoded at once: as Arrow columns in order, and as rows."""

from __future__ import annotations

import heapq
from contextlib import ExitStack
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from rowkey.engines import Cursor
    from rowkey.plan import KeyRange
    from rowkey.table.scan import Scan


def arrow_of(scan: Scan) -> pa.Table:
    """All rows of a scan, in its order."""
    import pyarrow as pa

    layout = scan.design.layout
    schema = pa.schema([(name, field.type.arrow()) for name, field in layout.fields.items()])
    if scan.sorts or not scan.is_of_blocks:
        return pa.Table.from_batches(list(_of_rows(scan, schema)), schema)
    if scan.limit == 0:
        return schema.empty_table()
    ranges = scan.ranges()
    with ExitStack() as opened:
        cursors = scan.opened(opened, ranges)
        parts = [_Part.of(scan, one, cursor) for one, cursor in zip(ranges, cursors, strict=True)]
    return _in_order(scan, [part for part in parts if part.count], schema)


class _Part:
    """The rows of one range: their columns, and what follows the range's prefix in their keys."""

    def __init__(self, batches: list[pa.RecordBatch], behind: list[pa.Array]) -> None:
        self.batches = batches
        self.behind = behind
        self.count = sum(batch.num_rows for batch in batches)

    @classmethod
    def of(cls, scan: Scan, one: KeyRange, cursor: Cursor) -> _Part:
        """The rows of a range that meet the conditions."""
        batches, behind = [], []
        for rows, keys in _decoded(scan, cursor):
            batches.append(rows)
            if keys is not None:
                behind.append(_without(keys, len(one.prefix)))
        return cls(batches, behind)


def _decoded(scan: Scan, cursor: Cursor) -> Iterator[tuple[pa.RecordBatch, pa.Array | None]]:
    """The rows of a range that meet the conditions, and their keys where ranges are merged."""
    layout, keeps = scan.design.layout, scan.residual
    is_merged = scan.plan.fan_out > 1
    for block in cursor.blocks():
        rows = layout.batch(block)
        if keeps:
            rows = rows.filter(keeps.mask(rows))
        if rows.num_rows:
            yield rows, scan.design.key.encode_batch(rows) if is_merged else None


def rows_of(scan: Scan, opened: ExitStack) -> Iterator[tuple[bytes, bytes, dict[str, Any]]]:
    """The rows of a scan that is read to its end, decoded by blocks.

    Returns:
        For each what follows the prefix of its range, the prefix, and the row; where only one range
        is read, both are empty.
    """
    ranges = scan.ranges()
    cursors = scan.opened(opened, ranges)
    runs = [_run(scan, one.prefix, c) for one, c in zip(ranges, cursors, strict=True)]
    return iter(runs[0]) if len(runs) == 1 else heapq.merge(*runs, reverse=scan.reverse)


def _run(
    scan: Scan, prefix: bytes, cursor: Cursor
) -> Iterator[tuple[bytes, bytes, dict[str, Any]]]:
    """The rows of one range, in order."""
    from rowkey.keys import batch_column

    fields = list(scan.design.fields.values())
    named = partial(zip, [field.name for field in fields])
    for rows, keys in _decoded(scan, cursor):
        lists = [
            # Arrow's own texts and bytes are the field's normal values.
            column.to_pylist() if field.type.is_sequence else batch_column(field, column).listed()
            for field, column in zip(fields, rows.columns, strict=True)
        ]
        behind = repeat(b"") if keys is None else _without(keys, len(prefix)).to_pylist()
        found: Iterator[dict[str, Any]] = map(dict, map(named, zip(*lists, strict=True)))
        yield from zip(behind, repeat(prefix), found, strict=False)


def _without(keys: pa.Array, size: int) -> pa.Array:
    """Keys less their first bytes, of which each has that many."""
    import numpy as np
    import pyarrow as pa

    if not size:
        return keys
    _, ends, data = keys.buffers()
    starts = np.frombuffer(ends, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    held = np.frombuffer(data, np.uint8)[starts[0] : starts[-1]]
    kept = np.ones(len(held), np.bool_)
    kept[(starts[:-1] - starts[0])[:, None] + np.arange(size)] = False
    left = starts - starts[0] - size * np.arange(len(starts), dtype=np.int32)
    buffers = [None, pa.py_buffer(left.astype(np.int32)), pa.py_buffer(held[kept])]
    return pa.Array.from_buffers(pa.binary(), len(keys), buffers)


def _in_order(scan: Scan, parts: list[_Part], schema: pa.Schema) -> pa.Table:
    """The rows of all ranges, merged by what follows the prefixes."""
    import pyarrow as pa

    batches = [batch for part in parts for batch in part.batches]
    found = pa.Table.from_batches(batches, schema)
    if len(parts) > 1:
        found = found.take(_merged_order(scan, parts))
    return found.slice(0, scan.limit) if scan.limit is not None else found


def _merged_order(scan: Scan, parts: list[_Part]) -> pa.Array:
    """The rows' numbers in the order of what follows the prefixes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    behind = pa.chunked_array([array for part in parts for array in part.behind])
    number = np.repeat(np.arange(len(parts), dtype=np.int32), [part.count for part in parts])
    direction = "descending" if scan.reverse else "ascending"
    keys: list[Any] = [("behind", direction), ("range", direction)]
    return pc.sort_indices(pa.table({"behind": behind, "range": number}), sort_keys=keys)


def _of_rows(scan: Scan, schema: pa.Schema, size: int = 8_192) -> Iterator[pa.RecordBatch]:
    """Rows one by one, gathered into batches."""
    import pyarrow as pa

    rows = scan.plain_rows()
    while some := list(islice(rows, size)):
        yield pa.RecordBatch.from_pylist(some, schema)
