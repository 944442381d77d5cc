"""Every filter on a real cluster returns what a plain Python function selects."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from hbase.requests.speaker import PLENTY, parse_results
from rowkey.cells import Cell, RowCells, build_sort_key
from rowkey.errors import InvalidArgument
from rowkey.hbase import filters
from rowkey.hbase.filters import (
    BinaryComparator,
    BinaryComponentComparator,
    BinaryPrefixComparator,
    BitComparator,
    ColumnCountGetFilter,
    ColumnPaginationFilter,
    ColumnPrefixFilter,
    ColumnRangeFilter,
    ColumnValueFilter,
    Comparator,
    DependentColumnFilter,
    FamilyFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    FuzzyRowFilter,
    InclusiveStopFilter,
    KeyOnlyFilter,
    LongComparator,
    MultipleColumnPrefixFilter,
    MultiRowRangeFilter,
    NullComparator,
    PageFilter,
    PrefixFilter,
    QualifierFilter,
    RandomRowFilter,
    RegexStringComparator,
    RowFilter,
    RowRange,
    SingleColumnValueExcludeFilter,
    SingleColumnValueFilter,
    SkipFilter,
    SubstringComparator,
    TimestampsFilter,
    ValueFilter,
    WhileMatchFilter,
)
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.requests import Get, Multi, OpenScanner

if TYPE_CHECKING:
    from hbase.requests.speaker import RequestSender

    Judgement = Callable[[list[RowCells]], list[RowCells]]


def _cells(number: int) -> list[Cell]:
    """Return the cells of a row; rows differ in columns, values and timestamps."""
    found = [
        Cell("d", b"a", number, b"v%d" % (number % 4)),
        Cell("d", b"ab", number % 3, b"Text-%d" % number),
        Cell("d", b"b", number, bytes((number, 5))),
        Cell("d", b"n", 7, struct.pack(">q", number - 5)),
        Cell("e", b"ac", number % 3, b""),
        Cell("e", b"x", 7, b"v%d" % (number % 3)),
    ]
    kept = [cell for place, cell in enumerate(found) if (number + place) % 5]
    return sorted(kept, key=build_sort_key)


ROWS = [RowCells(b"%c%02d" % (97 + number // 5, number), _cells(number)) for number in range(15)]


def _select_cells(passes: Callable[[bytes, Cell], bool]) -> Judgement:
    """Select the cells that pass a test."""

    def judge(rows: list[RowCells]) -> list[RowCells]:
        kept = [RowCells(row, [one for one in cells if passes(row, one)]) for row, cells in rows]
        return [row for row in kept if row.cells]

    return judge


def _select_rows(passes: Callable[[bytes], bool]) -> Judgement:
    """Select the rows whose key passes a test."""
    return lambda rows: [row for row in rows if passes(row.row)]


def _column(row: RowCells, qualifier: bytes) -> Cell | None:
    return next((cell for cell in row.cells if cell.qualifier == qualifier), None)


def _select_rows_by(qualifier: bytes, passes: Callable[[Cell | None], bool]) -> Judgement:
    """Select the rows whose value of a column passes a test."""
    return lambda rows: [row for row in rows if passes(_column(row, qualifier))]


def _remove_column(qualifier: bytes, judge: Judgement) -> Judgement:
    """Remove a column from the selected rows."""
    return lambda rows: [
        RowCells(row, [cell for cell in cells if cell.qualifier != qualifier])
        for row, cells in judge(rows)
    ]


def _take_page(count: int, skip: int = 0) -> Judgement:
    """Select a page of the columns of each row."""
    return lambda rows: [
        RowCells(row, kept) for row, cells in rows if (kept := cells[skip : skip + count])
    ]


def _select_dependent(drop: bool, passes: Callable[[bytes], bool]) -> Judgement:
    """Select the cells with the timestamp of d:a, if its value passes a test."""

    def judge(rows: list[RowCells]) -> list[RowCells]:
        found = []
        for row in rows:
            cell = _column(row, b"a")
            if cell is not None and passes(cell.value):
                same = [one for one in row.cells if one.timestamp == cell.timestamp]
                found.append(RowCells(row.row, [one for one in same if one != cell or not drop]))
        return [row for row in found if row.cells]

    return judge


def _strip_values(lengths: bool) -> Judgement:
    """Replace values by nothing or by their lengths."""
    return lambda rows: [
        RowCells(
            row,
            [
                cell._replace(value=struct.pack(">i", len(cell.value)) if lengths else b"")
                for cell in cells
            ],
        )
        for row, cells in rows
    ]


def _number(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


B = BinaryComparator
OF_V = SingleColumnValueFilter("d", b"a", "=", B(b"v1"))
FILTERS: list[tuple[Filter, Judgement]] = [
    (PrefixFilter(b"b"), _select_rows(lambda row: row[:1] == b"b")),
    (InclusiveStopFilter(b"b07"), _select_rows(lambda row: row <= b"b07")),
    (PageFilter(4), lambda rows: rows[:4]),
    (RandomRowFilter(0.0), lambda rows: []),
    (RandomRowFilter(1.0), lambda rows: rows),
    (
        FuzzyRowFilter(((b"?0?", b"\1\0\1"), (b"b?9", b"\0\1\0"))),
        _select_rows(lambda row: row[1:2] == b"0" or (row[:1], row[2:]) == (b"b", b"9")),
    ),
    (
        MultiRowRangeFilter((RowRange(b"c", b""), RowRange(b"a01", b"a03", False, True))),
        _select_rows(lambda row: row >= b"c" or b"a01" < row <= b"a03"),
    ),
    (KeyOnlyFilter(), _strip_values(False)),
    (KeyOnlyFilter(length_as_value=True), _strip_values(True)),
    (FirstKeyOnlyFilter(), _take_page(1)),
    (ColumnPrefixFilter(b"a"), _select_cells(lambda _, cell: cell.qualifier[:1] == b"a")),
    (
        MultipleColumnPrefixFilter((b"n", b"ab", b"x")),
        _select_cells(lambda _, cell: cell.qualifier in {b"n", b"ab", b"x"}),
    ),
    (
        ColumnRangeFilter(b"ab", b"n"),
        _select_cells(lambda _, cell: b"ab" <= cell.qualifier < b"n"),
    ),
    (
        ColumnRangeFilter(b"ab", b"n", False, True),
        _select_cells(lambda _, cell: b"ab" < cell.qualifier <= b"n"),
    ),
    (ColumnRangeFilter(None, b"b"), _select_cells(lambda _, cell: cell.qualifier < b"b")),
    (ColumnRangeFilter(b"b"), _select_cells(lambda _, cell: cell.qualifier >= b"b")),
    (ColumnPaginationFilter(2, 1), _take_page(2, 1)),
    (ColumnCountGetFilter(2), lambda rows: _take_page(2)(rows[:1])),
    (TimestampsFilter((1, 7)), _select_cells(lambda _, cell: cell.timestamp in {1, 7})),
    (TimestampsFilter((2, 11), can_hint=True), _select_cells(lambda _, c: c.timestamp in {2, 11})),
    (FamilyFilter("=", B(b"e")), _select_cells(lambda _, cell: cell.family == "e")),
    (QualifierFilter(">", B(b"b")), _select_cells(lambda _, cell: cell.qualifier > b"b")),
    (
        QualifierFilter("!=", RegexStringComparator("^a.?$")),
        _select_cells(lambda _, cell: not re.search(b"^a.?$", cell.qualifier)),
    ),
    (ValueFilter("=", B(b"")), _select_cells(lambda _, cell: cell.value == b"")),
    (
        ValueFilter("=", SubstringComparator("TEXT-1")),
        _select_cells(lambda _, cell: b"text-1" in cell.value.lower()),
    ),
    (
        ValueFilter("!=", RegexStringComparator("^text", flags=2)),
        _select_cells(lambda _, cell: not re.search(b"^(?i:text)", cell.value)),
    ),
    (
        ValueFilter(">=", BinaryPrefixComparator(b"v2")),
        _select_cells(lambda _, cell: cell.value[:2] >= b"v2"),
    ),
    (ValueFilter("=", NullComparator()), _select_cells(lambda _, cell: False)),
    (ValueFilter("!=", NullComparator()), _select_cells(lambda _, cell: True)),
    (
        ColumnValueFilter("d", b"n", "<", LongComparator(-1)),
        _select_cells(lambda _, cell: cell.qualifier == b"n" and _number(cell.value) < -1),
    ),
    (
        ColumnValueFilter("d", b"b", "=", BitComparator(b"\x04\x02", "and")),
        _select_cells(
            lambda _, cell: cell.qualifier == b"b" and bool(cell.value[0] & 4 or cell.value[1] & 2)
        ),
    ),
    (
        ColumnValueFilter("d", b"b", "=", BinaryComponentComparator(b"\x05", 1)),
        _select_cells(lambda _, cell: cell.qualifier == b"b"),
    ),
    (OF_V, _select_rows_by(b"a", lambda cell: cell is None or cell.value == b"v1")),
    (
        SingleColumnValueFilter("d", b"a", ">", B(b"v1"), filter_if_missing=True),
        _select_rows_by(b"a", lambda cell: cell is not None and cell.value > b"v1"),
    ),
    (
        SingleColumnValueFilter("d", b"a", "!=", B(b"v1"), latest_only=False),
        _select_rows_by(b"a", lambda cell: cell is None or cell.value != b"v1"),
    ),
    (
        SingleColumnValueExcludeFilter("d", b"a", "=", B(b"v1")),
        _remove_column(
            b"a", _select_rows_by(b"a", lambda cell: cell is None or cell.value == b"v1")
        ),
    ),
    (DependentColumnFilter("d", b"a"), _select_dependent(False, lambda value: True)),
    (
        DependentColumnFilter("d", b"a", drop_column=True),
        _select_dependent(True, lambda value: True),
    ),
    (
        DependentColumnFilter("d", b"a", False, "=", B(b"v1")),
        _select_dependent(False, lambda value: value == b"v1"),
    ),
    (
        SkipFilter(ValueFilter("!=", B(b"v1"))),
        lambda rows: [row for row in rows if all(cell.value != b"v1" for cell in row.cells)],
    ),
    (
        WhileMatchFilter(RowFilter("<", B(b"b06"))),
        _select_rows(lambda row: row < b"b06"),
    ),
    (
        PrefixFilter(b"b") & ColumnPrefixFilter(b"a") & ValueFilter("!=", B(b"v1")),
        _select_cells(
            lambda row, cell: row[:1] == b"b" and cell.qualifier[:1] == b"a" and cell.value != b"v1"
        ),
    ),
    (
        FamilyFilter("=", B(b"e")) | ValueFilter("=", B(b"v1")),
        _select_cells(lambda _, cell: cell.family == "e" or cell.value == b"v1"),
    ),
    (
        FilterList("one", (PrefixFilter(b"a"), QualifierFilter("=", B(b"x")))),
        _select_cells(lambda row, cell: row[:1] == b"a" or cell.qualifier == b"x"),
    ),
    *(
        (RowFilter(sign, B(b"b07")), _select_rows(passes))
        for sign, passes in (
            ("<", lambda row: row < b"b07"),
            ("<=", lambda row: row <= b"b07"),
            ("=", lambda row: row == b"b07"),
            ("!=", lambda row: row != b"b07"),
            (">=", lambda row: row >= b"b07"),
            (">", lambda row: row > b"b07"),
        )
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _rows_to_filter(request_sender: RequestSender, table: str) -> None:
    """Write the rows."""
    assert [None] * len(ROWS) == request_sender.send_to_row(
        table, Multi([(request_sender.find_region(table)[0], ROWS)])
    )


def _scan_rows(speaker: RequestSender, table: str, scan: ScanSpec) -> list[RowCells]:
    return parse_results(speaker.send_to_row(table, OpenScanner(scan, 100, PLENTY, close=True)))


@pytest.mark.parametrize(("row_filter", "judge"), FILTERS, ids=lambda one: type(one).__name__)
def test_a_scan_returns_the_rows_that_its_filter_selects(
    request_sender: RequestSender, table: str, row_filter: Filter, judge: Judgement
) -> None:
    """A scan returns what the filter selects."""
    assert judge(ROWS) == _scan_rows(
        request_sender, table, ScanSpec(read=ReadSpec(filter=row_filter))
    )


@pytest.mark.parametrize(("row_filter", "judge"), FILTERS, ids=lambda one: type(one).__name__)
def test_a_filtered_get_returns_what_a_filtered_scan_of_the_row_returns(
    request_sender: RequestSender, table: str, row_filter: Filter, judge: Judgement
) -> None:
    for row in ROWS[3:8]:
        wanted = judge([row]) or [RowCells(row.row, [])]
        assert wanted == [
            request_sender.send_to_row(table, Get(row.row, ReadSpec(filter=row_filter)))
        ]


def test_every_filter_and_comparator_has_a_test_case() -> None:
    """Every filter and comparator has a case here."""
    tried = repr(FILTERS)
    names = [
        name
        for name in filters.__all__
        if isinstance(kind := getattr(filters, name), type)
        and issubclass(kind, (Filter, Comparator))
        and kind not in {Filter, Comparator}
    ]
    assert [] == [name for name in names if f"{name}(" not in tried]


@pytest.mark.parametrize(
    "row_filter", [one for one, _ in FILTERS], ids=lambda one: type(one).__name__
)
def test_only_filters_that_need_whole_rows_exclude_a_batch_of_cells(
    request_sender: RequestSender, table: str, row_filter: Filter
) -> None:
    """A filter that needs whole rows excludes a batch of cells, and every other allows it."""
    read = ReadSpec(filter=row_filter)
    if row_filter.needs_whole_row:
        with pytest.raises(InvalidArgument):
            ScanSpec(read=read, batch=2)
        return
    pieces = _scan_rows(request_sender, table, ScanSpec(read=read, batch=2))
    whole = _scan_rows(request_sender, table, ScanSpec(read=read))
    assert [cell for _, cells in whole for cell in cells] == [
        cell for _, cells in pieces for cell in cells
    ]


def test_a_filter_selects_the_same_rows_in_a_reverse_scan(
    request_sender: RequestSender, table: str
) -> None:
    scan = ScanSpec(b"c", b"a", reverse=True, read=ReadSpec(filter=PrefixFilter(b"b")))
    wanted = [row for row in reversed(ROWS) if row.row[:1] == b"b"]
    assert wanted == _scan_rows(request_sender, table, scan)
