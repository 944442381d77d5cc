"""Encoded reads, parsed by Google's protobuf, have what was requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hbase.requests import protos
from hbase.requests.strategies import FAMILIES, READS, REGION, ROWS, SCANS, WORDS
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.requests import (
    CloseScanner,
    Exists,
    Get,
    NextRows,
    OpenScanner,
    RenewScanner,
)
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.proto import WireFormatError

if TYPE_CHECKING:
    from rowkey.hbase.read_spec import ReadSpec, ScanSpec

SPECIFIER = {"type": 1, "value": REGION}


def _common(read: ReadSpec) -> dict[str, Any]:
    """Return the protobuf fields that a get and a scan share."""
    wanted: dict[str, Any] = {"max_versions": read.versions, "cache_blocks": read.cache_blocks}
    if read.columns:
        wanted["column"] = [
            {"family": family.encode(), **({"qualifier": list(some)} if some else {})}
            for family, some in read.columns.items()
        ]
    if read.time_range != (0, LATEST):
        wanted["time_range"] = {"from": read.time_range[0], "to": read.time_range[1]}
    if read.filter:
        wanted["filter"] = protos.list_fields(protos.parse_message("Filter", read.filter.encode()))
    if read.store_limit is not None:
        wanted["store_limit"] = read.store_limit
    if read.store_offset:
        wanted["store_offset"] = read.store_offset
    return wanted


@given(ROWS, READS)
def test_a_get_request_encodes_its_row_and_selection(row: bytes, read: ReadSpec) -> None:
    """A get encodes its row and all of its read, and whether it asks for existence only."""
    wanted = {"row": row, **_common(read)}
    param, cells = Get(row, read).encode(REGION)
    assert {"region": SPECIFIER, "get": wanted} == protos.list_fields(
        protos.parse_message("GetRequest", param)
    )
    param, _ = Exists(row, read).encode(REGION)
    wanted["existence_only"] = True
    assert {"region": SPECIFIER, "get": wanted} == protos.list_fields(
        protos.parse_message("GetRequest", param)
    )
    assert b"" == cells


@given(
    SCANS,
    st.integers(0, 2**31 - 1),
    st.integers(1, 2**40),
    st.none() | st.integers(1, 2**31 - 1),
    st.booleans(),
    st.none() | st.integers(0, 2**63 - 1),
    st.booleans(),
)
def test_an_open_scanner_request_encodes_bounds_and_limits(
    scan: ScanSpec,
    rows: int,
    most: int,
    limit: int | None,
    close: bool,
    mvcc: int | None,
    cursor: bool,
) -> None:
    """An open scanner request encodes its scan with both bounds and all limits."""
    assume(not scan.is_empty)
    wanted = _common(scan.read)
    wanted |= {"include_start_row": scan.include_start, "include_stop_row": scan.include_stop}
    wanted["max_result_size"] = most
    for name, value in {
        "start_row": scan.start,
        "stop_row": scan.stop,
        "reversed": scan.reverse,
        "batch_size": scan.batch,
        "readType": {"default": 0, "stream": 1, "pread": 2}[scan.read_type],
        "attribute": [{"name": "_raw_", "value": b"\xff"}] if scan.raw else [],
        "need_cursor_result": cursor,
    }.items():
        if value:
            wanted[name] = value
    if mvcc is not None:
        wanted["mvcc_read_point"] = mvcc
    asked = {
        "region": SPECIFIER,
        "scan": wanted,
        "number_of_rows": rows,
        "client_handles_partials": True,
        "client_handles_heartbeats": True,
        **({"limit_of_rows": limit} if limit else {}),
        **({"close_scanner": True} if close else {}),
    }
    request = OpenScanner(scan, rows, most, limit=limit, close=close, mvcc=mvcc, cursor=cursor)
    param, cells = request.encode(REGION)
    assert asked == protos.list_fields(protos.parse_message("ScanRequest", param))
    assert b"" == cells


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(1, 100))
def test_later_scan_requests_carry_the_number_of_the_scanner(
    scanner: int, seq: int, rows: int
) -> None:
    """Later requests carry the scanner's number and the expected sequence number."""
    known = {
        "scanner_id": scanner,
        "client_handles_partials": True,
        "client_handles_heartbeats": True,
    }
    wanted = known | {"number_of_rows": rows, "next_call_seq": seq}
    for request, more in (
        (NextRows(scanner, seq, rows), wanted),
        (NextRows(scanner, seq, rows, limit=3), wanted | {"limit_of_rows": 3}),
        (NextRows(scanner, seq, rows, close=True), wanted | {"close_scanner": True}),
        (RenewScanner(scanner, seq), wanted | {"number_of_rows": 0, "renew": True}),
        (CloseScanner(scanner), known | {"number_of_rows": 0, "close_scanner": True}),
    ):
        param, cells = request.encode(b"")
        assert (more, b"") == (
            protos.list_fields(protos.parse_message("ScanRequest", param)),
            cells,
        )


