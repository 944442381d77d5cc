"""Cells of an answer as Arrow columns: a scan of millions makes no object a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import Kind
from rowkey.errors import Refused, shown
from rowkey.hbase.wire.offsets import cell_starts
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

_KEY_AT = 12
"""Bytes before the key: the lengths of cell, key and value, 4 each. Source: KeyValue."""

_HEAD = _KEY_AT + 2
"""Bytes before the row: its own length as well."""

_TAIL_BYTES = 9
"""Bytes of a key behind its qualifier: timestamp and type."""

_KEY_FIXED = 2 + 1 + _TAIL_BYTES
"""Bytes of a key beside row, family and qualifier. Source: KeyValue."""

_LENGTHS = (("key", ">u4"), ("value", ">u4"), ("row", ">u2"))

_BLOCK_BYTES_MOST = 2**31 - 1
"""Where Arrow's places of 32 bits end; the server's frames end long before, at 256 MiB."""

_PIECES = ("row", "length of the family", "family", "qualifier", "tail", "value", "rest")
_ROW, _, _FAMILY, _QUALIFIER, _TAIL, _VALUE, _ = range(len(_PIECES))

_KINDS = tuple(int(kind) for kind in Kind)


def to_columns(block: bytes | memoryview, families: Sequence[str]) -> pa.RecordBatch:
    """The puts of a block as columns: row, family, qualifier, timestamp, value; one line a cell.

    Args:
        block: cells of KeyValueCodec; tags behind them are left out.
        families: every family that may occur, in the order its number has in the column.

    Returns:
        Columns of their own memory; family is a dictionary of text, timestamp is int64, the others
        are binary. No line for an empty block.

    Raises:
        Malformed: the lengths of a cell contradict each other, or its type is unknown.
        Refused: the block holds a delete or a family not named, or is of 2 GiB or more.

    Cost: 0.2..0.3 µs a cell of 150 bytes, of whatever lengths.

    Source: KeyValueCodec; KeyValue.

    >>> cell = "000000190000001000000001000272310164717fffffffffffffff0476"
    >>> to_columns(bytes.fromhex(cell), ["d"]).to_pylist()[0]["value"]
    b'v'
    """
    import pyarrow as pa

    cells = _taken_apart(block)
    _check_puts(cells)
    columns = [
        cells.piece(_ROW),
        _numbered(cells.piece(_FAMILY), families),
        cells.piece(_QUALIFIER),
        pa.array(cells.timestamps),
        cells.piece(_VALUE),
    ]
    return pa.RecordBatch.from_arrays(columns, ["row", "family", "qualifier", "timestamp", "value"])


def count_cells(block: bytes | memoryview) -> int:
    """How many cells a block holds; of each only the length is looked at.

    Raises:
        Malformed: the last cell does not end where the block does.

    Cost: as `rowkey.hbase.wire.offsets.cell_starts`.
    """
    return len(cell_starts(block)) - 1


def last_row(block: bytes | memoryview) -> bytes:
    """The row key of the last cell, whatever its kind; empty for an empty block.

    Raises:
        Malformed: a cell's length leads out of the block, or the last cell's lengths contradict
            each other.

    Cost: as `count_cells`.
    """
    starts = cell_starts(block)
    if len(starts) < 2:
        return b""
    row: bytes = _taken_apart(memoryview(block)[int(starts[-2]) :]).piece(_ROW)[0].as_py()
    return row


@dataclass(frozen=True, slots=True)
class _Cells:
    """Cells cut into pieces, which are copied only when asked for."""

    cut: Any
    timestamps: npt.NDArray[Any]
    kinds: npt.NDArray[Any]

    def piece(self, number: int) -> Any:
        """One piece of each cell, as an Arrow binary array."""
        import numpy as np

        return self.cut.take(np.arange(number, len(self.cut), len(_PIECES), dtype=np.uint32))


def _taken_apart(block: bytes | memoryview) -> _Cells:
    """The cells of a block, their lengths checked.

    Raises:
        Malformed: the lengths of a cell contradict each other.
        Refused: the block is too large.
    """
    import numpy as np
    import pyarrow as pa

    if len(block) > _BLOCK_BYTES_MOST:
        what = f"it has {len(block):,} bytes"
        raise Refused("block", what, f"at most {_BLOCK_BYTES_MOST:,}", "Ask for less at a time.")
    ends = cell_starts(block)
    bounds = _bounds(block, ends[:-1], ends[1:])
    places = np.append(bounds.ravel(), np.int32(len(block)))
    buffers = [None, pa.py_buffer(places), pa.py_buffer(block)]
    cut = pa.Array.from_buffers(pa.binary(), bounds.size, buffers)
    tails = _fields(block, [("timestamp", ">i8"), ("kind", "u1")], bounds[:, _TAIL])
    return _Cells(cut, tails["timestamp"].astype(np.int64), tails["kind"])


def _bounds(
    block: bytes | memoryview, starts: npt.NDArray[Any], stops: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Where each piece of each cell begins: one line a cell, one column a piece, int32.

    Raises:
        Malformed: the lengths of a cell contradict each other.
    """
    import numpy as np

    _check_all(stops - starts >= _KEY_AT + _KEY_FIXED, starts, "is too short")
    heads = _fields(block, [("cell", ">u4"), *_LENGTHS], starts)
    key, value, row = (heads[name].astype(np.int64) for name, _ in _LENGTHS)
    values = starts + _KEY_AT + key
    ends = values + value
    tails = values - _TAIL_BYTES
    families = starts + _HEAD + row
    _check_all((families < tails) & (ends <= stops), starts, "has lengths beyond its own")
    qualifiers = families + 1 + np.frombuffer(block, np.uint8)[families]
    _check_all(qualifiers <= tails, starts, "has a family beyond its key")
    _check_tags(block, starts, ends, stops)
    bounds = np.empty((len(starts), len(_PIECES)), np.int32)
    pieces = (starts + _HEAD, families, families + 1, qualifiers, tails, values, ends)
    for number, places in enumerate(pieces):
        bounds[:, number] = places
    return bounds


