"""The selection of a read and the range of a scan, validated when they are constructed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rowkey.cells import LATEST, MAX_ROW_BYTES
from rowkey.errors import InvalidArgument
from rowkey.hbase.argument_shapes import check_instance, check_list
from rowkey.hbase.filters import Filter
from rowkey.hbase.filters.contract import check_number
from rowkey.messages import format_value

READ_TYPES = ("default", "stream", "pread")
"""How a server reads its files for a scan; the index is the wire number. Source: Scan.ReadType."""


def _is_integer(value: object) -> bool:
    """Return whether a value is an int and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_row_bound(name: str, value: object) -> None:
    """Raise unless the value can be the start or stop of a scan."""
    if not isinstance(value, bytes):
        what = f"{format_value(value)} has the type {type(value).__name__}"
        raise InvalidArgument(name, what, "bytes")
    if len(value) > MAX_ROW_BYTES:
        what = f"the row key has {len(value):,} bytes"
        raise InvalidArgument(name, what, f"at most {MAX_ROW_BYTES:,} bytes")


def _check_columns(columns: Mapping[str, tuple[bytes, ...]] | None) -> None:
    """Raise unless the columns are valid; the server checks whether the table has them."""
    if columns is None:
        return
    check_instance("columns", columns, Mapping)
    if not columns:
        raise InvalidArgument(
            "columns", "the mapping is empty", "column families, or None for all of them"
        )
    untyped: Mapping[Any, Any] = columns
    for family, qualifiers in untyped.items():
        if not isinstance(family, str) or not family:
            raise InvalidArgument(
                "columns",
                f"{format_value(family)} is not the name of a column family",
                "a text that is not empty",
            )
        if isinstance(qualifiers, (bytes, str)):
            shown = format_value(qualifiers)
            what, remedy = f"{shown} is a single qualifier", f"Write ({shown},)."
            raise InvalidArgument(f"columns.{family}", what, "a tuple of qualifiers", remedy)
        check_list(f"columns.{family}", qualifiers, "qualifiers")
        for qualifier in qualifiers:
            if not isinstance(qualifier, bytes):
                what = f"{format_value(qualifier)} has the type {type(qualifier).__name__}"
                raise InvalidArgument(f"columns.{family}", what, "bytes")


@dataclass(frozen=True, slots=True)
class ReadSpec:
    """Which cells of a row a get or scan returns: columns, versions, times, a filter.

    Args:
        columns: qualifiers of each family, no qualifiers for the whole family; None for the whole
            row. A range of qualifiers is a filter: `ColumnRangeFilter`.
        time_range: timestamps from the first (included) to the last (excluded).
        versions: most versions of each column.
        filter: a condition on cells or rows, evaluated by the server.
        store_limit: most cells of each family, whatever their columns.
        store_offset: cells of each family that are skipped first.
        cache_blocks: whether the server keeps the blocks it reads in its cache.

    Raises:
        InvalidArgument: a number is out of range, or a family name is not valid.

    Source: Get and Scan of HBase 2.6; TimeRange: "maxStamp is smaller than minStamp".

    >>> ReadSpec({"d": (b"a", b"b")}, versions=3).versions
    3
    """

    columns: Mapping[str, tuple[bytes, ...]] | None = None
    time_range: tuple[int, int] = (0, LATEST)
    versions: int = 1
    filter: Filter | None = None
    store_limit: int | None = None
    store_offset: int = 0
    cache_blocks: bool = True

    def __post_init__(self) -> None:
        _check_columns(self.columns)
        check_instance("time_range", self.time_range, tuple)
        if len(self.time_range) != 2:
            what = f"{format_value(self.time_range)} is not a range"
            raise InvalidArgument("time_range", what, "a tuple (first, stop)")
        start, stop = self.time_range
        if not (_is_integer(start) and _is_integer(stop) and 0 <= start <= stop <= LATEST):
            what = f"({format_value(start)}, {format_value(stop)}) is not a valid range"
            allowed = f"two whole numbers from 0 to {LATEST}, the greater one last"
            raise InvalidArgument("time_range", what, allowed)
        check_number("versions", self.versions)
        if self.store_limit is not None:
            check_number("store_limit", self.store_limit)
        check_number("store_offset", self.store_offset, 0)
        if self.filter is not None and not isinstance(self.filter, Filter):
            what = f"{format_value(self.filter)} has the type {type(self.filter).__name__}"
            raise InvalidArgument("filter", what, "a Filter, or None")

    @property
    def has_single_columns(self) -> bool:
        """Return whether the read selects single columns and not only whole families."""
        return any((self.columns or {}).values())


