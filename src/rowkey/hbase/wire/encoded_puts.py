"""Encodes the puts of many Arrow rows at once, and splits them by regions.

Rows are encoded in key order. So the rows of each region are adjacent, and their part of a request
is two slices of bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import CellBlock
from rowkey.hbase.wire.arrow_columns import (
    collapse_equal,
    compute_lengths,
    compute_varint_width,
    get_data_bytes,
    join_lines,
    to_piece,
    write_varints,
)
from rowkey.hbase.wire.block_columns import (
    BlockColumn,
    compute_row_sizes,
    validate_column,
    validate_rows,
)

if TYPE_CHECKING:
    import numpy.typing as npt

_INDEX_BYTES = 5
"""Bytes of each action's index: the longest varint of 32 bits. Source: protobuf."""

_KEY_FIXED_BYTES = 12
"""Bytes of a key without its parts: 2 + 1 + 8 + 1. Source: KeyValue."""

_PUT, _FSYNC_WAL = 2, 4
"""Source: MutationProto.MutationType and Durability."""

_PORTION_BYTES = 16 << 20
"""Bytes of cells that are joined at once; far below the 2 GiB of an Arrow array."""


class PutSlice(NamedTuple):
    """The part of a multi request that holds some rows.

    Args:
        actions: the fields 3 of a RegionAction, one for each row; after the region's field they
            are the message.
        cells: their cells of KeyValueCodec.
    """

    actions: bytes
    cells: bytes


@dataclass(frozen=True, slots=True)
class EncodedPuts:
    """Encoded puts in the order of their row keys.

    Args:
        rows: Arrow binary array of their row keys, ascending; equal ones keep their order.
        numbers: the number of each row in the input, from 0.
        actions: the bytes of all actions.
        action_bounds: the start of each action, and the end.
        index_offset: offset of the index in an action.
        cells: the bytes of all cells.
        cell_bounds: the start of the cells of each row, and the end.
    """

    rows: Any
    numbers: npt.NDArray[Any]
    actions: npt.NDArray[Any]
    action_bounds: npt.NDArray[Any]
    index_offset: int
    cells: npt.NDArray[Any]
    cell_bounds: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.numbers)

    def count_below(self, key: bytes) -> int:
        """Return the number of puts whose row key is smaller than a key.

        Cost: some µs.
        """
        return bisect_left(range(len(self)), key, key=lambda place: self.rows[place].as_py())

    def find_request_end(self, start: int, stop: int, max_bytes: int, max_actions: int) -> int:
        """Return the end of the longest request that begins with the put `start`.

        Args:
            start: the first put.
            stop: the end, above `start`.
            max_bytes: most bytes of actions and cells; a single put may have more.
            max_actions: most puts, 1 or more.
        """
        stop = min(stop, start + max_actions)
        used = self.cell_bounds[start : stop + 1] + self.action_bounds[start : stop + 1]
        return start + max(1, int(np.searchsorted(used, used[0] + max_bytes, "right")) - 1)

    def slice_puts(self, start: int, stop: int, first_index: int = 1) -> PutSlice:
        """Return the part of a multi request for the puts `start` to `stop`.

        Args:
            start: the first put.
            stop: the end.
            first_index: the index of the first action, 1 or more, since a server answers 0 in the
                same way as no index; the next ones count up.

        Cost: 50 ns a put, and a copy of its bytes.
        """
        bounds = self.action_bounds[start : stop + 1]
        actions = self.actions[bounds[0] : bounds[-1]].copy()
        indexes = np.empty((stop - start, _INDEX_BYTES), np.uint8)
        write_varints(indexes, np.arange(first_index, first_index + stop - start))
        places = bounds[:-1] - bounds[0] + self.index_offset
        for place in range(_INDEX_BYTES):
            actions[places + place] = indexes[:, place]
        cells = self.cells[self.cell_bounds[start] : self.cell_bounds[stop]]
        return PutSlice(actions.tobytes(), cells.tobytes())


def encode_puts(blocks: Sequence[CellBlock], *, sync: bool = False) -> EncodedPuts:
    """Encode one put for each row that has a value in any column.

    Args:
        blocks: columns of the same rows, in any order; a row's cells keep the order of the columns.
            All of them are encoded at once, which takes twice their memory.
        sync: whether the server syncs them to disk before it acknowledges them.

    Returns:
        Puts in key order. `LATEST` stays as it is: the server replaces it by the current time.

    Raises:
        InvalidArgument: a row, timestamp or cell cannot be stored (the error has its row's number);
            or columns have different rows or lengths, or a family is not valid.

    Cost: 0.2..0.35 µs a cell of 150 bytes; 0.4 µs a row more if the keys do not ascend.

    Source: MultiRequest, MutationProto, KeyValueCodec.
    """
    rows = validate_rows(blocks) if blocks else pa.array([], pa.binary())
    columns = [validate_column(block, len(rows)) for block in blocks]
    sizes = compute_row_sizes(rows, columns)
    places = _select_nonempty(_sort_by_key(rows), columns)
    if len(places) < len(rows) or not (places[:-1] < places[1:]).all():
        taken = pa.array(places)
        rows, columns = rows.take(taken), [column.take_rows(taken) for column in columns]
    bounds = np.append(np.int64(0), sizes[places].cumsum())
    cells = np.empty(bounds[-1], np.uint8)
    for start, stop in _iter_portions(bounds):
        part = [column.slice_rows(start, stop) for column in columns]
        cells[bounds[start] : bounds[stop]] = _encode_cells(rows.slice(start, stop - start), part)
    return EncodedPuts(
        rows, places, *_encode_actions(rows, columns, bounds, sync=sync), cells, bounds
    )


