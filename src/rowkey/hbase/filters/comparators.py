"""The comparators of filters."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.hbase.filters.contract import (
    MAX_INT32,
    Comparator,
    check_bytes,
    check_number,
    check_text,
)
from rowkey.hbase.wire import proto

BIT_OPERATORS = {"and": 1, "or": 2, "xor": 3}
"""The number of each bitwise operator. Source: BitComparator.BitwiseOp of Comparator.proto."""

JAVA_DOTALL = 32
"""The flag that makes a dot match every character. Source: java.util.regex.Pattern.DOTALL."""

_INT64_LIMIT = 2**63


@dataclass(frozen=True, slots=True)
class BinaryComparator(Comparator):
    """Compare with bytes in unsigned lexicographic order.

    >>> BinaryComparator(b"v").encode_body().hex()
    '0a030a0176'
    """

    value: bytes

    def __post_init__(self) -> None:
        check_bytes("value", self.value)

    def encode_body(self) -> bytes:
        return proto.encode_message(1, proto.encode_bytes(1, self.value))


@dataclass(frozen=True, slots=True)
class BinaryPrefixComparator(Comparator):
    """Compare with bytes of the same length at the start of the tested bytes."""

    value: bytes

    def __post_init__(self) -> None:
        check_bytes("value", self.value)

    def encode_body(self) -> bytes:
        return proto.encode_message(1, proto.encode_bytes(1, self.value))


@dataclass(frozen=True, slots=True)
class BinaryComponentComparator(Comparator):
    """Compare with bytes of the same length at an offset of the tested bytes.

    Args:
        value: the bytes.
        offset: the offset in the tested bytes.
    """

    value: bytes
    offset: int

    def __post_init__(self) -> None:
        check_bytes("value", self.value)
        check_number("offset", self.offset, 0)

    def encode_body(self) -> bytes:
        return proto.encode_bytes(1, self.value) + proto.encode_uint(2, self.offset)


@dataclass(frozen=True, slots=True)
class LongComparator(Comparator):
    """Compare as an 8-byte big-endian signed number, such as a counter."""

    value: int

    def __post_init__(self) -> None:
        check_number("value", self.value, -_INT64_LIMIT, _INT64_LIMIT - 1)

    def encode_body(self) -> bytes:
        return proto.encode_message(1, proto.encode_bytes(1, struct.pack(">q", self.value)))


@dataclass(frozen=True, slots=True)
class BitComparator(Comparator):
    """Be equal if a bitwise operation with the tested bytes leaves at least one bit set.

    Args:
        value: the bits; the tested bytes must have the same length.
        join: and, or, xor.
    """

    value: bytes
    join: str

    def __post_init__(self) -> None:
        check_bytes("value", self.value)
        if self.join not in BIT_OPERATORS:
            allowed = f"one of {', '.join(BIT_OPERATORS)}"
            raise InvalidArgument("join", f"{self.join!r:.40} is unknown", allowed)

    @property
    def is_ordered(self) -> bool:
        """Return False: only = and != are supported."""
        return False

    def encode_body(self) -> bytes:
        value = proto.encode_message(1, proto.encode_bytes(1, self.value))
        return value + proto.encode_uint(2, BIT_OPERATORS[self.join])


@dataclass(frozen=True, slots=True)
class RegexStringComparator(Comparator):
    """Be equal if a Java regular expression matches anywhere in the tested bytes.

    Args:
        flags: flags of java.util.regex.Pattern.
        charset: Java's name of the character set of the tested bytes.
    """

    pattern: str
    flags: int = JAVA_DOTALL
    charset: str = "UTF-8"

    def __post_init__(self) -> None:
        check_text("pattern", self.pattern)
        check_number("flags", self.flags, 0, MAX_INT32)
        check_text("charset", self.charset)

    @property
    def is_ordered(self) -> bool:
        """Return False: only = and != are supported."""
        return False

    def encode_body(self) -> bytes:
        return (
            proto.encode_text(1, self.pattern)
            + proto.encode_uint(2, self.flags)
            + proto.encode_text(3, self.charset)
        )


@dataclass(frozen=True, slots=True)
class SubstringComparator(Comparator):
    """Be equal if a text occurs anywhere in the tested bytes, ignoring case."""

    text: str

    def __post_init__(self) -> None:
        check_text("text", self.text)

    @property
    def is_ordered(self) -> bool:
        """Return False: only = and != are supported."""
        return False

    def encode_body(self) -> bytes:
        # The server lowers the tested text and expects this one in lower case.
        return proto.encode_text(1, self.text.lower())


@dataclass(frozen=True, slots=True)
class NullComparator(Comparator):
    """Be equal to an absent cell and unequal to a present one."""

    @property
    def is_ordered(self) -> bool:
        """Return False: only = and != are supported."""
        return False

    def encode_body(self) -> bytes:
        return b""
