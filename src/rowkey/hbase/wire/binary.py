"""Arrow and NumPy arrays as bytes of the protocol: checked, measured, joined a line at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import check_timestamp
from rowkey.errors import Refused

if TYPE_CHECKING:
    import numpy.typing as npt


def as_binary(path: str, given: Any) -> Any:
    """An Arrow array of bytes or text as one of plain binary, in one piece.

    Raises:
        Refused: it is no array of bytes, or has 2 GiB of them.
    """
    import pyarrow as pa

    try:
        array = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
        array = array if array.type == pa.binary() else array.cast(pa.binary())
    except (AttributeError, pa.ArrowException) as problem:
        shown = getattr(given, "type", type(given).__name__)
        raise Refused(path, f"it is of {shown}", "an Arrow array of binary") from problem
    if isinstance(array, pa.ChunkedArray):
        raise Refused(path, "it has 2 GiB or more", "less", "Give some of the rows at a time.")
    return array


def check_filled(path: str, array: Any, allowed: str) -> None:
    """Raise if a line of an Arrow array is null.

    Args:
        path: what the lines are of.
        array: the lines.
        allowed: what is expected of each.

    Raises:
        Refused: naming the first.
    """
    import pyarrow.compute as pc

    if array.null_count:
        number = pc.index(pc.is_null(array), True).as_py()
        raise Refused(f"{path}[{number}]", "it is null", allowed)


def check_each(path: str, holds: npt.NDArray[Any], told: npt.NDArray[Any], allowed: str) -> None:
    """Raise for the first line of which something does not hold.

    Args:
        path: what the lines are of.
        holds: whether it holds, for each line.
        told: what to tell of each line: a length or a timestamp.
        allowed: what holds of the others.

    Raises:
        Refused: naming the line.
    """
    if not holds.all():
        number = int(holds.argmin())
        raise Refused(f"{path}[{number}]", f"{int(told[number]):,} is out of range", allowed)


def as_stamps(given: Any, count: int) -> Any:
    """Timestamps as they are if they are one number, else as an int64 array.

    Raises:
        Refused: one is null, is no timestamp, or there is another number of them.
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(given, int):
        check_timestamp(given)
        return given
    stamps = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
    if isinstance(stamps, pa.Array):
        check_filled("timestamps", stamps, "milliseconds")
    stamps = np.asarray(stamps)
    if stamps.dtype != np.int64:
        raise Refused("timestamps", f"they are of {stamps.dtype}", "int64")
    check_count("timestamps", stamps, count)
    check_each("timestamps", stamps >= 0, stamps, "0 or more, in ms")
    return stamps


def check_count(path: str, array: Any, count: int) -> None:
    """Raise unless there is one for each row.

    Raises:
        Refused: there are more or fewer.
    """
    if len(array) != count:
        raise Refused(path, f"{len(array):,} for {count:,} rows", "one a row")


def lengths_of(array: Any) -> npt.NDArray[Any]:
    """Bytes of each line of an Arrow binary array as int64, 0 where it is null."""
    import numpy as np
    import pyarrow.compute as pc

    lengths = pc.binary_length(array)
    filled = lengths.fill_null(0) if lengths.null_count else lengths
    numbers: npt.NDArray[Any] = filled.to_numpy().astype(np.int64)
    return numbers


def even(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers, or one of them where all are the same: what is made of them is then made once."""
    return numbers[:1] if len(numbers) and (numbers == numbers[0]).all() else numbers


def as_piece(table: npt.NDArray[Any]) -> Any:
    """The lines of a two-dimensional array of bytes, for `joined`; as bytes if there is but one."""
    return table.tobytes() if len(table) == 1 else as_lines(table)


def as_lines(table: npt.NDArray[Any]) -> Any:
    """The lines of a two-dimensional array of bytes as an Arrow binary array; nothing is copied."""
    import numpy as np
    import pyarrow as pa

    count, width = table.shape
    places = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(np.ascontiguousarray(table))]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def joined(*pieces: Any, nulls: str = "emit_null") -> Any:
    """Arrow binary arrays joined a line at a time.

    Args:
        pieces: arrays of the same length, at least one, and bytes that are the same in each line.
        nulls: whether a line with a null in it is null ("emit_null"), or lacks it ("skip").

    Cost: 20 ns a line and piece; a third of it where no array has lines of unlike lengths.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    widths = [_width_of(piece) for piece in pieces]
    if None not in widths:
        return as_lines(_side_by_side(pieces, widths))
    columns = [
        pa.scalar(piece, pa.binary()) if isinstance(piece, bytes) else piece
        for piece in (*pieces, b"")
    ]
    return pc.binary_join_element_wise(*columns, null_handling=nulls)


def _width_of(piece: Any) -> int | None:
    """The length of all lines, if it is one."""
    import numpy as np

    if isinstance(piece, bytes):
        return len(piece)
    if piece.null_count or not len(piece):
        return None
    widths = np.diff(_bounds_of(piece))
    return int(widths[0]) if (widths == widths[0]).all() else None


def _side_by_side(pieces: tuple[Any, ...], widths: list[Any]) -> npt.NDArray[Any]:
    """Pieces of known lengths in the lines of one table."""
    import numpy as np

    count = max(len(piece) for piece in pieces if not isinstance(piece, bytes))
    table = np.empty((count, sum(widths)), np.uint8)
    at = 0
    for piece, width in zip(pieces, widths, strict=True):
        if width:
            # As one element a line: NumPy copies those faster than lines of single bytes.
            whole = np.dtype(("V", width))
            source = piece if isinstance(piece, bytes) else bytes_of(piece)
            np.ndarray((count,), whole, table.data, at, table.strides[:1])[:] = np.frombuffer(
                source, whole
            )
        at += width
    return table


def _bounds_of(array: Any) -> npt.NDArray[Any]:
    """Where each line of an Arrow binary array begins in its buffer, and the end."""
    import numpy as np

    places = array.buffers()[1]
    if not places:
        return np.zeros(1, np.int32)
    return np.frombuffer(places, np.int32)[array.offset : array.offset + len(array) + 1]


def bytes_of(array: Any) -> npt.NDArray[Any]:
    """All bytes of an Arrow binary array, one line behind the other; nothing is copied."""
    import numpy as np

    bounds = _bounds_of(array)
    return np.frombuffer(array.buffers()[2] or b"", np.uint8)[bounds[0] : bounds[-1]]


def varint_width(number: int) -> int:
    """Bytes of a varint of this number.

    >>> varint_width(127), varint_width(128)
    (1, 2)
    """
    return max(1, (number.bit_length() + 6) // 7)


def write_varints(table: npt.NDArray[Any], numbers: Any) -> None:
    """Fill each line of a two-dimensional array of bytes with a varint as long as the line.

    Bits that are missing are zeros: such a varint is longer than it needs to be, and is read like
    any other.

    Args:
        table: its lines.
        numbers: 0 or more; one a line, or one for all.

    Source: protobuf "Encoding"; CodedInputStream.readRawVarint32 takes up to 10 bytes.
    """
    last = table.shape[1] - 1
    for place in range(last + 1):
        table[:, place] = (numbers >> 7 * place) & 0x7F | (0x80 if place < last else 0)
