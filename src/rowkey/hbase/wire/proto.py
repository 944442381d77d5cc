"""Encodes and decodes the protobuf of HBase's protocol; needs no protobuf package.

Source: protobuf "Encoding"; the messages of hbase-protocol-shaded use only these types of fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import pack, unpack
from typing import Self, TypeAlias

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
"""Varints of one byte: the tag of a field up to 15, a number or a length up to 127.

Most fields have nothing else, and a call costs more than the comparison that saves it.
"""


class WireFormatError(Unavailable):
    """Bytes of an HBase server that do not follow its protocol; also a ValueError.

    >>> print(WireFormatError("a varint is longer than 10 bytes", "at most 10 bytes", "Report it."))
    HBase's answer: a varint is longer than 10 bytes; expected at most 10 bytes. Report it.
    """

    def __init__(
        self,
        problem: str,
        expected: str = "",
        remedy: str = "Report this as a defect of rowkey, with the version of HBase.",
    ) -> None:
        super().__init__("HBase's answer", problem, expected, remedy)


def encode_varint(number: int) -> bytes:
    r"""Encode a number of 0..2^64-1 as a protobuf varint of 1 to 10 bytes.

    Raises:
        InvalidArgument: the number is not in that range.

    >>> encode_varint(300)
    b'\xac\x02'
    """
    if 0 <= number < 0x80:
        return _ONE_BYTE[number]
    if not 0 <= number < _UINT64_LIMIT:
        raise InvalidArgument(
            "protobuf number", f"{number} does not fit into 64 bits", "a number from 0 to 2^64-1"
        )
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def encode_uint(number: int, value: int | None) -> bytes:
    r"""Encode a protobuf field of type uint32, uint64 or enum; None gives b"".

    >>> encode_uint(1, 150), encode_uint(1, None)
    (b'\x08\x96\x01', b'')
    """
    if value is None:
        return b""
    if number >= 16:
        return encode_varint(number << 3) + encode_varint(value)
    if 0 <= value < 0x80:
        return _ONE_BYTE[number << 3] + _ONE_BYTE[value]
    return _ONE_BYTE[number << 3] + encode_varint(value)


def encode_int64(number: int, value: int | None) -> bytes:
    """Encode a protobuf field of type int32 or int64; None gives b"".

    Raises:
        InvalidArgument: the value does not fit 64 bits.

    >>> encode_int64(1, -1).hex()
    '08ffffffffffffffffff01'
    """
    if value is None:
        return b""
    if not -_INT64_LIMIT <= value < _INT64_LIMIT:
        raise InvalidArgument(
            f"protobuf field {number}",
            f"{value} does not fit into a signed 64-bit number",
            "a number from -2^63 to 2^63-1",
        )
    return encode_varint(number << 3) + encode_varint(value % _UINT64_LIMIT)


def encode_bool(number: int, value: bool | None) -> bytes:
    r"""Encode a protobuf field of type bool; None gives b"".

    >>> encode_bool(4, True)
    b' \x01'
    """
    return b"" if value is None else encode_uint(number, bool(value))


def encode_bytes(number: int, value: Buffer | None) -> bytes:
    r"""Encode a protobuf field of type bytes, also an empty one; None gives b"".

    >>> encode_bytes(2, b"row")
    b'\x12\x03row'
    """
    if value is None:
        return b""
    size = len(value)
    if number < 16 and size < 0x80:
        return b"".join((_ONE_BYTE[number << 3 | _BYTES], _ONE_BYTE[size], value))
    return b"".join((encode_varint(number << 3 | _BYTES), encode_varint(size), value))


def encode_text(number: int, value: str | None) -> bytes:
    r"""Encode a protobuf field of type string, also an empty one; None gives b"".

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
        raise InvalidArgument(
            f"protobuf field {number}",
            f"{value!r} cannot be encoded as UTF-8",
            "a text without lone surrogates",
        ) from None


def encode_message(number: int, *parts: bytes) -> bytes:
    r"""Encode a protobuf field whose value is a nested message of these encoded fields.

    >>> encode_message(5, encode_uint(1, 29))
    b'*\x02\x08\x1d'
    """
    return encode_bytes(number, b"".join(parts))


def encode_double(number: int, value: float | None) -> bytes:
    """Encode a protobuf field of type double; None gives b""."""
    return b"" if value is None else encode_varint(number << 3 | _FIXED64) + pack("<d", value)


def encode_float(number: int, value: float | None) -> bytes:
    """Encode a protobuf field of type float; None gives b"".

    Raises:
        InvalidArgument: the value is too large for 32 bits.
    """
    if value is None:
        return b""
    try:
        return encode_varint(number << 3 | _FIXED32) + pack("<f", value)
    except OverflowError:
        raise InvalidArgument(
            f"protobuf field {number}",
            f"{value} does not fit into a 32-bit float",
            "a number from -3.4e38 to 3.4e38",
        ) from None


