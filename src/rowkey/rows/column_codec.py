"""Encoding of a field's values as cell values, one at a time and in Arrow arrays.

A cell holds the value's own bytes: text in UTF-8, raw bytes as they are, numbers as Java's
`Bytes.toBytes` writes them. It needs no order and no terminator, as a key's encoding has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Codec, Field, FieldType, SlicedByteColumn
from rowkey.messages import format_value, pluralize
from rowkey.rows.batches.arrays import build_binary_array, to_byte_column
from rowkey.schema import Value

MAX_LOOKUP_VALUES = 4_096
"""Longest list of possible values for which a table from bytes to values is built."""


class ColumnCodec:
    """Encodes and decodes the values of one field as the bytes of a cell."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.codec = field.type.build_plain_codec()
        self.integer_range = _find_integer_range(field.type, self.codec)
        """The smallest and greatest whole number of the type, and its width in bytes; or None."""
        self.pack: Callable[[Value], bytes] = self.codec.compile_packer(field.type.to_internal)
        """Encodes a value as bytes; raises `InvalidArgument` if the type does not allow it."""
        self.decode: Callable[[bytes], Value] = _compile_decoder(field.type, self.codec)
        """Decodes bytes to a normal value; raises `InvalidArgument` if they are not a value."""

    def encode_batch(self, array: pa.Array) -> pa.Array:
        """Return the cell bytes of the values in an Arrow column; a null stays null.

        Raises:
            RowError: the field does not allow a value, or is not nullable and one is null.
        """
        from rowkey.keys import build_field_column, encode_plain_values, refuse_nulls

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
        """Return the values in the bytes of many cells, in the field's Arrow type; no null.

        Raises:
            InvalidArgument: some bytes are not a value.
        """
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
            what = f"a stored value is not a valid {kind.name}: {problem}"
            raise InvalidArgument("", what) from None


def to_internal_list(field: Field, array: pa.Array) -> list[Any]:
    """Return the internal forms of the values in an Arrow column as a list; None for null.

    Raises:
        RowError: the field does not allow a value.
    """
    from rowkey.keys import build_field_column

    column = build_field_column(field, array)
    values = column.values
    if not isinstance(values, list):
        values = values.tolist()
    if not isinstance(column.values, np.ndarray) and _has_text_form(field.type):
        values = [piece.decode() for piece in values]
    if column.codes is None:
        return list(values)
    return [values[code] if code >= 0 else None for code in column.codes.tolist()]


def _has_text_form(field_type: FieldType) -> bool:
    return isinstance(build_sample_internal(field_type), str)


def build_sample_internal(field_type: FieldType) -> Any:
    """Return the internal form of one valid value of a type, to learn its Python type."""
    return field_type.to_internal(field_type.domain.generate_value(0))


def find_float_width(field_type: FieldType) -> int | None:
    """Return the width in bytes of a floating-point type; None for all other types."""
    return (
        field_type.build_plain_codec().framing.width
        if isinstance(build_sample_internal(field_type), float)
        else None
    )


def build_arrow_column(field_type: FieldType, values: list[Any]) -> pa.Array:
    """Return an Arrow column from values of a field type; None becomes null."""
    arrow = field_type.build_arrow_type()
    if pa.types.is_timestamp(arrow):
        return pa.array(values, pa.int64()).cast(arrow)
    return pa.array(values, arrow)


def build_missing_value_error(field: Field) -> RowError:
    """Return the error of a null in a field that is not nullable."""
    what = "the value is null, but the field is not nullable"
    remedy = "Declare the field nullable, or omit it to keep its stored value."
    return RowError(f"field {field.name}", what, f"a {field.type.name}", remedy)


def convert_untrusted_internal(field_type: FieldType, internal: Any) -> Value:
    """Convert an internal value read from a cell to a field value, after checking it.

    Raises:
        InvalidArgument: the type has no such value.
    """
    try:
        value = field_type.from_internal(internal)
        if field_type.to_internal(value) == internal:
            return value
    except (ValueError, TypeError, LookupError, OverflowError):
        pass
    raise InvalidArgument("", f"{format_value(internal)} is not a valid {field_type.name}")


def has_only_valid_bytes(field_type: FieldType, codec: Codec) -> bool:
    """Return whether every byte string that a codec can decode is a value of the type.

    Text must be checked for invalid characters, floating-point numbers for NaN.
    """
    if field_type.is_sequence or codec.framing.width is None:
        return False
    return not isinstance(build_sample_internal(field_type), float)


def _find_integer_range(field_type: FieldType, codec: Codec) -> tuple[int, int, int] | None:
    """Return the smallest and greatest number of an integer type, and its width; else None."""
    width = codec.framing.width
    if not field_type.is_plain_integer or width is None:
        return None
    return (*field_type.number_range, width)


