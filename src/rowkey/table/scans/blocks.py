"""Scans by blocks of cells that are decoded together, as Arrow columns or as rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.engines import Cursor
from rowkey.plan import KeyRange
from rowkey.rows import UNDECLARED_NAME
from rowkey.table.scans.prefetch import read_ahead
from rowkey.table.scans.scan_items import align_to_events
from rowkey.table.scans.scan_ranges import list_remaining_ranges, open_cursors

if TYPE_CHECKING:
    from rowkey.table.scans.scan_state import ScanState

    KeyedRows = tuple[pa.RecordBatch, pa.Array]
    """Rows, and the bytes of each row key after the prefix of its range."""

BLOCK_ROWS = 8_192
"""Rows of a block: from there on larger ones are not faster."""
MIN_BLOCK_ROWS = 512
"""Rows of the smallest block, whose fixed cost is 0.5 ms."""


def resize_batches(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches in batches of an equal number of rows, the last one smaller."""
    buffer: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        buffer.append(batch)
        count += batch.num_rows
        if count < rows:
            continue
        joined_batch = pa.concat_batches(buffer)
        full = count - count % rows
        yield from (joined_batch.slice(start, rows) for start in range(0, full, rows))
        buffer, count = [joined_batch.slice(full)], count - full
    if count:
        yield pa.concat_batches(buffer)


def build_schema(scan: ScanState) -> pa.Schema:
    """Return the Arrow schema of a scan: every field, in its type, then undeclared cells."""
    columns = [(name, field.type.build_arrow_type()) for name, field in scan.fields.items()]
    if scan.returns_undeclared:
        columns.append((UNDECLARED_NAME, pa.map_(pa.string(), pa.binary())))
    return pa.schema(columns)


