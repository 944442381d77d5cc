"""What an engine is asked, in the words of HBase's client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import ROW_BYTES_MOST
from rowkey.hbase import ColumnRangeFilter, Read, Scan

if TYPE_CHECKING:
    from rowkey.engines.requests import Ask, Span


def read_of(ask: Ask) -> Read:
    """What is wanted of a row.

    >>> from rowkey.engines import Ask
    >>> read_of(Ask({"d": (b"q",)}, versions=2)).versions
    2
    """
    first, end = ask.qualifiers
    between = None
    if ask.qualifiers != (b"", b""):
        between = ColumnRangeFilter(first or None, end or None)
    return Read(ask.columns or None, ask.time_range, ask.versions, between)


def scan_of(span: Span, ask: Ask) -> Scan:
    r"""A range of rows, from its higher end if it goes in reverse.

    A bound longer than a row key can be is cut: what is not below it is what lies behind its first
    32,767 bytes.

    >>> from rowkey.engines import Ask, Span
    >>> scan = scan_of(Span(b"a", b"b"), Ask(reverse=True))
    >>> scan.start, scan.include_start, scan.stop, scan.include_stop
    (b'b', False, b'a', True)
    """
    low, low_is_in = span.start[:ROW_BYTES_MOST], len(span.start) <= ROW_BYTES_MOST
    high, high_is_in = span.stop[:ROW_BYTES_MOST], len(span.stop) > ROW_BYTES_MOST
    start, include_start, stop, include_stop = low, low_is_in, high, high_is_in
    if ask.reverse:
        start, include_start, stop, include_stop = high, high_is_in or not high, low, low_is_in
    return Scan(
        start,
        stop,
        include_start=include_start,
        include_stop=include_stop,
        reverse=ask.reverse,
        read=read_of(ask),
        limit=ask.limit,
        batch=ask.batch,
        raw=ask.raw,
    )
