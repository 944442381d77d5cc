"""Waiting for procedures of the master until they end, fail or time out."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from hbase.admin.scripted import ScriptedMaster
from rowkey.boottime import read_boottime_s
from rowkey.cells import Family
from rowkey.errors import CatalogMismatch, RowkeyError
from rowkey.hbase.admin import Admin, counters
from rowkey.hbase.errors import (
    CallTimedOut,
    InvalidRequest,
    MasterInitializing,
    NamespaceExist,
    NamespaceNotFound,
    OperationTimedOut,
    TableExists,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
)
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.cluster import ClusterStatus, OpenRegionCount
from rowkey.hbase.requests.regions import CompactionState, RegionLoad
from rowkey.hbase.requests.tables import ProcedureResult, ProcedureState
from rowkey.hbase.wire.names import ServerName, build_region_name
from rowkey.progress import Progress

RUNNING_RESULT = ProcedureResult(ProcedureState.RUNNING)
FINISHED_RESULT = ProcedureResult(ProcedureState.FINISHED)
RS1, RS2 = ServerName("rs1", 16020, 17), ServerName("rs2", 16020, 18)


def build_failure(java: str) -> ProcedureResult:
    """Return the result of a procedure that ended with an error of HBase."""
    return ProcedureResult(ProcedureState.FINISHED, f"org.apache.hadoop.hbase.{java}", "says why")


def build_region(start: bytes, stop: bytes, server: ServerName = RS1) -> RegionLocation:
    """Return a region of the table t."""
    return RegionLocation("t", build_region_name("t", start, 17), start, stop, server, 1)


def build_table(*families: FamilySchema, **words: str) -> TableSchema:
    """Return the schema of the table t."""
    return TableSchema("t", families or (FamilySchema("d"),), words)


def test_polls_until_the_end() -> None:
    """A procedure is polled until it has ended."""
    caller = ScriptedMaster(
        {
            "EnableTable": [7],
            "getProcedureResult": [RUNNING_RESULT, RUNNING_RESULT, FINISHED_RESULT],
        }
    )
    Admin(caller).enable_table("t")
    assert ["EnableTable", *["getProcedureResult"] * 3] == caller.methods
    assert {7} == {asked.number for asked in caller.asked[1:]}


@pytest.mark.parametrize(
    ("java", "kind"),
    [
        ("TableNotFoundException", TableNotFound),
        ("exceptions.SomethingNewException", InvalidRequest),
    ],
)
def test_errors_of_procedures(java: str, kind: type[RowkeyError]) -> None:
    """The error of a procedure is raised like that of a refused call, with its id."""
    caller = ScriptedMaster({"DeleteTable": [7], "getProcedureResult": [build_failure(java)]})
    with pytest.raises(kind, match=r"procedure 7: HBase answered \w+Exception: says why"):
        Admin(caller).delete_table("t")


def test_the_deadline_names_the_procedure() -> None:
    """A timeout names the running procedure."""
    caller = ScriptedMaster({"DisableTable": [7], "getProcedureResult": [RUNNING_RESULT]})
    began = monotonic()
    with pytest.raises(
        OperationTimedOut, match=r"t: procedure 7 \(DisableTable\) is still running"
    ):
        Admin(caller).disable_table("t", wait_s=0.1)
    assert 0.1 <= monotonic() - began < 1.0


def test_a_lost_master_names_the_procedure_too() -> None:
    """A timeout names the last error unless that was only a late poll."""
    hold = MasterInitializing("master", "is starting")
    lost = OperationTimedOut("master", "no answer", last_error=hold, attempts=9)
    caller = ScriptedMaster({"DisableTable": [7], "getProcedureResult": [lost]})
    with pytest.raises(
        OperationTimedOut,
        match=r"procedure 7 \(DisableTable\) is still running\. Last error: master: is starting",
    ):
        Admin(caller).disable_table("t")
    late = OperationTimedOut(
        "master", "no answer", last_error=CallTimedOut("master", "0.01 s"), attempts=1
    )
    caller = ScriptedMaster({"DisableTable": [7], "getProcedureResult": [late]})
    with pytest.raises(
        OperationTimedOut, match=r"procedure 7 \(DisableTable\) is still running\. Wait, then check"
    ):
        Admin(caller).disable_table("t")


def test_states_already_reached() -> None:
    """Enabling an enabled table and disabling a disabled one raise clear errors."""
    caller = ScriptedMaster(
        {
            "EnableTable": [7],
            "getProcedureResult": [build_failure("TableNotDisabledException")],
            "DisableTable": [TableNotEnabled("master", "t")],
        }
    )
    with pytest.raises(
        TableNotDisabled, match=r"t: the table is enabled already\. Use the table as it is\."
    ):
        Admin(caller).enable_table("t")
    with pytest.raises(
        TableNotEnabled,
        match=r"t: the table is disabled already\. Go on: the regions of the table are closed\.",
    ):
        Admin(caller).disable_table("t")


def test_deleting_disables_if_asked() -> None:
    """A delete with `disable` accepts a table that is disabled already."""
    caller = ScriptedMaster(
        {
            "DisableTable": [TableNotEnabled("master", "t")],
            "DeleteTable": [7],
            "TruncateTable": [8],
            "getProcedureResult": [FINISHED_RESULT],
        }
    )
    Admin(caller).delete_table("t", disable=True)
    assert ["DisableTable", "DeleteTable", "getProcedureResult"] == caller.methods


def script_create(
    *regions: RegionLocation, schema: TableSchema | None = None, **answers: Any
) -> ScriptedMaster:
    """Return a master that creates the table t, which then reads back as given."""
    script: dict[str, list[Any]] = {
        "CreateTable": [7],
        "getProcedureResult": [RUNNING_RESULT, FINISHED_RESULT],
        "GetTableDescriptors": [schema or build_table()],
    }
    return ScriptedMaster({**script, **answers}, regions)


def test_progress() -> None:
    """Progress is reported whenever more regions are open, and at the end for all."""
    statuses = [
        ClusterStatus(tables={}),
        ClusterStatus(tables={"t": OpenRegionCount(1, 3)}),
        ClusterStatus(tables={"t": OpenRegionCount(1, 3)}),
        ClusterStatus(tables={"t": OpenRegionCount(9, 9)}),
    ]
    caller = script_create(
        build_region(b"", b"g"), build_region(b"g", b"p"), build_region(b"p", b""),
        GetClusterStatus=statuses, getProcedureResult=[*[RUNNING_RESULT] * 4, FINISHED_RESULT],
    )  # fmt: skip
    told: list[Progress] = []
    Admin(caller).create_table("t", [Family("d")], [b"g", b"p"], progress=told.append)
    assert [Progress("regions", count, 3, "regions") for count in (0, 1, 3)] == told


def test_missing_namespaces_are_created() -> None:
    """A missing namespace is created, and the repeated create has a new nonce."""
    missing = NamespaceNotFound("master", "n")
    caller = script_create(build_region(b"", b""), CreateTable=[missing, 8], CreateNamespace=[9])
    Admin(caller).create_table("n:t", [Family("d")])
    assert ["CreateTable", "CreateNamespace"] == caller.methods[:2]
    first, again = (one for one in caller.asked if one.method == "CreateTable")
    assert first.nonce != again.nonce
    caller = script_create(
        build_region(b"", b""),
        CreateTable=[missing, 8],
        CreateNamespace=[NamespaceExist("master", "n")],
    )
    assert "t" == Admin(caller).create_table("n:t", [Family("d")]).name


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        (script_create(build_region(b"", b"")), "splits: requested 1 split key, but the table"),
        (
            script_create(build_region(b"", b"h"), build_region(b"h", b"")),
            "split key b'g' is missing in HBase",
        ),
        (
            script_create(
                build_region(b"", b"g"), build_region(b"g", b""),
                schema=build_table(FamilySchema("e"), W="1"),
            ),
            "families.d: the family was requested, but the table does not have it",
        ),
        (
            script_create(
                build_region(b"", b"g"), build_region(b"g", b""),
                schema=build_table(FamilySchema("d", {"VERSIONS": "2"}), READONLY="true"),
            ),
            "families.d.versions: requested 1, but the table has 2",
        ),
        (
            script_create(
                build_region(b"", b"g"), build_region(b"g", b""),
                schema=build_table(READONLY="false"),
            ),
            "attributes.READONLY: requested true, but the table has false",
        ),
    ],
)  # fmt: skip
def test_drift(caller: ScriptedMaster, said: str) -> None:
    """A table that reads back differently raises an error with each difference."""
    with pytest.raises(CatalogMismatch, match=said):
        Admin(caller).create_table("t", [Family("d")], [b"g"], {"READONLY": "true"})


def test_the_complete_schema_is_sent() -> None:
    """Attributes are changed within the complete schema, since HBase replaces all of it."""
    before = build_table(FamilySchema("d", {"X": "1"}), IS_META="false", gone="1", kept="2")
    after = build_table(FamilySchema("d", {"X": "1"}), IS_META="false", kept="2", READONLY="true")
    caller = ScriptedMaster(
        {
            "GetTableDescriptors": [before, after],
            "ModifyTable": [7],
            "getProcedureResult": [FINISHED_RESULT],
        }
    )
    Admin(caller).set_attributes("t", {"gone": None, "READONLY": "true"})
    assert after == caller.asked[1].schema


def test_concurrent_changes_are_reported() -> None:
    """Attributes that are missing after they were set are reported as differences."""
    caller = ScriptedMaster(
        {
            "GetTableDescriptors": [build_table()],
            "ModifyTable": [7],
            "ModifyColumn": [8],
            "getProcedureResult": [FINISHED_RESULT],
        }
    )
    with pytest.raises(
        CatalogMismatch, match=r"attributes\.a\.b: requested 1, but the table has no value"
    ):
        Admin(caller).set_attributes("t", {"a.b": "1"})
    with pytest.raises(
        CatalogMismatch, match=r"families\.d\.versions: requested 3, but the table has 1"
    ):
        Admin(caller).alter_families("t", [Family("d", versions=3)])


def test_nothing_changes() -> None:
    """An unchanged declaration is not sent, since it would reopen all regions."""
    caller = ScriptedMaster(
        {"GetTableDescriptors": [build_table(FamilySchema("d", {"TTL": "5"}), w="1")]}
    )
    Admin(caller).alter_families("t", [Family("d", ttl_s=5)])
    Admin(caller).set_attributes("t", {"w": "1", "none": None})
    assert {"GetTableDescriptors"} == set(caller.methods)


def test_compaction_that_never_settles() -> None:
    """Waiting for a compaction ends at the timeout."""
    caller = ScriptedMaster(
        {"CompactRegion": [None], "GetRegionInfo": [CompactionState.MAJOR]},
        [build_region(b"", b"")],
    )
    with pytest.raises(OperationTimedOut, match="t: regions of the table are still compacting"):
        Admin(caller).compact_table("t", wait_s=0.1)


def test_compaction_without_waiting() -> None:
    """A compaction without waiting is not polled."""
    caller = ScriptedMaster(
        {"CompactRegion": [None]}, [build_region(b"", b"g"), build_region(b"g", b"")]
    )
    Admin(caller).compact_table("t", wait=False)
    assert ["CompactRegion"] * 2 == caller.methods


def test_counters_need_every_region() -> None:
    """Regions missing from the counters are requested again, and dead servers are skipped."""
    here, there = build_region(b"", b"g"), build_region(b"g", b"", RS2)
    loads = [RegionLoad(here.name, 3, 4), RegionLoad(b"t,other,1.x.", 9, 9)]
    gone = OperationTimedOut("rs2", "is gone")
    caller = ScriptedMaster(
        {"GetRegionLoad": [loads, gone, loads, [RegionLoad(there.name, 5, 6)]]}, [here, there]
    )
    counts = Admin(caller).get_counters("t")
    assert [(b"", 4, 3, RS1), (b"g", 6, 5, RS2)] == [
        (one.start, one.writes, one.reads, one.server) for one in counts
    ]
    assert [(here.name, RS1), (there.name, RS2)] == [one.counting_key for one in counts]
    assert [here.seqnum, there.seqnum] == [one.seqnum for one in counts]
    assert 4 == len(caller.asked)


def test_closed_regions_are_counted_without_waiting() -> None:
    """A region is open if its server answers for it; each server is asked once."""
    here, there = build_region(b"", b"g"), build_region(b"g", b"", RS2)
    gone = OperationTimedOut("rs2", "is gone")
    script = {"GetRegionLoad": [[RegionLoad(here.name, 3, 4)], gone]}
    caller = ScriptedMaster(script, [here, there])
    assert (1, 3) == Admin(caller).count_open_regions("t", wait_s=1.0)
    assert 2 == len(caller.asked)


def test_a_silent_server_is_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has not answered a count gets 50 ms in the next ones, until 10 s are over."""
    waits: list[float] = []
    answers: list[Any] = []

    class Servers(ScriptedMaster):
        def call_server(self, address: Any, request: Any, deadline: Any = None) -> Any:
            waits.append(deadline.get_remaining_s())
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    region = build_region(b"", b"", RS2)
    admin = Admin(Servers({}, [region]))
    gone, load = OperationTimedOut("rs2", "is gone"), [RegionLoad(region.name, 3, 4)]
    answers += [gone, gone, load, gone, gone, gone]
    assert [0, 0, 1, 0, 0] == [admin.count_open_regions("t", wait_s=1.0)[0] for _ in range(5)]
    now_s = read_boottime_s()
    monkeypatch.setattr(counters, "read_boottime_s", lambda: now_s + counters.SILENT_S)
    assert 0 == admin.count_open_regions("t", wait_s=1.0)[0]
    is_short = [one <= counters.SILENT_LIMIT_S for one in waits]
    assert [False, True, True, False, True, False] == is_short


def test_clones_overwrite_nothing() -> None:
    """A snapshot is not cloned over an existing table, which HBase would overwrite."""
    caller = ScriptedMaster({"GetTableDescriptors": [build_table()]})
    with pytest.raises(TableExists):
        Admin(caller).clone_snapshot("s", "t")
    assert ["GetTableDescriptors"] == caller.methods


def test_snapshots_without_a_procedure() -> None:
    """Where the master returns no procedure id, the snapshot's state is polled."""
    caller = ScriptedMaster({"Snapshot": [0], "IsSnapshotDone": [False, True]})
    Admin(caller).take_snapshot("t", "s")
    assert ["Snapshot", "IsSnapshotDone", "IsSnapshotDone"] == caller.methods
