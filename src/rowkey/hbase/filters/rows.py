"""Filters by row key and by number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.hbase.filters.contract import Filter, check_bytes, check_number
from rowkey.hbase.wire import proto
from rowkey.messages import format_value

_MAX_PAGE_SIZE = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PrefixFilter(Filter):
    """Return rows whose key starts with a prefix; the server still reads the rows before them.

    >>> PrefixFilter(b"a").encode_body().hex()
    '0a0161'
    """

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes("prefix", self.prefix)

    def encode_body(self) -> bytes:
        return proto.encode_bytes(1, self.prefix)


@dataclass(frozen=True, slots=True)
class InclusiveStopFilter(Filter):
    """Return rows up to and including a stop row."""

    stop: bytes

    def __post_init__(self) -> None:
        check_bytes("stop", self.stop)

    def encode_body(self) -> bytes:
        return proto.encode_bytes(1, self.stop)


@dataclass(frozen=True, slots=True)
class PageFilter(Filter):
    """Return the first rows of each region; `ScanSpec.limit` limits the whole scan."""

    size: int

    def __post_init__(self) -> None:
        check_number("size", self.size, 1, _MAX_PAGE_SIZE)

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        return proto.encode_uint(1, self.size)


@dataclass(frozen=True, slots=True)
class RandomRowFilter(Filter):
    """Return a random part of the rows, a different one in each scan.

    Args:
        chance: probability that a row is returned, 0..1.
    """

    chance: float

    def __post_init__(self) -> None:
        chance: object = self.chance
        if not isinstance(chance, (int, float)) or not 0 <= chance <= 1:
            what = f"{format_value(self.chance)} is not valid"
            raise InvalidArgument("chance", what, "a number from 0 to 1")

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        return proto.encode_float(1, self.chance)


@dataclass(frozen=True, slots=True)
class FuzzyRowFilter(Filter):
    r"""Return rows whose key matches one of several patterns.

    Args:
        patterns: pairs of key bytes and a mask of the same length: 0 where the row key must have
            the same byte, 1 where any byte matches. Row keys may be longer.

    Source: FuzzyRowFilter; masks are sent unchanged, without is_mask_v2.

    >>> FuzzyRowFilter(((b"ab?d", b"\0\0\1\0"),)).encode_body().hex()
    '0a0c0a0461623f64120400000100'
    """

    patterns: tuple[tuple[bytes, bytes], ...]

    def __post_init__(self) -> None:
        if not self.patterns:
            raise InvalidArgument("patterns", "the tuple is empty", "one pattern or more")
        for key, mask in self.patterns:
            check_bytes("patterns", key)
            check_bytes("patterns", mask)
            if len(key) != len(mask) or not key:
                what = f"a key of {len(key)} bytes has a mask of {len(mask)} bytes"
                raise InvalidArgument("patterns", what, "equal lengths, 1 byte or more")
            if set(mask) - {0, 1}:
                raise InvalidArgument(
                    "patterns",
                    f"the mask {format_value(mask)} is not valid",
                    "only the bytes 0 and 1",
                )

    def encode_body(self) -> bytes:
        return b"".join(
            proto.encode_message(1, proto.encode_bytes(1, key), proto.encode_bytes(2, mask))
            for key, mask in self.patterns
        )


@dataclass(frozen=True, slots=True)
class RowRange:
    """A range of row keys for `MultiRowRangeFilter`.

    Args:
        start: its first key; b"" for the first of the table.
        stop: its stop key; b"" for the end of the table.
        include_start: whether `start` is included.
        include_stop: whether `stop` is included.
    """

    start: bytes = b""
    stop: bytes = b""
    include_start: bool = True
    include_stop: bool = False

    def __post_init__(self) -> None:
        check_bytes("start", self.start)
        check_bytes("stop", self.stop)
        if not self.stop:
            return
        if self.start > self.stop:
            what = f"{format_value(self.start)} is greater than {format_value(self.stop)}"
            raise InvalidArgument("start", what, "a start that is not greater than the stop")
        if self.start == self.stop and not (self.include_start and self.include_stop):
            raise InvalidArgument(
                "stop",
                f"the range from {format_value(self.start)} to itself is empty",
                "a greater stop, or both ends included",
            )

    def encode(self) -> bytes:
        """Encode the range as the protobuf message RowRange."""
        return (
            proto.encode_bytes(1, self.start)
            + proto.encode_bool(2, self.include_start)
            + proto.encode_bytes(3, self.stop)
            + proto.encode_bool(4, self.include_stop)
        )


@dataclass(frozen=True, slots=True)
class MultiRowRangeFilter(Filter):
    """Return rows in one of several ranges; the server seeks from one to the next."""

    ranges: tuple[RowRange, ...]

    def __post_init__(self) -> None:
        if not self.ranges:
            raise InvalidArgument("ranges", "the tuple is empty", "one range or more")
        for one in self.ranges:
            if not isinstance(one, RowRange):
                what = f"{format_value(one)} has the type {type(one).__name__}"
                raise InvalidArgument("ranges", what, "a RowRange")

    def encode_body(self) -> bytes:
        return b"".join(proto.encode_message(1, one.encode()) for one in self.ranges)
