"""After a lost answer the state of the cluster decides, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from hbase.admin.scripted import FixedLocations, ScriptedMaster
from rowkey.cells import Family
from rowkey.errors import CatalogMismatch, InvalidArgument, Unavailable
from rowkey.hbase.admin import Admin
from rowkey.hbase.errors import TableNotEnabled
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.cluster import ClusterStatus, MasterSwitch
from rowkey.hbase.requests.tables import ProcedureResult, ProcedureState, TableState
from rowkey.hbase.wire.names import ServerName, build_region_name

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline

UNKNOWN_RESULT = ProcedureResult(ProcedureState.NOT_FOUND)
ENABLED, DISABLED = TableState.ENABLED, TableState.DISABLED
RS1, RS2, RS3 = (ServerName(f"rs{n}", 16020, n) for n in (1, 2, 3))
D, E = FamilySchema("d"), FamilySchema("e")
CHANGED_FAMILY = FamilySchema("d", {"VERSIONS": "3"})


def build_table(*families: FamilySchema, **words: str) -> TableSchema:
    """Return the schema of the table t."""
    return TableSchema("t", families or (D,), words)


def build_region(
    start: bytes, stop: bytes, server: ServerName = RS1, made: int = 17
) -> RegionLocation:
    """Return a region of the table t."""
    return RegionLocation("t", build_region_name("t", start, made), start, stop, server, 1)


Answers = dict[str, list[Any]]

DONE_CASES: list[tuple[Callable[[Admin], object], str, Answers, Answers]] = [
    (
        lambda admin: admin.enable_table("t"), "EnableTable",
        {"GetTableState": [ENABLED]}, {"GetTableState": [DISABLED]},
    ),
    (
        lambda admin: admin.disable_table("t"), "DisableTable",
        {"GetTableState": [DISABLED]}, {"GetTableState": [ENABLED]},
    ),
    (
        lambda admin: admin.truncate_table("t"), "truncateTable",
        {"GetTableState": [ENABLED]}, {"GetTableState": [DISABLED]},
    ),
    (
        lambda admin: admin.delete_table("t"), "DeleteTable",
        {"GetTableDescriptors": [None]}, {"GetTableDescriptors": [build_table()]},
    ),
    (
        lambda admin: admin.create_table("t", [Family("d")]), "CreateTable",
        {"GetTableDescriptors": [build_table()]}, {"GetTableDescriptors": [None]},
    ),
    (
        lambda admin: admin.remove_families("t", ["e"]), "DeleteColumn",
        {"GetTableDescriptors": [build_table(D, E), build_table(D)]},
        {"GetTableDescriptors": [build_table(D, E)]},
    ),
    (
        lambda admin: admin.create_namespace("n"), "CreateNamespace",
        {"ListNamespaceDescriptors": [["n"]]}, {"ListNamespaceDescriptors": [["default"]]},
    ),
    (
        lambda admin: admin.delete_namespace("n"), "DeleteNamespace",
        {"ListNamespaceDescriptors": [["default"]]}, {"ListNamespaceDescriptors": [["n"]]},
    ),
    (
        lambda admin: admin.clone_snapshot("s", "t", wait_s=9), "RestoreSnapshot",
        {"GetTableDescriptors": [None, build_table()], "GetTableState": [ENABLED]},
        {"GetTableDescriptors": [None]},
    ),
]  # fmt: skip
"""Calls with their first request, and the master's answers if the call was done or not."""


@pytest.mark.parametrize("number", [0, 7])
@pytest.mark.parametrize(("call", "method", "done", "_"), DONE_CASES, ids=lambda one: str(one)[:20])
def test_a_procedure_without_result_succeeded_if_its_effect_is_there(
    number: int, call: Callable[[Admin], object], method: str, done: Answers, _: Answers
) -> None:
    script: Answers = {
        method: [number],
        "getProcedureResult": [UNKNOWN_RESULT],
        **_copy_answers(done),
    }
    caller = ScriptedMaster(script, [build_region(b"", b"")])
    call(Admin(caller))
    assert number == 7 * caller.methods.count("getProcedureResult")


