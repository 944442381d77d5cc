"""Packed cells as Protocol Buffers messages, whose descriptor is made from the design at run time.

Anyone can read them with the message type that `protoc --decode_raw` shows: the field numbers are
the places of the fields among those of the cell, from 1 on. The package is an extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, Unsupported
from rowkey.rows.contract import Format
from rowkey.rows.owned import float_width, sample_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.keys import Field, FieldType

SHORT_TAGS = 16
"""Field numbers below have a tag of one byte, for three of its bits tell the type."""


class ProtocolBuffers(Format):
    """A message of optional fields, numbered from 1 on.

    Text is `string`, raw bytes and addresses are `bytes`, floating-point numbers `float` or
    `double`, and all that is counted is `uint64`, or `sint64` where it may be negative; decimals of
    more than 18 digits are `bytes`, big-endian.

    Args:
        fields: the fields, in the order of their numbers.

    Raises:
        Unsupported: the package `protobuf` is not installed.

    Source: the Protocol Buffers encoding guide, protobuf.dev/programming-guides/encoding.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__(fields)
        self._message = _message_of(fields)
        self._wide = {n for n, field in enumerate(fields) if _sort(field.type) == "BYTES_OF_INT"}

    @classmethod
    def label_bytes(cls, number: int, field: Field) -> int:
        """The tag, and the length of what has one: whole numbers and fractions have none."""
        tag = 1 if number + 1 < SHORT_TAGS else 2
        return tag + _sort(field.type).startswith(("STRING", "BYTES"))

    def pack(self, held: Mapping[int, Any]) -> bytes:
        message = self._message()
        for number, value in held.items():
            wide = number in self._wide
            given = self.fields[number].type.own().pack(value) if wide else value
            setattr(message, f"f{number + 1}", given)
        return bytes(message.SerializeToString(deterministic=True))

    def unpack(self, data: bytes) -> dict[int, Any]:
        from google.protobuf.message import DecodeError

        try:
            found = self._message.FromString(data).ListFields()
        except (DecodeError, ValueError) as problem:
            raise Refused("", f"{data[:16].hex()} is no such message: {problem}") from None
        return {descriptor.number - 1: value for descriptor, value in found}


def _message_of(fields: Sequence[Field]) -> Any:
    """The class of messages with these fields."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        remedy = "pip install rowkey[protobuf]"
        raise Unsupported("protobuf", "the package is not installed", remedy=remedy) from None
    file = descriptor_pb2.FileDescriptorProto(name="packed.proto", package="rowkey")
    message = file.message_type.add(name="Packed")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, field in enumerate(fields, 1):
        sort = _sort(field.type).removesuffix("_OF_INT")
        message.field.add(
            name=f"f{number}",
            number=number,
            label=kinds.LABEL_OPTIONAL,
            type=getattr(kinds, f"TYPE_{sort}"),
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("rowkey.Packed"))


def _sort(kind: FieldType) -> str:
    """The scalar type of a field in a message."""
    sample = sample_of(kind)
    if isinstance(sample, float):
        return "FLOAT" if float_width(kind) == 4 else "DOUBLE"
    if isinstance(sample, int):
        if kind.counts or kind.listed_values is not None:
            return "SINT64" if kind.numbers[0] < 0 else "UINT64"
        return "SINT64" if (kind.own().framing.width or 16) <= 8 else "BYTES_OF_INT"
    return "STRING" if isinstance(sample, str) else "BYTES"
