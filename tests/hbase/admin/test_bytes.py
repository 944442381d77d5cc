"""What administration sends and reads, byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import Family
from rowkey.hbase.admin.descriptors import family_schema
from rowkey.hbase.errors import TableNotFound
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.balancer import SetBalancerRunning
from rowkey.hbase.requests.balancer_enabled import IsBalancerEnabled
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.requests.compact_region import CompactRegion
from rowkey.hbase.requests.create_table import CreateTable
from rowkey.hbase.requests.flush_region import FlushRegion
from rowkey.hbase.requests.merge_regions import MergeRegions
from rowkey.hbase.requests.move_region import MoveRegion
from rowkey.hbase.requests.procedure_result import (
    GetProcedureResult,
    ProcedureResult,
    ProcedureState,
)
from rowkey.hbase.requests.region_info import Compacting, GetRegionInfo, RegionInfo
from rowkey.hbase.requests.region_load import GetRegionLoad, RegionLoad
from rowkey.hbase.requests.split_enabled import IsSplitOrMergeEnabled
from rowkey.hbase.requests.split_switch import SetSplitOrMerge, Switch
from rowkey.hbase.requests.table_state import GetTableState, TableState
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import Server, region_name
from rowkey.hbase.wire.proto import Malformed, Message, blob, message, text, uint

if TYPE_CHECKING:
    from rowkey.hbase.messages.contract import Request

NAME = b"t,a,17.0123456789abcdef0123456789abcdef."
HASH = b"0123456789abcdef0123456789abcdef"


def answered(body: bytes) -> Response:
    """An answer without an error."""
    return Response(1, None, body, b"")


def test_create_table_is_the_vector() -> None:
    """A create is, byte by byte, what HBase 2.5.13, 2.6.4 and 3.0.0-alpha-4 answered."""
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
        (GetClusterStatus((Option.LIVE_SERVERS,)), "0802"),
        (GetProcedureResult(17), "0811"),
        (IsBalancerEnabled(), ""),
        (IsSplitOrMergeEnabled(Switch.SPLIT), "0800"),
        (IsSplitOrMergeEnabled(Switch.MERGE), "0801"),
    ],
)
def test_vectors(request_: Request[Any], sent: str) -> None:
    """Small requests are the vectors of the protocol's facts."""
    assert sent == request_.encode(b"")[0].hex()


def test_region_servers_are_told_full_names() -> None:
    """Flush, compact and state of a region carry its full name, as region servers want it."""
    specifier = message(1, uint(1, 1), blob(2, NAME))
    requests: list[Request[Any]] = [FlushRegion(), CompactRegion(major=False), GetRegionInfo()]
    assert [specifier, specifier + b"\x10\x00", specifier + b"\x10\x01"] == [
        request.encode(NAME)[0] for request in requests
    ]


def test_the_master_is_told_encoded_names() -> None:
    """Move and merge carry the hash alone, as the master wants it."""
    specifier = message(1, uint(1, 1), blob(2, HASH))
    target = message(2, text(1, "rs1"), uint(2, 16020), uint(3, 17))
    assert specifier + target == MoveRegion(NAME, Server("rs1", 16020, 17)).encode(b"")[0]
    sent, _ = MergeRegions(NAME, NAME, nonce=7).encode(b"")
    assert specifier * 2 + uint(4, 0) + uint(5, 7) == sent


def test_every_procedure_has_a_nonce_of_its_own() -> None:
    """Two equal creates have different nonces, none of them 0; one sent again keeps its own."""
    schema = TableSchema("t", ())
    first, second = CreateTable(schema), CreateTable(schema)
    assert len({first.nonce, second.nonce, 0}) == 3
    assert first.encode(b"") == first.encode(b"")


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
words = st.dictionaries(names, names, max_size=3)
families = st.builds(FamilySchema, names, words, words)


@given(names.filter(lambda name: ":" not in name), st.lists(families, max_size=3), words, words)
def test_schemas_read_back(
    name: str, some: list[FamilySchema], words: dict[str, str], settings: dict[str, str]
) -> None:
    """A descriptor is read as it was sent."""
    schema = TableSchema(name, tuple(some), words, settings)
    assert schema == TableSchema.read(Message(schema.encode()))


def test_strange_bytes_are_kept() -> None:
    """A word of somebody else that is no UTF-8 is sent back as it came."""
    sent = message(1, text(1, "default"), text(2, "t")) + message(
        2, blob(1, b"w"), blob(2, b"\xff")
    )
    assert sent == TableSchema.read(Message(sent)).encode()