@pytest.mark.parametrize(
    ("number", "message"),
    [(7, r"the master no longer knows procedure 7 \(\w+\)"), (0, r"started no procedure for \w+")],
)
@pytest.mark.parametrize(
    ("call", "method", "_", "undone"), DONE_CASES, ids=lambda one: str(one)[:20]
)
def test_a_procedure_without_result_or_effect_raises_an_error(
    number: int,
    message: str,
    call: Callable[[Admin], object],
    method: str,
    _: Answers,
    undone: Answers,
) -> None:
    """A procedure without a result whose effect is missing raises an error with a remedy."""
    script: Answers = {
        method: [number],
        "getProcedureResult": [UNKNOWN_RESULT],
        **_copy_answers(undone),
    }
    with pytest.raises(Unavailable, match=f"{message}, and the change was not made. Try again"):
        call(Admin(ScriptedMaster(script, [build_region(b"", b"")])))


def _copy_answers(answers: Answers) -> Answers:
    """Return a copy of the answers, since a script consumes them."""
    return {method: list(script) for method, script in answers.items()}


def test_a_change_without_result_succeeded_if_the_table_reads_back_as_requested() -> None:
    script: Answers = {
        "AddColumn": [7], "ModifyColumn": [8], "ModifyTable": [9], "CreateTable": [10],
        "getProcedureResult": [UNKNOWN_RESULT],
    }  # fmt: skip
    before, after = build_table(D, a="1"), build_table(CHANGED_FAMILY, E, a="2")
    asked = [Family("d", versions=3), Family("e")]
    regions = [build_region(b"", b"")]

    def admin(*read: TableSchema) -> Admin:
        return Admin(
            ScriptedMaster({**_copy_answers(script), "GetTableDescriptors": list(read)}, regions)
        )

    assert asked == list(admin(before, after).alter_families("t", asked).families)
    assert {"a": "2", "b": "3"} == admin(before, build_table(D, a="2", b="3")).set_attributes(
        "t", {"a": "2", "b": "3"}
    ).attributes  # fmt: skip
    calls: list[Callable[[Admin], object]] = [
        lambda admin: admin.alter_families("t", asked),
        lambda admin: admin.set_attributes("t", {"a": "2"}),
        lambda admin: admin.create_table("t", asked),
    ]
    for call in calls:
        with pytest.raises(CatalogMismatch):
            call(admin(before))


def test_an_unknown_snapshot_procedure_is_looked_up_among_all_snapshots() -> None:
    """A snapshot whose procedure is unknown is looked up among all snapshots."""
    script: Answers = {"Snapshot": [7], "getProcedureResult": [UNKNOWN_RESULT]}
    taken = ScriptedMaster({**script, "GetCompletedSnapshots": [{"s": "t"}]})
    Admin(taken).take_snapshot("t", "s")
    assert ["Snapshot", "getProcedureResult", "GetCompletedSnapshots"] == taken.methods
    with pytest.raises(Unavailable, match=r"no longer knows procedure 7 \(Snapshot\)"):
        Admin(ScriptedMaster({**script, "GetCompletedSnapshots": [{"r": "t"}]})).take_snapshot(
            "t", "s"
        )


WHOLE_REGIONS = [build_region(b"", b"")]
HALVES = [build_region(b"", b"k", made=18), build_region(b"k", b"", made=18)]


def list_splits_and_merges(
    done: bool,
) -> list[tuple[ScriptedMaster, Callable[[Admin], object], object]]:
    """Return a split and a merge with unknown results, done or not, and their return values."""
    calls: list[
        tuple[str, list[RegionLocation], list[RegionLocation], Callable[[Admin], object], object]
    ] = [
        (
            "SplitRegion",
            WHOLE_REGIONS,
            HALVES,
            lambda admin: admin.split_region("t", b"k"),
            tuple(HALVES),
        ),
        (
            "MergeTableRegions",
            HALVES,
            WHOLE_REGIONS,
            lambda admin: admin.merge_regions("t", b"a", b"z"),
            WHOLE_REGIONS[0],
        ),
    ]
    found = []
    for method, before, after, call, result in calls:
        caller = ScriptedMaster({method: [7], "getProcedureResult": [UNKNOWN_RESULT]}, before)
        if done:
            caller.locator = ChangingLocations(before, after)
        found.append((caller, call, result))
    return found


class ChangingLocations(FixedLocations):
    """Regions that change after the first listing."""

    def __init__(self, before: list[RegionLocation], after: list[RegionLocation]) -> None:
        super().__init__(before)
        self._after = after

    def list_regions(self, table: str, deadline: Deadline) -> list[RegionLocation]:
        """Return all regions, other ones from the second call on."""
        before, self.listed = self.listed, self._after
        return before


