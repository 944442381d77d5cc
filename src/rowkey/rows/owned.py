"""A field's values as the bytes of a cell of their own, and back; alone and in Arrow arrays.

A cell holds the value's own bytes: text in UTF-8, raw bytes as they are, numbers as Java's
`Bytes.toBytes` writes them. It needs no order and no end, so none of a key's devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from rowkey.keys import Codec, Field, FieldType, Spans
    from rowkey.schema import Value

MOST_LISTED = 4_096
"""Listed values of which a table from bytes to values is made; longer lists are searched."""


class Owned:
    """The own bytes of one field's values.

    Args:
        field: the field.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.codec = field.type.own()
        self.write: Callable[[Value], bytes] = _writer(field, self.codec)
        """The bytes of a value; it raises `RowError` where the field has no such value."""
        self.read: Callable[[bytes], Value] = _reader(field.type, self.codec)
        """The normal value of a cell's bytes; it raises `Refused` where there is none."""

    def write_batch(self, array: pa.Array) -> pa.Array:
        """The bytes of many values, null for null.

        Raises:
            RowError: a value is none of the field, or null where the field has no nulls.
        """
        import numpy as np
        import pyarrow as pa

        from rowkey.keys import batch_column, own_pieces
        from rowkey.rows.batches.arrays import binary_array, refuse_nulls

        column = batch_column(self.field, array)
        if column.codes is not None:
            valid = column.codes >= 0
            if not self.field.nullable:
                refuse_nulls(self.field.name, valid)
            if not valid.any():
                return pa.nulls(len(valid), pa.binary())
        try:
            pieces = own_pieces(self.field, column.values)
        except Refused as refusal:
            raise self.field.refused(refusal) from None
        if column.codes is None:
            return binary_array(pieces)
        codes = column.codes[valid].astype(np.intp, copy=False)
        return binary_array(pieces.take(codes), None if valid.all() else valid)

    def read_batch(self, values: pa.Array) -> pa.Array:
        """The values of many cells' bytes, none of them null, in the Arrow type of the field.

        Raises:
            Refused: some are no value.
        """
        import pyarrow as pa

        from rowkey.rows.batches.arrays import spans_of

        kind = self.field.type
        if kind.listed_values is not None:
            coded = values.dictionary_encode()
            distinct = [self.read(piece) for piece in coded.dictionary.to_pylist()]
            return pa.array(distinct, kind.arrow()).take(coded.indices)
        spans = spans_of(values)
        _check_lengths(self.codec, spans)
        try:
            return _column(kind, self.codec.unpack_batch(spans))
        except pa.ArrowInvalid as problem:
            raise Refused("", str(problem)) from None


def held_list(field: Field, array: pa.Array) -> list[Any]:
    """The held forms of many values, None for null.

    Raises:
        RowError: a value is none of the field.
    """
    import numpy as np

    from rowkey.keys import batch_column

    column = batch_column(field, array)
    held = column.values
    if not isinstance(held, list):
        held = held.tolist()
    if isinstance(column.values, np.ndarray) or not _is_text(field.type):
        texts = held
    else:
        texts = [piece.decode() for piece in held]
    if column.codes is None:
        return list(texts)
    return [texts[code] if code >= 0 else None for code in column.codes.tolist()]


def _is_text(kind: FieldType) -> bool:
    """Whether values are held as text."""
    return isinstance(sample_of(kind), str)


def sample_of(kind: FieldType) -> Any:
    """The held form of some value: what sort of object a type's values are held as."""
    return kind.hold(kind.domain.nth(0))


def float_width(kind: FieldType) -> int | None:
    """Bytes of a floating-point type; None for all others."""
    return kind.own().framing.width if isinstance(sample_of(kind), float) else None


def column_from(kind: FieldType, values: list[Any]) -> pa.Array:
    """An Arrow column of normal values, None for null, in the type of the field."""
    import pyarrow as pa

    arrow = kind.arrow()
    if pa.types.is_timestamp(arrow):
        return pa.array(values, pa.int64()).cast(arrow)
    return pa.array(values, arrow)


def missing(field: Field) -> RowError:
    """The refusal of a null in a field that has none."""
    remedy = "Declare the field nullable, or leave it out to leave its cell alone."
    return RowError(field.name, "there is no value", field.type.name, remedy)


