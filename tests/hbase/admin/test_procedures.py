"""Waiting for the master: until it is done, until it failed, or until the deadline."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from hbase.admin.scripted import Scripted
from rowkey.cells import Family
from rowkey.errors import DriftError, RowkeyError
from rowkey.hbase.admin import Admin
from rowkey.hbase.errors import (
    AskedWrongly,
    CallTimedOut,
    NamespaceExist,
    NamespaceNotFound,
    OutOfTime,
    PleaseHold,
    TableExists,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
)
from rowkey.hbase.locations import Region
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.cluster_status import ClusterStatus, RegionsOpen
from rowkey.hbase.requests.procedure_result import ProcedureResult, ProcedureState
from rowkey.hbase.requests.region_info import Compacting
from rowkey.hbase.requests.region_load import RegionLoad
from rowkey.hbase.wire.names import Server, region_name

RUNNING = ProcedureResult(ProcedureState.RUNNING)
FINISHED = ProcedureResult(ProcedureState.FINISHED)
RS1, RS2 = Server("rs1", 16020, 17), Server("rs2", 16020, 18)


def failed(java: str) -> ProcedureResult:
    """A procedure that ended with one of HBase's errors."""
    return ProcedureResult(ProcedureState.FINISHED, f"org.apache.hadoop.hbase.{java}", "says why")


def region(start: bytes, stop: bytes, server: Server = RS1) -> Region:
    """A region of the table t."""
    return Region("t", region_name("t", start, 17), start, stop, server, 1)


def table(*families: FamilySchema, **words: str) -> TableSchema:
    """The table t as the master describes it."""
    return TableSchema("t", families or (FamilySchema("d"),), words)


def test_it_is_waited_for() -> None:
    """A procedure is asked after until it is over."""
    caller = Scripted({"EnableTable": [7], "getProcedureResult": [RUNNING, RUNNING, FINISHED]})
    Admin(caller).enable("t")
    assert ["EnableTable", *["getProcedureResult"] * 3] == caller.methods
    assert {7} == {asked.number for asked in caller.asked[1:]}


@pytest.mark.parametrize(
    ("java", "kind"),
    [
        ("TableNotFoundException", TableNotFound),
        ("exceptions.SomethingNewException", AskedWrongly),
    ],
)
def test_its_error_is_an_error(java: str, kind: type[RowkeyError]) -> None:
    """What a procedure ended with is raised as if the call had been refused, with its number."""
    caller = Scripted({"DeleteTable": [7], "getProcedureResult": [failed(java)]})
    with pytest.raises(kind, match=r"procedure 7: \w+Exception: says why"):
        Admin(caller).delete("t")


def test_the_deadline_names_the_procedure() -> None:
    """Who waits no longer is told which procedure goes on."""
    caller = Scripted({"DisableTable": [7], "getProcedureResult": [RUNNING]})
    began = monotonic()
    with pytest.raises(OutOfTime, match="t: DisableTable is procedure 7, which goes on"):
        Admin(caller).disable("t", wait_s=0.1)
    assert 0.1 <= monotonic() - began < 1.0


def test_a_lost_master_names_the_procedure_too() -> None:
    """If nobody tells how far it is, that is said beside its number; a late question is not."""
    hold = PleaseHold("master", "is starting")
    lost = OutOfTime("master", "no answer", last=hold, attempts=9)
    caller = Scripted({"DisableTable": [7], "getProcedureResult": [lost]})
    with pytest.raises(OutOfTime, match=r"procedure 7, which goes on\. Last: master: is starting"):
        Admin(caller).disable("t")
    late = OutOfTime("master", "no answer", last=CallTimedOut("master", "0.01 s"), attempts=1)
    caller = Scripted({"DisableTable": [7], "getProcedureResult": [late]})
    with pytest.raises(OutOfTime, match=r"procedure 7, which goes on\.$"):
        Admin(caller).disable("t")


