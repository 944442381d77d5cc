"""Frames, against those that clusters of three versions took and gave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import Refused
from rowkey.hbase.wire.cellblocks import decode_rows, encode_cell
from rowkey.hbase.wire.frames import (
    CONNECTION_FAILURE,
    FRAME_BYTES_MOST,
    RemoteFault,
    Response,
    connection_header,
    preamble,
    request,
    response,
)
from rowkey.hbase.wire.names import META_REGION, Server, region_specifier, table_name
from rowkey.hbase.wire.proto import Malformed, Message, blob, flag, message, read_varint, text, uint

HEADER = (
    "4842617300500000005d0a080a06726f776b6579120d436c69656e74536572766963651a2b6f72672e617061636865"
    "2e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f6465632a150a05322e362e3012001a0022"
    "002a00320038024006"
)
LOCATE = (
    "000000460a08011a045363616e20013a0a110801120d68626173653a6d6574612c2c31121b0a060a04696e666f1a07"
    "742c726f772c3a2203742c2c7801b8010220012801380140015801"
)
LISTING = (
    "000000400a08011a045363616e2001340a110801120d68626173653a6d6574612c2c3112160a060a04696e666f1a03"
    "742c2c220474202c2cb8010220e807280138014001"
)
MULTI = (
    "0000006a0f08021a054d756c746920012a02081d3c0a3a0a2a08011226742c2c312e30313233343536373839616263"
    "646566303132333435363738396162636465662e1a0c080112080a027231100240010000001900000010000000010002"
    "72310164717fffffffffffffff0476"
)
CREATE = (
    "0a590a0c0a0764656661756c741201741a490a0164120d0a0856455253494f4e53120131120c0a0354544c12053836"
    "34303012130a0b434f4d5052455353494f4e12044e4f4e4512120a0b424c4f4f4d46494c5445521203524f57120101"
    "12010218002000"
)
GET = (
    "0000002b0608021a02081d060a0410012000000000190000001000000001000272310164710000018bcfe568000476"
)
MULTI_ANSWER = (
    "000000390608021a02081d140a100a0808021204100120000a04080112001a00000000190000001000000001000272"
    "310164710000018bcfe568000476"
)
SCAN_ANSWER = (
    "000000400608021a02081d1b080110c482808080f8c7ffdc01180020e0d40330003800400058050000001900000010"
    "00000001000272310164710000018bcfe568000476"
)
FAULT = (
    "0000003d3c080212380a316f72672e6170616368652e6861646f6f702e68626173652e4e6f7453657276696e675265"
    "67696f6e457863657074696f6e1201782800"
)
ZNODE = (
    "ff0000001a726567696f6e7365727665723a31363032300000000000000000504255460a0f0a0372733110947d1880"
    "d095ffbc3110001803"
)
STORED = Cell("d", b"q", 1_700_000_000_000, b"v")


def answer(vector: str) -> Response:
    """The answer a recorded frame holds, its length checked."""
    frame = bytes.fromhex(vector)
    assert len(frame) - 4 == int.from_bytes(frame[:4], "big")
    return response(frame[4:])


def test_vector_of_the_first_words() -> None:
    """Preamble and header of a connection, as every version took them."""
    assert HEADER == (preamble() + connection_header("rowkey", "ClientService", None)).hex()


def test_a_header_names_user_and_compressor_if_there_are_any() -> None:
    """No user is named for the empty one; the compressor is field 4."""
    header = connection_header("", "AdminService", "some.Codec")
    sent = Message(header[4:])
    assert len(header) - 4 == int.from_bytes(header[:4], "big")
    assert (False, "AdminService", "some.Codec") == (sent.has(1), sent.text(2), sent.text(4))


def meta_scan(start: bytes, stop: bytes, reverse: bool, *tail: bytes) -> bytes:
    """The request that scans family info of hbase:meta, PREAD."""
    turned = flag(15, reverse or None)
    scan = (message(1, blob(1, b"info")), blob(3, start), blob(4, stop), turned, uint(23, 2))
    return message(1, region_specifier(META_REGION)) + message(2, *scan) + b"".join(tail)


def test_vector_of_a_look_up() -> None:
    """The scan that finds the region of a row."""
    tail = uint(4, 1), flag(5, True), flag(7, True), flag(8, True), uint(11, 1)
    param = meta_scan(b"t,row,:", b"t,,", True, *tail)
    assert LOCATE == request(1, "Scan", param).hex()


def test_vector_of_a_listing() -> None:
    """The scan that lists the regions of a table."""
    tail = uint(4, 1_000), flag(5, True), flag(7, True), flag(8, True)
    param = meta_scan(b"t,,", b"t ,,", False, *tail)
    assert LISTING == request(1, "Scan", param).hex()


def test_vector_of_a_multi() -> None:
    """A put whose cell is in the block behind the message."""
    name = b"t,,1.0123456789abcdef0123456789abcdef."
    put = message(2, blob(1, b"r1"), uint(2, 2), uint(8, 1))
    action = message(3, uint(1, 1), put)
    param = message(1, message(1, region_specifier(name)), action)
    cells = encode_cell(b"r1", Cell("d", b"q", LATEST, b"v"))
    assert MULTI == request(2, "Multi", param, cells).hex()


def test_vector_of_a_table_to_make() -> None:
    """A table of one family with attributes as text, and two split keys."""
    attributes = {"VERSIONS": "1", "TTL": "86400", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW"}
    pairs = (message(2, text(1, name), text(2, value)) for name, value in attributes.items())
    family = message(3, blob(1, b"d"), *pairs)
    table = message(1, message(1, table_name("t")), family)
    param = table + blob(2, b"\x01") + blob(2, b"\x02") + uint(3, 0) + uint(4, 0)
    assert CREATE == param.hex()


def test_vectors_of_small_messages() -> None:
    """A list of one option, the number of a procedure, a mutation's attribute."""
    ttl = text(1, "_ttl") + blob(2, (600_000).to_bytes(8, "big"))
    assert "0802" == uint(1, 2).hex()
    assert "0811" == uint(1, 17).hex()
    assert "0a045f74746c120800000000000927c0" == ttl.hex()


