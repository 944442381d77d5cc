"""Packed cells as Protocol Buffers messages, with a descriptor built at run time.

Anyone can read them with the message type that `protoc --decode_raw` shows: the field numbers are
the indexes of the fields among those of the cell, from 1 on. The package is an extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkey.errors import InvalidArgument, Unavailable
from rowkey.keys import Field, FieldType
from rowkey.rows.column_codec import build_sample_internal, find_float_width, format_bytes
from rowkey.rows.placement_interface import PackFormat

TWO_BYTE_TAG_START = 16
"""Field numbers below have a tag of one byte, three bits of which are the type."""


class ProtobufFormat(PackFormat):
    """A message of optional fields, numbered from 1.

    Text is `string`, raw bytes and addresses are `bytes`, floating-point numbers `float` or
    `double`, and all that is counted is `uint64`, or `sint64` where it may be negative; decimals of
    more than 18 digits are `bytes`, big-endian.

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
    def estimate_label_bytes(cls, number: int, field: Field) -> int:
        """Return the bytes of the tag, and of the length for types that need one."""
        tag = 1 if number + 1 < TWO_BYTE_TAG_START else 2
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
    """Return a Protocol Buffers message class with one optional field for each field."""
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
