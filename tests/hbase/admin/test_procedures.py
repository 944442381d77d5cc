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


def test_a_procedure_is_polled_until_it_has_ended() -> None:
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
def test_a_procedure_error_is_raised_like_that_of_a_refused_call(
    java: str, kind: type[RowkeyError]
) -> None:
    """The error of a procedure is raised like that of a refused call, with its id."""
    caller = ScriptedMaster({"DeleteTable": [7], "getProcedureResult": [build_failure(java)]})
    with pytest.raises(kind, match=r"procedure 7: HBase answered \w+Exception: says why"):
        Admin(caller).delete_table("t")


def test_a_timeout_names_the_running_procedure() -> None:
    caller = ScriptedMaster({"DisableTable": [7], "getProcedureResult": [RUNNING_RESULT]})
    began = monotonic()
    with pytest.raises(
        OperationTimedOut, match=r"t: procedure 7 \(DisableTable\) is still running"
    ):
        Admin(caller).disable_table("t", wait_s=0.1)
    assert 0.1 <= monotonic() - began < 1.0


def test_a_timeout_names_the_last_error_of_the_master() -> None:
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


def test_enabling_an_enabled_table_raises_a_clear_error() -> None:
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


def test_deleting_with_disable_accepts_a_disabled_table() -> None:
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


def test_progress_is_reported_whenever_more_regions_are_open() -> None:
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


def test_a_missing_namespace_is_created_before_the_table() -> None:
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
    ("caller", "message"),
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
def test_a_created_table_that_reads_back_differently_raises_an_error(
    caller: ScriptedMaster, message: str
) -> None:
    with pytest.raises(CatalogMismatch, match=message):
        Admin(caller).create_table("t", [Family("d")], [b"g"], {"READONLY": "true"})


def test_attributes_are_changed_within_the_complete_schema() -> None:
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


def test_attributes_missing_after_they_were_set_are_reported() -> None:
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


def test_an_unchanged_declaration_is_not_sent() -> None:
    """An unchanged declaration is not sent, since it would reopen all regions."""
    caller = ScriptedMaster(
        {"GetTableDescriptors": [build_table(FamilySchema("d", {"TTL": "5"}), w="1")]}
    )
    Admin(caller).alter_families("t", [Family("d", ttl_s=5)])
    Admin(caller).set_attributes("t", {"w": "1", "none": None})
    assert {"GetTableDescriptors"} == set(caller.methods)


def test_waiting_for_a_compaction_ends_at_the_timeout() -> None:
    caller = ScriptedMaster(
        {"CompactRegion": [None], "GetRegionInfo": [CompactionState.MAJOR]},
        [build_region(b"", b"")],
    )
    with pytest.raises(OperationTimedOut, match="t: regions of the table are still compacting"):
        Admin(caller).compact_table("t", wait_s=0.1)


def test_a_compaction_without_waiting_is_not_polled() -> None:
    caller = ScriptedMaster(
        {"CompactRegion": [None]}, [build_region(b"", b"g"), build_region(b"g", b"")]
    )
    Admin(caller).compact_table("t", wait=False)
    assert ["CompactRegion"] * 2 == caller.methods


def test_counters_of_missing_regions_are_requested_again() -> None:
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


def test_opening_regions_are_counted_by_one_request_per_server() -> None:
    """A region is open if its server answers for it; each server is asked once."""
    here, there = build_region(b"", b"g"), build_region(b"g", b"", RS2)
    gone = OperationTimedOut("rs2", "is gone")
    script = {"GetRegionLoad": [[RegionLoad(here.name, 3, 4)], gone]}
    caller = ScriptedMaster(script, [here, there])
    assert (1, 3) == Admin(caller).count_open_regions("t", wait_s=1.0)
    assert 2 == len(caller.asked)


def test_a_server_that_did_not_answer_a_count_gets_little_time_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_a_snapshot_is_not_cloned_over_an_existing_table() -> None:
    """A snapshot is not cloned over an existing table, which HBase would overwrite."""
    caller = ScriptedMaster({"GetTableDescriptors": [build_table()]})
    with pytest.raises(TableExists):
        Admin(caller).clone_snapshot("s", "t")
    assert ["GetTableDescriptors"] == caller.methods


def test_the_state_of_a_snapshot_without_procedure_id_is_polled() -> None:
    """Where the master returns no procedure id, the snapshot's state is polled."""
    caller = ScriptedMaster({"Snapshot": [0], "IsSnapshotDone": [False, True]})
    Admin(caller).take_snapshot("t", "s")
    assert ["Snapshot", "IsSnapshotDone", "IsSnapshotDone"] == caller.methods
