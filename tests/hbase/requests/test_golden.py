"""Requests and answers have the exact bytes that real servers accepted and returned.

Source: sent to and answered by HBase 2.5.13, 2.6.4 and 3.0.0-alpha-4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbase.requests import protos
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.hbase.errors import NotServingRegion
from rowkey.hbase.messages.mutations import PUT, encode_actions, encode_mutation
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.requests import (
    CheckAndMutate,
    Exists,
    Get,
    Multi,
    Mutate,
    OpenScanner,
    RawMulti,
    Request,
)
from rowkey.hbase.wire import frames
from rowkey.hbase.wire.cellblocks import decode_rows

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response

REGION = b"t,,1.0123456789abcdef0123456789abcdef."
PUT_R1 = RowCells(b"r1", [Cell("d", b"q", LATEST, b"v")])
MULTI = (
    "0000006a0f08021a054d756c746920012a02081d3c0a3a0a2a08011226742c2c312e3031323334353637383961"
    "6263646566303132333435363738396162636465662e1a0c080112080a02723110024001000000190000001000"
    "000001000272310164717fffffffffffffff0476"
)
GOLDEN_CELL = Cell("d", b"q", 1_700_000_000_000, b"v")


def _answer(frame: str) -> Response:
    """Return the answer in a whole frame."""
    return frames.parse_response(bytes.fromhex(frame)[4:])


def test_a_batch_of_one_put_has_the_recorded_bytes() -> None:
    """A batch of one put has the bytes of a recorded frame, also when encoded from columns."""
    param, cells = Multi([(REGION, [PUT_R1])]).encode(b"")
    assert MULTI == frames.encode_request(2, "Multi", param, cells).hex()
    actions, block = encode_actions([PUT_R1])
    assert (param, cells) == RawMulti([(REGION, actions, 1)], block).encode(b"")


def test_a_time_to_live_is_an_attribute_of_a_mutation() -> None:
    sent = encode_mutation(b"r", PUT, 1, ttl_ms=600_000).hex()
    assert "2a100a045f74746c120800000000000927c0" in sent


def test_the_recorded_answer_to_a_put_has_no_result() -> None:
    """A successful put has no result."""
    put: Request[Any] = Mutate(*PUT_R1)
    assert put.decode(_answer("00000006020802021001")) is None


def test_the_recorded_answer_to_a_get_of_a_missing_row_has_no_cells() -> None:
    assert RowCells(b"r", []) == Get(b"r").decode(_answer("00000008020802040a021000"))


def test_the_recorded_answer_to_an_existence_check_is_true() -> None:
    """An existing row exists."""
    assert Exists(b"r").decode(_answer("0000000a020802060a0410001801"))


def test_the_recorded_answer_to_a_false_check_says_that_nothing_was_written() -> None:
    """A false check wrote nothing."""
    check = CheckAndMutate(b"r1", "d", b"q", "=", b"v", PUT_R1.cells)
    assert not check.decode(_answer("00000006020802021000"))


def test_the_recorded_answer_to_a_get_has_the_cell_of_the_cell_block() -> None:
    """A get returns the cell of the cell block."""
    frame = (
        "0000002b0608021a02081d060a0410012000000000190000001000000001000272310164710000018bcfe5"
        "68000476"
    )
    assert RowCells(b"r1", [GOLDEN_CELL]) == Get(b"r1").decode(_answer(frame))


def test_batch_results_are_matched_by_index_and_not_by_position() -> None:
    frame = (
        "000000390608021a02081d140a100a0808021204100120000a04080112001a000000001900000010000000"
        "01000272310164710000018bcfe568000476"
    )
    batch = Multi([(REGION, [PUT_R1, Get(b"r1")])])
    assert [None, RowCells(b"r1", [GOLDEN_CELL])] == batch.decode(_answer(frame))


def test_the_error_of_a_region_is_the_error_of_each_of_its_actions() -> None:
    java = "org.apache.hadoop.hbase.NotServingRegionException"
    fault = {"name": java, "value": f"{java}: t,, is not online on rs\n\tat x".encode()}
    answer = protos.build_message("MultiResponse", regionActionResult=[{"exception": fault}])
    response = frames.Response(2, None, answer.SerializeToString(), b"")
    told = Multi([(REGION, [PUT_R1, Get(b"r")])]).decode(response)
    assert [NotServingRegion] * 2 == [type(one) for one in told]


def test_the_recorded_answer_to_a_scan_has_its_lease() -> None:
    """A scanner's answer has whether more rows follow, and its lease."""
    frame = (
        "000000400608021a02081d1b080110c482808080f8c7ffdc01180020e0d4033000380040005805000000190000"
        "001000000001000272310164710000018bcfe568000476"
    )
    response = _answer(frame)
    answer = OpenScanner(ScanSpec(), 1, 1_000, limit=1).decode(response)
    assert [RowCells(b"r1", [GOLDEN_CELL])] == decode_rows(bytes(answer.cells), answer.counts)
    assert protos.parse_message("ScanResponse", response.message).scanner_id == answer.scanner_id
    assert (False, False) == (answer.more_results, answer.more_in_region)
    assert (60_000, 5, [False]) == (answer.ttl_ms, answer.mvcc, answer.partials)
    assert (False, None) == (answer.heartbeat, answer.cursor_row)


def test_a_lookup_in_meta_has_all_fields_of_the_recorded_one() -> None:
    """A lookup in hbase:meta contains all fields of the shortest one."""
    sent = bytes.fromhex(
        "0a110801120d68626173653a6d6574612c2c31121b0a060a04696e666f1a07742c726f772c3a2203742c2c78"
        "01b8010220012801380140015801"
    )
    shortest = protos.list_fields(protos.parse_message("ScanRequest", sent))
    scan = ScanSpec(
        b"t,row,:", b"t,,", reverse=True, read=ReadSpec({"info": ()}), read_type="pread", limit=1
    )
    param, cells = OpenScanner(scan, 1, 1_000, limit=1, close=True).encode(b"hbase:meta,,1")
    ours = protos.list_fields(protos.parse_message("ScanRequest", param))
    more = {"max_versions", "cache_blocks", "max_result_size", "include_start_row"}
    more.add("include_stop_row")
    ours["scan"] = {name: value for name, value in ours["scan"].items() if name not in more}
    assert (shortest, b"") == (ours, cells)
