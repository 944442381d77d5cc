"""Formats of packed cells, which store several values as a map from field numbers to values.

The number of a value is its field's place among those of the cell, as they are declared; fields may
be added at the end. Numbers that a reader does not know are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument
from rowkey.rows.column_codec import (
    ColumnCodec,
    build_sample_internal,
    convert_untrusted_internal,
    find_float_width,
)
from rowkey.rows.placement_interface import PackFormat
from rowkey.rows.protobuf_format import ProtobufFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import Value

MAX_INTEGER_BITS = 64
"""Bits of the widest whole number that MessagePack has; wider ones are written as bytes."""

POSITIVE_FIXINT_LIMIT = 128
"""Numbers below are one byte of MessagePack."""
MAX_FIXMAP_VALUES = 15
"""Values whose number stands in the byte that begins a map; of more, two bytes follow."""


class MessagePackFormat(PackFormat):
    """A MessagePack map from field numbers, starting at 0, to values.

    Text is text, raw bytes and addresses are bytes, and all that is counted is a whole number:
    times in their unit, dates in days, decimals in units of their last digit, choices by their
    place in the list.

    Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
    """

    @classmethod
    def estimate_label_bytes(cls, number: int, field: Field) -> int:
        """A small integer, and the byte of type and length that begins a short value."""
        return 2 if number < POSITIVE_FIXINT_LIMIT else 3

    @classmethod
    def estimate_header_bytes(cls, values: float) -> int:
        """The type of a map, with its size where that is small."""
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
        """Return the value, or its plain bytes if MessagePack has no integer so wide."""
        if isinstance(value, int) and value.bit_length() >= MAX_INTEGER_BITS:
            return self.fields[number].type.build_plain_codec().pack(value)
        return value

    def unpack(self, data: bytes) -> dict[int, Any]:
        from msgpack import unpackb
        from msgpack.exceptions import UnpackException

        try:
            value = unpackb(data, strict_map_key=False)
        except (UnpackException, ValueError, TypeError) as problem:
            text = f"{data[:16].hex() or 'nothing'} is not valid MessagePack: {problem}"
            raise InvalidArgument("", text, "a map") from None
        if not isinstance(value, dict):
            raise InvalidArgument("", f"the cell contains {type(value).__name__}", "a map")
        return value


def parse_pack_label(label: str) -> tuple[bytes, type[PackFormat]]:
    """Return the qualifier and the format of a `pack` option: `p`, or `p:protobuf`.

    >>> parse_pack_label("p")[0], parse_pack_label("p:msgpack")[1].__name__
    (b'p', 'MessagePackFormat')
    """
    qualifier, _, word = label.partition(":")
    if word not in PACK_FORMATS:
        return label.encode(), MessagePackFormat
    return qualifier.encode(), PACK_FORMATS[word]


PACK_FORMATS: Mapping[str, type[PackFormat]] = {
    "": MessagePackFormat,
    "msgpack": MessagePackFormat,
    "protobuf": ProtobufFormat,
}
"""Formats of packed cells, by the word after the colon."""


def compile_packed_reader(field: Field) -> Callable[[Any], Value]:
    """Return a function from a value of a packed cell to the field's value.

    It raises `InvalidArgument` where the field has no such value.
    """
    kind = field.type
    sort, own = type(build_sample_internal(kind)), ColumnCodec(field)

    def read(given: Any) -> Value:
        if sort is int and isinstance(given, bytes):
            return own.decode(given)
        if type(given) is not sort:
            raise InvalidArgument("", f"{given!r} is no {kind.name}")
        return convert_untrusted_internal(kind, given)

    return read
