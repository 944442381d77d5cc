"""Frames, compared with recorded frames of clusters of three versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.cellblocks import decode_rows, encode_cell
from rowkey.hbase.wire.frames import (
    CONNECTION_FAILURE_ID,
    MAX_FRAME_BYTES,
    PREAMBLE,
    RemoteFault,
    Response,
    encode_connection_header,
    encode_request,
    parse_response,
)
from rowkey.hbase.wire.names import (
    META_REGION_NAME,
    ServerName,
    encode_region_specifier,
    encode_table_name,
)
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    decode_varint,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)

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
STORED_CELL = Cell("d", b"q", 1_700_000_000_000, b"v")


def read_answer(vector: str) -> Response:
    """Return the answer in a recorded frame, whose length is checked."""
    frame = bytes.fromhex(vector)
    assert len(frame) - 4 == int.from_bytes(frame[:4], "big")
    return parse_response(frame[4:])


def test_the_preamble_and_header_have_the_recorded_bytes() -> None:
    """The preamble and header have the bytes that every version accepted."""
    assert HEADER == (PREAMBLE + encode_connection_header("rowkey", "ClientService", None)).hex()


def test_a_header_names_user_and_compressor_if_there_are_any() -> None:
    """An empty user is left out, and the compressor is field 4."""
    header = encode_connection_header("", "AdminService", "some.Codec")
    sent = ProtoMessage(header[4:])
    assert len(header) - 4 == int.from_bytes(header[:4], "big")
    assert (False, "AdminService", "some.Codec") == (
        sent.has_field(1),
        sent.get_text(2),
        sent.get_text(4),
    )


def build_meta_scan(start: bytes, stop: bytes, reverse: bool, *tail: bytes) -> bytes:
    """Return the scan request of hbase:meta's family info."""
    turned = encode_bool(15, reverse or None)
    scan = (
        encode_message(1, encode_bytes(1, b"info")),
        encode_bytes(3, start),
        encode_bytes(4, stop),
        turned,
        encode_uint(23, 2),
    )
    return (
        encode_message(1, encode_region_specifier(META_REGION_NAME))
        + encode_message(2, *scan)
        + b"".join(tail)
    )


def test_the_request_of_a_region_lookup_has_the_recorded_bytes() -> None:
    """The scan that finds the region of a row has the recorded bytes."""
    tail = (
        encode_uint(4, 1),
        encode_bool(5, True),
        encode_bool(7, True),
        encode_bool(8, True),
        encode_uint(11, 1),
    )
    param = build_meta_scan(b"t,row,:", b"t,,", True, *tail)
    assert LOCATE == encode_request(1, "Scan", param).hex()


def test_the_request_of_a_region_listing_has_the_recorded_bytes() -> None:
    """The scan that lists the regions of a table has the recorded bytes."""
    tail = encode_uint(4, 1_000), encode_bool(5, True), encode_bool(7, True), encode_bool(8, True)
    param = build_meta_scan(b"t,,", b"t ,,", False, *tail)
    assert LISTING == encode_request(1, "Scan", param).hex()


def test_a_multi_request_has_the_recorded_bytes() -> None:
    """A put with its cell in the cell block has the recorded bytes."""
    name = b"t,,1.0123456789abcdef0123456789abcdef."
    put = encode_message(2, encode_bytes(1, b"r1"), encode_uint(2, 2), encode_uint(8, 1))
    action = encode_message(3, encode_uint(1, 1), put)
    param = encode_message(1, encode_message(1, encode_region_specifier(name)), action)
    cells = encode_cell(b"r1", Cell("d", b"q", LATEST, b"v"))
    assert MULTI == encode_request(2, "Multi", param, cells).hex()