def normal_of(kind: FieldType, held: Any) -> Value:
    """The value of a held form that came from outside.

    Raises:
        Refused: the type holds no value so.
    """
    try:
        value = kind.release(held)
        if kind.hold(value) == held:
            return value
    except (ValueError, TypeError, LookupError, OverflowError):
        pass
    raise Refused("", f"{held!r} is no {kind.name}")


def holds_all(kind: FieldType, codec: Codec) -> bool:
    """Whether all bytes that the codec takes are values, so that none needs a second look.

    Text must be checked for what no text holds, floating-point numbers for NaN.
    """
    if kind.is_sequence or codec.framing.width is None:
        return False
    return not isinstance(sample_of(kind), float)


def _writer(field: Field, codec: Codec) -> Callable[[Value], bytes]:
    """The bytes of a value, compiled."""
    kind, pack, hold = field.type, codec.pack, field.type.hold

    def write(value: Value) -> bytes:
        try:
            return pack(hold(value))
        except Refused as refusal:
            raise field.refused(refusal) from None

    width = codec.framing.width
    if not kind.plain or width is None:
        return write
    low, high = kind.numbers
    signed = low < 0

    def write_number(value: Value) -> bytes:
        if type(value) is int and low <= value <= high:
            return value.to_bytes(width, "big", signed=signed)
        return write(value)

    return write_number


def _reader(kind: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    """The value of a cell's bytes, compiled."""
    if kind.listed_values is not None and len(kind.listed_values) <= MOST_LISTED:
        return _listed_reader(kind, codec)
    width = codec.framing.width
    if kind.plain and width is not None:
        return _number_reader(kind, width)
    least, most = codec.framing.least, codec.framing.most
    unpack, release, hold = codec.unpack, kind.release, kind.hold
    if holds_all(kind, codec):

        def read_whole(data: bytes) -> Value:
            if len(data) != width:
                raise _bad_length(data, codec)
            return release(unpack(data))

        return read_whole

    def read(data: bytes) -> Value:
        if len(data) < least or (most is not None and len(data) > most):
            raise _bad_length(data, codec)
        return release(hold(release(unpack(data))))

    return read


def _listed_reader(kind: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    """The value of bytes, looked up among those of all values."""
    values = kind.listed_values or ()
    table = {codec.pack(kind.hold(value)): kind.release(kind.hold(value)) for value in values}

    def read(data: bytes) -> Value:
        if data not in table:
            shown = ", ".join(map(kind.show, values[:12]))
            raise Refused("", f"{data.hex() or 'nothing'} is no {kind.name}", shown)
        return table[data]

    return read


def _number_reader(kind: FieldType, width: int) -> Callable[[bytes], Value]:
    """A whole number of two's complement, which the type holds as it is."""
    low, high = kind.numbers
    signed = low < 0
    from_bytes = int.from_bytes

    def read(data: bytes) -> Value:
        number = from_bytes(data, "big", signed=signed)
        if len(data) != width or not low <= number <= high:
            what = f"{data.hex() or 'nothing'} is no {kind.name}"
            raise Refused("", what, f"{width} bytes, {low}..{high}")
        return number

    return read


def _bad_length(data: bytes, codec: Codec) -> Refused:
    shown = data[:16].hex() + "…" * (len(data) > 16)
    return Refused("", f"{shown or 'nothing'} is {len(data)} bytes", str(codec.framing))


def _check_lengths(codec: Codec, spans: Spans) -> None:
    """Refuse bytes that are shorter or longer than any value's.

    Raises:
        Refused: some are.
    """
    if not len(spans):
        return
    least, most = codec.framing.least, codec.framing.most
    for extreme in (int(spans.inner.min()), int(spans.inner.max())):
        if extreme < least or (most is not None and extreme > most):
            raise Refused("", f"a value is {extreme} bytes", str(codec.framing))


def _column(kind: FieldType, held: Any) -> pa.Array:
    """A column of held forms that came from outside, each looked at again where that is needed.

    Raises:
        Refused: one is no value.
    """
    if kind.counts:
        low, high = kind.numbers
        for extreme in (int(held.min()), int(held.max())) if len(held) else ():
            if not low <= extreme <= high:
                raise Refused("", f"{extreme} is no {kind.name}", f"{low}..{high}")
        return kind.from_numbers(held)
    if isinstance(held, list):
        column = column_from(kind, [kind.release(one) for one in held])
    else:
        column = kind.column(held)
    return column if holds_all(kind, kind.own()) else kind.column(kind.physical(column))