def _compile_decoder(field_type: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    if (
        field_type.possible_values is not None
        and len(field_type.possible_values) <= MAX_LOOKUP_VALUES
    ):
        return _compile_lookup_decoder(field_type, codec)
    width = codec.framing.width
    if field_type.is_plain_integer and width is not None:
        return _compile_number_decoder(field_type, width)
    min_bytes, max_bytes = codec.framing.min_bytes, codec.framing.max_bytes
    unpack = codec.unpack
    from_internal, to_internal = field_type.from_internal, field_type.to_internal
    if has_only_valid_bytes(field_type, codec):

        def decode_fixed_width(data: bytes) -> Value:
            if len(data) != width:
                raise _build_length_error(data, codec)
            return from_internal(unpack(data))

        return decode_fixed_width

    def decode(data: bytes) -> Value:
        if len(data) < min_bytes or (max_bytes is not None and len(data) > max_bytes):
            raise _build_length_error(data, codec)
        return from_internal(to_internal(from_internal(unpack(data))))

    return decode


def _compile_lookup_decoder(field_type: FieldType, codec: Codec) -> Callable[[bytes], Value]:
    """Return a decoder that looks bytes up in a table of all values of a type."""
    values = field_type.possible_values or ()
    table = {
        codec.pack(field_type.to_internal(value)): field_type.from_internal(
            field_type.to_internal(value)
        )
        for value in values
    }

    def decode(data: bytes) -> Value:
        if data not in table:
            shown = ", ".join(map(field_type.format_value, values[:12]))
            raise _build_invalid_bytes_error(data, field_type, f"one of {shown}")
        return table[data]

    return decode


def _compile_number_decoder(field_type: FieldType, width: int) -> Callable[[bytes], Value]:
    """Return a decoder of big-endian integers, in two's complement if the type is signed."""
    low, high = field_type.number_range
    signed = low < 0
    from_bytes = int.from_bytes

    def decode(data: bytes) -> Value:
        number = from_bytes(data, "big", signed=signed)
        if len(data) != width or not low <= number <= high:
            allowed = f"{pluralize(width, 'byte')} with a number from {low} to {high}"
            raise _build_invalid_bytes_error(data, field_type, allowed)
        return number

    return decode


def _build_invalid_bytes_error(
    data: bytes, field_type: FieldType, expected: str
) -> InvalidArgument:
    what = f"{format_bytes(data)} is not a valid {field_type.name}"
    return InvalidArgument("", what, expected)


def format_bytes(data: bytes) -> str:
    """Return the first bytes of a cell's value as the subject of a message.

    >>> format_bytes(bytes([10, 47])), format_bytes(b"")
    ('the value 0x0a2f', 'the empty value')
    """
    shown = data[:16].hex() + "…" * (len(data) > 16)
    return f"the value 0x{shown}" if data else "the empty value"


def _build_length_error(data: bytes, codec: Codec) -> InvalidArgument:
    what = f"{format_bytes(data)} has the wrong length, {pluralize(len(data), 'byte')}"
    return InvalidArgument("", what, _format_lengths(codec))


def _format_lengths(codec: Codec) -> str:
    """Return the lengths that a stored value can have, as `2 bytes` or `0 to 3 bytes`."""
    min_bytes, max_bytes = codec.framing.min_bytes, codec.framing.max_bytes
    if max_bytes is None:
        return f"{pluralize(min_bytes, 'byte')} or more"
    if min_bytes == max_bytes:
        return pluralize(min_bytes, "byte")
    return f"{min_bytes} to {pluralize(max_bytes, 'byte')}"


def _check_lengths(codec: Codec, spans: SlicedByteColumn) -> None:
    """Raise if a value has fewer or more bytes than its codec allows.

    Raises:
        InvalidArgument: a value has.
    """
    if not len(spans):
        return
    min_bytes, max_bytes = codec.framing.min_bytes, codec.framing.max_bytes
    for extreme in (int(spans.inner_lengths.min()), int(spans.inner_lengths.max())):
        if extreme < min_bytes or (max_bytes is not None and extreme > max_bytes):
            what = f"a value has the wrong length, {pluralize(extreme, 'byte')}"
            raise InvalidArgument("", what, _format_lengths(codec))


def _build_checked_column(field_type: FieldType, internal: Any) -> pa.Array:
    """Return an Arrow column of internal values read from cells, after checking each.

    Raises:
        InvalidArgument: one is not a value of the type.
    """
    if field_type.has_integer_form:
        low, high = field_type.number_range
        for extreme in (int(internal.min()), int(internal.max())) if len(internal) else ():
            if not low <= extreme <= high:
                what = f"{extreme} is not a valid {field_type.name}"
                raise InvalidArgument("", what, f"a number from {low} to {high}")
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