def decode_varint(buffer: Buffer, offset: int) -> tuple[int, int]:
    r"""Decode the protobuf varint at an offset; return the number and the offset after it.

    Raises:
        WireFormatError: the bytes end within the varint, or it is longer than 64 bits.

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
                raise WireFormatError(f"a varint has {value.bit_length()} bits", "at most 64 bits")
            return value, offset + place + 1
    if offset + 10 > len(buffer):
        raise WireFormatError("the bytes end within a varint")
    raise WireFormatError("a varint is longer than 10 bytes", "at most 10 bytes")


MAX_FIELD_VALUES = 1 << 20
"""The most values of one message, so that a small answer cannot fill the memory.

Derivation: a scan's answer has one for each row, and at most 100 MB of cells
(hbase.server.scanner.max.result.size), each counted by the server with 100 bytes or more.
"""

_MAX_RUN_BYTES = 2 * MAX_FIELD_VALUES
"""Bytes of a run of small numbers that are matched: one more number is too many."""

_INT_TYPES = frozenset([int])

_REPEATED_FIELD = re.compile(rb"(?s)(.)[\x00-\x7f](?:\1[\x00-\x7f])*+")
"""A field of one small number, as often as it is repeated: a scan's 10,000 counts."""


def _parse_fields(buffer: bytes) -> dict[int, list[int | bytes]]:
    """Parse a protobuf message; return the values of each field by the field's number.

    Most fields have one byte of tag and one of number or length; only the others need a call.

    Raises:
        WireFormatError: the bytes end within a field, or there are too many fields.
    """
    fields: dict[int, list[int | bytes]] = {}
    at, end, run_values = 0, len(buffer), 0
    value: int | bytes
    for _ in range(MAX_FIELD_VALUES):
        if at + 1 >= end:
            break
        tag, size = buffer[at], buffer[at + 1]
        number, wire = tag >> 3, (tag & 7 if 8 <= tag < 0x80 > size else -1)
        if wire == _BYTES and at + 2 + size <= end:
            at += 2 + size
            value = buffer[at - size : at]
        elif wire == _VARINT:
            value, at = size, at + 2
            if (
                at < end
                and buffer[at] == tag
                and (run := _REPEATED_FIELD.match(buffer, at, at + _MAX_RUN_BYTES))
            ):
                run_values += 1 + (run.end() - at) // 2
                _check_value_count(run_values)
                fields.setdefault(number, []).extend((value, *buffer[at + 1 : run.end() : 2]))
                at = run.end()
                continue
        else:
            number, value, at = _parse_field(buffer, at)
        if number in fields:
            fields[number].append(value)
        else:
            fields[number] = [value]
    else:
        _check_value_count(MAX_FIELD_VALUES + (at < end))
    if at < end:
        raise WireFormatError("the bytes end within a protobuf field")
    return fields


def _check_value_count(count: int) -> None:
    """Raise an error for a message of more values than any answer of HBase has."""
    if count > MAX_FIELD_VALUES:
        what = f"a protobuf message has {count:,} values or more"
        raise WireFormatError(what, f"at most {MAX_FIELD_VALUES:,}")


def _parse_field(buffer: bytes, offset: int) -> tuple[int, int | bytes, int]:
    """Parse the protobuf field at an offset; return its number, value and end offset.

    Raises:
        WireFormatError: the number or type of the field is invalid, or the bytes end within it.
    """
    tag, offset = decode_varint(buffer, offset)
    number = tag >> 3
    if not 0 < number <= _MAX_FIELD_NUMBER:
        raise WireFormatError(
            f"a protobuf field has the number {number}", f"a number from 1 to {_MAX_FIELD_NUMBER:,}"
        )
    value, offset = _parse_value(buffer, offset, tag & 7)
    return number, value, offset


def _parse_value(buffer: bytes, offset: int, wire: int) -> tuple[int | bytes, int]:
    """Parse a field value of a wire type; return it (a float as its bits) and its end offset.

    Raises:
        WireFormatError: the wire type is unknown, or the bytes end within the value.
    """
    if wire == _VARINT:
        return decode_varint(buffer, offset)
    if wire == _BYTES:
        size, offset = decode_varint(buffer, offset)
    elif wire in {_FIXED64, _FIXED32}:
        size = 8 if wire == _FIXED64 else 4
    else:
        raise WireFormatError(f"a protobuf field has the wire type {wire}", "one of 0, 1, 2, 5")
    stop = offset + size
    if stop > len(buffer):
        raise WireFormatError(
            f"a protobuf field is {size:,} bytes long, but only {len(buffer) - offset:,} are left"
        )
    value = buffer[offset:stop]
    return value if wire == _BYTES else int.from_bytes(value, "little"), stop


