"""Scans of a server that sends other rows than it was asked for, or none, without an end."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, permutations
from time import monotonic
from typing import Any

import pytest

from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines.hbase.cursor import HBaseCursor
from rowkey.hbase.errors import HBaseError, MalformedAnswer, OperationTimedOut
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.scanning import Scanner
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import META_TABLE, ServerName
from rowkey.hbase.wire.proto import encode_bool, encode_bytes, encode_message, encode_uint

SERVER = ServerName("rs1", 16020, 1)
REGION = RegionLocation("t", b"t,b,1.", b"b", b"y", SERVER, 1)
QUICK = Settings(operation_timeout_s=0.3, retry_pause_s=0.0, max_retry_pause_s=0.0)
CELL = Cell("d", b"q", 1, b"v")


@dataclass
class FalseServer:
    """The only server of a table, its locations and its connection; each answer is made anew.

    Args:
        make_answer: returns the message and the cells of the answer with a number, from 0.
        region: the region that it has.
    """

    make_answer: Callable[[int], tuple[bytes, bytes]]
    region: RegionLocation = REGION
    numbers: Iterator[int] = field(default_factory=count)

    def locate_region(self, *_: object) -> RegionLocation:
        return self.region

    locate_region_before = locate_region

    def forget_region(self, *_: object) -> None:
        """Do nothing."""

    forget_server = drop_connections = cancel = forget_region

    def get_connection(self, *_: object) -> FalseServer:
        return self

    get_open_connection = get_connection

    def send(self, *_: object, **__: object) -> FalseServer:
        return self

    def has_arrived(self) -> bool:
        return True

    def result(self, _: object) -> Response:
        return Response(0, None, *self.make_answer(next(self.numbers)))


def build_answer(
    rows: Sequence[tuple[bytes, Sequence[Cell]]] = (),
    *,
    partials: Sequence[bool] = (),
    more: bool = True,
    extra: bytes = b"",
) -> tuple[bytes, bytes]:
    """Return the message and the cells of a scan's answer."""
    message = encode_uint(2, 1) + encode_bool(3, True) + encode_bool(8, more) + extra
    message += b"".join(encode_uint(1, len(cells)) for _, cells in rows)
    message += b"".join(encode_bool(7, partial) for partial in partials)
    return message, b"".join(encode_cells(row, cells) for row, cells in rows)


def repeat_answers(
    answers: Sequence[tuple[bytes, bytes]],
) -> Callable[[int], tuple[bytes, bytes]]:
    """Return the function of a server that gives these answers, again and again."""
    return lambda number: answers[number % len(answers)]


def open_scanner(server: Any, scan: ScanSpec, settings: Settings = QUICK) -> Scanner:
    """Return a scanner of the false server."""
    caller = RetryingCaller(server, server, server, settings)
    return Scanner(caller, server.region.table, scan, settings)


def read_rows(scanner: Scanner) -> list[bytes]:
    """Return the keys of all rows, read as rows."""
    return [row.row for row in scanner.iter_row_cells()]


def read_items(scanner: Scanner) -> list[bytes]:
    """Return the keys of all rows, read as happybase reads them."""
    return [
        row for block in scanner.iter_blocks() for row, _ in block.list_row_items(timestamps=False)
    ]


def read_columns(scanner: Scanner) -> list[bytes]:
    """Return the keys of all cells, read as Arrow columns."""
    cursor = HBaseCursor(scanner, lambda _: ["d", "e"], raw=False)
    return [row for block in cursor.read_blocks() for row in block["row"].to_pylist()]


each_reader = pytest.mark.parametrize("read", [read_rows, read_items, read_columns])

