"""Scanners of a real cluster over ten rows of two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hbase.requests.speaker import PLENTY, parse_results
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.hbase.errors import HBaseError
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.requests import (
    CloseScanner,
    Multi,
    Mutate,
    NextRows,
    OpenScanner,
    RenewScanner,
)

if TYPE_CHECKING:
    from hbase.requests.speaker import RequestSender

ROWS = tuple(b"scan%02d" % number for number in range(10))
SPAN = ScanSpec(b"scan", b"scao")


def _put(qualifier: bytes, at: int = LATEST) -> Cell:
    return Cell("d", qualifier, at, b"v")


@pytest.fixture(scope="module", autouse=True)
def _rows_to_scan(request_sender: RequestSender, table: str) -> None:
    """Write the rows."""
    puts = [RowCells(row, [_put(b"a", 1), _put(b"b", 1)]) for row in ROWS]
    assert [None] * 10 == request_sender.send_to_row(
        table, Multi([(request_sender.find_region(table)[0], puts)])
    )


@pytest.mark.parametrize(
    ("scan", "wanted"),
    [
        (ScanSpec(b"scan03", b"scan06"), range(3, 6)),
        (ScanSpec(b"scan03", b"scan06", include_start=False), range(4, 6)),
        (ScanSpec(b"scan03", b"scan06", include_stop=True), range(3, 7)),
        (ScanSpec(b"scan03", b"scan03", include_stop=True), range(3, 4)),
        (ScanSpec(b"scan06", b"scan03", reverse=True), range(6, 3, -1)),
        (
            ScanSpec(b"scan06", b"scan03", False, True, reverse=True),
            range(5, 2, -1),
        ),
        (ScanSpec(b"scan06", b"scan06", include_stop=True, reverse=True), range(6, 7)),
        (ScanSpec(b"scan09", b"scao", read_type="stream"), range(9, 10)),
    ],
)
def test_each_bound_of_a_scan_is_included_or_excluded_as_requested(
    request_sender: RequestSender, table: str, scan: ScanSpec, wanted: range
) -> None:
    answer = request_sender.send_to_row(table, OpenScanner(scan, 100, PLENTY, close=True))
    assert [ROWS[place] for place in wanted] == [row for row, _ in parse_results(answer)]
    assert answer.more_in_region is False


def test_a_scanner_continues_is_renewed_and_unknown_once_closed(
    request_sender: RequestSender, table: str
) -> None:
    """A scanner continues, is renewed, and is unknown after it was closed."""
    answer = request_sender.send_to_row(table, OpenScanner(SPAN, 3, PLENTY, cursor=True))
    found = [row for row, _ in parse_results(answer)]
    scanner = answer.scanner_id
    assert scanner is not None
    assert (True, True, True) == (
        answer.more_results,
        answer.more_in_region,
        (answer.ttl_ms or 0) > 0,
    )
    assert answer.mvcc is not None
    answer = request_sender.send_to_row(table, NextRows(scanner, 0, 3))
    found += [row for row, _ in parse_results(answer)]
    renewed = request_sender.send_to_row(table, RenewScanner(scanner, 1))
    assert (scanner, []) == (renewed.scanner_id, renewed.counts)
    answer = request_sender.send_to_row(table, NextRows(scanner, 2, 100, limit=2))
    found += [row for row, _ in parse_results(answer)]
    assert list(ROWS[:8]) == found
    assert answer.more_results is False
    request_sender.send_to_row(table, CloseScanner(scanner))


def test_a_closed_scanner_returns_no_more_rows(request_sender: RequestSender, table: str) -> None:
    """A closed scanner can be closed again and returns no more rows."""
    answer = request_sender.send_to_row(table, OpenScanner(SPAN, 0, PLENTY))
    assert [] == answer.counts
    assert answer.scanner_id is not None
    request_sender.send_to_row(table, CloseScanner(answer.scanner_id))
    request_sender.send_to_row(table, CloseScanner(answer.scanner_id))
    with pytest.raises(HBaseError):
        request_sender.send_to_row(table, NextRows(answer.scanner_id, 5, 1))


def test_a_batch_of_cells_splits_rows_into_marked_partial_rows(
    request_sender: RequestSender, table: str
) -> None:
    """A batch of cells splits rows into partial rows, and marks all but the last."""
    scan = ScanSpec(b"scan", b"scan02", batch=1)
    answer = request_sender.send_to_row(table, OpenScanner(scan, 100, PLENTY, close=True))
    assert [1] * 4 == answer.counts
    assert [True, False, True, False] == answer.partials


def test_a_raw_scan_request_returns_deletes_and_hidden_cells(
    request_sender: RequestSender, table: str
) -> None:
    """A raw scan returns deletes and the cells they hide."""
    row = b"scanned"
    cells = [Cell("d", b"", 9, cell_type=CellType.DELETE_FAMILY), _put(b"a", 3)]
    request_sender.send_to_row(table, Mutate(row, cells[1:]))
    request_sender.send_to_row(table, Mutate(row, cells[:1]))
    plain, raw = (
        request_sender.send_to_row(
            table,
            OpenScanner(ScanSpec(row, row, include_stop=True, raw=raw), 9, PLENTY, close=True),
        )
        for raw in (False, True)
    )
    assert [] == parse_results(plain)
    assert [RowCells(row, cells)] == parse_results(raw)


def test_a_scanner_with_an_earlier_read_point_does_not_see_later_writes(
    request_sender: RequestSender, table: str
) -> None:
    scan = ScanSpec(b"point", b"poinu")
    mvcc = request_sender.send_to_row(table, OpenScanner(scan, 0, PLENTY, close=True)).mvcc
    request_sender.send_to_row(table, Mutate(b"point", [_put(b"a")]))
    then, now = (
        request_sender.send_to_row(table, OpenScanner(scan, 9, PLENTY, close=True, mvcc=point))
        for point in (mvcc, None)
    )
    assert ([], [b"point"]) == (parse_results(then), [row for row, _ in parse_results(now)])
