"""Encodes and decodes the protobuf of HBase's protocol; needs no protobuf package.

Source: protobuf "Encoding"; the messages of hbase-protocol-shaded use only these types of fields.
"""

from __future__ import annotations

import re
from struct import pack, unpack
from typing import TypeAlias

from rowkey.errors import InvalidArgument, Unavailable

Buffer: TypeAlias = bytes | bytearray | memoryview

_UINT64_LIMIT = 1 << 64
"""Varints hold 64 bits. Source: protobuf "Encoding", base 128 varints."""

_INT64_LIMIT = 1 << 63
"""A varint from this on is a negative int64. Source: the same, two's complement."""

_MAX_FIELD_NUMBER = (1 << 29) - 1
"""Greatest number of a field. Source: protobuf "Assigning field numbers"."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types. Source: protobuf "Encoding"; HBase does not use 3 and 4, groups."""

_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))


class WireFormatError(Unavailable):
    """Bytes of a server that do not follow the protocol; also a ValueError.

    >>> raise WireFormatError("ends within a number")
    Traceback (most recent call last):
    rowkey.hbase.wire.proto.WireFormatError: a server's bytes: ends within a number.
    """

    def __init__(self, problem: str, expected: str = "", remedy: str = "") -> None:
        super().__init__("a server's bytes", problem, expected, remedy)


def encode_varint(number: int) -> bytes:
    r"""Return a number of 0..2^64-1 in 1 to 10 bytes, seven bits each, the lowest first.

    Raises:
        InvalidArgument: the number is not in that range.

    >>> encode_varint(300)
    b'\xac\x02'
    """
    if 0 <= number < 0x80:
        return _ONE_BYTE[number]
    if not 0 <= number < _UINT64_LIMIT:
        raise InvalidArgument("", f"{number} does not fit a varint", "0..2^64-1")
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def encode_uint(number: int, value: int | None) -> bytes:
    r"""Return a field uint32, uint64 or enum; nothing for None.

    >>> encode_uint(1, 150), encode_uint(1, None)
    (b'\x08\x96\x01', b'')
    """
    return b"" if value is None else encode_varint(number << 3) + encode_varint(value)


def encode_int64(number: int, value: int | None) -> bytes:
    """Return a field int32 or int64: two's complement, 10 bytes if negative; nothing for None.

    Raises:
        InvalidArgument: the value does not fit 64 bits.

    >>> encode_int64(1, -1).hex()
    '08ffffffffffffffffff01'
    """
    if value is None:
        return b""
    if not -_INT64_LIMIT <= value < _INT64_LIMIT:
        raise InvalidArgument("", f"{value} does not fit an int64", "-2^63..2^63-1")
    return encode_varint(number << 3) + encode_varint(value % _UINT64_LIMIT)


def encode_bool(number: int, value: bool | None) -> bytes:
    r"""Return a field bool; nothing for None.

    >>> encode_bool(4, True)
    b' \x01'
    """
    return b"" if value is None else encode_varint(number << 3) + _ONE_BYTE[bool(value)]


def encode_bytes(number: int, value: Buffer | None) -> bytes:
    r"""Return a field bytes, written also when empty; nothing for None.

    >>> encode_bytes(2, b"row")
    b'\x12\x03row'
    """
    if value is None:
        return b""
    return b"".join((encode_varint(number << 3 | _BYTES), encode_varint(len(value)), value))


def encode_text(number: int, value: str | None) -> bytes:
    r"""Return a field string, written also when empty; nothing for None.

    Raises:
        InvalidArgument: the text has a lone surrogate.

    >>> encode_text(3, "Get")
    b'\x1a\x03Get'
    """
    if value is None:
        return b""
    try:
        return encode_bytes(number, value.encode())
    except UnicodeEncodeError:
        raise InvalidArgument("", f"{value!r} is not valid Unicode", "UTF-8 text") from None


def encode_message(number: int, *parts: bytes) -> bytes:
    r"""Return a field that holds a message of these parts; written also when empty.

    >>> encode_message(5, encode_uint(1, 29))
    b'*\x02\x08\x1d'
    """
    return encode_bytes(number, b"".join(parts))


def encode_double(number: int, value: float | None) -> bytes:
    """Return a field double, 8 bytes little endian; nothing for None."""
    return b"" if value is None else encode_varint(number << 3 | _FIXED64) + pack("<d", value)


