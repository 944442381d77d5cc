"""Arrow and NumPy arrays as bytes of the protocol: validated, measured, and joined line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import check_timestamp
from rowkey.errors import InvalidArgument
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
        array: the items.
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
        table: the lines.
        numbers: 0 or more; one for each line, or one for all.

    Source: protobuf "Encoding"; CodedInputStream.readRawVarint32 takes up to 10 bytes.
    """
    last = table.shape[1] - 1
    for place in range(last + 1):
        table[:, place] = (numbers >> 7 * place) & 0x7F | (0x80 if place < last else 0)
