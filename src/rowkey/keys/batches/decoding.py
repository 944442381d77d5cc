"""Many keys taken apart at once: part by part, all rows of a part together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkey.errors import Refused, RowError
from rowkey.keys.batches.columns import Columns
from rowkey.keys.batches.pieces import Buffer, Ints, Pieces, Spans
from rowkey.keys.bind import LONGEST
from rowkey.keys.parts.nullable import NULL, Nullable
from rowkey.keys.parts.sequence import SUPERFLUOUS
from rowkey.keys.traits import Source
from rowkey.keys.transforms.salt import Salt
from rowkey.keys.types.spans import spans_of
from rowkey.keys.verifying import verify

if TYPE_CHECKING:
    from rowkey.keys.contract import Part
    from rowkey.keys.key import Key


class Encoded:
    """Many keys in one buffer.

    Args:
        spans: where each key lies.
    """

    def __init__(self, spans: Spans) -> None:
        self.data: Buffer = spans.data
        self.starts = spans.starts
        self.ends = spans.starts + spans.inner

    def __len__(self) -> int:
        return len(self.starts)

    def ends_of(self, part: Part, at: Ints) -> Ints:
        """Where a part ends that begins at `at` in each key.

        Raises:
            Refused: a key ends before it does.
        """
        width = part.framing.width
        if width is not None:
            return self.within(at + width)
        if not part.framing.closed:
            return self.ends
        found = []
        for start, end in zip(at.tolist(), self.ends.tolist(), strict=True):
            found.append(start + part.measure(self.data[start:end].tobytes(), 0))
        return np.array(found, np.int64)

    def behind(self, mark: bytes, at: Ints) -> Ints:
        """Behind the first mark at or after `at` in each key.

        Raises:
            Refused: a key has none.
        """
        places = self._marks[mark] if mark in self._marks else self._find(mark)
        found = np.searchsorted(places, at)
        if len(found) and int(found.max()) >= len(places):
            raise Refused("", "a key ends before its part does")
        return self.within(places.take(found) + len(mark))

    @cached_property
    def _marks(self) -> dict[bytes, Ints]:
        return {}

    def _find(self, mark: bytes) -> Ints:
        """The places of a mark in the buffer, ascending."""
        last = len(self.data) - len(mark) + 1
        hits = self.data[: max(last, 0)] == mark[0]
        for offset, byte in enumerate(mark[1:], 1):
            hits = hits & (self.data[offset : last + offset] == byte)
        self._marks[mark] = np.flatnonzero(hits)
        return self._marks[mark]

    def within(self, ends: Ints) -> Ints:
        """The same ends, none behind its key's.

        Raises:
            Refused: one is.
        """
        if bool((ends > self.ends).any()):
            raise Refused("", "a key ends before its part does")
        return ends


def rows_of(key: Key, keys: pa.Array) -> pa.RecordBatch:
    """The fields that many keys hold, as Arrow columns.

    Raises:
        RowError: as `Key.decode`, for the first key found.
        DesignRefused: as `Key.decode`.
    """
    key.require_decodable()
    keys = _bytes_of(keys)
    try:
        return _decoded(key, keys)
    except (Refused, RowError, pa.ArrowInvalid, OverflowError):
        for data in keys.to_pylist():
            key.decode(data)
        raise


def _bytes_of(keys: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The keys as one array of bytes without nulls.

    Raises:
        RowError: they are no bytes, or one is null.
    """
    if isinstance(keys, pa.ChunkedArray):
        keys = keys.combine_chunks()
    kind = keys.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        keys = keys.cast(pa.large_binary())
    elif not (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        raise RowError("keys", f"a column of {kind}", "bytes")
    if keys.null_count:
        row = keys.is_null().index(True).as_py()
        raise RowError(f"key of row {row}", "it is null", "bytes")
    return keys


def _decoded(key: Key, keys: pa.Array) -> pa.RecordBatch:
    encoded = Encoded(spans_of(keys))
    lengths = encoded.ends - encoded.starts
    if len(lengths) and not 0 < int(lengths.min()) <= int(lengths.max()) <= LONGEST:
        raise Refused("", "a key is empty or too long")
    at = encoded.starts
    found: dict[str, pa.Array] = {}
    pieces: list[Spans] = []
    for index, part in enumerate(key.parts):
        may_lack = index >= len(key.parts) - key.body.omittable
        ends = _ends(part, encoded, at, may_lack=may_lack)
        piece = Spans(encoded.data, at, ends - at)
        pieces.append(piece)
        for name, held in _read(part, piece).items():
            found[name] = held if isinstance(held, pa.Array) else _column(key, name, held)
        at = ends
    if bool((at < encoded.ends).any()):
        raise Refused("", "bytes are left over")
    _refuse_superfluous(encoded, pieces[len(pieces) - key.body.omittable :])
    names = [name for name in key.fields if name in found]
    batch = pa.RecordBatch.from_arrays([found[name] for name in names], names=names)
    _verify(key, batch, pieces)
    return batch


def _refuse_superfluous(encoded: Encoded, pieces: list[Spans]) -> None:
    """Refuse a null at the end of a key that is not left out.

    Args:
        encoded: the keys.
        pieces: of the parts that may be left out.

    Raises:
        Refused: there is one.
    """
    for piece in pieces:
        last = (piece.inner == 1) & (piece.starts + 1 == encoded.ends)
        if bool((encoded.data[piece.starts[last]] == NULL[0]).any()):
            raise Refused("", SUPERFLUOUS)


def _ends(part: Part, encoded: Encoded, at: Ints, *, may_lack: bool) -> Ints:
    """Where a part ends in each key; a null may have been left out at the end of one."""
    if not may_lack:
        return part.measure_batch(encoded, at)
    there = np.flatnonzero(at < encoded.ends)
    ends = at.copy()
    if len(there):
        some = Encoded(Spans(encoded.data, at.take(there), (encoded.ends - at).take(there)))
        ends[there] = part.measure_batch(some, at.take(there))
    return ends


def _read(part: Part, piece: Spans) -> dict[str, Any]:
    """The values of a part; of one that may be null, as an Arrow column with nulls."""
    if not isinstance(part, Nullable):
        return part.read_batch(piece)
    rows = [part.read(data or b"\0") for data in piece.tolist()]
    names = rows[0].keys() if rows else ()
    return {name: [row[name] for row in rows] for name in names}


def _column(key: Key, name: str, held: Any) -> pa.Array:
    """A column in the Arrow type of its field, from held forms or a list of values."""
    kind = key.fields[name].type
    if not isinstance(held, list):
        return kind.column(held)
    arrow = kind.arrow()
    if pa.types.is_timestamp(arrow):
        return pa.array(held, pa.int64()).cast(arrow)
    return pa.array(held, arrow)


def _verify(key: Key, batch: pa.RecordBatch, pieces: list[Spans]) -> None:
    """Check every part that the recovered values decide.

    Raises:
        Refused: bytes stand in some key that its values do not have.
    """
    names = set(batch.schema.names)
    columns = Columns.of(batch, [key.fields[name] for name in batch.schema.names])
    columns.count = len(pieces[0])  # a batch without columns has no rows
    for part, piece in zip(key.parts, pieces, strict=True):
        if not set(part.fields) <= names:
            part.check_batch(piece.take(np.flatnonzero(piece.inner > 0)).packed())
        elif isinstance(part.forms[0], Salt):
            part.check_batch(piece)
        elif part.source is not Source.FIELDS:
            for data, row in zip(piece.tolist(), columns.rows(part.fields), strict=True):
                verify(key, part, data, row)
        elif not _is_of(part, columns, piece):
            raise Refused("", f"the bytes of {part.title} are not those of its fields")


def _is_of(part: Part, columns: Columns, piece: Spans) -> bool:
    """Whether every piece is that of its row, under any count that the part may have."""
    if len(part.forms) == 1:
        return _same(part.pieces(columns), piece, may_lack=isinstance(part, Nullable))
    width = part.framing.width or 0
    found = piece.packed().data.reshape(-1, width)
    is_one = np.zeros(len(found), np.bool_)
    for form in part.forms:
        wanted = form.pieces(columns).spans().packed().data.reshape(-1, width)
        is_one |= (wanted == found).all(axis=1)
    return bool(is_one.all())


def _same(expected: Pieces, found: Spans, *, may_lack: bool) -> bool:
    """Whether two columns of pieces are equal; a null of one byte may have been left out."""
    wanted = expected.spans()
    if may_lack and not found.inner.all():
        lacking, kept = np.flatnonzero(found.inner == 0), np.flatnonzero(found.inner > 0)
        if any(piece != NULL for piece in set(wanted.take(lacking).tolist())):
            return False
        wanted, found = wanted.take(kept).spans(), found.take(kept).spans()
    if bool((wanted.inner != found.inner).any()):
        return False
    return bool((wanted.packed().data == found.packed().data).all())