def test_encoding_an_empty_scan_fails_an_assertion() -> None:
    """Encoding `[k, k)` fails an assertion, since a server reads it as `[k, k]`."""
    from rowkey.hbase.read_spec import ScanSpec

    with pytest.raises(AssertionError, match="would give the row"):
        OpenScanner(ScanSpec(b"k", b"k"), 1, 1).encode(REGION)


_MAYBE = st.none() | st.booleans()


@given(
    st.lists(st.integers(0, 300), max_size=20),
    st.lists(st.booleans(), max_size=20),
    st.booleans(),
    _MAYBE,
    _MAYBE,
    st.none() | st.integers(0, 2**64 - 1),
    st.none() | ROWS,
)
def test_missing_fields_of_a_scan_answer_are_none(
    counts: list[int],
    partials: list[bool],
    packed: bool,
    more: bool | None,
    more_here: bool | None,
    scanner: int | None,
    cursor: bytes | None,
) -> None:
    """Fields missing from a scan answer are None, and results are whole by default."""
    from rowkey.hbase.wire import proto

    partials = partials[: len(counts)]
    answer = protos.build_message(
        "ScanResponse",
        more_results=more,
        more_results_in_region=more_here,
        scanner_id=scanner,
        cursor=None if cursor is None else {"row": cursor},
        heartbeat_message=True,
        ttl=60_000,
        mvcc_read_point=9,
    )
    body = answer.SerializeToString()
    if packed:
        body += proto.encode_bytes(1, b"".join(map(proto.encode_varint, counts)))
        body += proto.encode_bytes(7, bytes(partials))
    else:
        answer = protos.build_message("ScanResponse", cells_per_result=counts)
        answer.partial_flag_per_result.extend(partials)
        body += answer.SerializeToString()
    told = NextRows(1, 0, 20).decode(Response(1, None, body, b"cells" if counts else b""))
    whole = [False] * (len(counts) - len(partials))
    assert (counts, partials + whole) == (told.counts, told.partials)
    assert (more, more_here, scanner) == (told.more_results, told.more_in_region, told.scanner_id)
    assert (cursor, True, 60_000, 9) == (
        told.cursor_row,
        told.heartbeat,
        told.ttl_ms,
        told.mvcc,
    )
    assert (b"cells" if counts else b"") == told.cells


def test_an_empty_scan_answer_has_no_information_about_the_scanner() -> None:
    told = CloseScanner(1).decode(Response(1, None, b"", b""))
    assert (None, None, None, None, None) == (
        told.scanner_id,
        told.more_results,
        told.more_in_region,
        told.ttl_ms,
        told.mvcc,
    )
    assert ([], [], False) == (told.counts, told.partials, told.heartbeat)


def test_cells_inside_the_message_of_a_scan_answer_are_an_error() -> None:
    """Cells inside the message of a scan answer are an error and not dropped."""
    body = protos.build_message(
        "ScanResponse", results=[{"associated_cell_count": 1}]
    ).SerializeToString()
    with pytest.raises(WireFormatError):
        CloseScanner(1).decode(Response(1, None, body, b""))


@given(ROWS, st.lists(st.tuples(FAMILIES, WORDS, st.integers(0, LATEST), WORDS)), st.booleans())
def test_the_cells_of_a_get_are_read_from_message_or_cell_block(
    row: bytes, told: list[tuple[str, bytes, int, bytes]], inside: bool
) -> None:
    cells = [Cell(*one) for one in told]
    result = protos.build_message("Result", associated_cell_count=0 if inside else len(cells))
    for cell in cells if inside else ():
        result.cell.add(
            row=row,
            family=cell.family.encode(),
            qualifier=cell.qualifier,
            timestamp=cell.timestamp,
            cell_type=4,
            value=cell.value,
        )
    body = protos.build_message("GetResponse", result=result).SerializeToString()
    block = b"" if inside else encode_cells(row, cells)
    answer = Get(row).decode(Response(1, None, body, block))
    assert RowCells(row, cells) == RowCells(answer.row, list(answer.cells))


def test_a_read_request_without_a_valid_row_key_is_refused() -> None:
    for request in (Get, Exists):
        for row in (b"", bytes(32_768), "r"):
            with pytest.raises(InvalidArgument, match=r"^argument row: "):
                request(row)  # type: ignore[arg-type]
