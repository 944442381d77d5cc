"""The protobuf that HBase speaks, by hand: a few kinds of fields, and no package to need.

Source: protobuf "Encoding"; the messages of hbase-protocol-shaded use these kinds alone.
"""

from __future__ import annotations

import re
from struct import pack, unpack
from typing import TypeAlias

from rowkey.errors import Refused, Unsupported

Buffer: TypeAlias = bytes | bytearray | memoryview

_WORD = 1 << 64
"""Varints hold 64 bits. Source: protobuf "Encoding", base 128 varints."""

_SIGN = 1 << 63
"""From here on a varint is a negative int64. Source: the same, two's complement."""

_NUMBER_MOST = (1 << 29) - 1
"""Greatest number of a field. Source: protobuf "Assigning field numbers"."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""What follows a tag. Source: protobuf "Encoding", wire types; 3 and 4, groups, HBase has none."""

_ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))


class Malformed(Unsupported):
    """Bytes of a server that are not what the protocol says they are; also a ValueError.

    >>> raise Malformed("ends within a number")
    Traceback (most recent call last):
    rowkey.hbase.wire.proto.Malformed: a server's bytes: ends within a number.
    """

    def __init__(self, what: str, allowed: str = "", remedy: str = "") -> None:
        super().__init__("a server's bytes", what, allowed, remedy)


def varint(number: int) -> bytes:
    r"""A number of 0..2^64-1 in 1 to 10 bytes, seven bits each, the lowest first.

    Raises:
        Refused: the number is not in that range.

    >>> varint(300)
    b'\xac\x02'
    """
    if 0 <= number < 0x80:
        return _ONE_BYTE[number]
    if not 0 <= number < _WORD:
        raise Refused("", f"{number} does not fit a varint", "0..2^64-1")
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def uint(number: int, value: int | None) -> bytes:
    r"""A field uint32, uint64 or enum; nothing for None.

    >>> uint(1, 150), uint(1, None)
    (b'\x08\x96\x01', b'')
    """
    return b"" if value is None else varint(number << 3) + varint(value)


def sint64(number: int, value: int | None) -> bytes:
    """A field int32 or int64: two's complement, so 10 bytes if negative; nothing for None.

    Raises:
        Refused: the value does not fit 64 bits.

    >>> sint64(1, -1).hex()
    '08ffffffffffffffffff01'
    """
    if value is None:
        return b""
    if not -_SIGN <= value < _SIGN:
        raise Refused("", f"{value} does not fit an int64", "-2^63..2^63-1")
    return varint(number << 3) + varint(value % _WORD)


def flag(number: int, value: bool | None) -> bytes:
    r"""A field bool; nothing for None.

    >>> flag(4, True)
    b' \x01'
    """
    return b"" if value is None else varint(number << 3) + _ONE_BYTE[bool(value)]


def blob(number: int, value: Buffer | None) -> bytes:
    r"""A field bytes, written also when empty; nothing for None.

    >>> blob(2, b"row")
    b'\x12\x03row'
    """
    if value is None:
        return b""
    return b"".join((varint(number << 3 | _BYTES), varint(len(value)), value))


def text(number: int, value: str | None) -> bytes:
    r"""A field string, written also when empty; nothing for None.

    Raises:
        Refused: the text has half a character (a lone surrogate).

    >>> text(3, "Get")
    b'\x1a\x03Get'
    """
    if value is None:
        return b""
    try:
        return blob(number, value.encode())
    except UnicodeEncodeError:
        raise Refused("", f"{value!r} is no text", "characters that UTF-8 has") from None


def message(number: int, *parts: bytes) -> bytes:
    r"""A field that holds a message of these parts; always written, also when empty.

    >>> message(5, uint(1, 29))
    b'*\x02\x08\x1d'
    """
    return blob(number, b"".join(parts))


