"""What filters compare with."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from rowkey.errors import Refused
from rowkey.hbase.filters.contract import (
    NUMBER_MOST,
    Comparator,
    check_bytes,
    check_number,
    check_text,
)
from rowkey.hbase.wire import proto

BIT_OPERATORS = {"and": 1, "or": 2, "xor": 3}
"""Each way of joining bits and its number. Source: BitComparator.BitwiseOp of Comparator.proto."""

DOTALL = 32
"""The flag by which a point matches every character. Source: java.util.regex.Pattern.DOTALL."""

_HALF = 2**63


@dataclass(frozen=True, slots=True)
class BinaryComparator(Comparator):
    """Bytes, compared as row keys are.

    >>> BinaryComparator(b"v").body().hex()
    '0a030a0176'
    """

    value: bytes

    def __post_init__(self) -> None:
        check_bytes("value", self.value)

    def body(self) -> bytes:
        return proto.message(1, proto.blob(1, self.value))


@dataclass(frozen=True, slots=True)
class BinaryPrefixComparator(Comparator):
    """Bytes, compared with as many first bytes of what is judged."""

    value: bytes

    def __post_init__(self) -> None:
        check_bytes("value", self.value)

    def body(self) -> bytes:
        return proto.message(1, proto.blob(1, self.value))


@dataclass(frozen=True, slots=True)
class BinaryComponentComparator(Comparator):
    """Bytes, compared with as many from some offset on.

    Args:
        value: the bytes.
        offset: bytes passed over before them.
    """

    value: bytes
    offset: int

    def __post_init__(self) -> None:
        check_bytes("value", self.value)
        check_number("offset", self.offset, 0)

    def body(self) -> bytes:
        return proto.blob(1, self.value) + proto.uint(2, self.offset)


@dataclass(frozen=True, slots=True)
class LongComparator(Comparator):
    """A number, compared with 8 big-endian bytes with a sign, such as a counter."""

    value: int

    def __post_init__(self) -> None:
        check_number("value", self.value, -_HALF, _HALF - 1)

    def body(self) -> bytes:
        return proto.message(1, proto.blob(1, struct.pack(">q", self.value)))


@dataclass(frozen=True, slots=True)
class BitComparator(Comparator):
    """Bits: equal where joining them with as many bytes leaves at least one bit.

    Args:
        value: the bits; what is judged must be as long.
        join: and, or, xor.
    """

    value: bytes
    join: str

    def __post_init__(self) -> None:
        check_bytes("value", self.value)
        if self.join not in BIT_OPERATORS:
            raise Refused("join", f"{self.join!r:.40} is unknown", ", ".join(BIT_OPERATORS))

    @property
    def orders(self) -> bool:
        return False

    def body(self) -> bytes:
        joined = BIT_OPERATORS[self.join]
        return proto.message(1, proto.blob(1, self.value)) + proto.uint(2, joined)


@dataclass(frozen=True, slots=True)
class RegexStringComparator(Comparator):
    """A regular expression of Java, found anywhere in what is judged.

    Args:
        pattern: the expression.
        flags: those of java.util.regex.Pattern.
        charset: how bytes become characters, by its name in Java.
    """

    pattern: str
    flags: int = DOTALL
    charset: str = "UTF-8"

    def __post_init__(self) -> None:
        check_text("pattern", self.pattern)
        check_number("flags", self.flags, 0, NUMBER_MOST)
        check_text("charset", self.charset)

    @property
    def orders(self) -> bool:
        return False

    def body(self) -> bytes:
        return proto.text(1, self.pattern) + proto.uint(2, self.flags) + proto.text(3, self.charset)


@dataclass(frozen=True, slots=True)
class SubstringComparator(Comparator):
    """Text, found anywhere in what is judged, capital or small."""

    text: str

    def __post_init__(self) -> None:
        check_text("text", self.text)

    @property
    def orders(self) -> bool:
        return False

    def body(self) -> bytes:
        # The server compares with the letters made small, and takes it that these are so already.
        return proto.text(1, self.text.lower())


@dataclass(frozen=True, slots=True)
class NullComparator(Comparator):
    """Nothing: equal to what is not there; a cell that is there differs from it."""

    @property
    def orders(self) -> bool:
        return False

    def body(self) -> bytes:
        return b""
