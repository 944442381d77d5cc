"""happybase's scans: convert its arguments to a `ScanSpec` and rows to its dictionaries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from rowkey.happybase.arguments import (
    BytesOrText,
    RowItem,
    WrongArgumentType,
    build_read_spec,
    build_type_error,
    check_positive_integer,
    to_bytes,
)
from rowkey.happybase.filter_parser import parse_filter
from rowkey.hbase import Filter, HBaseTable, ScanSpec
from rowkey.regions import compute_prefix_stop

DEFAULT_BATCH_SIZE = 1_000
"""happybase's default number of rows per response; here the client's settings apply instead."""


def to_filter(value: object) -> Filter | None:
    """Return the filter of a scan, given as an object or as text in the filter language."""
    if value is None or isinstance(value, Filter):
        return value
    if not isinstance(value, bytes | str):
        raise build_type_error("filter", value, "a text of HBase's filter language, or a Filter")
    return parse_filter(value)


def build_scan_spec(
    start: BytesOrText | None,
    stop: BytesOrText | None,
    prefix: BytesOrText | None,
    columns: Sequence[BytesOrText] | None,
    row_filter: BytesOrText | Filter | None,
    timestamp: int | None,
    batch_size: int,
    scan_batching: int | None,
    limit: int | None,
    reverse: bool,
) -> ScanSpec:
    """Convert happybase's arguments of a scan to a scan of the native client.

    Raises:
        WrongArgumentType: a prefix is combined with a start or a stop, or a type is wrong.
        InvalidArgument: a number is out of range, or the filter is not valid.
    """
    check_positive_integer("batch_size", batch_size)
    for name, number in (("limit", limit), ("scan_batching", scan_batching)):
        if number is not None:
            check_positive_integer(name, number)
    bounds: dict[str, Any]
    if prefix is None:
        first = b"" if start is None else to_bytes("row_start", start)
        last = b"" if stop is None else to_bytes("row_stop", stop)
        bounds = {"start": first, "stop": last}
    elif start is None and stop is None:
        bounds = _build_prefix_bounds(to_bytes("row_prefix", prefix), reverse)
    else:
        what = "a prefix cannot be combined with row_start or row_stop"
        raise WrongArgumentType("row_prefix", what, "either a prefix, or a start and a stop")
    return ScanSpec(
        **bounds,
        reverse=bool(reverse),
        read=build_read_spec(columns, timestamp, cell_filter=to_filter(row_filter)),
        limit=limit,
        batch=scan_batching,
        answer_rows=None if batch_size == DEFAULT_BATCH_SIZE else batch_size,
    )


def _build_prefix_bounds(prefix: bytes, reverse: bool) -> dict[str, Any]:
    """Return the bounds of a scan over the rows whose keys start with a prefix."""
    stop = compute_prefix_stop(prefix) or b""
    if reverse:
        bounds = {"start": stop, "stop": prefix}
        return {**bounds, "include_start": False, "include_stop": True} if stop else bounds
    return {"start": prefix, "stop": stop}


def iter_scan_rows(
    table: HBaseTable, scan: ScanSpec, limit: int | None, *, timestamps: bool, ordered: bool
) -> Iterator[RowItem]:
    """Yield the rows of a scan as (row key, dictionary), or partial rows if it has a `batch`.

    Args:
        scan: the scan, started when the first row is requested.
        limit: maximum number of rows or partial rows.
        timestamps: whether each value is a pair (value, timestamp).
        ordered: whether a row is an OrderedDict.

    Raises:
        HBaseError: the rows cannot be read.
    """
    remaining = limit
    with table.scan(scan) as scanner:
        for answer in scanner.iter_blocks():
            rows = answer.list_row_items(timestamps=timestamps)
            if remaining is not None:
                rows = rows[:remaining]
                remaining -= len(rows)
            if ordered:
                rows = [(row, OrderedDict(values)) for row, values in rows]
            yield from rows
            if remaining == 0:
                return