def test_what_is_so_already() -> None:
    """Enabling an enabled table and disabling a disabled one say so, by class and in words."""
    caller = Scripted(
        {
            "EnableTable": [7],
            "getProcedureResult": [failed("TableNotDisabledException")],
            "DisableTable": [TableNotEnabled("master", "t")],
        }
    )
    with pytest.raises(
        TableNotDisabled, match=r"t: is enabled already\. It can be used as it is\."
    ):
        Admin(caller).enable("t")
    with pytest.raises(TableNotEnabled, match=r"t: is disabled already\. Its regions are closed\."):
        Admin(caller).disable("t")


def test_deleting_disables_if_asked() -> None:
    """A table that is disabled already is deleted all the same."""
    caller = Scripted(
        {
            "DisableTable": [TableNotEnabled("master", "t")],
            "DeleteTable": [7],
            "TruncateTable": [8],
            "getProcedureResult": [FINISHED],
        }
    )
    Admin(caller).delete("t", disable=True)
    assert ["DisableTable", "DeleteTable", "getProcedureResult"] == caller.methods


def made(*regions: Region, schema: TableSchema | None = None, **answers: Any) -> Scripted:
    """A master that makes the table t, which then reads back as it is given here."""
    script: dict[str, list[Any]] = {
        "CreateTable": [7],
        "getProcedureResult": [RUNNING, FINISHED],
        "GetTableDescriptors": [schema or table()],
    }
    return Scripted({**script, **answers}, regions)


def test_progress() -> None:
    """Each time that more regions are open it is told, the last time all of them."""
    statuses = [
        ClusterStatus(tables={}),
        ClusterStatus(tables={"t": RegionsOpen(1, 3)}),
        ClusterStatus(tables={"t": RegionsOpen(1, 3)}),
        ClusterStatus(tables={"t": RegionsOpen(9, 9)}),
    ]
    caller = made(
        region(b"", b"g"), region(b"g", b"p"), region(b"p", b""),
        GetClusterStatus=statuses, getProcedureResult=[*[RUNNING] * 4, FINISHED],
    )  # fmt: skip
    told: list[tuple[int, int]] = []
    Admin(caller).create("t", [Family("d")], [b"g", b"p"], progress=lambda *now: told.append(now))
    assert [(0, 3), (1, 3), (3, 3)] == told


def test_the_namespace_is_made() -> None:
    """A missing namespace is made, or somebody else made it; the create has then a new nonce."""
    missing = NamespaceNotFound("master", "n")
    caller = made(region(b"", b""), CreateTable=[missing, 8], CreateNamespace=[9])
    Admin(caller).create("n:t", [Family("d")])
    assert ["CreateTable", "CreateNamespace"] == caller.methods[:2]
    first, again = (one for one in caller.asked if one.method == "CreateTable")
    assert first.nonce != again.nonce
    caller = made(
        region(b"", b""), CreateTable=[missing, 8], CreateNamespace=[NamespaceExist("master", "n")]
    )
    assert "t" == Admin(caller).create("n:t", [Family("d")]).name


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        (made(region(b"", b"")), "splits: declared 1 keys, remembered 0"),
        (made(region(b"", b"h"), region(b"h", b"")), "splits: declared b'g', remembered nothing"),
        (
            made(region(b"", b"g"), region(b"g", b""), schema=table(FamilySchema("e"), W="1")),
            "families.d: declared it, remembered nothing",
        ),
        (
            made(
                region(b"", b"g"), region(b"g", b""),
                schema=table(FamilySchema("d", {"VERSIONS": "2"}), READONLY="true"),
            ),
            "families.d.versions: declared 1, remembered 2",
        ),
        (
            made(region(b"", b"g"), region(b"g", b""), schema=table(READONLY="false")),
            "attributes.READONLY: declared true, remembered false",
        ),
    ],
)  # fmt: skip
def test_drift(caller: Scripted, said: str) -> None:
    """A table that reads back otherwise than it was asked for is an error with each difference."""
    with pytest.raises(DriftError, match=said):
        Admin(caller).create("t", [Family("d")], [b"g"], {"READONLY": "true"})