def encode_float(number: int, value: float | None) -> bytes:
    """Return a field float, 4 bytes little endian; nothing for None.

    Raises:
        InvalidArgument: the value is too large for 32 bits.
    """
    if value is None:
        return b""
    try:
        return encode_varint(number << 3 | _FIXED32) + pack("<f", value)
    except OverflowError:
        raise InvalidArgument("", f"{value} does not fit a float", "up to 3.4e38") from None


def decode_varint(buffer: Buffer, offset: int) -> tuple[int, int]:
    r"""Return the number at an offset, 0..2^64-1, and the offset after it.

    Raises:
        WireFormatError: the bytes end within it, or it is longer than 64 bits.

    >>> decode_varint(b"\xac\x02", 0)
    (300, 2)
    """
    if offset < len(buffer) and buffer[offset] < 0x80:
        return buffer[offset], offset + 1
    value = 0
    for place, byte in enumerate(buffer[offset : offset + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            if value >= _UINT64_LIMIT:
                raise WireFormatError(f"a number of {value.bit_length()} bits", "64 bits")
            return value, offset + place + 1
    if offset + 10 > len(buffer):
        raise WireFormatError("end within a number")
    raise WireFormatError("a number of more than 10 bytes", "64 bits in up to 10 bytes")


_INT_TYPES = frozenset([int])

_REPEATED_FIELD = re.compile(rb"(?s)(.)[\x00-\x7f](?:\1[\x00-\x7f])*")
"""A field of one small number, as often as it is repeated: a scan's 10,000 counts."""


def _parse_fields(buffer: bytes) -> dict[int, list[int | bytes]]:
    """Return every value of a message by its field number, in the order they came.

    Most fields have one byte of tag and one of number or length; only the others need a call.
    """
    found: dict[int, list[int | bytes]] = {}
    at, end = 0, len(buffer)
    value: int | bytes
    while at + 1 < end:
        tag, size = buffer[at], buffer[at + 1]
        number, wire = tag >> 3, (tag & 7 if 8 <= tag < 0x80 > size else -1)
        if wire == _BYTES and at + 2 + size <= end:
            at += 2 + size
            value = buffer[at - size : at]
        elif wire == _VARINT:
            value, at = size, at + 2
            if at < end and buffer[at] == tag and (run := _REPEATED_FIELD.match(buffer, at)):
                found.setdefault(number, []).extend((value, *buffer[at + 1 : run.end() : 2]))
                at = run.end()
                continue
        else:
            number, value, at = _parse_field(buffer, at)
        if number in found:
            found[number].append(value)
        else:
            found[number] = [value]
    if at < end:
        raise WireFormatError("end within a field")
    return found


def _parse_field(buffer: bytes, offset: int) -> tuple[int, int | bytes, int]:
    """Return the number and value of the field at an offset, and the offset after it."""
    tag, offset = decode_varint(buffer, offset)
    number = tag >> 3
    if not 0 < number <= _MAX_FIELD_NUMBER:
        raise WireFormatError(f"a field numbered {number}", f"1..{_MAX_FIELD_NUMBER}")
    value, offset = _parse_value(buffer, offset, tag & 7)
    return number, value, offset


def _parse_value(buffer: bytes, offset: int, wire: int) -> tuple[int | bytes, int]:
    """Return the value after a tag, and the offset after it; a float or double as its bits."""
    if wire == _VARINT:
        return decode_varint(buffer, offset)
    if wire == _BYTES:
        size, offset = decode_varint(buffer, offset)
    elif wire in {_FIXED64, _FIXED32}:
        size = 8 if wire == _FIXED64 else 4
    else:
        raise WireFormatError(f"a field of wire type {wire}", "0, 1, 2 or 5")
    stop = offset + size
    if stop > len(buffer):
        raise WireFormatError(f"a field of {size:,} bytes where {len(buffer) - offset:,} are left")
    value = buffer[offset:stop]
    return value if wire == _BYTES else int.from_bytes(value, "little"), stop


class ProtoMessage:
    r"""A parsed message; each getter takes a field number.

    If a field came twice, the last value counts, as in protobuf; `list_` methods read repeated
    fields.

    Args:
        buffer: the message, without its length.

    Raises:
        WireFormatError: the bytes are not a message; a getter raises it if its field is of another
            type.

    Cost: a copy of each nested message that is read.

    >>> ProtoMessage(b"\x08\x96\x01").get_uint(1)
    150
    """

    __slots__ = ("_values",)

    def __init__(self, buffer: Buffer) -> None:
        self._values = _parse_fields(bytes(buffer))

    def has_field(self, number: int) -> bool:
        """Return whether the message has a field."""
        return number in self._values

    def get_uint(self, number: int, default: int = 0) -> int:
        """Return a uint32, uint64 or enum, 0..2^64-1."""
        found = self._values.get(number)
        return _require_number(number, found[-1]) if found else default

    def get_int64(self, number: int, default: int = 0) -> int:
        """Return an int32 or int64, -2^63..2^63-1."""
        found = self._values.get(number)
        if not found:
            return default
        value = _require_number(number, found[-1])
        return value if value < _INT64_LIMIT else value - _UINT64_LIMIT

    def get_bool(self, number: int, default: bool = False) -> bool:
        """Return a bool; every number but 0 is true."""
        found = self._values.get(number)
        return _require_number(number, found[-1]) != 0 if found else default

    def get_double(self, number: int, default: float = 0.0) -> float:
        """Return a double."""
        found = self._values.get(number)
        return _decode_float("<d", number, found[-1]) if found else default

    def get_float(self, number: int, default: float = 0.0) -> float:
        """Return a float."""
        found = self._values.get(number)
        return _decode_float("<f", number, found[-1]) if found else default

    def get_bytes(self, number: int, default: bytes = b"") -> bytes:
        """Return a bytes field."""
        found = self._values.get(number)
        return _require_bytes(number, found[-1]) if found else default

    def get_text(self, number: int, default: str = "") -> str:
        """Return a string."""
        found = self._values.get(number)
        return _decode_text(number, found[-1]) if found else default

    def get_message(self, number: int) -> ProtoMessage | None:
        """Return a nested message, or None if there is no such field.

        Several values of the field are merged, as in protobuf, by joining their bytes.
        """
        found = self._values.get(number)
        return (
            ProtoMessage(b"".join(_require_bytes(number, one) for one in found)) if found else None
        )

    def list_messages(self, number: int) -> list[ProtoMessage]:
        """Return every message of a repeated field."""
        return [ProtoMessage(_require_bytes(number, one)) for one in self._values.get(number, ())]

    def list_bytes(self, number: int) -> list[bytes]:
        """Return every value of a repeated bytes field."""
        return [_require_bytes(number, one) for one in self._values.get(number, ())]

    def list_texts(self, number: int) -> list[str]:
        """Return every value of a repeated string."""
        return [_decode_text(number, one) for one in self._values.get(number, ())]

    def list_uints(self, number: int) -> list[int]:
        """Return every value of a repeated number, packed or not."""
        found = self._values.get(number, [])
        numbers: list[int] = []
        if _INT_TYPES.issuperset(map(type, found)):  # not packed: a scan's counts, one for each row
            numbers += found  # type: ignore[arg-type]
            return numbers
        for one in found:
            if isinstance(one, int):
                numbers.append(one)
            else:
                numbers.extend(_decode_packed(one))
        return numbers


def _require_number(number: int, value: int | bytes) -> int:
    if isinstance(value, int):
        return value
    raise WireFormatError(f"field {number} holds bytes", "a number")


def _require_bytes(number: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    raise WireFormatError(f"field {number} holds a number", "bytes")


def _decode_text(number: int, value: int | bytes) -> str:
    try:
        return _require_bytes(number, value).decode()
    except UnicodeDecodeError:
        raise WireFormatError(f"field {number} holds {value!r}", "UTF-8") from None


def _decode_float(form: str, number: int, value: int | bytes) -> float:
    bits, size = _require_number(number, value), 8 if form == "<d" else 4
    if bits >= 1 << 8 * size:
        raise WireFormatError(
            f"field {number} has {bits.bit_length()} bits", f"a float of {size} bytes"
        )
    (found,) = unpack(form, bits.to_bytes(size, "little"))
    return float(found)


def _decode_packed(buffer: bytes) -> list[int]:
    """Return the numbers of a packed field."""
    if buffer.isascii():  # each is below 128
        return list(buffer)
    numbers, at = [], 0
    while at < len(buffer):
        value, at = decode_varint(buffer, at)
        numbers.append(value)
    return numbers