def test_vectors_of_answers_without_cells() -> None:
    """A put done, a get that found nothing, an existence, a check that failed."""
    assert Response(2, None, b"\x10\x01", b"") == answer("00000006020802021001")
    assert Response(2, None, b"\x10\x00", b"") == answer("00000006020802021000")
    missed, exists = answer("00000008020802040a021000"), answer("0000000a020802060a0410001801")
    assert [0, 0] == [inner_result(one).uint(2) for one in (missed, exists)]
    assert [False, True] == [inner_result(one).flag(3) for one in (missed, exists)]


def inner_result(sent: Response) -> Message:
    """The Result in the answer to a get."""
    found = Message(sent.message).message(1)
    assert found is not None
    return found


def test_vector_of_a_get() -> None:
    """One row of one cell, the cell behind the message."""
    sent = answer(GET)
    assert 1 == inner_result(sent).uint(2)
    assert [RowCells(b"r1", [STORED])] == decode_rows(bytes(sent.cells), [1])


def test_vector_of_the_answer_to_a_multi() -> None:
    """The get comes before the put that was sent before it; they are told apart by index."""
    sent = answer(MULTI_ANSWER)
    results = Message(sent.message).messages(1)[0].messages(1)
    assert [2, 1] == [result.uint(1) for result in results]
    found = [result.message(2) for result in results]
    assert [1, 0] == [one.uint(2) if one else None for one in found]
    assert [RowCells(b"r1", [STORED])] == decode_rows(bytes(sent.cells), [1])


def test_vector_of_the_answer_to_a_scan() -> None:
    """One cell in one row, no more for this scan; the region's field is there, and false."""
    sent = answer(SCAN_ANSWER)
    scanned = Message(sent.message)
    assert ([1], [0]) == (scanned.uints(1), scanned.uints(7))
    assert [False, False] == [scanned.flag(number, default=True) for number in (3, 8)]
    assert [RowCells(b"r1", [STORED])] == decode_rows(bytes(sent.cells), scanned.uints(1))


def test_vector_of_a_fault() -> None:
    """A class and a trace; no host, no port."""
    java = "org.apache.hadoop.hbase.NotServingRegionException"
    fault = RemoteFault(java, "x", None, None, do_not_retry=False, overloaded=False)
    assert Response(2, fault, b"", b"") == answer(FAULT)


def test_a_fault_may_name_where_to_ask() -> None:
    """Host and port of a region that moved are read, and what the server thinks of a retry."""
    moved = message(2, text(1, "J"), text(2, "t"), text(3, "rs2"), uint(4, 7), flag(5, True))
    header = uint(1, 3) + moved
    fault = RemoteFault("J", "t", "rs2", 7, do_not_retry=True, overloaded=False)
    assert Response(3, fault, b"", b"") == response(bytes((len(header),)) + header)