def test_a_whole_descriptor_is_sent_back() -> None:
    """Words are changed among all that the table has, since HBase replaces the whole of it."""
    before = table(FamilySchema("d", {"X": "1"}), IS_META="false", gone="1", kept="2")
    after = table(FamilySchema("d", {"X": "1"}), IS_META="false", kept="2", READONLY="true")
    caller = Scripted(
        {
            "GetTableDescriptors": [before, after],
            "ModifyTable": [7],
            "getProcedureResult": [FINISHED],
        }
    )
    Admin(caller).annotate("t", {"gone": None, "READONLY": "true"})
    assert after == caller.asked[1].schema


def test_somebody_else_was_later() -> None:
    """Words that are not there after they were set are told as drift."""
    caller = Scripted(
        {
            "GetTableDescriptors": [table()],
            "ModifyTable": [7],
            "ModifyColumn": [8],
            "getProcedureResult": [FINISHED],
        }
    )
    with pytest.raises(DriftError, match=r"attributes\.a\.b: declared 1, remembered nothing"):
        Admin(caller).annotate("t", {"a.b": "1"})
    with pytest.raises(DriftError, match=r"families\.d\.versions: declared 3, remembered 1"):
        Admin(caller).alter("t", [Family("d", versions=3)])


def test_nothing_changes() -> None:
    """What is as it is asked for is not sent: it would open all regions anew."""
    caller = Scripted({"GetTableDescriptors": [table(FamilySchema("d", {"TTL": "5"}), w="1")]})
    Admin(caller).alter("t", [Family("d", ttl_s=5)])
    Admin(caller).annotate("t", {"w": "1", "none": None})
    assert {"GetTableDescriptors"} == set(caller.methods)


def test_compaction_that_never_settles() -> None:
    """Waiting for a compaction ends by its deadline, whatever the server says."""
    caller = Scripted(
        {"CompactRegion": [None], "GetRegionInfo": [Compacting.MAJOR]}, [region(b"", b"")]
    )
    with pytest.raises(OutOfTime, match="t: its regions are still compacting"):
        Admin(caller).compact("t", wait_s=0.1)


def test_compaction_in_passing() -> None:
    """Who does not wait for a compaction asks nothing after it."""
    caller = Scripted({"CompactRegion": [None]}, [region(b"", b"g"), region(b"g", b"")])
    Admin(caller).compact("t", wait=False)
    assert ["CompactRegion"] * 2 == caller.methods


def test_counters_need_every_region() -> None:
    """A region that no server tells of is asked for again; a server that is gone is passed by."""
    here, there = region(b"", b"g"), region(b"g", b"", RS2)
    loads = [RegionLoad(here.name, 3, 4), RegionLoad(b"t,other,1.x.", 9, 9)]
    gone = OutOfTime("rs2", "is gone")
    caller = Scripted(
        {"GetRegionLoad": [loads, gone, loads, [RegionLoad(there.name, 5, 6)]]}, [here, there]
    )
    counts = Admin(caller).counters("t")
    assert [(b"", 4, 3, RS1), (b"g", 6, 5, RS2)] == [
        (one.start, one.writes, one.reads, one.server) for one in counts
    ]
    assert [(here.name, RS1), (there.name, RS2)] == [one.key for one in counts]
    assert [here.seqnum, there.seqnum] == [one.seqnum for one in counts]
    assert 4 == len(caller.asked)


def test_clones_overwrite_nothing() -> None:
    """No table is made of a snapshot over one that is there: HBase would overwrite it."""
    caller = Scripted({"GetTableDescriptors": [table()]})
    with pytest.raises(TableExists):
        Admin(caller).clone("s", "t")
    assert ["GetTableDescriptors"] == caller.methods


def test_snapshots_without_a_procedure() -> None:
    """Where the master tells no procedure, it is asked whether the snapshot is complete."""
    caller = Scripted({"Snapshot": [0], "IsSnapshotDone": [False, True]})
    Admin(caller).snapshot("t", "s")
    assert ["Snapshot", "IsSnapshotDone", "IsSnapshotDone"] == caller.methods
