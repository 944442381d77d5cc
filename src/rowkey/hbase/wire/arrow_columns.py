"""Cells as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import CellType, check_timestamp
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.cell_offsets import find_cell_starts
from rowkey.hbase.wire.proto import WireFormatError
from rowkey.messages import pluralize

if TYPE_CHECKING:
    import numpy.typing as npt


def to_binary_array(path: str, value: Any) -> Any:
    """Convert an Arrow array of bytes or text to one contiguous array of binary.

    Raises:
        InvalidArgument: it is not an array of bytes or text, or has 2 GiB or more.
    """
    try:
        array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
        array = array if array.type == pa.binary() else array.cast(pa.binary())
    except (AttributeError, pa.ArrowException) as problem:
        shown = getattr(value, "type", type(value).__name__)
        raise InvalidArgument(
            path, f"the array has the type {shown}", "an Arrow array of binary or text"
        ) from problem
    if isinstance(array, pa.ChunkedArray):
        raise InvalidArgument(
            path, "the array has 2 GiB or more", "less than 2 GiB", "Write fewer rows at a time."
        )
    return array


def check_no_nulls(path: str, array: Any, allowed: str) -> None:
    """Raise an error if an item of an Arrow array is null.

    Args:
        path: name of the argument.
        allowed: the expected value, for the message.

    Raises:
        InvalidArgument: it names the first null.
    """
    if array.null_count:
        number = pc.index(pc.is_null(array), True).as_py()
        raise InvalidArgument(f"{path}[{number}]", "the item is null", allowed)


def check_all_valid(
    path: str, is_valid: npt.NDArray[Any], values: npt.NDArray[Any], problem: str, allowed: str
) -> None:
    """Raise an error for the first item of an array that is not valid.

    Args:
        path: name of the argument.
        is_valid: whether each item is valid.
        values: the number of each item to show: a length or a timestamp.
        problem: what is wrong, with `{:,}` for that number.
        allowed: the expected value, for the message.

    Raises:
        InvalidArgument: it names the item.
    """
    if not is_valid.all():
        number = int(is_valid.argmin())
        raise InvalidArgument(f"{path}[{number}]", problem.format(int(values[number])), allowed)


def to_timestamps(value: Any, count: int) -> Any:
    """Validate timestamps; return a single one unchanged, and several as an int64 array.

    Raises:
        InvalidArgument: one is null or out of range, or there is not one for each row.
    """
    if isinstance(value, int):
        check_timestamp(value)
        return value
    stamps = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
    if isinstance(stamps, pa.Array):
        check_no_nulls("timestamps", stamps, "milliseconds since 1970")
    stamps = np.asarray(stamps)
    if stamps.dtype != np.int64:
        raise InvalidArgument("timestamps", f"the array has the type {stamps.dtype}", "int64")
    check_row_count("timestamps", stamps, count)
    allowed = "0 or more, in milliseconds since 1970"
    check_all_valid("timestamps", stamps >= 0, stamps, "the timestamp is {:,}", allowed)
    return stamps


def check_row_count(path: str, array: Any, count: int) -> None:
    """Raise an error unless an array has one item for each row.

    Raises:
        InvalidArgument: there are more or fewer.
    """
    if len(array) != count:
        raise InvalidArgument(
            path,
            f"the array has {pluralize(len(array), 'item')} for {pluralize(count, 'row')}",
            "one item for each row",
        )


def compute_lengths(array: Any) -> npt.NDArray[Any]:
    """Return the byte length of each item of an Arrow binary array, 0 for null."""
    lengths = pc.binary_length(array)
    filled = lengths.fill_null(0) if lengths.null_count else lengths
    numbers: npt.NDArray[Any] = filled.to_numpy().astype(np.int64)
    return numbers


def collapse_equal(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of the first number if all numbers are equal, else the whole array."""
    return numbers[:1] if len(numbers) and (numbers == numbers[0]).all() else numbers


def to_piece(table: npt.NDArray[Any]) -> Any:
    """Convert a two-dimensional byte array to an argument of `join_lines`; one line to bytes."""
    return table.tobytes() if len(table) == 1 else to_binary_lines(table)


