"""happybase's scans: its many arguments made one `Scan`, and the rows as it gives them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from rowkey.hbase.errors import MalformedAnswer
from rowkey.hbase.filters import Filter
from rowkey.hbase.happybase.arguments import WrongType, as_bytes, as_read, check_whole
from rowkey.hbase.happybase.filter_language import parse_filter
from rowkey.hbase.reading import Scan
from rowkey.hbase.wire.pairs import pair_rows
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.hbase.happybase.arguments import Text
    from rowkey.hbase.table import Table
    from rowkey.hbase.wire.pairs import Pairs

DEFAULT_BATCH = 1_000
"""Rows of an answer in happybase. Here it leaves them to the client, which counts bytes as well."""


def as_filter(given: object) -> Filter | None:
    """A filter that was given as an object, or in words."""
    if given is None or isinstance(given, Filter):
        return given
    if not isinstance(given, bytes | str):
        what = f"a {type(given).__name__} is none"
        raise WrongType("filter", what, "a text of HBase's filter language, or a Filter")
    return parse_filter(given)


def as_scan(
    start: Text | None,
    stop: Text | None,
    prefix: Text | None,
    columns: Sequence[Text] | None,
    judge: Text | Filter | None,
    timestamp: int | None,
    batch_size: int,
    scan_batching: int | None,
    limit: int | None,
    reverse: bool,
) -> Scan:
    """The scan that happybase's arguments say.

    Raises:
        WrongType: a prefix stands beside a start or a stop, or anything is of another type.
        Refused: a number is out of range, or the filter is none.
    """
    check_whole("batch_size", batch_size)
    for word, number in (("limit", limit), ("scan_batching", scan_batching)):
        if number is not None:
            check_whole(word, number)
    bounds: dict[str, Any]
    if prefix is None:
        first = b"" if start is None else as_bytes("row_start", start)
        last = b"" if stop is None else as_bytes("row_stop", stop)
        bounds = {"start": first, "stop": last}
    elif start is None and stop is None:
        bounds = _of_prefix(as_bytes("row_prefix", prefix), reverse)
    else:
        what = "it stands beside row_start or row_stop"
        raise WrongType("row_prefix", what, "a prefix, or a start and a stop")
    return Scan(
        **bounds,
        reverse=bool(reverse),
        read=as_read(columns, timestamp, judge=as_filter(judge)),
        limit=limit,
        batch=scan_batching,
        rows=None if batch_size == DEFAULT_BATCH else batch_size,
    )


def _of_prefix(prefix: bytes, reverse: bool) -> dict[str, Any]:
    """The bounds of the rows that begin with a prefix."""
    head = prefix.rstrip(b"\xff")
    behind = head[:-1] + bytes((head[-1] + 1,)) if head else b""
    if reverse:
        bounds = {"start": behind, "stop": prefix}
        return {**bounds, "include_start": False, "include_stop": True} if behind else bounds
    return {"start": prefix, "stop": behind}


def scan_rows(
    table: Table, scan: Scan, limit: int | None, *, timestamps: bool, ordered: bool
) -> Iterator[Pairs]:
    """The rows of a scan; with `batch`, their pieces.

    Args:
        table: the table.
        scan: the scan, begun when the first row is asked for.
        limit: most rows or pieces.
        timestamps: whether values come as (value, timestamp).
        ordered: whether a row is an OrderedDict.

    Raises:
        HBaseError: the rows cannot be had.
    """
    left = limit
    with table.scan(scan) as scanner:
        for answer in scanner.answers():
            try:
                rows = pair_rows(answer.cells, answer.counts, timestamps=timestamps)
            except Malformed as problem:
                raise MalformedAnswer(table.name, str(problem)) from problem
            if left is not None:
                rows = rows[:left]
                left -= len(rows)
            if ordered:
                rows = [(row, OrderedDict(values)) for row, values in rows]
            yield from rows
            if left == 0:
                return