def batch_rows(
    scan: ScanState, rows: Iterator[dict[str, Any]], size: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a scan, read one by one, as Arrow batches of a number of rows.

    Args:
        size: the rows of a batch; as many as of a block if None.
    """
    schema = build_schema(scan)
    while some := list(islice(rows, size or BLOCK_ROWS)):
        if scan.returns_undeclared:
            some = [{**row, UNDECLARED_NAME: [*row[UNDECLARED_NAME].items()]} for row in some]
        yield pa.RecordBatch.from_pylist(some, schema)


def read_blocks(
    scan: ScanState, limit: int | None
) -> Generator[pa.RecordBatch, None, tuple[bool, int | None]]:
    """Yield the rows of all ranges as batches, merged; one block of each range is in memory.

    It ends once the bucket counts of the table have changed. The last block that was read counts as
    not read then: its rows may have been moved while it was read.

    Returns:
        Whether it has ended so, and the rows that are left of the limit.
    """
    rows_left, batch = limit, None
    if limit == 0:
        return False, 0
    with ExitStack() as stack:
        merged = _merge_runs(_open_runs(scan, stack, limit), is_descending=scan.is_reverse)
        while True:
            rows = next(merged, None)
            if scan.is_outdated:
                break
            if rows is None:
                return False, rows_left
            batch = rows if rows_left is None else rows.slice(0, rows_left)
            yield batch
            if rows_left is not None:
                rows_left -= batch.num_rows
                if not rows_left:
                    return False, 0
    scan.resume_after(batch)
    return True, rows_left


def count_rows(scan: ScanState) -> int | None:
    """Return how many rows a scan without a limit has, without merging its ranges.

    None if the bucket counts of the table have changed meanwhile: rows must be counted one by one.
    """
    ranges = list_remaining_ranges(scan)
    with ExitStack() as stack:
        read = [
            _decode_blocks(scan, cursor, BLOCK_ROWS) for cursor in open_cursors(scan, stack, ranges)
        ]
        count = 0
        for rows in chain.from_iterable(read_ahead(read, scan.threads, stack)):
            count += rows.num_rows
            if scan.is_outdated:
                break
        return None if scan.is_outdated else count


def _open_runs(scan: ScanState, stack: ExitStack, limit: int | None) -> list[_RangeBuffer]:
    """Open the ranges of a scan, and return a buffer of rows for each."""
    ranges = list_remaining_ranges(scan)
    # Each range gives its share of a limit, if the rows are spread evenly.
    size = (
        BLOCK_ROWS
        if limit is None
        else min(BLOCK_ROWS, max(MIN_BLOCK_ROWS, 2 * limit // max(1, len(ranges))))
    )
    cursors = open_cursors(scan, stack, ranges)
    read = [_read_keyed_blocks(scan, one, c, size) for one, c in zip(ranges, cursors, strict=True)]
    # Closed before the cursors, which threads may read until then.
    return [_RangeBuffer(blocks) for blocks in read_ahead(read, scan.threads, stack)]


def _read_keyed_blocks(
    scan: ScanState, key_range: KeyRange, cursor: Cursor, size: int
) -> Iterator[KeyedRows]:
    """Yield the rows of a range that meet the conditions, and the key suffixes to merge them by."""
    key, is_alone = scan.design.key, scan.plan.fan_out == 1
    for rows in _decode_blocks(scan, cursor, size):
        # Rows are merged by what follows the prefix, so that any salt will do.
        salts = np.zeros(rows.num_rows, np.int64) if key.is_salted else None
        keys = None if is_alone else key.encode_valid_batch(rows, salts=salts)
        yield rows, None if keys is None else _strip_prefixes(keys, len(key_range.prefix))


def _decode_blocks(scan: ScanState, cursor: Cursor, size: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a range that meet the conditions of the scan, decoded by blocks."""
    prefix, keeps = scan.design.layout.qualifier_prefix, scan.residual
    blocks = cursor.read_blocks(size)
    if scan.is_paged:
        assert prefix is not None
        blocks = align_to_events(blocks, prefix)
    for block in blocks:
        rows = scan.decode_block(block)
        if keeps:
            rows = rows.filter(keeps.compute_mask(rows))
        if rows.num_rows:
            yield rows


def _strip_prefixes(keys: pa.Array, prefix_size: int) -> pa.Array:
    """Return row keys without their first bytes; no key is shorter than these."""
    if not prefix_size:
        return keys
    _, ends, data = keys.buffers()
    starts = np.frombuffer(ends, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    key_bytes = np.frombuffer(data, np.uint8)[starts[0] : starts[-1]]
    is_kept = np.ones(len(key_bytes), np.bool_)
    is_kept[(starts[:-1] - starts[0])[:, None] + np.arange(prefix_size)] = False
    left = starts - starts[0] - prefix_size * np.arange(len(starts), dtype=np.int32)
    buffers = [None, pa.py_buffer(left.astype(np.int32)), pa.py_buffer(key_bytes[is_kept])]
    return pa.Array.from_buffers(pa.binary(), len(keys), buffers)


class _RangeBuffer:
    """Buffers the rows of one range that are read and not yet returned.

    Args:
        blocks: the rows of the range, read when they are needed.
    """

    def __init__(self, blocks: Iterator[KeyedRows]) -> None:
        self._blocks = blocks
        self.pending: list[KeyedRows] = []
        self.last_key = b""

    def read_block(self) -> bool:
        """Read one more block of the range; return False at its end."""
        block = next(self._blocks, None)
        if block is None:
            return False
        self.pending.append(block)
        if block[1] is not None:
            self.last_key = block[1][-1].as_py()
        return True

    def take_rows(self, bound: bytes | None, *, is_descending: bool) -> list[KeyedRows]:
        """Remove and return the buffered rows up to a bound; all rows if it is None."""
        pending, self.pending = self.pending, []
        if bound is None:
            return pending
        rows_up_to_bound = []
        for rows, suffixes in pending:
            count = _count_up_to(suffixes, bound, is_descending=is_descending)
            if count:
                rows_up_to_bound.append((rows.slice(0, count), suffixes.slice(0, count)))
            if count < len(suffixes):
                self.pending.append((rows.slice(count), suffixes.slice(count)))
        return rows_up_to_bound


def _count_up_to(suffixes: pa.Array, bound: bytes, *, is_descending: bool) -> int:
    """Return how many ordered key suffixes are not after a bound."""
    places = range(len(suffixes))
    if is_descending:
        return bisect_right(places, False, key=lambda place: suffixes[place].as_py() < bound)
    return bisect_right(places, bound, key=lambda place: suffixes[place].as_py())


def _merge_runs(runs: list[_RangeBuffer], *, is_descending: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all ranges in order, as soon as no range can have an earlier one."""
    if len(runs) == 1:
        while runs[0].read_block():
            yield runs[0].pending.pop()[0]
        return
    reading = [run for run in runs if run.read_block()]
    while reading or any(run.pending for run in runs):
        ends = [run.last_key for run in reading]
        bound = (max(ends) if is_descending else min(ends)) if ends else None
        taken = [run.take_rows(bound, is_descending=is_descending) for run in runs]
        if any(taken):
            yield _merge_taken_rows(taken, is_descending=is_descending)
        reading = _advance_runs(reading, is_descending=is_descending)


def _advance_runs(active_runs: list[_RangeBuffer], *, is_descending: bool) -> list[_RangeBuffer]:
    """Read a block of the least advanced range; return the ranges that are not at their end."""
    unfinished_runs = list(active_runs)
    while unfinished_runs:
        run = (max if is_descending else min)(unfinished_runs, key=attrgetter("last_key"))
        if run.read_block():
            break
        unfinished_runs.remove(run)
    return unfinished_runs


def _merge_taken_rows(taken_rows: list[list[KeyedRows]], *, is_descending: bool) -> pa.RecordBatch:
    """Return the rows of several ranges, merged by their key suffixes."""
    parts = [part for parts in taken_rows for part in parts]
    if len(parts) == 1:
        return parts[0][0]
    counts = [sum(rows.num_rows for rows, _ in parts) for parts in taken_rows]
    # Rows that are otherwise equal are ordered by their ranges.
    number = np.repeat(np.arange(len(taken_rows), dtype=np.int32), counts)
    suffixes = pa.concat_arrays([suffixes for _, suffixes in parts])
    direction = "descending" if is_descending else "ascending"
    keys: list[Any] = [("suffix", direction), ("range", direction)]
    order = pc.sort_indices(pa.table({"suffix": suffixes, "range": number}), sort_keys=keys)
    return pa.concat_batches([rows for rows, _ in parts]).take(order)