def test_a_refused_connection_is_an_answer_to_no_call() -> None:
    """The call of a refused preamble is -1 in 32 bits; 2^31 is a call like others."""
    failed = bytes.fromhex("08ffffffff0f") + message(2, text(1, "J"))
    assert CONNECTION_FAILURE == response(bytes((len(failed),)) + failed).call_id
    assert 2**31 == response(b"\x06" + uint(1, 2**31)).call_id


def test_vector_of_a_node_in_zookeeper() -> None:
    """The server of hbase:meta stands behind an id, a salt and a magic word."""
    node = bytes.fromhex(ZNODE)
    start = 5 + int.from_bytes(node[1:5], "big")
    assert b"PBUF" == node[start : start + 4]
    sent = Message(node[start + 4 :])
    server = sent.message(1)
    assert 3 == sent.uint(3)
    assert Server("rs1", 16_020, 1_700_000_000_000) == (Server.read(server) if server else None)


@given(
    call=st.integers(0, 2**32 - 2),
    method=st.text(st.characters(codec="ascii"), max_size=200),
    param=st.binary(max_size=300),
    cells=st.binary(max_size=300),
    timeout=st.none() | st.integers(0, 2**31 - 1),
    priority=st.none() | st.integers(0, 2**31 - 1),
)
def test_a_request_holds_what_was_given(
    call: int, method: str, param: bytes, cells: bytes, timeout: int | None, priority: int | None
) -> None:
    """Read as the server reads it, a frame has every part; a request is framed as an answer is."""
    frame = request(call, method, param, cells, timeout, priority)
    assert len(frame) - 4 == int.from_bytes(frame[:4], "big")
    head_bytes, at = read_varint(frame, 4)
    head = Message(frame[at : at + head_bytes])
    block = head.message(5)
    assert (call, method, True) == (head.uint(1), head.text(3), head.flag(4))
    assert (len(cells) or None) == (block.uint(1) if block else None)
    assert (timeout, priority) == tuple(head.uint(n) if head.has(n) else None for n in (7, 6))
    rest = frame[at + head_bytes :]
    param_bytes, at = read_varint(rest, 0)
    assert (param, cells) == (rest[at : at + param_bytes], rest[at + param_bytes :])


def test_a_request_no_server_reads_is_refused() -> None:
    """What the server would answer by closing the connection is not sent."""
    with pytest.raises(Refused, match="268,435,456"):
        request(1, "Multi", b"", bytes(FRAME_BYTES_MOST))


def read_or_malformed(frame: bytes) -> bool:
    """Whether reading a frame ends, with an answer or with Malformed."""
    try:
        response(frame)
    except Malformed:
        return True
    return True


@given(frame=st.binary(max_size=200))
def test_any_frame_is_read_or_malformed(frame: bytes) -> None:
    """No bytes raise anything but Malformed."""
    assert read_or_malformed(frame)


@pytest.mark.parametrize("vector", [GET, MULTI_ANSWER, SCAN_ANSWER, FAULT])
@given(data=st.data())
def test_broken_frames_are_read_or_malformed(vector: str, data: st.DataObject) -> None:
    """An answer with a byte changed, or cut, raises nothing but Malformed."""
    frame = bytearray.fromhex(vector)[4:]
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    assert read_or_malformed(bytes(frame[: data.draw(st.integers(0, len(frame)))]))


@pytest.mark.parametrize(
    "frame", [b"", b"\x05\x08\x01", b"\x02\x08\x01\x09\x00", b"\x04\x1a\x02\x08\x05"]
)
def test_frames_that_end_too_early(frame: bytes) -> None:
    """A header, a message or a cell block longer than the frame is malformed."""
    with pytest.raises(Malformed):
        response(frame)


def test_no_call_is_read_however_minus_one_is_written() -> None:
    """As a uint32 it has five bytes, as an int32 ten."""
    headers = [uint(1, 2**32 - 1), uint(1, 2**64 - 1)]
    assert [5, 10] == [len(header) - 1 for header in headers]
    found = [response(bytes((len(header),)) + header).call_id for header in headers]
    assert [CONNECTION_FAILURE] * 2 == found
