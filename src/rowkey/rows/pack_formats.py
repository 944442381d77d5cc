"""Formats of packed cells, which store several values as a map from field numbers to values.

The number of a field follows from its index among the fields of the cell, in declared order; fields
may be added at the end. Numbers that a reader does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rowkey.errors import InvalidArgument, Unavailable
from rowkey.keys import Field, FieldType
from rowkey.messages import format_value, suggest_name
from rowkey.rows.column_codec import (
    ColumnCodec,
    build_sample_internal,
    convert_untrusted_internal,
    find_float_width,
    format_bytes,
)
from rowkey.rows.placement_interface import PackFormat
from rowkey.rows.qualifier_notation import parse_qualifier
from rowkey.schema import Value

MAX_INTEGER_BITS = 64
"""Bits of the widest whole number that MessagePack has; wider ones are written as bytes."""

POSITIVE_FIXINT_LIMIT = 128
"""Numbers below are one byte of MessagePack."""
MAX_FIXMAP_VALUES = 15
"""Most values of a MessagePack map whose size is in its first byte; else two bytes follow."""

TWO_BYTE_TAG_START = 16
"""Field numbers below have a tag of one byte, three bits of which are the type."""


class MessagePackFormat(PackFormat):
    """A MessagePack map from field numbers, starting at 0, to values.

    Text is text, raw bytes and addresses are bytes, and all that is counted is a whole number:
    times in their unit, dates in days, decimals in units of their last digit, choices by their
    place in the list.

    Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
    """

    @classmethod
    def estimate_label_bytes(cls, index: int, field: Field) -> int:
        """Return the bytes of a field's number, and of the type and length of a short value."""
        return 2 if index < POSITIVE_FIXINT_LIMIT else 3

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


class ProtobufFormat(PackFormat):
    """A message of optional fields, numbered from 1.

    Text is `string`, raw bytes and addresses are `bytes`, floating-point numbers `float` or
    `double`, and all that is counted is `uint64`, or `sint64` where it may be negative; decimals of
    more than 18 digits are `bytes`, big-endian. Anyone can read it with the message type that
    `protoc --decode_raw` shows: its descriptor is built at run time. The package is an extra.

    Args:
        fields: the fields, in the order of their numbers.

    Raises:
        Unavailable: the package `protobuf` is not installed.

    Source: the Protocol Buffers encoding guide, protobuf.dev/programming-guides/encoding.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__(fields)
        self._message_class = _build_message_class(fields)
        self._wide_numbers = {
            n for n, field in enumerate(fields) if _find_scalar_type(field.type) == "BYTES_OF_INT"
        }

    @classmethod
    def estimate_label_bytes(cls, index: int, field: Field) -> int:
        """Return the bytes of the tag, and of the length for types that need one."""
        tag = 1 if index + 1 < TWO_BYTE_TAG_START else 2
        return tag + _find_scalar_type(field.type).startswith(("STRING", "BYTES"))

    def pack(self, internal_values: Mapping[int, Any]) -> bytes:
        message = self._message_class()
        for number, value in internal_values.items():
            is_wide = number in self._wide_numbers
            stored = self.fields[number].type.build_plain_codec().pack(value) if is_wide else value
            setattr(message, f"f{number + 1}", stored)
        return bytes(message.SerializeToString(deterministic=True))

    def unpack(self, data: bytes) -> dict[int, Any]:
        from google.protobuf.message import DecodeError

        try:
            fields = self._message_class.FromString(data).ListFields()
        except (DecodeError, ValueError) as problem:
            what = f"{format_bytes(data)} is not a valid Protocol Buffers message: {problem}"
            raise InvalidArgument("", what) from None
        return {descriptor.number - 1: value for descriptor, value in fields}


def _build_message_class(fields: Sequence[Field]) -> Any:
    """Return a Protocol Buffers message class with one optional field for each field.

    Raises:
        Unavailable: the package `protobuf` is not installed.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        remedy = "Install it: pip install rowkey[protobuf]."
        raise Unavailable("protobuf", "the package is not installed", remedy=remedy) from None
    file = descriptor_pb2.FileDescriptorProto(name="packed.proto", package="rowkey")
    message = file.message_type.add(name="Packed")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, field in enumerate(fields, 1):
        sort = _find_scalar_type(field.type).removesuffix("_OF_INT")
        message.field.add(
            name=f"f{number}",
            number=number,
            label=kinds.LABEL_OPTIONAL,
            type=getattr(kinds, f"TYPE_{sort}"),
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("rowkey.Packed"))


def _find_scalar_type(field_type: FieldType) -> str:
    """Return the Protocol Buffers scalar type that stores a field type."""
    sample = build_sample_internal(field_type)
    if isinstance(sample, float):
        return "FLOAT" if find_float_width(field_type) == 4 else "DOUBLE"
    if isinstance(sample, int):
        if field_type.has_integer_form or field_type.possible_values is not None:
            return "SINT64" if field_type.number_range[0] < 0 else "UINT64"
        return (
            "SINT64"
            if (field_type.build_plain_codec().framing.width or 16) <= 8
            else "BYTES_OF_INT"
        )
    return "STRING" if isinstance(sample, str) else "BYTES"


def parse_pack_label(label: str) -> tuple[bytes, type[PackFormat]]:
    """Return the qualifier and the format of a `pack` option: `p`, or `p:protobuf`.

    Raises:
        InvalidArgument: there is no such format, or as `parse_qualifier`.

    >>> parse_pack_label("p")[0], parse_pack_label("p:msgpack")[1].__name__
    (b'p', 'MessagePackFormat')
    """
    qualifier, _, name = label.partition(":")
    if name not in PACK_FORMATS:
        allowed = f"one of {', '.join(filter(None, PACK_FORMATS))}"
        what = f"{name!r} is not a format of packed cells"
        raise InvalidArgument("", what, allowed, suggest_name(name, PACK_FORMATS))
    return parse_qualifier(qualifier), PACK_FORMATS[name]


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
