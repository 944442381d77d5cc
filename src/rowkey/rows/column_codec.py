"""Encoding of a field's values as cell values, one at a time and in Arrow arrays.

A cell holds the value's own bytes: text in UTF-8, raw bytes as they are, numbers as Java's
`Bytes.toBytes` writes them. It needs no order and no end, so none of a key's devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument, RowError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from rowkey.keys import Codec, Field, FieldType, SlicedByteColumn
    from rowkey.schema import Value

MAX_LOOKUP_VALUES = 4_096
"""Listed values of which a table from bytes to values is made; longer lists are searched."""


class ColumnCodec:
    """Encodes and decodes one field's values as the plain bytes of a cell.

    Args:
        field: the field.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.codec = field.type.build_plain_codec()
        self.integer_range = _find_integer_range(field.type, self.codec)
        """The least and the greatest whole number that is stored as it is, and its bytes."""
        self.encode: Callable[[Value], bytes] = _compile_encoder(field, self.codec)
        """The bytes of a value; it raises `RowError` where the field has no such value."""
        self.decode: Callable[[bytes], Value] = _compile_decoder(field.type, self.codec)
        """The normal value of a cell's bytes; it raises `InvalidArgument` where there is none."""

    def encode_batch(self, array: pa.Array) -> pa.Array:
        """Return the bytes of many values; a null stays null.

        Raises:
            RowError: a value is none of the field, or null where the field has no nulls.
        """
        import numpy as np
        import pyarrow as pa

        from rowkey.keys import build_field_column, encode_plain_values
        from rowkey.rows.batches.arrays import build_binary_array, refuse_nulls

        column = build_field_column(self.field, array)
        if column.codes is not None:
            valid = column.codes >= 0
            if not self.field.nullable:
                refuse_nulls(self.field.name, valid)
            if not valid.any():
                return pa.nulls(len(valid), pa.binary())
        try:
            pieces = encode_plain_values(self.field, column.values)
        except InvalidArgument as refusal:
            raise self.field.to_row_error(refusal) from None
        if column.codes is None:
            return build_binary_array(pieces)
        codes = column.codes[valid].astype(np.intp, copy=False)
        return build_binary_array(pieces.take(codes), None if valid.all() else valid)

    def decode_batch(self, values: pa.Array) -> pa.Array:
        """Return the values of many cells in the field's Arrow type; no cell may be null.

        Raises:
            InvalidArgument: some are no value.
        """
        import pyarrow as pa

        from rowkey.rows.batches.arrays import to_byte_column

        kind = self.field.type
        if kind.possible_values is not None:
            coded = values.dictionary_encode()
            distinct = [self.decode(piece) for piece in coded.dictionary.to_pylist()]
            return pa.array(distinct, kind.build_arrow_type()).take(coded.indices)
        spans = to_byte_column(values)
        _check_lengths(self.codec, spans)
        try:
            return _build_checked_column(kind, self.codec.unpack_batch(spans))
        except pa.ArrowInvalid as problem:
            raise InvalidArgument("", str(problem)) from None


def to_internal_list(field: Field, array: pa.Array) -> list[Any]:
    """Return the internal forms of many values; None for null.

    Raises:
        RowError: a value is none of the field.
    """
    import numpy as np

    from rowkey.keys import build_field_column

    column = build_field_column(field, array)
    held = column.values
    if not isinstance(held, list):
        held = held.tolist()
    if isinstance(column.values, np.ndarray) or not _has_text_form(field.type):
        texts = held
    else:
        texts = [piece.decode() for piece in held]
    if column.codes is None:
        return list(texts)
    return [texts[code] if code >= 0 else None for code in column.codes.tolist()]


def _has_text_form(field_type: FieldType) -> bool:
    """Return whether the internal form of a field's values is text."""
    return isinstance(build_sample_internal(field_type), str)


def build_sample_internal(field_type: FieldType) -> Any:
    """Return the internal form of one valid value, which shows its Python type."""
    return field_type.to_internal(field_type.domain.generate_value(0))


def find_float_width(field_type: FieldType) -> int | None:
    """Return the width in bytes of a floating-point type; None for all other types."""
    return (
        field_type.build_plain_codec().framing.width
        if isinstance(build_sample_internal(field_type), float)
        else None
    )


def build_arrow_column(field_type: FieldType, values: list[Any]) -> pa.Array:
    """Return an Arrow column of values in the field's type; None becomes null."""
    import pyarrow as pa

    arrow = field_type.build_arrow_type()
    if pa.types.is_timestamp(arrow):
        return pa.array(values, pa.int64()).cast(arrow)
    return pa.array(values, arrow)


def build_missing_value_error(field: Field) -> RowError:
    """Return the error of a null in a field that is not nullable."""
    remedy = "Declare the field nullable, or leave it out to leave its cell alone."
    return RowError(field.name, "there is no value", field.type.name, remedy)