class ProtoMessage:
    r"""A parsed protobuf message; each getter takes a field number.

    If a field came twice, the last value counts, as in protobuf; methods that begin with `list_` or
    `iter_` read repeated fields.

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

    def require_fields(self, *numbers: int) -> Self:
        """Return the message, which must have these fields.

        Raises:
            WireFormatError: one of them is missing.

        >>> ProtoMessage(b"").require_fields(2)
        Traceback (most recent call last):
        rowkey.hbase.wire.proto.WireFormatError: HBase's answer: protobuf field 2 is missing. ...
        """
        for number in numbers:
            if number not in self._values:
                raise _build_missing_error(number)
        return self

    def get_uint(self, number: int, default: int = 0) -> int:
        """Return the value of a uint32, uint64 or enum field, 0..2^64-1."""
        found = self._values.get(number)
        if not found:
            return default
        value = found[-1]
        return value if type(value) is int else _require_number(number, value)

    def get_int64(self, number: int, default: int = 0) -> int:
        """Return the value of an int32 or int64 field, -2^63..2^63-1."""
        values = self._values.get(number)
        if not values:
            return default
        value = _require_number(number, values[-1])
        return value if value < _INT64_LIMIT else value - _UINT64_LIMIT

    def get_bool(self, number: int, default: bool = False) -> bool:
        """Return the value of a bool field; every number but 0 is true."""
        found = self._values.get(number)
        return _require_number(number, found[-1]) != 0 if found else default

    def get_double(self, number: int, default: float = 0.0) -> float:
        """Return the value of a double field."""
        found = self._values.get(number)
        return _decode_float("<d", number, found[-1]) if found else default

    def get_float(self, number: int, default: float = 0.0) -> float:
        """Return the value of a float field."""
        found = self._values.get(number)
        return _decode_float("<f", number, found[-1]) if found else default

    def get_bytes(self, number: int, default: bytes = b"") -> bytes:
        """Return the value of a bytes field."""
        found = self._values.get(number)
        return _require_bytes(number, found[-1]) if found else default

    def get_text(self, number: int, default: str = "") -> str:
        """Return the value of a string field."""
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

    def require_message(self, number: int) -> ProtoMessage:
        """Return a nested message, which must be there.

        Raises:
            WireFormatError: it is missing.
        """
        found = self.get_message(number)
        if found is None:
            raise _build_missing_error(number)
        return found

    def iter_messages(self, number: int) -> Iterator[ProtoMessage]:
        """Yield every message of a repeated field; each is parsed when it is yielded."""
        for one in self._values.get(number, ()):
            yield ProtoMessage(_require_bytes(number, one))

    def list_bytes(self, number: int) -> list[bytes]:
        """Return every value of a repeated bytes field."""
        return [_require_bytes(number, one) for one in self._values.get(number, ())]

    def list_texts(self, number: int) -> list[str]:
        """Return every value of a repeated string."""
        return [_decode_text(number, one) for one in self._values.get(number, ())]

    def list_uints(self, number: int) -> list[int]:
        """Return every value of a repeated number, packed or not."""
        values = self._values.get(number, [])
        numbers: list[int] = []
        if _INT_TYPES.issuperset(
            map(type, values)
        ):  # not packed: a scan's counts, one for each row
            numbers += values  # type: ignore[arg-type]
            return numbers
        for one in values:
            if isinstance(one, int):
                numbers.append(one)
            else:
                _check_value_count(len(numbers) + sum(byte < 0x80 for byte in one))
                numbers.extend(_decode_packed(one))
        return numbers


def _build_missing_error(number: int) -> WireFormatError:
    """Return the error for a protobuf field that a message must have and has not."""
    return WireFormatError(f"protobuf field {number} is missing")


def _require_number(number: int, value: int | bytes) -> int:
    """Return the value of a protobuf field, which must be a number.

    Raises:
        WireFormatError: it is a byte string.
    """
    if isinstance(value, int):
        return value
    raise WireFormatError(f"protobuf field {number} is a byte string", "a number")


def _require_bytes(number: int, value: int | bytes) -> bytes:
    """Return the value of a protobuf field, which must be a byte string.

    Raises:
        WireFormatError: it is a number.
    """
    if isinstance(value, bytes):
        return value
    raise WireFormatError(f"protobuf field {number} is a number", "a byte string")


def _decode_text(number: int, value: int | bytes) -> str:
    """Return the value of a protobuf field, which must be text in UTF-8.

    Raises:
        WireFormatError: it is a number, or not UTF-8.
    """
    try:
        return _require_bytes(number, value).decode()
    except UnicodeDecodeError:
        raise WireFormatError(f"protobuf field {number} is {value!r}", "text in UTF-8") from None


def _decode_float(form: str, number: int, value: int | bytes) -> float:
    """Return the value of a protobuf field, which must be a float or a double.

    Raises:
        WireFormatError: it is a byte string, or has too many bits.
    """
    bits, size = _require_number(number, value), 8 if form == "<d" else 4
    if bits >= 1 << 8 * size:
        raise WireFormatError(
            f"protobuf field {number} has {bits.bit_length()} bits",
            f"a floating-point number of {size} bytes",
        )
    (found,) = unpack(form, bits.to_bytes(size, "little"))
    return float(found)


def _decode_packed(buffer: bytes) -> list[int]:
    """Decode the varints of a packed repeated field."""
    if buffer.isascii():  # each is below 128
        return list(buffer)
    numbers, at = [], 0
    while at < len(buffer):
        value, at = decode_varint(buffer, at)
        numbers.append(value)
    return numbers