def to_binary_lines(table: npt.NDArray[Any]) -> Any:
    """Convert the lines of a two-dimensional byte array to an Arrow array, without a copy."""
    count, width = table.shape
    places = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(np.ascontiguousarray(table))]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def join_lines(*pieces: Any, nulls: str = "emit_null") -> Any:
    """Concatenate the items of several Arrow binary arrays, item by item.

    Args:
        pieces: one or more arrays of the same length, and bytes that are the same in each line.
        nulls: whether a null piece makes its line null ("emit_null"), or is left out ("skip").

    Cost: 20 ns a line and piece; a third of it if the lines of each array have equal lengths.
    """
    widths = [_find_common_width(piece) for piece in pieces]
    if None not in widths:
        return to_binary_lines(_fill_table(pieces, widths))
    columns = [
        pa.scalar(piece, pa.binary()) if isinstance(piece, bytes) else piece
        for piece in (*pieces, b"")
    ]
    return pc.binary_join_element_wise(*columns, null_handling=nulls)


def _find_common_width(piece: Any) -> int | None:
    """Return the byte length that all items of an array share, or None if they differ."""
    if isinstance(piece, bytes):
        return len(piece)
    if piece.null_count or not len(piece):
        return None
    widths = np.diff(_get_offsets(piece))
    return int(widths[0]) if (widths == widths[0]).all() else None


def _fill_table(pieces: tuple[Any, ...], widths: list[Any]) -> npt.NDArray[Any]:
    """Concatenate pieces of fixed widths to a two-dimensional byte array, a line for each item."""
    count = max(len(piece) for piece in pieces if not isinstance(piece, bytes))
    table = np.empty((count, sum(widths)), np.uint8)
    at = 0
    for piece, width in zip(pieces, widths, strict=True):
        if width:
            # One element a line: NumPy copies those faster than lines of single bytes.
            line_type = np.dtype(("V", width))
            source = piece if isinstance(piece, bytes) else get_data_bytes(piece)
            np.ndarray((count,), line_type, table.data, at, table.strides[:1])[:] = np.frombuffer(
                source, line_type
            )
        at += width
    return table


def _get_offsets(array: Any) -> npt.NDArray[Any]:
    """Return the offset of each item of an Arrow binary array in its buffer, and the end."""
    places = array.buffers()[1]
    if not places:
        return np.zeros(1, np.int32)
    return np.frombuffer(places, np.int32)[array.offset : array.offset + len(array) + 1]


def get_data_bytes(array: Any) -> npt.NDArray[Any]:
    """Return the bytes of all items of an Arrow binary array, joined, without a copy."""
    bounds = _get_offsets(array)
    return np.frombuffer(array.buffers()[2] or b"", np.uint8)[bounds[0] : bounds[-1]]


