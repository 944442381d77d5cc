"""Filters that judge cells by their columns, their timestamps or their number."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.cells import LATEST
from rowkey.errors import Refused
from rowkey.hbase.filters.contract import Filter, check_bytes, check_number
from rowkey.hbase.wire import proto


@dataclass(frozen=True, slots=True)
class KeyOnlyFilter(Filter):
    """Cells without their values.

    Args:
        lengths: whether a value becomes its own length, 4 big-endian bytes, instead of nothing.
    """

    lengths: bool = False

    def body(self) -> bytes:
        return proto.flag(1, self.lengths)


@dataclass(frozen=True, slots=True)
class FirstKeyOnlyFilter(Filter):
    """The first cell of each row: what counting rows needs."""

    def body(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True)
class ColumnPrefixFilter(Filter):
    """Cells whose qualifier begins with a prefix."""

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes("prefix", self.prefix)

    def body(self) -> bytes:
        return proto.blob(1, self.prefix)


@dataclass(frozen=True, slots=True)
class MultipleColumnPrefixFilter(Filter):
    """Cells whose qualifier begins with one of some prefixes."""

    prefixes: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not self.prefixes:
            raise Refused("prefixes", "there is none", "1 or more")
        for prefix in self.prefixes:
            check_bytes("prefixes", prefix)

    def body(self) -> bytes:
        return b"".join(proto.blob(1, prefix) for prefix in sorted(set(self.prefixes)))


@dataclass(frozen=True, slots=True)
class ColumnRangeFilter(Filter):
    r"""Cells whose qualifier lies in a range.

    Args:
        start: the first qualifier, or None for no lower end.
        stop: the last qualifier, or None for no upper end.
        include_start: whether `start` belongs to it.
        include_stop: whether `stop` belongs to it.

    >>> ColumnRangeFilter(b"a", b"c").body().hex()
    '0a016110011a01632000'
    """

    start: bytes | None = None
    stop: bytes | None = None
    include_start: bool = True
    include_stop: bool = False

    def __post_init__(self) -> None:
        for word, given in (("start", self.start), ("stop", self.stop)):
            if given is not None:
                check_bytes(word, given)

    def body(self) -> bytes:
        return (
            proto.blob(1, self.start)
            + proto.flag(2, self.include_start)
            + proto.blob(3, self.stop)
            + proto.flag(4, self.include_stop)
        )


@dataclass(frozen=True, slots=True)
class ColumnPaginationFilter(Filter):
    """Some columns of each row, in their order.

    Args:
        limit: most columns.
        offset: columns passed over before; or the qualifier to begin with.
    """

    limit: int
    offset: int | bytes = 0

    def __post_init__(self) -> None:
        check_number("limit", self.limit)
        if not isinstance(self.offset, bytes):
            check_number("offset", self.offset, 0)

    def body(self) -> bytes:
        if isinstance(self.offset, bytes):
            return proto.uint(1, self.limit) + proto.blob(3, self.offset)
        return proto.uint(1, self.limit) + proto.uint(2, self.offset)


@dataclass(frozen=True, slots=True)
class ColumnCountGetFilter(Filter):
    """The first columns of a row; for gets, since it ends a scan after one row."""

    limit: int

    def __post_init__(self) -> None:
        check_number("limit", self.limit)

    def body(self) -> bytes:
        return proto.uint(1, self.limit)


@dataclass(frozen=True, slots=True)
class TimestampsFilter(Filter):
    """Cells with one of some timestamps.

    Args:
        timestamps: milliseconds since 1970.
        can_hint: whether the server may jump to the next of them: faster where a column has many
            versions, and wrong where a delete of a column stands between.

    Source: TimestampsFilter; its canHint.
    """

    timestamps: tuple[int, ...]
    can_hint: bool = False

    def __post_init__(self) -> None:
        for timestamp in self.timestamps:
            check_number("timestamps", timestamp, 0, LATEST)

    def body(self) -> bytes:
        packed = b"".join(proto.varint(one) for one in sorted(set(self.timestamps)))
        return proto.blob(1, packed) + proto.flag(2, self.can_hint)