ALL_COLUMNS = ReadSpec()
"""The newest version of every column."""


@dataclass(frozen=True, slots=True)
class ScanSpec:
    r"""A range of rows and which of their cells are read.

    Args:
        start: the row key where the scan starts: the higher end in reverse; b"" for the first row,
            or the last row in reverse.
        stop: the row key where the scan stops, likewise; b"" for the end of the table.
        include_start: whether the row `start` is included.
        include_stop: whether the row `stop` is included.
        reverse: whether rows come in descending order.
        limit: most rows.
        batch: most cells of one partial row; None for whole rows.
        raw: whether delete markers and the cells they hide are returned too.
        read_type: how the server reads its files: default, stream or pread.
        answer_rows: most rows of one answer; None uses the settings.
        answer_bytes: most bytes of one answer; None uses the settings.
        expected_rows: rows after which the reader probably stops. The first answer has no more,
            each later one twice as many, up to full answers, and none of these is requested before
            it is needed. None if the reader wants all rows.

    Raises:
        InvalidArgument: a number is out of range, or two arguments exclude each other.

    Source: Scan of HBase 2.6; StoreScanner: "Cannot specify any column for a raw scan";
        Scan.setBatch: IncompatibleFilterException.

    >>> ScanSpec(b"a", b"a").is_empty, ScanSpec(b"a", b"a\0").is_empty
    (True, False)
    >>> ScanSpec(b"a", reverse=True).is_empty
    False
    """

    start: bytes = b""
    stop: bytes = b""
    include_start: bool = True
    include_stop: bool = False
    reverse: bool = False
    read: ReadSpec = ALL_COLUMNS
    limit: int | None = None
    batch: int | None = None
    raw: bool = False
    read_type: str = "default"
    answer_rows: int | None = None
    answer_bytes: int | None = None
    expected_rows: int | None = None

    def __post_init__(self) -> None:
        _check_row_bound("start", self.start)
        _check_row_bound("stop", self.stop)
        for name in ("limit", "batch", "answer_rows", "answer_bytes", "expected_rows"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name))
        if self.read_type not in READ_TYPES:
            raise InvalidArgument(
                "read_type",
                f"{format_value(self.read_type)} is unknown",
                f"one of {', '.join(READ_TYPES)}",
            )
        if self.raw and self.read.has_single_columns:
            what = "a raw scan cannot select single columns"
            remedy = "Select whole families, and pick the columns from the rows."
            raise InvalidArgument("raw", what, "whole column families", remedy)
        if (
            self.batch is not None
            and self.read.filter is not None
            and self.read.filter.needs_whole_row
        ):
            what = f"{type(self.read.filter).__name__} needs whole rows, which a batch splits"
            raise InvalidArgument("batch", what, "None with this filter")

    @property
    def is_empty(self) -> bool:
        """Return whether the row range is empty, so that the scan must not be sent.

        A server reads `[k, k)` as `[k, k]`. This does not hold for hbase:meta, whose rows do not
        sort as bytes.

        Source: measured on HBase 2.5.13, 2.6.4 and 3.0.0-alpha-4.
        """
        if not self.start or not self.stop:
            return False
        if self.start == self.stop:
            return not (self.include_start and self.include_stop)
        return (self.start > self.stop) != self.reverse

    def has_row(self, row: bytes) -> bool:
        """Return whether a row key is in the range; not for hbase:meta, as for `is_empty`.

        >>> ScanSpec(b"a", b"c", include_start=False).has_row(b"b"), ScanSpec(b"a").has_row(b"")
        (True, False)
        >>> ScanSpec(b"c", b"a", reverse=True).has_row(b"a")
        False
        """
        start, stop, is_after = self.start, self.stop, row.__lt__ if self.reverse else row.__gt__
        if start and not (is_after(start) or (self.include_start and row == start)):
            return False
        return not stop or not (is_after(stop) or (not self.include_stop and row == stop))