def _check_tags(
    block: bytes | memoryview,
    starts: npt.NDArray[Any],
    ends: npt.NDArray[Any],
    stops: npt.NDArray[Any],
) -> None:
    """Raise unless what stands behind each value is nothing, or tags of the length they tell.

    Raises:
        Malformed: it is something else.

    Source: KeyValueCodecWithTags: u16 length, tags.
    """
    tagged = (stops - ends).nonzero()[0]
    if len(tagged):
        starts, ends, stops = starts[tagged], ends[tagged], stops[tagged]
        _check_all(ends + 2 <= stops, starts, "has a byte behind its value")
        told = _fields(block, [("tags", ">u2")], ends)["tags"]
        _check_all(ends + 2 + told == stops, starts, "has tags of another length than they tell")


def _fields(
    block: bytes | memoryview, fields: list[tuple[str, str]], places: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Numbers that stand side by side at each of some places."""
    import numpy as np

    layout = np.dtype(fields)
    if not len(places):
        return np.empty(0, layout)
    # Taken as plain bytes: NumPy is much slower to take fields one by one.
    bare = np.dtype(("V", layout.itemsize))
    everywhere: npt.NDArray[Any] = np.ndarray(
        (len(block) - bare.itemsize + 1,), bare, block, 0, (1,)
    )
    found: npt.NDArray[Any] = everywhere[places].view(layout)
    return found


def _check_all(holds: npt.NDArray[Any], starts: npt.NDArray[Any], what: str) -> None:
    """Raise for the first cell of which something does not hold.

    Raises:
        Malformed: naming its place.
    """
    if not holds.all():
        raise Malformed(f"the cell at {int(starts[holds.argmin()]):,} {what}")


def _check_puts(cells: _Cells) -> None:
    """Raise unless all cells are puts.

    Raises:
        Malformed: the type of one is unknown.
        Refused: one is a delete.
    """
    for number in cells.kinds[cells.kinds != Kind.PUT][:1].tolist():
        if number not in _KINDS:
            raise Malformed(f"a cell is of the unknown type {number}", f"one of {_KINDS}")
        what = f"it holds a {Kind(number).name}"
        raise Refused("block", what, "puts", "Read deletes row by row.")


def _numbered(names: Any, families: Sequence[str]) -> Any:
    """A column of families as a dictionary of text.

    Raises:
        Refused: there is another one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array([family.encode() for family in families], pa.binary())
    numbers = pc.index_in(names, value_set=known)
    if numbers.null_count:
        other = names.filter(pc.is_null(numbers))[0].as_py()
        raise Refused("family", f"the block has cells of {shown(other)}", ", ".join(families))
    return pa.DictionaryArray.from_arrays(numbers, pa.array(families, pa.string()))