def test_the_request_that_creates_a_table_has_the_recorded_bytes() -> None:
    """A table with one family, attributes and two split keys has the recorded bytes."""
    attributes = {"VERSIONS": "1", "TTL": "86400", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW"}
    pairs = (
        encode_message(2, encode_text(1, name), encode_text(2, value))
        for name, value in attributes.items()
    )
    family = encode_message(3, encode_bytes(1, b"d"), *pairs)
    table = encode_message(1, encode_message(1, encode_table_name("t")), family)
    param = (
        table
        + encode_bytes(2, b"\x01")
        + encode_bytes(2, b"\x02")
        + encode_uint(3, 0)
        + encode_uint(4, 0)
    )
    assert CREATE == param.hex()


def test_small_messages_have_the_recorded_bytes() -> None:
    """A list of one option, a procedure id and a mutation's attribute have the recorded bytes."""
    ttl = encode_text(1, "_ttl") + encode_bytes(2, (600_000).to_bytes(8, "big"))
    assert "0802" == encode_uint(1, 2).hex()
    assert "0811" == encode_uint(1, 17).hex()
    assert "0a045f74746c120800000000000927c0" == ttl.hex()


def test_recorded_answers_without_cells_are_parsed() -> None:
    """A put, a get of nothing, an existence check and a failed condition are parsed."""
    assert Response(2, None, b"\x10\x01", b"") == read_answer("00000006020802021001")
    assert Response(2, None, b"\x10\x00", b"") == read_answer("00000006020802021000")
    missed, exists = (
        read_answer("00000008020802040a021000"),
        read_answer("0000000a020802060a0410001801"),
    )
    assert [0, 0] == [parse_inner_result(one).get_uint(2) for one in (missed, exists)]
    assert [False, True] == [parse_inner_result(one).get_bool(3) for one in (missed, exists)]


def parse_inner_result(sent: Response) -> ProtoMessage:
    """Return the Result in the answer to a get."""
    found = ProtoMessage(sent.message).get_message(1)
    assert found is not None
    return found


def test_the_recorded_answer_to_a_get_is_parsed() -> None:
    """The answer to a get is parsed to one row of one cell."""
    sent = read_answer(GET)
    assert 1 == parse_inner_result(sent).get_uint(2)
    assert [RowCells(b"r1", [STORED_CELL])] == decode_rows(bytes(sent.cells), [1])


def test_the_recorded_answer_to_a_multi_is_assigned_by_index() -> None:
    """The results of a multi come in another order and are assigned by index."""
    sent = read_answer(MULTI_ANSWER)
    results = list(next(ProtoMessage(sent.message).iter_messages(1)).iter_messages(1))
    assert [2, 1] == [result.get_uint(1) for result in results]
    found = [result.get_message(2) for result in results]
    assert [1, 0] == [one.get_uint(2) if one else None for one in found]
    assert [RowCells(b"r1", [STORED_CELL])] == decode_rows(bytes(sent.cells), [1])


def test_the_recorded_answer_to_a_scan_is_parsed() -> None:
    """The answer to a scan has one cell in one row, and its flag is false."""
    sent = read_answer(SCAN_ANSWER)
    scanned = ProtoMessage(sent.message)
    assert ([1], [0]) == (scanned.list_uints(1), scanned.list_uints(7))
    assert [False, False] == [scanned.get_bool(number, default=True) for number in (3, 8)]
    assert [RowCells(b"r1", [STORED_CELL])] == decode_rows(bytes(sent.cells), scanned.list_uints(1))


def test_a_recorded_fault_has_a_class_and_a_trace() -> None:
    """A recorded fault has a class and a trace, and neither host nor port."""
    java = "org.apache.hadoop.hbase.NotServingRegionException"
    fault = RemoteFault(java, "x", None, None, do_not_retry=False)
    assert Response(2, fault, b"", b"") == read_answer(FAULT)


def test_a_fault_may_name_the_new_server_of_a_region() -> None:
    """Host and port of a moved region and the retry flag are parsed."""
    moved = encode_message(
        2,
        encode_text(1, "J"),
        encode_text(2, "t"),
        encode_text(3, "rs2"),
        encode_uint(4, 7),
        encode_bool(5, True),
    )
    header = encode_uint(1, 3) + moved
    fault = RemoteFault("J", "t", "rs2", 7, do_not_retry=True)
    assert Response(3, fault, b"", b"") == parse_response(bytes((len(header),)) + header)


def test_a_refused_connection_has_call_id_minus_1() -> None:
    """A refused connection has call id -1 in 32 bits, while 2^31 is an ordinary id."""
    failed = bytes.fromhex("08ffffffff0f") + encode_message(2, encode_text(1, "J"))
    assert CONNECTION_FAILURE_ID == parse_response(bytes((len(failed),)) + failed).call_id
    assert 2**31 == parse_response(b"\x06" + encode_uint(1, 2**31) + b"\0").call_id


def test_the_server_in_a_recorded_znode_is_parsed() -> None:
    """A znode's server follows an id, a salt and a magic number."""
    node = bytes.fromhex(ZNODE)
    start = 5 + int.from_bytes(node[1:5], "big")
    assert b"PBUF" == node[start : start + 4]
    sent = ProtoMessage(node[start + 4 :])
    server = sent.get_message(1)
    assert 3 == sent.get_uint(3)
    assert ServerName("rs1", 16_020, 1_700_000_000_000) == (
        ServerName.from_message(server) if server else None
    )


@given(
    call=st.integers(0, 2**32 - 2),
    method=st.text(st.characters(codec="ascii"), max_size=200),
    param=st.binary(max_size=300),
    cells=st.binary(max_size=300),
    timeout=st.none() | st.integers(0, 2**31 - 1),
)
def test_a_request_parsed_as_by_a_server_has_all_its_parts(
    call: int, method: str, param: bytes, cells: bytes, timeout: int | None
) -> None:
    frame = encode_request(call, method, param, cells, timeout)
    assert len(frame) - 4 == int.from_bytes(frame[:4], "big")
    head_bytes, at = decode_varint(frame, 4)
    head = ProtoMessage(frame[at : at + head_bytes])
    block = head.get_message(5)
    assert (call, method, True) == (head.get_uint(1), head.get_text(3), head.get_bool(4))
    assert (len(cells) or None) == (block.get_uint(1) if block else None)
    assert timeout == (head.get_uint(7) if head.has_field(7) else None)
    rest = frame[at + head_bytes :]
    param_bytes, at = decode_varint(rest, 0)
    assert (param, cells) == (rest[at : at + param_bytes], rest[at + param_bytes :])


def test_a_request_too_long_for_servers_is_rejected() -> None:
    """A request above the size limit of servers is refused."""
    with pytest.raises(InvalidArgument, match="268,435,456"):
        encode_request(1, "Multi", b"", bytes(MAX_FRAME_BYTES))


def is_read_or_malformed(frame: bytes) -> bool:
    """Return whether reading a frame gives an answer or WireFormatError."""
    try:
        parse_response(frame)
    except WireFormatError:
        return True
    return True


@given(frame=st.binary(max_size=200))
def test_any_frame_is_parsed_or_raises_wire_format_error(frame: bytes) -> None:
    """No bytes raise anything but WireFormatError."""
    assert is_read_or_malformed(frame)


@pytest.mark.parametrize("vector", [GET, MULTI_ANSWER, SCAN_ANSWER, FAULT])
@given(data=st.data())
def test_a_changed_frame_is_parsed_or_raises_wire_format_error(
    vector: str, data: st.DataObject
) -> None:
    """An answer with a changed or missing byte raises nothing but WireFormatError."""
    frame = bytearray.fromhex(vector)[4:]
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    assert is_read_or_malformed(bytes(frame[: data.draw(st.integers(0, len(frame)))]))


@pytest.mark.parametrize(
    "frame", [b"", b"\x05\x08\x01", b"\x02\x08\x01\x09\x00", b"\x04\x1a\x02\x08\x05"]
)
def test_truncated_frames_are_malformed(frame: bytes) -> None:
    """A header, message or cell block longer than the frame raises an error."""
    with pytest.raises(WireFormatError):
        parse_response(frame)


def test_minus_one_is_read_in_each_encoding() -> None:
    """-1 is read as a uint32 of five bytes and as an int32 of ten bytes."""
    headers = [encode_uint(1, 2**32 - 1), encode_uint(1, 2**64 - 1)]
    assert [5, 10] == [len(header) - 1 for header in headers]
    found = [parse_response(bytes((len(header),)) + header + b"\0").call_id for header in headers]
    assert [CONNECTION_FAILURE_ID] * 2 == found
