"""Filters that judge rows by their keys."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.errors import Refused, shown
from rowkey.hbase.filters.contract import Filter, check_bytes, check_number
from rowkey.hbase.wire import proto

_PAGE_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PrefixFilter(Filter):
    """Rows that begin with a prefix; it does not spare the server the rows before them.

    >>> PrefixFilter(b"a").body().hex()
    '0a0161'
    """

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes("prefix", self.prefix)

    def body(self) -> bytes:
        return proto.blob(1, self.prefix)


@dataclass(frozen=True, slots=True)
class InclusiveStopFilter(Filter):
    """Rows up to one, and that one."""

    stop: bytes

    def __post_init__(self) -> None:
        check_bytes("stop", self.stop)

    def body(self) -> bytes:
        return proto.blob(1, self.stop)


@dataclass(frozen=True, slots=True)
class PageFilter(Filter):
    """The first rows, so many of each region; `Scan.limit` counts those of the whole scan."""

    size: int

    def __post_init__(self) -> None:
        check_number("size", self.size, 1, _PAGE_MOST)

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        return proto.uint(1, self.size)


@dataclass(frozen=True, slots=True)
class RandomRowFilter(Filter):
    """A part of the rows, another one at each scan.

    Args:
        chance: of a row to be given, 0..1.
    """

    chance: float

    def __post_init__(self) -> None:
        given: object = self.chance
        if not isinstance(given, (int, float)) or not 0 <= given <= 1:
            raise Refused("chance", f"{shown(self.chance)} is out of range", "0..1")

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        return proto.float32(1, self.chance)


@dataclass(frozen=True, slots=True)
class FuzzyRowFilter(Filter):
    r"""Rows that are like one of some patterns.

    Args:
        patterns: each is the bytes of a key, and as many bytes of a mask: 0 where the key's byte
            must be that one, 1 where it may be any. A row may be longer.

    Source: FuzzyRowFilter; sent as masks are written, without is_mask_v2.

    >>> FuzzyRowFilter(((b"ab?d", b"\0\0\1\0"),)).body().hex()
    '0a0c0a0461623f64120400000100'
    """

    patterns: tuple[tuple[bytes, bytes], ...]

    def __post_init__(self) -> None:
        if not self.patterns:
            raise Refused("patterns", "there is none", "1 or more")
        for key, mask in self.patterns:
            check_bytes("patterns", key)
            check_bytes("patterns", mask)
            if len(key) != len(mask) or not key:
                what = f"a key of {len(key)} bytes has a mask of {len(mask)}"
                raise Refused("patterns", what, "as many, 1 or more")
            if set(mask) - {0, 1}:
                raise Refused("patterns", f"the mask {shown(mask)} is none", "bytes 0 and 1")

    def body(self) -> bytes:
        return b"".join(
            proto.message(1, proto.blob(1, key), proto.blob(2, mask)) for key, mask in self.patterns
        )


@dataclass(frozen=True, slots=True)
class RowRange:
    """A range of row keys.

    Args:
        start: its first key; b"" for the first of the table.
        stop: its last key; b"" for the end of the table.
        include_start: whether `start` belongs to it.
        include_stop: whether `stop` belongs to it.
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
            what = f"{shown(self.start)} is behind {shown(self.stop)}"
            raise Refused("start", what, "the greater one last")
        if self.start == self.stop and not (self.include_start and self.include_stop):
            raise Refused("stop", f"no key lies in {shown(self.start)}..", "both ends included")

    def encode(self) -> bytes:
        """The message `RowRange`."""
        return (
            proto.blob(1, self.start)
            + proto.flag(2, self.include_start)
            + proto.blob(3, self.stop)
            + proto.flag(4, self.include_stop)
        )


@dataclass(frozen=True, slots=True)
class MultiRowRangeFilter(Filter):
    """Rows in one of some ranges; the server jumps from one to the next."""

    ranges: tuple[RowRange, ...]

    def __post_init__(self) -> None:
        if not self.ranges:
            raise Refused("ranges", "there is none", "1 or more")
        for given in self.ranges:
            if not isinstance(given, RowRange):
                raise Refused("ranges", f"{shown(given)} is none", "a RowRange")

    def body(self) -> bytes:
        return b"".join(proto.message(1, one.encode()) for one in self.ranges)