def convert_untrusted_internal(field_type: FieldType, internal: Any) -> Value:
    """Return the value of an internal form from outside, after checking it.

    Raises:
        InvalidArgument: the type holds no value so.
    """
    try:
        value = field_type.from_internal(internal)
        if field_type.to_internal(value) == internal:
            return value
    except (ValueError, TypeError, LookupError, OverflowError):
        pass
    raise InvalidArgument("", f"{internal!r} is no {field_type.name}")


def has_only_valid_bytes(field_type: FieldType, codec: Codec) -> bool:
    """Return whether all byte strings that the codec decodes are values of the field.

    Text must be checked for what no text holds, floating-point numbers for NaN.
    """
    if field_type.is_sequence or codec.framing.width is None:
        return False
    return not isinstance(build_sample_internal(field_type), float)


def _compile_encoder(field: Field, codec: Codec) -> Callable[[Value], bytes]:
    """Return a function from a value to its bytes."""
    pack = codec.compile_packer(field.type.to_internal)

    def encode(value: Value) -> bytes:
        try:
            return pack(value)
        except InvalidArgument as error:
            raise field.to_row_error(error) from None

    return encode


def _find_integer_range(field_type: FieldType, codec: Codec) -> tuple[int, int, int] | None:
    """Return the range of a type whose whole numbers are stored as they are, and their bytes."""
    width = codec.framing.width
    if not field_type.is_plain_integer or width is None:
        return None
    return (*field_type.number_range, width)


def _compile_decoder(field_type: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    """Return a function from the bytes of a cell to the value."""
    if (
        field_type.possible_values is not None
        and len(field_type.possible_values) <= MAX_LOOKUP_VALUES
    ):
        return _compile_lookup_decoder(field_type, codec)
    width = codec.framing.width
    if field_type.is_plain_integer and width is not None:
        return _compile_number_decoder(field_type, width)
    least, most = codec.framing.min_bytes, codec.framing.max_bytes
    unpack, release, hold = codec.unpack, field_type.from_internal, field_type.to_internal
    if has_only_valid_bytes(field_type, codec):

        def read_whole(data: bytes) -> Value:
            if len(data) != width:
                raise _build_length_error(data, codec)
            return release(unpack(data))

        return read_whole

    def read(data: bytes) -> Value:
        if len(data) < least or (most is not None and len(data) > most):
            raise _build_length_error(data, codec)
        return release(hold(release(unpack(data))))

    return read


def _compile_lookup_decoder(field_type: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    """Return a decoder that looks bytes up in a table of all values."""
    values = field_type.possible_values or ()
    table = {
        codec.pack(field_type.to_internal(value)): field_type.from_internal(
            field_type.to_internal(value)
        )
        for value in values
    }

    def read(data: bytes) -> Value:
        if data not in table:
            shown = ", ".join(map(field_type.format_value, values[:12]))
            raise InvalidArgument("", f"{data.hex() or 'nothing'} is no {field_type.name}", shown)
        return table[data]

    return read


def _compile_number_decoder(field_type: FieldType, width: int) -> Callable[[bytes], Value]:
    """Return a decoder of integers in two's complement."""
    low, high = field_type.number_range
    signed = low < 0
    from_bytes = int.from_bytes

    def read(data: bytes) -> Value:
        number = from_bytes(data, "big", signed=signed)
        if len(data) != width or not low <= number <= high:
            what = f"{data.hex() or 'nothing'} is no {field_type.name}"
            raise InvalidArgument("", what, f"{width} bytes, {low}..{high}")
        return number

    return read


def _build_length_error(data: bytes, codec: Codec) -> InvalidArgument:
    """Return the error of bytes with a length that no value has."""
    shown = data[:16].hex() + "…" * (len(data) > 16)
    return InvalidArgument("", f"{shown or 'nothing'} is {len(data)} bytes", str(codec.framing))


def _check_lengths(codec: Codec, spans: SlicedByteColumn) -> None:
    """Raise if a value has fewer or more bytes than its codec allows.

    Raises:
        InvalidArgument: some are.
    """
    if not len(spans):
        return
    least, most = codec.framing.min_bytes, codec.framing.max_bytes
    for extreme in (int(spans.inner_lengths.min()), int(spans.inner_lengths.max())):
        if extreme < least or (most is not None and extreme > most):
            raise InvalidArgument("", f"a value is {extreme} bytes", str(codec.framing))


def _build_checked_column(field_type: FieldType, internal: Any) -> pa.Array:
    """Return a column of internal forms from outside, after checking each value.

    Raises:
        InvalidArgument: one is no value.
    """
    if field_type.has_integer_form:
        low, high = field_type.number_range
        for extreme in (int(internal.min()), int(internal.max())) if len(internal) else ():
            if not low <= extreme <= high:
                raise InvalidArgument("", f"{extreme} is no {field_type.name}", f"{low}..{high}")
        return field_type.build_number_column(internal)
    if isinstance(internal, list):
        column = build_arrow_column(field_type, [field_type.from_internal(one) for one in internal])
    else:
        column = field_type.build_column(internal)
    return (
        column
        if has_only_valid_bytes(field_type, field_type.build_plain_codec())
        else field_type.build_column(field_type.to_internal_batch(column))
    )