@given(
    st.binary(max_size=20),
    st.binary(max_size=5),
    st.integers(0, 2**63 - 1),
    st.sampled_from([0, 1, 0xFFFF]),
)
def test_regions_read_back(start: bytes, stop: bytes, made: int, replica: int) -> None:
    """A region is read as it was sent, and from its full name as well, commas or not."""
    region = RegionInfo("ns:t", start, stop, made, replica)
    assert region == RegionInfo.read(Message(region.encode()))
    assert region == RegionInfo.of_name(region.name, stop)
    assert region_name("ns:t", start, made, replica) == region.name


@pytest.mark.parametrize("name", [b"", b"t", b"t,a", b"t,,.x.", b"t,a,b.c."])
def test_no_region(name: bytes) -> None:
    """A name that is none is refused as such."""
    with pytest.raises(Malformed):
        RegionInfo.of_name(name, b"")


def test_procedure_results() -> None:
    """The state of a procedure and its error are read; an unknown state is malformed."""
    failed = uint(1, 2) + message(5, message(2, text(1, "a.B"), text(2, "no")))
    asked = GetProcedureResult(1)
    assert [
        ProcedureResult(ProcedureState.NOT_FOUND),
        ProcedureResult(ProcedureState.RUNNING),
        ProcedureResult(ProcedureState.FINISHED, "a.B", "no"),
    ] == [asked.decode(answered(body)) for body in (b"", uint(1, 1), failed)]
    with pytest.raises(Malformed):
        asked.decode(answered(uint(1, 3)))


def test_states() -> None:
    """The states of tables and compactions are read; unknown ones are malformed."""
    disabling = answered(message(1, uint(1, 2)))
    assert TableState.DISABLING is GetTableState("t").decode(disabling)
    assert Compacting.MAJOR is GetRegionInfo().decode(answered(uint(2, 2)))
    with pytest.raises(Malformed):
        GetTableState("t").decode(answered(message(1, uint(1, 9))))
    with pytest.raises(Malformed):
        GetRegionInfo().decode(answered(uint(2, 9)))


def test_switches() -> None:
    """What is on or off is read from the answer's first field."""
    asked = [IsBalancerEnabled(), IsSplitOrMergeEnabled(Switch.SPLIT)]
    assert [[True, False]] * 2 == [
        [one.decode(answered(uint(1, on))) for on in (1, 0)] for one in asked
    ]


def test_who_waits_at_the_server() -> None:
    """Calls that a server answers when the work is done may take their operation's whole time."""
    waits: list[type[Request[Any]]] = [FlushRegion, MoveRegion, CompactRegion, SetBalancerRunning]
    assert [True] * 4 == [one.slow for one in waits]
    others: list[type[Request[Any]]] = [CreateTable, SetSplitOrMerge, GetProcedureResult]
    assert [False] * 3 == [one.slow for one in others]


def test_loads() -> None:
    """The counters of a region are read by their numbers; a load of no region is malformed."""
    body = (
        message(1, uint(1, 1), blob(2, NAME)) + uint(2, 1) + uint(3, 2) + uint(5, 3) + uint(6, 4)
        + uint(8, 5) + uint(9, 6) + uint(19, 7)
    )  # fmt: skip
    expected = RegionLoad(NAME, 5, 6, 7, stores=1, files=2, files_mb=3, memory_mb=4)
    assert [expected] == GetRegionLoad("t").decode(answered(message(1, body)))
    with pytest.raises(Malformed):
        GetRegionLoad().decode(answered(message(1, uint(8, 5))))


def test_status() -> None:
    """The master's status is read; what was not asked for stays empty."""
    server = text(1, "rs1") + uint(2, 16020) + uint(3, 17)
    table = message(1, text(1, "default"), text(2, "t"))
    counted = message(12, table, message(2, uint(1, 3), uint(2, 0), uint(5, 4)))
    body = message(3, server) + message(7, server) + uint(9, 1) + message(11, server) + counted
    status = GetClusterStatus().decode(answered(message(1, body)))
    rs1 = Server("rs1", 16020, 17)
    assert (rs1, (rs1,), (rs1,), True) == (
        status.master, status.dead, status.servers, status.balancer_on
    )  # fmt: skip
    assert {"t": (3, 4)} == status.tables
    assert ((), (), "") == (status.live, status.moving, status.version)


@pytest.mark.parametrize("option", list(Option))
def test_options_mean_the_same_everywhere(option: Option) -> None:
    """No option is asked for that 2.x and 3.x number differently."""
    assert option <= 12


def test_the_errors_of_procedures_are_those_of_calls() -> None:
    """The class that a procedure names is one that calls raise too."""
    assert "org.apache.hadoop.hbase.TableNotFoundException" in TableNotFound.names


def test_a_plain_family_says_nothing() -> None:
    """A new family of which nothing is said is sent without attributes."""
    assert FamilySchema("d") == family_schema(Family("d"))