ENDLESS = {
    "heartbeats": lambda _: build_answer(extra=encode_bool(9, True)),
    "empty answers": lambda _: build_answer(),
    "a cursor that stays": lambda _: build_answer(
        extra=encode_message(12, encode_bytes(1, b"k")) + encode_bool(9, True)
    ),
    "zero counts": lambda _: build_answer([(b"k", [])] * 100),
    "partial rows of no cells": lambda _: build_answer([(b"k", [])] * 9, partials=[True] * 9),
    "the same piece": lambda _: build_answer([(b"k", [CELL])], partials=[True]),
    "the same cells": lambda _: build_answer([(b"k", [CELL] * 9)], partials=[True]),
    "very many zero counts": lambda _: (encode_uint(1, 0) * 2_000_000, b""),
    "more rows than requested": lambda _: build_answer([(b"k", [CELL])] * 11_000),
}


@pytest.mark.parametrize("make_answer", ENDLESS.values(), ids=ENDLESS.keys())
def test_answers_without_a_new_row_end_a_scan_after_the_operation_timeout(
    make_answer: Callable[[int], tuple[bytes, bytes]],
) -> None:
    """Answers without a new row or cell end a scan after the time of an operation."""
    answer = make_answer(0)
    started = monotonic()
    scanner = open_scanner(FalseServer(lambda _: answer), ScanSpec(b"b"))
    with scanner, pytest.raises(HBaseError, match="rs1") as caught:
        read_rows(scanner)
    assert monotonic() - started < 10.0
    assert isinstance(caught.value, OperationTimedOut | MalformedAnswer)


def test_reading_on_after_a_scan_without_progress_continues_after_the_last_row() -> None:
    """After the error of a scan without progress, the next read continues after the last row."""
    answers = [build_answer([(b"k", [CELL])])]

    def make_answer(_: int) -> tuple[bytes, bytes]:
        return answers.pop() if answers else build_answer()

    with open_scanner(FalseServer(make_answer), ScanSpec(b"b")) as scanner:
        blocks = scanner.iter_blocks()
        assert [b"k"] == [row.row for row in next(blocks).iter_row_cells()]
        with pytest.raises(OperationTimedOut, match=r"t,b,1\."):
            next(blocks)
        answers.append(build_answer([(b"l", [CELL])], more=False))
        answers.append(build_answer([(b"m", [CELL])]))
        answers.reverse()
        block = scanner.read_block()
        assert block is not None
        assert [b"l"] == [row.row for row in block.iter_row_cells()]


def test_a_scan_whose_cursor_moves_goes_on_although_its_filter_drops_all_rows() -> None:
    """A scan whose filter drops all rows for longer than an operation goes on if it moves."""
    started = monotonic()

    def make_answer(number: int) -> tuple[bytes, bytes]:
        if monotonic() - started > 2 * QUICK.operation_timeout_s:
            return build_answer(more=False, extra=encode_bool(3, False))
        cursor = encode_message(12, encode_bytes(1, b"k%09d" % number))
        return build_answer(extra=cursor + encode_bool(9, True))

    with open_scanner(FalseServer(make_answer), ScanSpec(b"b")) as scanner:
        assert [] == read_rows(scanner)


