"""Formats of packed cells, which store several values as a map from field numbers to values.

The number of a field is its index among the fields of the cell, in declared order; fields may be
added at the end. Numbers that a reader does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rowkey.errors import InvalidArgument
from rowkey.keys import Field
from rowkey.messages import format_value
from rowkey.rows.column_codec import (
    ColumnCodec,
    build_sample_internal,
    convert_untrusted_internal,
    find_float_width,
    format_bytes,
)
from rowkey.rows.placement_interface import PackFormat
from rowkey.rows.protobuf_format import ProtobufFormat
from rowkey.rows.qualifier_notation import parse_qualifier
from rowkey.schema import Value

MAX_INTEGER_BITS = 64
"""Bits of the widest whole number that MessagePack has; wider ones are written as bytes."""

POSITIVE_FIXINT_LIMIT = 128
"""Numbers below are one byte of MessagePack."""
MAX_FIXMAP_VALUES = 15
"""Most values of a MessagePack map whose size is in its first byte; else two bytes follow."""


class MessagePackFormat(PackFormat):
    """A MessagePack map from field numbers, starting at 0, to values.

    Text is text, raw bytes and addresses are bytes, and all that is counted is a whole number:
    times in their unit, dates in days, decimals in units of their last digit, choices by their
    place in the list.

    Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
    """

    @classmethod
    def estimate_label_bytes(cls, number: int, field: Field) -> int:
        """Return the bytes of a field's number, and of the type and length of a short value."""
        return 2 if number < POSITIVE_FIXINT_LIMIT else 3

    @classmethod
    def estimate_header_bytes(cls, values: float) -> int:
        """Return the bytes of the type and the size of a map with this many values."""
        return 1 if values <= MAX_FIXMAP_VALUES else 3

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__(fields)
        from msgpack import Packer

        # Single precision is kept where no field needs double.
        widths = {find_float_width(field.type) for field in fields} - {None}
        self._pack_map = Packer(use_single_float=widths == {4}).pack

    def pack(self, internal_values: Mapping[int, Any]) -> bytes:
        try:
            return bytes(self._pack_map(internal_values))
        except OverflowError:
            return bytes(
                self._pack_map(
                    {n: self._narrow_integer(n, value) for n, value in internal_values.items()}
                )
            )

    def _narrow_integer(self, number: int, value: Any) -> Any:
        """Return a value, or its bytes if it is an integer too wide for MessagePack."""
        if isinstance(value, int) and value.bit_length() >= MAX_INTEGER_BITS:
            return self.fields[number].type.build_plain_codec().pack(value)
        return value

    def unpack(self, data: bytes) -> dict[int, Any]:
        from msgpack import unpackb
        from msgpack.exceptions import UnpackException

        try:
            value = unpackb(data, strict_map_key=False)
        except (UnpackException, ValueError, TypeError) as problem:
            reason = str(problem) or type(problem).__name__
            what = f"{format_bytes(data)} is not valid MessagePack: {reason}"
            raise InvalidArgument("", what, "a MessagePack map") from None
        if not isinstance(value, dict):
            what = f"the value is a MessagePack {type(value).__name__}"
            raise InvalidArgument("", what, "a MessagePack map")
        return value


def parse_pack_label(label: str) -> tuple[bytes, type[PackFormat]]:
    """Return the qualifier and the format of a `pack` option: `p`, or `p:protobuf`.

    Raises:
        InvalidArgument: as `parse_qualifier`.

    >>> parse_pack_label("p")[0], parse_pack_label("p:msgpack")[1].__name__
    (b'p', 'MessagePackFormat')
    """
    qualifier, _, word = label.partition(":")
    if word not in PACK_FORMATS:
        return parse_qualifier(label), MessagePackFormat
    return parse_qualifier(qualifier), PACK_FORMATS[word]


PACK_FORMATS: Mapping[str, type[PackFormat]] = {
    "": MessagePackFormat,
    "msgpack": MessagePackFormat,
    "protobuf": ProtobufFormat,
}
"""Formats of packed cells, by their names in the `pack` option."""


def compile_packed_reader(field: Field) -> Callable[[Any], Value]:
    """Return a function that converts a value in a packed cell to the field's value.

    It raises `InvalidArgument` if the field does not allow the value.
    """
    python_type, codec = type(build_sample_internal(field.type)), ColumnCodec(field)

    def read(stored: Any) -> Value:
        if python_type is int and isinstance(stored, bytes):
            return codec.decode(stored)
        if type(stored) is not python_type:
            what = (
                f"{format_value(stored)} is not a value of {field.name}, which is {field.type.name}"
            )
            raise InvalidArgument("", what)
        return convert_untrusted_internal(field.type, stored)

    return read
