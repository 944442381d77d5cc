"""Filters by column, by timestamp or by number of columns."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.cells import LATEST
from rowkey.errors import InvalidArgument
from rowkey.hbase.filters.contract import Filter, check_bytes, check_number
from rowkey.hbase.wire import proto


@dataclass(frozen=True, slots=True)
class KeyOnlyFilter(Filter):
    """Return cells without their values.

    Args:
        length_as_value: whether a value is replaced by its length, 4 big-endian bytes, instead of
            nothing.
    """

    length_as_value: bool = False

    def encode_body(self) -> bytes:
        return proto.encode_bool(1, self.length_as_value)


@dataclass(frozen=True, slots=True)
class FirstKeyOnlyFilter(Filter):
    """Return the first cell of each row, as counting rows needs."""

    def encode_body(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True)
class ColumnPrefixFilter(Filter):
    """Return cells whose qualifier starts with a prefix."""

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes("prefix", self.prefix)

    def encode_body(self) -> bytes:
        return proto.encode_bytes(1, self.prefix)


@dataclass(frozen=True, slots=True)
class MultipleColumnPrefixFilter(Filter):
    """Return cells whose qualifier starts with one of several prefixes."""

    prefixes: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not self.prefixes:
            raise InvalidArgument("prefixes", "the tuple is empty", "one prefix or more")
        for prefix in self.prefixes:
            check_bytes("prefixes", prefix)

    def encode_body(self) -> bytes:
        return b"".join(proto.encode_bytes(1, prefix) for prefix in sorted(set(self.prefixes)))


@dataclass(frozen=True, slots=True)
class ColumnRangeFilter(Filter):
    r"""Return cells whose qualifier is in a range.

    A server seeks to `start`, past deletes of the family that are older than a cell with the empty
    qualifier: the cells that they hide come back. `QualifierFilter` reads them.

    Args:
        start: the first qualifier, or None for no lower bound.
        stop: the last qualifier, or None for no upper bound.
        include_start: whether `start` is included.
        include_stop: whether `stop` is included.

    >>> ColumnRangeFilter(b"a", b"c").encode_body().hex()
    '0a016110011a01632000'
    """

    start: bytes | None = None
    stop: bytes | None = None
    include_start: bool = True
    include_stop: bool = False

    def __post_init__(self) -> None:
        for name, bound in (("start", self.start), ("stop", self.stop)):
            if bound is not None:
                check_bytes(name, bound)

    def encode_body(self) -> bytes:
        return (
            proto.encode_bytes(1, self.start)
            + proto.encode_bool(2, self.include_start)
            + proto.encode_bytes(3, self.stop)
            + proto.encode_bool(4, self.include_stop)
        )


@dataclass(frozen=True, slots=True)
class ColumnPaginationFilter(Filter):
    """Return one page of the columns of each row, in column order.

    Args:
        limit: most columns.
        offset: number of columns to skip, or the qualifier to start with.
    """

    limit: int
    offset: int | bytes = 0

    def __post_init__(self) -> None:
        check_number("limit", self.limit)
        if not isinstance(self.offset, bytes):
            check_number("offset", self.offset, 0)

    def encode_body(self) -> bytes:
        if isinstance(self.offset, bytes):
            return proto.encode_uint(1, self.limit) + proto.encode_bytes(3, self.offset)
        return proto.encode_uint(1, self.limit) + proto.encode_uint(2, self.offset)


@dataclass(frozen=True, slots=True)
class ColumnCountGetFilter(Filter):
    """Return the first columns of a row; for gets only, since it ends a scan after one row."""

    limit: int

    def __post_init__(self) -> None:
        check_number("limit", self.limit)

    def encode_body(self) -> bytes:
        return proto.encode_uint(1, self.limit)


@dataclass(frozen=True, slots=True)
class TimestampsFilter(Filter):
    """Return cells with one of several timestamps.

    Args:
        timestamps: milliseconds since 1970.
        can_hint: whether the server may seek to the next timestamp: faster for columns with many
            versions, but wrong if a delete of a column lies in between.

    Source: TimestampsFilter; its canHint.
    """

    timestamps: tuple[int, ...]
    can_hint: bool = False

    def __post_init__(self) -> None:
        for timestamp in self.timestamps:
            check_number("timestamps", timestamp, 0, LATEST)

    def encode_body(self) -> bytes:
        packed = b"".join(proto.encode_varint(one) for one in sorted(set(self.timestamps)))
        return proto.encode_bytes(1, packed) + proto.encode_bool(2, self.can_hint)