def test_an_answer_of_millions_of_empty_rows_is_refused_before_it_fills_memory() -> None:
    """An answer of twenty million empty rows is refused before they fill the memory."""
    answer = encode_uint(1, 0) * 20_000_000, b""
    tracemalloc.start()
    try:
        scanner = open_scanner(FalseServer(lambda _: answer), ScanSpec(b"b"))
        with scanner, pytest.raises(HBaseError, match="values or more"):
            read_rows(scanner)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_row_of_endless_pieces_is_refused_before_it_fills_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row whose pieces never end, each with a new cell, is refused before it fills the memory."""
    monkeypatch.setattr("rowkey.hbase.scanning.row_assembler.MAX_ROW_CELL_BYTES", 4_096)

    def make_answer(number: int) -> tuple[bytes, bytes]:
        cell = CELL._replace(qualifier=b"%09d" % number)
        return build_answer([(b"k", [cell])], partials=[True])

    scanner = open_scanner(FalseServer(make_answer), ScanSpec(b"b"))
    with scanner, pytest.raises(MalformedAnswer, match=r"the pieces of a row have 4,\d+ bytes"):
        read_rows(scanner)


def rows_of(*keys: bytes) -> list[tuple[bytes, list[Cell]]]:
    """Return rows of one cell."""
    return [(key, [CELL]) for key in keys]


DISORDER = {
    "descending": (ScanSpec(b"b"), [rows_of(b"d", b"c")]),
    "twice": (ScanSpec(b"b"), [rows_of(b"c", b"c")]),
    "a bit flipped": (ScanSpec(b"b"), [rows_of(b"c", b"\xe4", b"e")]),
    "below the region": (ScanSpec(b"b"), [rows_of(b"a", b"c")]),
    "above the region": (ScanSpec(b"b"), [rows_of(b"c", b"y")]),
    "before the start": (ScanSpec(b"d"), [rows_of(b"c", b"d")]),
    "the start": (ScanSpec(b"d", include_start=False), [rows_of(b"d", b"e")]),
    "after the stop": (ScanSpec(b"c", b"e"), [rows_of(b"d", b"f")]),
    "the stop": (ScanSpec(b"c", b"e"), [rows_of(b"d", b"e")]),
    "descending answers": (ScanSpec(b"b"), [rows_of(b"d", b"e"), rows_of(b"c", b"f")]),
    "an answer twice": (ScanSpec(b"b"), [rows_of(b"d", b"e"), rows_of(b"d", b"e")]),
    "the last row again": (ScanSpec(b"b"), [rows_of(b"d", b"e"), rows_of(b"e", b"f")]),
    "ascending in reverse": (ScanSpec(b"x", reverse=True), [rows_of(b"c", b"d")]),
    "above the region in reverse": (ScanSpec(b"x", reverse=True), [rows_of(b"y", b"x")]),
    "below the stop in reverse": (ScanSpec(b"f", b"c", reverse=True), [rows_of(b"d", b"c")]),
    "few rows": (ScanSpec(b"b", limit=2), [rows_of(b"d", b"c")]),
    "cells of another row": (ScanSpec(b"b"), [[(b"c", [CELL, CELL])]]),
}
"""Scans, and the rows of the answers of a server that does not follow them."""


@each_reader
@pytest.mark.parametrize(("scan", "answers"), DISORDER.values(), ids=DISORDER.keys())
def test_rows_out_of_order_end_a_scan_with_an_error(
    scan: ScanSpec,
    answers: list[list[tuple[bytes, list[Cell]]]],
    read: Callable[[Scanner], list[bytes]],
) -> None:
    """Rows out of order, twice or out of range end a scan; the error names server and region."""

    def make_answer(number: int) -> tuple[bytes, bytes]:
        rows = answers[min(number, len(answers) - 1)]
        message, cells = build_answer(rows)
        if len(rows[0][1]) > 1:  # the second cell has another row key
            cells = encode_cells(b"c", [CELL]) + encode_cells(b"d", [CELL])
        return message, cells

    scanner = open_scanner(FalseServer(make_answer), scan)
    with scanner, pytest.raises(MalformedAnswer, match=r"rs1,16020,1: .*t,b,1\.") as caught:
        read(scanner)
    assert (str(SERVER), REGION.name) == (caught.value.server, caught.value.region)


@each_reader
@pytest.mark.parametrize("reverse", [False, True])
def test_every_wrong_order_of_rows_ends_a_scan_with_an_error(
    read: Callable[[Scanner], list[bytes]], reverse: bool
) -> None:
    """Of all orders of four rows, in one answer or two, only that of the scan is returned."""
    keys = [b"c", b"d", b"d\0", b"e"]
    for order in permutations(keys):
        for first in (4, 2):
            answers = [build_answer(rows_of(*order[:first]), more=first < 4)]
            answers.append(build_answer(rows_of(*order[first:]), more=False, extra=b""))
            server = FalseServer(repeat_answers(answers))
            stop = ScanSpec(b"x", b"b", reverse=True) if reverse else ScanSpec(b"b", b"f")
            with open_scanner(server, stop) as scanner:
                if list(order) == sorted(keys, reverse=reverse):
                    assert list(order) == read(scanner)
                else:
                    with pytest.raises(MalformedAnswer):
                        read(scanner)


OLD, NEW = CELL, CELL._replace(timestamp=2)
GONE = CELL._replace(cell_type=CellType.DELETE)
OTHER = CELL._replace(qualifier=b"p")
FAMILY = CELL._replace(family="e", qualifier=b"a")
IN_PIECES = {
    "versions ascend": (ScanSpec(b"b", b"y", read=ReadSpec(versions=2)), [[OLD, NEW]]),
    "a version twice": (ScanSpec(b"b", b"y", read=ReadSpec(versions=2)), [[OLD, OLD]]),
    "qualifiers descend": (ScanSpec(b"b", b"y", batch=2), [[CELL, OTHER]]),
    "families descend": (ScanSpec(b"b", b"y", batch=2), [[FAMILY, CELL]]),
    "a column in two pieces": (ScanSpec(b"b", b"y", batch=2), [[OTHER, CELL], [CELL, FAMILY]]),
    "pieces descend": (ScanSpec(b"b", b"y", batch=1), [[CELL], [OTHER]]),
}
UNASKED_PIECES = (ScanSpec(b"b", b"y"), [[CELL], [OTHER]])
"""Pieces of a row that a scan has not asked for."""


@pytest.mark.parametrize(
    ("read", "scan", "pieces"),
    [
        *(
            pytest.param(read, *pieces, id=f"{read.__name__} {name}")
            for read in (read_rows, read_columns)
            for name, pieces in IN_PIECES.items()
        ),
        # The items of a row are a dictionary of columns, which has no order.
        *(
            pytest.param(read, *UNASKED_PIECES, id=f"{read.__name__} unasked pieces")
            for read in (read_rows, read_items, read_columns)
        ),
    ],
)
def test_cells_of_a_row_out_of_order_end_a_scan_with_an_error(
    read: Callable[[Scanner], list[bytes]], scan: ScanSpec, pieces: list[list[Cell]]
) -> None:
    """Versions and pieces of a row out of order end a scan, in one answer and in several."""
    partials = [True] * (len(pieces) - 1) + [False]
    together = [build_answer([(b"c", cells) for cells in pieces], partials=partials, more=False)]
    alone = [
        build_answer([(b"c", cells)], partials=[partial], more=partial)
        for cells, partial in zip(pieces, partials, strict=True)
    ]
    for answers in (together, alone):
        server = FalseServer(repeat_answers(answers))
        with open_scanner(server, scan) as scanner, pytest.raises(MalformedAnswer):
            read(scanner)


def test_a_raw_scan_returns_delete_markers_before_the_cells_they_delete() -> None:
    """A raw scan returns a delete marker before the cell that it deletes, and equal cells."""
    answer = build_answer([(b"c", [NEW, GONE, OLD, OLD])], more=False, extra=b"")
    last = build_answer(more=False, extra=encode_bool(3, False))
    server = FalseServer(lambda number: last if number else answer)
    with open_scanner(server, ScanSpec(b"b", b"y", raw=True)) as scanner:
        assert [RowCells(b"c", [NEW, GONE, OLD, OLD])] == list(scanner.iter_row_cells())


def test_rows_of_meta_are_ordered_by_table_start_key_and_id() -> None:
    """Rows of hbase:meta come in the order of tables, start keys and ids, and in no other."""
    keys = [b"t,,2.", b"t,a,1.", b"t!,,3."]
    region = RegionLocation(META_TABLE, b"hbase:meta,,1", b"", b"", SERVER, -1)
    ordered = FalseServer(lambda _: build_answer(rows_of(*keys), more=False), region)
    with open_scanner(ordered, ScanSpec()) as scanner:
        assert keys == read_rows(scanner)
    bytewise = FalseServer(lambda _: build_answer(rows_of(*sorted(keys)), more=False), region)
    with open_scanner(bytewise, ScanSpec()) as scanner, pytest.raises(MalformedAnswer):
        read_rows(scanner)
