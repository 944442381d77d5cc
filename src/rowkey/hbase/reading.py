"""What is wanted of a row, and of a range of rows: checked when it is said, not by a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rowkey.cells import LATEST, ROW_BYTES_MOST
from rowkey.errors import Refused, shown
from rowkey.hbase.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

RowKey: TypeAlias = bytes
"""A row key; `Scan` has a field that is called bytes."""

COUNT_MOST = 2**31 - 1
"""Most versions, rows or cells that can be asked for. Source: Integer.MAX_VALUE, as Scan has it."""

READ_TYPES = ("default", "stream", "pread")
"""How a server reads its files for a scan, in the order of their numbers. Source: Scan.ReadType."""


def _is_number(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _check_count(word: str, given: object, *, least: int = 1, optional: bool = False) -> None:
    """Raise unless this is a number of things wanted."""
    if optional and given is None:
        return
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= COUNT_MOST:
        raise Refused(word, f"{shown(given)} is out of range", f"{least}..{COUNT_MOST}")


def _check_end(word: str, given: object) -> None:
    """Raise unless this can be an end of a scan."""
    if not isinstance(given, bytes):
        raise Refused(word, f"{shown(given)} is a {type(given).__name__}", "bytes")
    if len(given) > ROW_BYTES_MOST:
        what = f"the key is {len(given):,} bytes long"
        raise Refused(word, what, f"0..{ROW_BYTES_MOST:,} bytes")


def _check_columns(columns: Mapping[str, tuple[bytes, ...]] | None) -> None:
    """Raise unless these can be columns; whether the table has them its server knows."""
    if columns is None:
        return
    if not columns:
        raise Refused("columns", "no family is named", "None for all of them")
    given: Mapping[Any, Any] = columns
    for family, qualifiers in given.items():
        if not isinstance(family, str) or not family:
            raise Refused("columns", f"{shown(family)} is no family", "its name as text")
        if isinstance(qualifiers, (bytes, str)):
            what = f"{shown(qualifiers)} is one qualifier"
            raise Refused(f"columns.{family}", what, "a tuple of qualifiers")
        for qualifier in qualifiers:
            if not isinstance(qualifier, bytes):
                what = f"{shown(qualifier)} is a {type(qualifier).__name__}"
                raise Refused(f"columns.{family}", what, "bytes")


@dataclass(frozen=True, slots=True)
class Read:
    """What is wanted of a row.

    Args:
        columns: qualifiers wanted of each family, none for all of it; None for the whole row. A
            range of qualifiers is a filter: `ColumnRangeFilter`.
        time_range: timestamps from the first up to, not with, the last.
        versions: most versions of each column.
        filter: what else a cell or a row must be like.
        store_limit: most cells of each family; they are not counted by their columns.
        store_offset: cells of each family passed over before.
        cache_blocks: whether the blocks it reads stay in the server's cache.

    Raises:
        Refused: a number is out of range, or a name is none.

    Source: Get and Scan of HBase 2.6; TimeRange: "maxStamp is smaller than minStamp".

    >>> Read({"d": (b"a", b"b")}, versions=3).versions
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
        start, stop = self.time_range
        if not (_is_number(start) and _is_number(stop) and 0 <= start <= stop <= LATEST):
            what = f"{shown(start)}..{shown(stop)}"
            raise Refused("time_range", what, f"0..{LATEST}, the greater one last")
        _check_count("versions", self.versions)
        _check_count("store_limit", self.store_limit, optional=True)
        _check_count("store_offset", self.store_offset, least=0)
        if self.filter is not None and not isinstance(self.filter, Filter):
            what = f"{shown(self.filter)} is a {type(self.filter).__name__}"
            raise Refused("filter", what, "a Filter, or None")

    @property
    def names_columns(self) -> bool:
        """Whether it asks for single columns rather than for whole families."""
        return any((self.columns or {}).values())


WHOLE = Read()
"""The newest version of every column."""


@dataclass(frozen=True, slots=True)
class Scan:
    r"""A range of rows, and what is wanted of each.

    Args:
        start: where it begins, in its own direction: the higher end if it runs in reverse; b"" for
            the first row, or the last one in reverse.
        stop: where it ends, likewise; b"" for the end of the table.
        include_start: whether the row `start` belongs to it.
        include_stop: whether the row `stop` belongs to it.
        reverse: whether it runs downwards.
        read: what is wanted of each row.
        limit: most rows.
        batch: most cells of a piece of a row; None for whole rows.
        raw: whether deletes, and what they hide, are given as well.
        read_type: how files are read: default, stream or pread.
        rows: most rows of one answer; None leaves it to the settings.
        bytes: most bytes of one answer; None leaves it to the settings.

    Raises:
        Refused: a number is out of range, or two of them cannot go together.

    Source: Scan of HBase 2.6; StoreScanner: "Cannot specify any column for a raw scan";
        Scan.setBatch: IncompatibleFilterException.

    >>> Scan(b"a", b"a").is_empty, Scan(b"a", b"a\0").is_empty, Scan(b"a", reverse=True).is_empty
    (True, False, False)
    """

    start: RowKey = b""
    stop: RowKey = b""
    include_start: bool = True
    include_stop: bool = False
    reverse: bool = False
    read: Read = WHOLE
    limit: int | None = None
    batch: int | None = None
    raw: bool = False
    read_type: str = "default"
    rows: int | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        _check_end("start", self.start)
        _check_end("stop", self.stop)
        for word in ("limit", "batch", "rows", "bytes"):
            _check_count(word, getattr(self, word), optional=True)
        if self.read_type not in READ_TYPES:
            raise Refused("read_type", f"{shown(self.read_type)} is unknown", ", ".join(READ_TYPES))
        if self.raw and self.read.names_columns:
            what = "it is asked of some columns"
            raise Refused("raw", what, "whole families", "Filter what comes.")
        if self.batch is not None and self.read.filter is not None and self.read.filter.whole_row:
            what = f"{type(self.read.filter).__name__} judges whole rows"
            raise Refused("batch", what, "None with this filter")

    @property
    def is_empty(self) -> bool:
        """Whether no row can lie in it, so that it must not be sent.

        A server takes `[k, k)` for `[k, k]`. Of hbase:meta this says nothing, as its rows do not
        sort as bytes.

        Source: measured on HBase 2.5.13, 2.6.4 and 3.0.0-alpha-4.
        """
        if not self.start or not self.stop:
            return False
        if self.start == self.stop:
            return not (self.include_start and self.include_stop)
        return (self.start > self.stop) != self.reverse