def _sort_by_key(rows: Any) -> npt.NDArray[Any]:
    """Return the indexes of the rows in key order; equal keys keep their order."""
    if len(rows) < 2 or not pc.any(pc.less(rows[1:], rows[:-1])).as_py():
        return np.arange(len(rows))
    order: npt.NDArray[Any] = pc.array_sort_indices(rows).to_numpy().astype(np.int64)
    return order


def _select_nonempty(places: npt.NDArray[Any], columns: Sequence[BlockColumn]) -> npt.NDArray[Any]:
    """Return the indexes of the rows that have a value in any column."""
    if any(not column.values.null_count for column in columns):
        return places
    holds = np.zeros(len(places), np.bool_)
    for column in columns:
        holds |= column.find_valid_rows()
    nonempty: npt.NDArray[Any] = places[holds[places]]
    return nonempty


def _iter_portions(bounds: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows (start, stop) of at most 16 MiB, which are encoded together."""
    start, end = 0, len(bounds) - 1
    while start < end:
        stop = int(np.searchsorted(bounds, bounds[start] + _PORTION_BYTES, "right")) - 1
        stop = max(start + 1, stop)
        yield start, stop
        start = stop


def _encode_cells(rows: Any, columns: Sequence[BlockColumn]) -> npt.NDArray[Any]:
    """Encode the cells of some rows, row by row."""
    lengths = compute_lengths(rows)
    pieces = [
        join_lines(_encode_heads(lengths, column), rows, *column.build_middle(), column.values)
        for column in columns
    ]
    return get_data_bytes(pieces[0] if len(pieces) == 1 else join_lines(*pieces, nulls="skip"))


def _encode_heads(rows: npt.NDArray[Any], column: BlockColumn) -> Any:
    """Encode the bytes before each row key: lengths of cell, key, value and row key."""
    layout = [("cell", ">u4"), ("key", ">u4"), ("value", ">u4"), ("row", ">u2")]
    rows, values = collapse_equal(rows), collapse_equal(compute_lengths(column.values))
    keys = collapse_equal(_KEY_FIXED_BYTES + rows + column.compute_name_bytes())
    cells = 8 + keys + values
    heads = np.empty(len(cells), layout)
    for name, numbers in (("cell", cells), ("key", keys), ("value", values), ("row", rows)):
        heads[name] = numbers
    return to_piece(heads.view(np.uint8).reshape(len(heads), -1))


def _encode_actions(
    rows: Any, columns: Sequence[BlockColumn], cells: npt.NDArray[Any], *, sync: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Encode the actions of all rows; return them, their bounds, and the offset of the index.

    All varints of a field have the same length, so actions differ only by their row keys.
    """
    lengths = compute_lengths(rows)
    counts = sum((column.find_valid_rows() for column in columns), np.zeros(len(rows), np.int64))
    of_row, of_count = _find_varint_width(lengths), _find_varint_width(counts)
    plain = [(0x10, np.array([_PUT]), 1)]
    if sync:
        plain.append((0x30, np.array([_FSYNC_WAL]), 1))
    mutations = lengths + (1 + of_row + 2 * len(plain) + 1 + of_count)
    of_mutation = _find_varint_width(mutations)
    wholes = mutations + (1 + _INDEX_BYTES + 1 + of_mutation)
    of_whole = _find_varint_width(wholes)
    bounds = np.append(np.int64(0), (wholes + 1 + of_whole).cumsum())
    actions = np.empty(bounds[-1], np.uint8)
    for start, stop in _iter_portions(cells):
        heads = _encode_fields(
            (0x1A, wholes[start:stop], of_whole),
            (0x08, np.zeros(1, np.int64), _INDEX_BYTES),
            (0x12, mutations[start:stop], of_mutation),
            (0x0A, lengths[start:stop], of_row),
        )
        tails = _encode_fields(*plain, (0x40, counts[start:stop], of_count))
        part = join_lines(heads, rows.slice(start, stop - start), tails)
        actions[bounds[start] : bounds[stop]] = get_data_bytes(part)
    return actions, bounds, 1 + of_whole + 1


def _find_varint_width(numbers: npt.NDArray[Any]) -> int:
    """Return the number of bytes of the longest varint of some numbers."""
    return compute_varint_width(int(numbers.max(initial=0)))


def _encode_fields(*fields: tuple[int, npt.NDArray[Any], int]) -> Any:
    """Encode the same protobuf fields for many rows; a field is (tag, numbers, varint width)."""
    columns = [collapse_equal(numbers) for _, numbers, _ in fields]
    shape = max(map(len, columns)), sum(1 + width for _, _, width in fields)
    table = np.empty(shape, np.uint8)
    at = 0
    for (tag, _, width), numbers in zip(fields, columns, strict=True):
        table[:, at] = tag
        write_varints(table[:, at + 1 : at + 1 + width], numbers)
        at += 1 + width
    return to_piece(table)