def double(number: int, value: float | None) -> bytes:
    """A field double, 8 bytes little endian; nothing for None."""
    return b"" if value is None else varint(number << 3 | _FIXED64) + pack("<d", value)


def float32(number: int, value: float | None) -> bytes:
    """A field float, 4 bytes little endian; nothing for None.

    Raises:
        Refused: the value is too large for 32 bits.
    """
    if value is None:
        return b""
    try:
        return varint(number << 3 | _FIXED32) + pack("<f", value)
    except OverflowError:
        raise Refused("", f"{value} does not fit a float", "up to 3.4e38") from None


def read_varint(buffer: Buffer, at: int) -> tuple[int, int]:
    r"""The number that begins at a place, 0..2^64-1, and the place behind it.

    Raises:
        Malformed: the bytes end within it, or it is longer than 64 bits.

    >>> read_varint(b"\xac\x02", 0)
    (300, 2)
    """
    if at < len(buffer) and buffer[at] < 0x80:
        return buffer[at], at + 1
    value = 0
    for place, byte in enumerate(buffer[at : at + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            if value >= _WORD:
                raise Malformed(f"a number of {value.bit_length()} bits", "64 bits")
            return value, at + place + 1
    if at + 10 > len(buffer):
        raise Malformed("end within a number")
    raise Malformed("a number of more than 10 bytes", "64 bits in up to 10 bytes")


_INT = frozenset([int])

_RUN = re.compile(rb"(?s)(.)[\x00-\x7f](?:\1[\x00-\x7f])*")
"""A field of one small number, as often as it is repeated: a scan's 10,000 counts."""


def _fields(buffer: bytes) -> dict[int, list[int | bytes]]:
    """Every value of a message by the number of its field, in the order they came.

    Most fields have one byte of tag and one of number or length; only the others cost a call.
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
            if at < end and buffer[at] == tag and (run := _RUN.match(buffer, at)):
                found.setdefault(number, []).extend((value, *buffer[at + 1 : run.end() : 2]))
                at = run.end()
                continue
        else:
            number, value, at = _field(buffer, at)
        if number in found:
            found[number].append(value)
        else:
            found[number] = [value]
    if at < end:
        raise Malformed("end within a field")
    return found


def _field(buffer: bytes, at: int) -> tuple[int, int | bytes, int]:
    """The field that begins here, its number first, and the place behind it."""
    tag, at = read_varint(buffer, at)
    number = tag >> 3
    if not 0 < number <= _NUMBER_MOST:
        raise Malformed(f"a field numbered {number}", f"1..{_NUMBER_MOST}")
    value, at = _value(buffer, at, tag & 7)
    return number, value, at


def _value(buffer: bytes, at: int, wire: int) -> tuple[int | bytes, int]:
    """What follows a tag, and the place behind it; a float or double as the number of its bits."""
    if wire == _VARINT:
        return read_varint(buffer, at)
    if wire == _BYTES:
        size, at = read_varint(buffer, at)
    elif wire in {_FIXED64, _FIXED32}:
        size = 8 if wire == _FIXED64 else 4
    else:
        raise Malformed(f"a field of wire type {wire}", "0, 1, 2 or 5")
    stop = at + size
    if stop > len(buffer):
        raise Malformed(f"a field of {size:,} bytes where {len(buffer) - at:,} are left")
    value = buffer[at:stop]
    return value if wire == _BYTES else int.from_bytes(value, "little"), stop


class Message:
    r"""A message read once; each field is asked for by number and kind.

    Of a field that came twice the last one counts, as protobuf says; repeated fields have their
    methods in the plural. A field nobody asks for is skipped.

    Args:
        buffer: the message, without its length.

    Raises:
        Malformed: the bytes are no message; so does each method if its field is of another kind.

    Cost: a copy of each level of the message that is asked for.

    >>> Message(b"\x08\x96\x01").uint(1)
    150
    """

    __slots__ = ("_found",)

    def __init__(self, buffer: Buffer) -> None:
        self._found = _fields(bytes(buffer))

    def has(self, number: int) -> bool:
        """Whether the field came at all."""
        return number in self._found

    def uint(self, number: int, default: int = 0) -> int:
        """A uint32, uint64 or enum, 0..2^64-1."""
        found = self._found.get(number)
        return _number(number, found[-1]) if found else default

    def int64(self, number: int, default: int = 0) -> int:
        """An int32 or int64, -2^63..2^63-1."""
        found = self._found.get(number)
        if not found:
            return default
        value = _number(number, found[-1])
        return value if value < _SIGN else value - _WORD

    def flag(self, number: int, default: bool = False) -> bool:
        """A bool; every number but 0 is true."""
        found = self._found.get(number)
        return _number(number, found[-1]) != 0 if found else default

    def double(self, number: int, default: float = 0.0) -> float:
        """A double."""
        found = self._found.get(number)
        return _float("<d", number, found[-1]) if found else default

    def float32(self, number: int, default: float = 0.0) -> float:
        """A float."""
        found = self._found.get(number)
        return _float("<f", number, found[-1]) if found else default

    def blob(self, number: int, default: bytes = b"") -> bytes:
        """A bytes field."""
        found = self._found.get(number)
        return _bytes(number, found[-1]) if found else default

    def text(self, number: int, default: str = "") -> str:
        """A string."""
        found = self._found.get(number)
        return _text(number, found[-1]) if found else default

    def message(self, number: int) -> Message | None:
        """A message in this one, or None if the field did not come.

        Of one that came in pieces the pieces are merged, as protobuf says: they are joined.
        """
        found = self._found.get(number)
        return Message(b"".join(_bytes(number, one) for one in found)) if found else None

    def messages(self, number: int) -> list[Message]:
        """Every message of a repeated field, in their order."""
        return [Message(_bytes(number, one)) for one in self._found.get(number, ())]

    def blobs(self, number: int) -> list[bytes]:
        """Every value of a repeated bytes field, in their order."""
        return [_bytes(number, one) for one in self._found.get(number, ())]

    def texts(self, number: int) -> list[str]:
        """Every value of a repeated string, in their order."""
        return [_text(number, one) for one in self._found.get(number, ())]

    def uints(self, number: int) -> list[int]:
        """Every value of a repeated uint32, uint64, enum or bool, packed, unpacked or mixed."""
        found = self._found.get(number, [])
        numbers: list[int] = []
        if _INT.issuperset(map(type, found)):  # not packed: a scan's counts, one for each row
            numbers += found  # type: ignore[arg-type]
            return numbers
        for one in found:
            if isinstance(one, int):
                numbers.append(one)
            else:
                numbers.extend(_packed(one))
        return numbers


def _number(number: int, value: int | bytes) -> int:
    if isinstance(value, int):
        return value
    raise Malformed(f"field {number} holds bytes", "a number")


def _bytes(number: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    raise Malformed(f"field {number} holds a number", "bytes")


def _text(number: int, value: int | bytes) -> str:
    try:
        return _bytes(number, value).decode()
    except UnicodeDecodeError:
        raise Malformed(f"field {number} holds {value!r}", "UTF-8") from None


def _float(form: str, number: int, value: int | bytes) -> float:
    bits, size = _number(number, value), 8 if form == "<d" else 4
    if bits >= 1 << 8 * size:
        raise Malformed(f"field {number} has {bits.bit_length()} bits", f"a float of {size} bytes")
    (found,) = unpack(form, bits.to_bytes(size, "little"))
    return float(found)


def _packed(buffer: bytes) -> list[int]:
    """The numbers of a packed field."""
    if buffer.isascii():  # each is below 128
        return list(buffer)
    numbers, at = [], 0
    while at < len(buffer):
        value, at = read_varint(buffer, at)
        numbers.append(value)
    return numbers
