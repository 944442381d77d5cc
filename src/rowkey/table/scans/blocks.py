"""A read by blocks of cells, decoded at once: as Arrow columns in order, and as rows."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rowkey.table.scans.ahead import read_ahead
from rowkey.table.scans.pieces import whole_events
from rowkey.table.scans.ranges import cursors_of, ranges_left

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from rowkey.engines import Cursor
    from rowkey.plan import KeyRange
    from rowkey.schema import Value
    from rowkey.table.scans.scan import Scan

    Decoded = tuple[pa.RecordBatch, pa.Array]
    """Rows, and what follows the prefix of their range in their keys."""

ROWS = 8_192
"""Rows of a block: from there on larger ones are not faster."""
FEWEST = 512
"""Rows of the smallest block, whose fixed cost is 0.5 ms."""


def batches_of(scan: Scan) -> Iterator[pa.RecordBatch]:
    """The rows of a scan in its order, some at a time, decoded by blocks where that pays."""
    if scan.pays_blocks:
        return blocks_of(scan, scan.limit)
    return _of_rows(scan, scan.rows_left(scan.limit))


def resized(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of so many, the last one of fewer."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count < rows:
            continue
        whole = pa.concat_batches(waiting)
        full = count - count % rows
        yield from (whole.slice(start, rows) for start in range(0, full, rows))
        waiting, count = [whole.slice(full)], count - full
    if count:
        yield pa.concat_batches(waiting)


def schema_of(scan: Scan) -> pa.Schema:
    """The columns of a scan: every field, in its type."""
    import pyarrow as pa

    fields = scan.design.layout.fields.items()
    return pa.schema([(name, field.type.arrow()) for name, field in fields])


def _of_rows(scan: Scan, rows: Iterator[dict[str, Value]]) -> Iterator[pa.RecordBatch]:
    """Rows one by one, gathered into batches."""
    import pyarrow as pa

    schema = schema_of(scan)
    while some := list(islice(rows, ROWS)):
        yield pa.RecordBatch.from_pylist(some, schema)


def blocks_of(scan: Scan, limit: int | None) -> Iterator[pa.RecordBatch]:
    """The rows of all ranges, merged as they are read; a block of each range is held.

    Once the table has become another one, what is left is read row by row.
    """
    if limit == 0:
        return
    left, given = limit, None
    with ExitStack() as opened:
        for rows in _merged(_runs(scan, opened, limit), is_falling=scan.reverse):
            given = rows if left is None else rows.slice(0, left)
            if given.num_rows:
                yield given
            if left is not None:
                left -= given.num_rows
                if not left:
                    return
            if scan.is_behind:
                break
        else:
            return
    (last,) = values_of(scan, given.slice(given.num_rows - 1))
    scan.go_on(last)
    yield from _of_rows(scan, scan.rows_left(left))


def rows_of(scan: Scan, limit: int | None) -> Iterator[dict[str, Value]]:
    """The rows of a scan, decoded by blocks."""
    for rows in blocks_of(scan, limit):
        yield from values_of(scan, rows)


def values_of(scan: Scan, rows: pa.RecordBatch) -> Iterator[dict[str, Value]]:
    """Columns as rows of the fields' normal values."""
    from rowkey.keys import batch_column

    fields = list(scan.design.fields.values())
    lists = [
        # Arrow's own texts and bytes are the field's normal values.
        column.to_pylist() if field.type.is_sequence else batch_column(field, column).listed()
        for field, column in zip(fields, rows.columns, strict=True)
    ]
    named = partial(zip, [field.name for field in fields])
    return map(dict, map(named, zip(*lists, strict=True)))


def count_of(scan: Scan) -> int:
    """How many rows a scan without a limit has; nothing is merged."""
    ranges = ranges_left(scan)
    with ExitStack() as opened:
        read = [_decoded(scan, cursor, ROWS) for cursor in cursors_of(scan, opened, ranges)]
        count = 0
        for rows in chain.from_iterable(read_ahead(read, scan.threads, opened)):
            count += rows.num_rows
            if scan.is_behind:
                break
        else:
            return count
    scan.go_on(None)
    return sum(1 for _ in scan.rows_left(None))