def test_splits_and_merges_of_unknown_result_are_looked_up_among_the_regions() -> None:
    """Splits and merges with unknown results are looked up among the table's regions."""
    for caller, call, result in list_splits_and_merges(done=True):
        assert result == call(Admin(caller))
    for caller, call, _ in list_splits_and_merges(done=False):
        with pytest.raises(Unavailable, match="the master no longer knows procedure 7"):
            call(Admin(caller))


@pytest.mark.parametrize("state", [DISABLED, TableState.DISABLING])
def test_deleting_a_table_again_works_while_it_is_being_disabled(state: TableState) -> None:
    """The same call deletes a table that is already disabled or being disabled."""
    caller = ScriptedMaster(
        {
            "DisableTable": [TableNotEnabled("master", state.name)],
            "DeleteTable": [7],
            "getProcedureResult": [UNKNOWN_RESULT],
            "GetTableDescriptors": [None],
        }
    )
    Admin(caller).delete_table("t", disable=True)
    assert ["DisableTable", "DeleteTable"] == caller.methods[:2]


def test_a_switch_is_read_before_it_is_set_to_return_the_previous_state() -> None:
    """A switch is read before it is set, since a repeated set returns its own effect."""
    caller = ScriptedMaster(
        {
            "IsBalancerEnabled": [False],
            "SetBalancerRunning": [True],
            "IsSplitOrMergeEnabled": [lambda asked: asked.switch is MasterSwitch.MERGE],
            "SetSplitOrMergeEnabled": [lambda asked: asked.enabled],
        }
    )
    assert (False, (False, True)) == (
        Admin(caller).set_balancer(True), Admin(caller).set_splits_and_merges(True, False)
    )  # fmt: skip
    assert [(MasterSwitch.SPLIT, True), (MasterSwitch.MERGE, False)] == [
        (one.switch, one.enabled) for one in caller.asked if one.method == "SetSplitOrMergeEnabled"
    ]
    reading = [one for one in caller.methods if one.startswith("Is")]
    assert ["IsBalancerEnabled", *["IsSplitOrMergeEnabled"] * 2] == reading
    assert caller.methods.index("IsBalancerEnabled") < caller.methods.index("SetBalancerRunning")


def test_a_cached_location_is_invalidated_before_a_move() -> None:
    """A cached location may be old, so it is invalidated before a move."""

    class Remembering(FixedLocations):
        """Regions with an outdated cached location."""

        def locate_region(self, table: str, row: bytes, deadline: Deadline) -> RegionLocation:
            """Return the cached or the current location."""
            return stale if self.remembers else now

        def forget_region(self, region: RegionLocation) -> None:
            """Drop the cached location."""
            self.remembers = self.remembers and region != stale

        remembers = True

    stale, now = build_region(b"", b"", RS1), build_region(b"", b"", RS2)
    status = ClusterStatus(servers=(RS1, RS2))
    caller = ScriptedMaster({"GetClusterStatus": [status], "MoveRegion": [None]})
    caller.locator = Remembering([now])
    Admin(caller).move_region(build_region(b"", b"", RS3))
    assert RS1 == caller.asked[-1].server


def test_a_region_moved_without_a_target_goes_to_another_live_server() -> None:
    """A region moved without a target goes to a live server other than its current one."""
    stale, now = build_region(b"", b"", RS1), build_region(b"", b"", RS2)
    targets = set()
    for _ in range(40):
        caller = ScriptedMaster(
            {"GetClusterStatus": [ClusterStatus(servers=(RS1, RS2, RS3))], "MoveRegion": [None]},
            [now],
        )
        assert now == Admin(caller).move_region(stale)
        targets.add(caller.asked[-1].server)
    assert {RS1, RS3} == targets


def test_a_region_is_not_moved_if_no_other_server_is_live() -> None:
    caller = ScriptedMaster(
        {"GetClusterStatus": [ClusterStatus(servers=(RS1,))]}, [build_region(b"", b"")]
    )
    with pytest.raises(InvalidArgument, match=r"rs1,16020,1, .* is the only live region server"):
        Admin(caller).move_region(build_region(b"", b""))
    assert ["GetClusterStatus"] == caller.methods
