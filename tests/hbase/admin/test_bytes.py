"""The bytes that administration sends and reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import Family
from rowkey.hbase.admin.descriptors import build_family_schema
from rowkey.hbase.errors import TableNotFound
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.cluster import (
    GetClusterStatus,
    IsBalancerEnabled,
    IsSplitOrMergeEnabled,
    MasterSwitch,
    SetBalancerRunning,
    SetSplitOrMerge,
    StatusOption,
)
from rowkey.hbase.requests.regions import (
    CompactionState,
    CompactRegion,
    FlushRegion,
    GetRegionInfo,
    GetRegionLoad,
    MergeRegions,
    MoveRegion,
    RegionInfo,
    RegionLoad,
)
from rowkey.hbase.requests.tables import (
    CreateTable,
    GetProcedureResult,
    GetTableState,
    ProcedureResult,
    ProcedureState,
    TableState,
)
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import ServerName, build_region_name
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)

if TYPE_CHECKING:
    from rowkey.hbase.messages.contract import Request

NAME = b"t,a,17.0123456789abcdef0123456789abcdef."
HASH = b"0123456789abcdef0123456789abcdef"


def build_answer(body: bytes) -> Response:
    """Return an answer without an error."""
    return Response(1, None, body, b"")


def test_a_create_request_has_the_recorded_bytes() -> None:
    """A create has the bytes that HBase 2.5.13, 2.6.4 and 3.0.0-alpha-4 accepted."""
    words = {"VERSIONS": "1", "TTL": "86400", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW"}
    schema = TableSchema("t", (FamilySchema("d", words),))
    vector = (
        "0a590a0c0a0764656661756c741201741a490a0164120d0a0856455253494f4e53120131120c0a0354544c12"
        "05383634303012130a0b434f4d5052455353494f4e12044e4f4e4512120a0b424c4f4f4d46494c5445521203"
        "524f5712010112010218002000"
    )
    sent, cells = CreateTable(schema, (b"\x01", b"\x02"), nonce=0).encode(b"")
    assert (vector, b"") == (sent.hex(), cells)


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        (GetClusterStatus((StatusOption.LIVE_SERVERS,)), "0802"),
        (GetProcedureResult(17), "0811"),
        (IsBalancerEnabled(), ""),
        (IsSplitOrMergeEnabled(MasterSwitch.SPLIT), "0800"),
        (IsSplitOrMergeEnabled(MasterSwitch.MERGE), "0801"),
    ],
)
def test_small_admin_requests_have_the_recorded_bytes(request_: Request[Any], sent: str) -> None:
    """Small requests have known bytes."""
    assert sent == request_.encode(b"")[0].hex()


def test_requests_to_region_servers_carry_the_full_name_of_a_region() -> None:
    """Flush, compaction and state requests carry the full name of a region."""
    specifier = encode_message(1, encode_uint(1, 1), encode_bytes(2, NAME))
    requests: list[Request[Any]] = [FlushRegion(), CompactRegion(major=False), GetRegionInfo()]
    assert [specifier, specifier + b"\x10\x00", specifier + b"\x10\x01"] == [
        request.encode(NAME)[0] for request in requests
    ]


def test_move_and_merge_requests_carry_the_encoded_name_of_a_region() -> None:
    specifier = encode_message(1, encode_uint(1, 1), encode_bytes(2, HASH))
    target = encode_message(2, encode_text(1, "rs1"), encode_uint(2, 16020), encode_uint(3, 17))
    assert specifier + target == MoveRegion(NAME, ServerName("rs1", 16020, 17)).encode(b"")[0]
    sent, _ = MergeRegions(NAME, NAME, nonce=7).encode(b"")
    assert specifier * 2 + encode_uint(4, 0) + encode_uint(5, 7) == sent


def test_every_procedure_has_its_own_nonce() -> None:
    """Two equal creates have different nonces, and a repeated one keeps its own."""
    schema = TableSchema("t", ())
    first, second = CreateTable(schema), CreateTable(schema)
    assert len({first.nonce, second.nonce, 0}) == 3
    assert first.encode(b"") == first.encode(b"")


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
words = st.dictionaries(names, names, max_size=3)
families = st.builds(FamilySchema, names, words, words)


@given(names.filter(lambda name: ":" not in name), st.lists(families, max_size=3), words, words)
def test_a_schema_is_read_back_as_it_was_sent(
    name: str, some: list[FamilySchema], words: dict[str, str], settings: dict[str, str]
) -> None:
    schema = TableSchema(name, tuple(some), words, settings)
    assert schema == TableSchema.from_message(ProtoMessage(schema.encode()))


def test_attributes_that_are_not_utf_8_are_sent_back_unchanged() -> None:
    """An attribute of another client that is not UTF-8 is sent back unchanged."""
    sent = encode_message(1, encode_text(1, "default"), encode_text(2, "t")) + encode_message(
        2, encode_bytes(1, b"w"), encode_bytes(2, b"\xff")
    )
    assert sent == TableSchema.from_message(ProtoMessage(sent)).encode()


@given(
    st.binary(max_size=20),
    st.binary(max_size=5),
    st.integers(0, 2**63 - 1),
    st.sampled_from([0, 1, 0xFFFF]),
)
def test_a_region_is_read_back_from_its_message_and_its_name(
    start: bytes, stop: bytes, made: int, replica: int
) -> None:
    """A region is read back from its message and from its full name, with commas or without."""
    region = RegionInfo("ns:t", start, stop, made, replica)
    assert region == RegionInfo.from_message(ProtoMessage(region.encode()))
    assert region == RegionInfo.from_name(region.name, stop)
    assert build_region_name("ns:t", start, made, replica) == region.name


@pytest.mark.parametrize("name", [b"", b"t", b"t,a", b"t,,.x.", b"t,a,b.c."])
def test_an_invalid_region_name_is_refused(name: bytes) -> None:
    with pytest.raises(WireFormatError):
        RegionInfo.from_name(name, b"")


def test_state_and_error_of_a_procedure_are_decoded() -> None:
    """The state and error of a procedure are read, and an unknown state is malformed."""
    failed = encode_uint(1, 2) + encode_message(
        5, encode_message(2, encode_text(1, "a.B"), encode_text(2, "no"))
    )
    asked = GetProcedureResult(1)
    assert [
        ProcedureResult(ProcedureState.NOT_FOUND),
        ProcedureResult(ProcedureState.RUNNING),
        ProcedureResult(ProcedureState.FINISHED, "a.B", "no"),
    ] == [
        asked.decode(build_answer(body)) for body in (encode_uint(1, 0), encode_uint(1, 1), failed)
    ]
    for malformed in (b"", encode_uint(1, 3)):
        with pytest.raises(WireFormatError):
            asked.decode(build_answer(malformed))


def test_an_unknown_state_of_a_table_or_compaction_is_a_malformed_answer() -> None:
    """Known states are returned as members of their enums."""
    disabling = build_answer(encode_message(1, encode_uint(1, 2)))
    assert TableState.DISABLING is GetTableState("t").decode(disabling)
    region = encode_message(1, encode_uint(1, 7))
    assert CompactionState.MAJOR is GetRegionInfo().decode(build_answer(region + encode_uint(2, 2)))
    with pytest.raises(WireFormatError):
        GetTableState("t").decode(build_answer(encode_message(1, encode_uint(1, 9))))
    with pytest.raises(WireFormatError):
        GetRegionInfo().decode(build_answer(region + encode_uint(2, 9)))


def test_the_state_of_a_switch_is_the_first_field_of_the_answer() -> None:
    asked = [IsBalancerEnabled(), IsSplitOrMergeEnabled(MasterSwitch.SPLIT)]
    assert [[True, False]] * 2 == [
        [one.decode(build_answer(encode_uint(1, on))) for on in (1, 0)] for one in asked
    ]


def test_requests_answered_only_when_done_may_take_the_whole_timeout() -> None:
    """Requests that the server answers when the work is done may take the whole timeout."""
    waits: list[type[Request[Any]]] = [FlushRegion, MoveRegion, CompactRegion, SetBalancerRunning]
    assert [True] * 4 == [one.is_slow for one in waits]
    others: list[type[Request[Any]]] = [CreateTable, SetSplitOrMerge, GetProcedureResult]
    assert [False] * 3 == [one.is_slow for one in others]


def test_the_counters_of_a_region_are_decoded_by_field_number() -> None:
    """The counters of a region are read by field number, and a region is required."""
    body = (
        encode_message(1, encode_uint(1, 1), encode_bytes(2, NAME)) + encode_uint(2, 1)
        + encode_uint(3, 2) + encode_uint(5, 3) + encode_uint(6, 4) + encode_uint(8, 5)
        + encode_uint(9, 6) + encode_uint(19, 7)
    )  # fmt: skip
    expected = RegionLoad(NAME, 5, 6, 7, store_count=1, file_count=2, files_mb=3, memory_mb=4)
    assert [expected] == GetRegionLoad("t").decode(build_answer(encode_message(1, body)))
    with pytest.raises(WireFormatError):
        GetRegionLoad().decode(build_answer(encode_message(1, encode_uint(8, 5))))


def test_parts_of_the_status_that_were_not_requested_are_empty() -> None:
    """The status is read, and parts that were not requested are empty."""
    server = encode_text(1, "rs1") + encode_uint(2, 16020) + encode_uint(3, 17)
    table = encode_message(1, encode_text(1, "default"), encode_text(2, "t"))
    counted = encode_message(
        12, table, encode_message(2, encode_uint(1, 3), encode_uint(2, 0), encode_uint(5, 4))
    )
    body = (
        encode_message(3, server)
        + encode_message(7, server)
        + encode_uint(9, 1)
        + encode_message(11, server)
        + counted
    )
    status = GetClusterStatus().decode(build_answer(encode_message(1, body)))
    rs1 = ServerName("rs1", 16020, 17)
    assert (rs1, (rs1,), (rs1,), True) == (
        status.master, status.dead_servers, status.servers, status.is_balancer_on
    )  # fmt: skip
    assert {"t": (3, 4)} == status.tables
    assert ((), (), "") == (status.server_loads, status.regions_in_transition, status.version)


@pytest.mark.parametrize("option", list(StatusOption))
def test_no_status_option_is_requested_that_hbase_2_and_3_number_differently(
    option: StatusOption,
) -> None:
    """No option is requested that 2.x and 3.x number differently."""
    assert option <= 12


def test_a_failed_procedure_names_the_same_java_classes_as_a_failed_call() -> None:
    assert "org.apache.hadoop.hbase.TableNotFoundException" in TableNotFound.java_names


def test_a_new_family_with_defaults_is_sent_without_attributes() -> None:
    assert FamilySchema("d") == build_family_schema(Family("d"))