def compute_varint_width(number: int) -> int:
    """Return the number of bytes of a number's protobuf varint.

    >>> compute_varint_width(127), compute_varint_width(128)
    (1, 2)
    """
    return max(1, (number.bit_length() + 6) // 7)


def write_varints(table: npt.NDArray[Any], numbers: Any) -> None:
    """Fill each line of a two-dimensional byte array with a protobuf varint of its length.

    Missing bits are zeros: the varint may be longer than needed, and is decoded as usual.

    Args:
        numbers: 0 or more; one for each line, or one for all.

    Source: protobuf "Encoding"; CodedInputStream.readRawVarint32 takes up to 10 bytes.
    """
    last = table.shape[1] - 1
    for place in range(last + 1):
        table[:, place] = (numbers >> 7 * place) & 0x7F | (0x80 if place < last else 0)


_KEY_OFFSET = 12
"""Bytes before the key: the lengths of cell, key and value, 4 each. Source: KeyValue."""

_ROW_OFFSET = _KEY_OFFSET + 2
"""Bytes before the row: its own length as well."""

_TAIL_BYTES = 9
"""Bytes of a key after its qualifier: timestamp and type."""

_KEY_FIXED_BYTES = 2 + 1 + _TAIL_BYTES
"""Bytes of a key without row, family and qualifier. Source: KeyValue."""

_LENGTH_FIELDS = (("key", ">u4"), ("value", ">u4"), ("row", ">u2"))

_MAX_BLOCK_BYTES = 2**31 - 1
"""The limit of Arrow's 32-bit offsets; frames of a server are far smaller, 256 MiB at most."""

_PIECE_NAMES = ("row", "length of the family", "family", "qualifier", "tail", "value", "rest")
_ROW, _, _FAMILY, _QUALIFIER, _TAIL, _VALUE, _ = range(len(_PIECE_NAMES))

_CELL_TYPES = tuple(int(cell_type) for cell_type in CellType)


def to_columns(block: bytes | memoryview, families: Sequence[str]) -> pa.RecordBatch:
    """Decode a cell block of puts to the columns row, family, qualifier, timestamp, value.

    Args:
        block: cells of KeyValueCodec; their tags are left out.
        families: every family that may occur, in the order of its numbers in the column.

    Returns:
        Columns with memory of their own; family is a dictionary of text, timestamp is int64, the
        others are binary. An empty block has no lines.

    Raises:
        WireFormatError: the lengths of a cell contradict each other, or its type is unknown.
        InvalidArgument: the block holds a delete or another family, or has 2 GiB or more.

    Cost: 0.2..0.3 µs a cell of 150 bytes, of any lengths.

    Source: KeyValueCodec; KeyValue.

    >>> cell = "000000190000001000000001000272310164717fffffffffffffff0476"
    >>> to_columns(bytes.fromhex(cell), ["d"]).to_pylist()[0]["value"]
    b'v'
    """
    cells = _split_cells(block)
    _check_puts(cells)
    columns = [
        cells.take_piece(_ROW),
        _encode_families(cells.take_piece(_FAMILY), families),
        cells.take_piece(_QUALIFIER),
        pa.array(cells.timestamps),
        cells.take_piece(_VALUE),
    ]
    return pa.RecordBatch.from_arrays(columns, ["row", "family", "qualifier", "timestamp", "value"])


@dataclass(frozen=True, slots=True)
class _SplitCells:
    """The cells of a block, split into row, family, qualifier, value and so on."""

    pieces: Any
    timestamps: npt.NDArray[Any]
    types: npt.NDArray[Any]

    def take_piece(self, number: int) -> Any:
        """Return one piece of each cell, such as `_ROW`, as an Arrow binary array."""
        return self.pieces.take(
            np.arange(number, len(self.pieces), len(_PIECE_NAMES), dtype=np.uint32)
        )


def _split_cells(block: bytes | memoryview) -> _SplitCells:
    """Split the cells of a block into pieces, and validate their lengths.

    Raises:
        WireFormatError: the lengths of a cell contradict each other.
        InvalidArgument: the block is too large.
    """
    if len(block) > _MAX_BLOCK_BYTES:
        what = f"the cell block has {len(block):,} bytes"
        raise InvalidArgument(
            "block", what, f"at most {_MAX_BLOCK_BYTES:,} bytes", "Read fewer rows at a time."
        )
    ends = find_cell_starts(block)
    bounds = _find_piece_bounds(block, ends[:-1], ends[1:])
    places = np.append(bounds.ravel(), np.int32(len(block)))
    buffers = [None, pa.py_buffer(places), pa.py_buffer(block)]
    cut = pa.Array.from_buffers(pa.binary(), bounds.size, buffers)
    tails = _read_fields(block, [("timestamp", ">i8"), ("kind", "u1")], bounds[:, _TAIL])
    return _SplitCells(cut, tails["timestamp"].astype(np.int64), tails["kind"])


def _find_piece_bounds(
    block: bytes | memoryview, starts: npt.NDArray[Any], stops: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return the start of each piece of each cell: a line for each cell, a column for each piece.

    Raises:
        WireFormatError: the lengths of a cell contradict each other.
    """
    _check_cells(
        stops - starts >= _KEY_OFFSET + _KEY_FIXED_BYTES,
        starts,
        "is shorter than an empty KeyValue",
    )
    heads = _read_fields(block, [("cell", ">u4"), *_LENGTH_FIELDS], starts)
    key, value, row = (heads[name].astype(np.int64) for name, _ in _LENGTH_FIELDS)
    values = starts + _KEY_OFFSET + key
    ends = values + value
    tails = values - _TAIL_BYTES
    families = starts + _ROW_OFFSET + row
    _check_cells(
        (families < tails) & (ends <= stops), starts, "has a key or value longer than the cell"
    )
    qualifiers = families + 1 + np.frombuffer(block, np.uint8)[families]
    _check_cells(qualifiers <= tails, starts, "has a column family longer than its key")
    _check_tags(block, starts, ends, stops)
    bounds = np.empty((len(starts), len(_PIECE_NAMES)), np.int32)
    pieces = (starts + _ROW_OFFSET, families, families + 1, qualifiers, tails, values, ends)
    for number, places in enumerate(pieces):
        bounds[:, number] = places
    return bounds


def _check_tags(
    block: bytes | memoryview,
    starts: npt.NDArray[Any],
    ends: npt.NDArray[Any],
    stops: npt.NDArray[Any],
) -> None:
    """Raise an error if a cell has bytes after its value that are not tags.

    Raises:
        WireFormatError: other bytes follow.

    Source: KeyValueCodecWithTags: u16 length, tags.
    """
    tagged = (stops - ends).nonzero()[0]
    if len(tagged):
        starts, ends, stops = starts[tagged], ends[tagged], stops[tagged]
        _check_cells(ends + 2 <= stops, starts, "has 1 byte after its value, too few for tags")
        tag_bytes = _read_fields(block, [("tags", ">u2")], ends)["tags"]
        _check_cells(
            ends + 2 + tag_bytes == stops, starts, "has tags of another length than announced"
        )


def _read_fields(
    block: bytes | memoryview, fields: list[tuple[str, str]], places: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Read a struct of numbers, `fields`, at each of some offsets of a cell block."""
    layout = np.dtype(fields)
    if not len(places):
        return np.empty(0, layout)
    # Read as plain bytes: NumPy takes fields one by one much more slowly.
    bare = np.dtype(("V", layout.itemsize))
    everywhere: npt.NDArray[Any] = np.ndarray(
        (len(block) - bare.itemsize + 1,), bare, block, 0, (1,)
    )
    found: npt.NDArray[Any] = everywhere[places].view(layout)
    return found


def _check_cells(is_valid: npt.NDArray[Any], starts: npt.NDArray[Any], what: str) -> None:
    """Raise an error for the first cell that is not valid; `what` is the problem.

    Raises:
        WireFormatError: it names the offset of the cell.
    """
    if not is_valid.all():
        raise WireFormatError(f"the cell at byte {int(starts[is_valid.argmin()]):,} {what}")


def _check_puts(cells: _SplitCells) -> None:
    """Raise an error unless all cells are puts.

    Raises:
        WireFormatError: the type of one is unknown.
        InvalidArgument: one is a delete.
    """
    for number in cells.types[cells.types != CellType.PUT][:1].tolist():
        if number not in _CELL_TYPES:
            allowed = ", ".join(map(str, _CELL_TYPES))
            raise WireFormatError(f"a cell has the type {number}", f"one of {allowed}")
        what = f"the cells contain a delete marker, {CellType(number).name}"
        raise InvalidArgument(
            "block", what, "puts only", "Scan with raw=False, or read the rows one by one."
        )


def _encode_families(names: Any, families: Sequence[str]) -> Any:
    """Convert the family names of cells to an Arrow dictionary array of text.

    Raises:
        InvalidArgument: a cell has another family.
    """
    known_names = pa.array([family.encode() for family in families], pa.binary())
    numbers = pc.index_in(names, value_set=known_names)
    if numbers.null_count:
        unknown_name = names.filter(pc.is_null(numbers))[0].as_py()
        raise InvalidArgument(
            "families",
            "the cells to convert contain the column family "
            f"{unknown_name.decode(errors='replace')!r}",
            f"only {', '.join(families)}, as named in the call",
            "Name this family too, or do not read it.",
        )
    return pa.DictionaryArray.from_arrays(numbers, pa.array(families, pa.string()))