def _runs(scan: Scan, opened: ExitStack, limit: int | None) -> list[_Run]:
    """What is read of each range."""
    ranges = ranges_left(scan)
    # Of a limit each range gives its share, if chance spreads the rows.
    size = ROWS if limit is None else min(ROWS, max(FEWEST, 2 * limit // max(1, len(ranges))))
    cursors = cursors_of(scan, opened, ranges)
    read = [_keyed(scan, one, c, size) for one, c in zip(ranges, cursors, strict=True)]
    # Closed before the cursors, which may be at work until then.
    return [_Run(blocks) for blocks in read_ahead(read, scan.threads, opened)]


def _keyed(scan: Scan, one: KeyRange, cursor: Cursor, size: int) -> Iterator[Decoded]:
    """The rows of a range that meet the conditions, and what they are merged by."""
    is_alone = scan.plan.fan_out == 1
    for rows in _decoded(scan, cursor, size):
        keys = None if is_alone else scan.design.key.encode_valid_batch(rows)
        yield rows, None if keys is None else _without(keys, len(one.prefix))


def _decoded(scan: Scan, cursor: Cursor, size: int) -> Iterator[pa.RecordBatch]:
    """The rows of a range that meet the conditions."""
    layout, keeps = scan.design.layout, scan.residual
    blocks = cursor.blocks(size)
    if scan.is_paged:
        assert layout.opening is not None
        blocks = whole_events(blocks, layout.opening)
    for block in blocks:
        rows = layout.batch(block)
        if keeps:
            rows = rows.filter(keeps.mask(rows))
        if rows.num_rows:
            yield rows


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


class _Run:
    """What was read of one range and not given yet.

    Args:
        blocks: the range's rows, read as they are asked for.
    """

    def __init__(self, blocks: Iterator[Decoded]) -> None:
        self._blocks = blocks
        self.held: list[Decoded] = []
        self.last = b""

    def more(self) -> bool:
        """Read one block more; whether there was one."""
        block = next(self._blocks, None)
        if block is None:
            return False
        self.held.append(block)
        if block[1] is not None:
            self.last = block[1][-1].as_py()
        return True

    def taken(self, bound: bytes | None, *, is_falling: bool) -> list[Decoded]:
        """The rows that stand no later than a bound, or all; they are no longer held."""
        held, self.held = self.held, []
        if bound is None:
            return held
        found = []
        for rows, behind in held:
            count = _up_to(behind, bound, is_falling=is_falling)
            if count:
                found.append((rows.slice(0, count), behind.slice(0, count)))
            if count < len(behind):
                self.held.append((rows.slice(count), behind.slice(count)))
        return found


def _up_to(behind: pa.Array, bound: bytes, *, is_falling: bool) -> int:
    """How many of some ordered byte strings stand no later than a bound."""
    places = range(len(behind))
    if is_falling:
        return bisect_right(places, False, key=lambda place: behind[place].as_py() < bound)
    return bisect_right(places, bound, key=lambda place: behind[place].as_py())


def _merged(runs: list[_Run], *, is_falling: bool) -> Iterator[pa.RecordBatch]:
    """The rows of all ranges in one order, as soon as no range can have an earlier one."""
    if len(runs) == 1:
        while runs[0].more():
            yield runs[0].held.pop()[0]
        return
    reading = [run for run in runs if run.more()]
    while reading or any(run.held for run in runs):
        reading = _moved_on(reading, is_falling=is_falling)
        ends = [run.last for run in reading]
        bound = (max(ends) if is_falling else min(ends)) if ends else None
        taken = [run.taken(bound, is_falling=is_falling) for run in runs]
        if any(taken):
            yield _in_order(taken, is_falling=is_falling)


def _moved_on(reading: list[_Run], *, is_falling: bool) -> list[_Run]:
    """The ranges that are not at their end, the one that holds up all others a block further."""
    left = list(reading)
    while left:
        run = (max if is_falling else min)(left, key=attrgetter("last"))
        if run.more():
            break
        left.remove(run)
    return left


def _in_order(taken: list[list[Decoded]], *, is_falling: bool) -> pa.RecordBatch:
    """The rows of several ranges, merged by what follows their prefixes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [part for parts in taken for part in parts]
    if len(parts) == 1:
        return parts[0][0]
    counts = [sum(rows.num_rows for rows, _ in parts) for parts in taken]
    # Of rows that are otherwise alike their ranges decide.
    number = np.repeat(np.arange(len(taken), dtype=np.int32), counts)
    behind = pa.concat_arrays([behind for _, behind in parts])
    direction = "descending" if is_falling else "ascending"
    keys: list[Any] = [("behind", direction), ("range", direction)]
    order = pc.sort_indices(pa.table({"behind": behind, "range": number}), sort_keys=keys)
    return pa.concat_batches([rows for rows, _ in parts]).take(order)
