"""How several values share one cell: as a map from small numbers to values, in a format.

The number of a value is its field's place among those of the cell, as they are declared; fields may
be added at the end. Numbers that a reader does not know are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.rows.contract import Format
from rowkey.rows.messages import ProtocolBuffers
from rowkey.rows.owned import Owned, float_width, normal_of, sample_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import Value

WIDEST = 64
"""Bits of the widest whole number that MessagePack has; wider ones are written as bytes."""

SMALL = 128
"""Numbers below are one byte of MessagePack."""
FEW = 15
"""Values whose number stands in the byte that begins a map; of more, two bytes follow."""


class MessagePack(Format):
    """A map from the numbers of fields, from 0 on, to their values.

    Text is text, raw bytes and addresses are bytes, and all that is counted is a whole number:
    times in their unit, dates in days, decimals in units of their last digit, choices by their
    place in the list.

    Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
    """

    @classmethod
    def label_bytes(cls, number: int, field: Field) -> int:
        """A small integer, and the byte of type and length that begins a short value."""
        return 2 if number < SMALL else 3

    @classmethod
    def head_bytes(cls, values: float) -> int:
        """The type of a map, with its size where that is small."""
        return 1 if values <= FEW else 3

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__(fields)
        from msgpack import Packer

        # Single precision is kept where no field needs double.
        widths = {float_width(field.type) for field in fields} - {None}
        self._pack = Packer(use_single_float=widths == {4}).pack

    def pack(self, held: Mapping[int, Any]) -> bytes:
        try:
            return bytes(self._pack(held))
        except OverflowError:
            return bytes(self._pack({n: self._narrow(n, value) for n, value in held.items()}))

    def _narrow(self, number: int, value: Any) -> Any:
        """The value, or its own bytes if it is too wide for a whole number of MessagePack."""
        if isinstance(value, int) and value.bit_length() >= WIDEST:
            return self.fields[number].type.own().pack(value)
        return value

    def unpack(self, data: bytes) -> dict[int, Any]:
        from msgpack import unpackb
        from msgpack.exceptions import UnpackException

        try:
            found = unpackb(data, strict_map_key=False)
        except (UnpackException, ValueError, TypeError) as problem:
            what = f"{data[:16].hex() or 'nothing'} is no MessagePack: {problem}"
            raise Refused("", what, "a map") from None
        if not isinstance(found, dict):
            raise Refused("", f"{type(found).__name__} stands there", "a map")
        return found


def format_of(label: str) -> tuple[bytes, type[Format]]:
    """The qualifier and the format that `pack` names: `p`, or `p:protobuf`.

    >>> format_of("p")[0], format_of("p:msgpack")[1].__name__
    (b'p', 'MessagePack')
    """
    qualifier, _, word = label.partition(":")
    if word not in FORMATS:
        return label.encode(), MessagePack
    return qualifier.encode(), FORMATS[word]


FORMATS: Mapping[str, type[Format]] = {
    "": MessagePack,
    "msgpack": MessagePack,
    "protobuf": ProtocolBuffers,
}
"""Formats of packed cells, by the word after the colon."""


def reader_of(field: Field) -> Callable[[Any], Value]:
    """What gives the value that stands in a packed cell, compiled for one field.

    It raises `Refused` where the field has no such value.
    """
    kind = field.type
    sort, own = type(sample_of(kind)), Owned(field)

    def read(given: Any) -> Value:
        if sort is int and isinstance(given, bytes):
            return own.read(given)
        if type(given) is not sort:
            raise Refused("", f"{given!r} is no {kind.name}")
        return normal_of(kind, given)

    return read
