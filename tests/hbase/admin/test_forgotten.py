"""What is done when an answer was lost: the state of the cluster decides, nothing is done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hbase.admin.scripted import Places, Scripted
from rowkey.cells import Family
from rowkey.errors import DriftError, Refused, Unsupported
from rowkey.hbase.admin import Admin
from rowkey.hbase.errors import TableNotEnabled
from rowkey.hbase.locations import Region
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.cluster_status import ClusterStatus
from rowkey.hbase.requests.procedure_result import ProcedureResult, ProcedureState
from rowkey.hbase.requests.split_switch import Switch
from rowkey.hbase.requests.table_state import TableState
from rowkey.hbase.wire.names import Server, region_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.hbase.settings import Deadline

FORGOTTEN = ProcedureResult(ProcedureState.NOT_FOUND)
ENABLED, DISABLED = TableState.ENABLED, TableState.DISABLED
RS1, RS2, RS3 = (Server(f"rs{n}", 16020, n) for n in (1, 2, 3))
D, E = FamilySchema("d"), FamilySchema("e")
CHANGED = FamilySchema("d", {"VERSIONS": "3"})


def table(*families: FamilySchema, **words: str) -> TableSchema:
    """The table t as the master describes it."""
    return TableSchema("t", families or (D,), words)


def region(start: bytes, stop: bytes, server: Server = RS1, made: int = 17) -> Region:
    """A region of the table t."""
    return Region("t", region_name("t", start, made), start, stop, server, 1)


Answers = dict[str, list[Any]]

DONE: list[tuple[Callable[[Admin], object], str, Answers, Answers]] = [
    (
        lambda admin: admin.enable("t"), "EnableTable",
        {"GetTableState": [ENABLED]}, {"GetTableState": [DISABLED]},
    ),
    (
        lambda admin: admin.disable("t"), "DisableTable",
        {"GetTableState": [DISABLED]}, {"GetTableState": [ENABLED]},
    ),
    (
        lambda admin: admin.truncate("t"), "truncateTable",
        {"GetTableState": [ENABLED]}, {"GetTableState": [DISABLED]},
    ),
    (
        lambda admin: admin.delete("t"), "DeleteTable",
        {"GetTableDescriptors": [None]}, {"GetTableDescriptors": [table()]},
    ),
    (
        lambda admin: admin.create("t", [Family("d")]), "CreateTable",
        {"GetTableDescriptors": [table()]}, {"GetTableDescriptors": [None]},
    ),
    (
        lambda admin: admin.remove_families("t", ["e"]), "DeleteColumn",
        {"GetTableDescriptors": [table(D, E), table(D)]}, {"GetTableDescriptors": [table(D, E)]},
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
        lambda admin: admin.clone("s", "t", wait_s=9), "RestoreSnapshot",
        {"GetTableDescriptors": [None, table()], "GetTableState": [ENABLED]},
        {"GetTableDescriptors": [None]},
    ),
]  # fmt: skip
"""A call, what begins it, and what the master tells afterwards if it was done, and if not."""


@pytest.mark.parametrize("number", [0, 7])
@pytest.mark.parametrize(("call", "method", "done", "_"), DONE, ids=lambda one: str(one)[:20])
def test_done_though_nobody_tells(
    number: int, call: Callable[[Admin], object], method: str, done: Answers, _: Answers
) -> None:
    """A procedure that is forgotten, or was never begun, is done if its work is."""
    script: Answers = {method: [number], "getProcedureResult": [FORGOTTEN], **_copied(done)}
    caller = Scripted(script, [region(b"", b"")])
    call(Admin(caller))
    assert number == 7 * caller.methods.count("getProcedureResult")


@pytest.mark.parametrize(
    ("number", "said"),
    [(7, "was procedure 7, which the master has forgotten"), (0, "began no procedure")],
)
@pytest.mark.parametrize(("call", "method", "_", "undone"), DONE, ids=lambda one: str(one)[:20])
def test_not_done(
    number: int,
    said: str,
    call: Callable[[Admin], object],
    method: str,
    _: Answers,
    undone: Answers,
) -> None:
    """If its work is not done, that is an error, and it says what to do."""
    script: Answers = {method: [number], "getProcedureResult": [FORGOTTEN], **_copied(undone)}
    with pytest.raises(Unsupported, match=f"{said}, and it is not done. Ask for it again"):
        call(Admin(Scripted(script, [region(b"", b"")])))


def _copied(answers: Answers) -> Answers:
    """Answers of their own: a script gives them out once."""
    return {method: list(script) for method, script in answers.items()}


def test_what_is_read_back_decides() -> None:
    """Forgotten changes are good if the table reads back as it was asked for, else drift."""
    script: Answers = {
        "AddColumn": [7], "ModifyColumn": [8], "ModifyTable": [9], "CreateTable": [10],
        "getProcedureResult": [FORGOTTEN],
    }  # fmt: skip
    before, after = table(D, a="1"), table(CHANGED, E, a="2")
    asked = [Family("d", versions=3), Family("e")]
    regions = [region(b"", b"")]

    def admin(*read: TableSchema) -> Admin:
        return Admin(Scripted({**_copied(script), "GetTableDescriptors": list(read)}, regions))

    assert asked == list(admin(before, after).alter("t", asked).families)
    assert {"a": "2", "b": "3"} == admin(before, table(D, a="2", b="3")).annotate(
        "t", {"a": "2", "b": "3"}
    ).attributes  # fmt: skip
    calls: list[Callable[[Admin], object]] = [
        lambda admin: admin.alter("t", asked),
        lambda admin: admin.annotate("t", {"a": "2"}),
        lambda admin: admin.create("t", asked),
    ]
    for call in calls:
        with pytest.raises(DriftError):
            call(admin(before))


def test_a_forgotten_snapshot() -> None:
    """A snapshot whose procedure is forgotten is looked for among all snapshots."""
    script: Answers = {"Snapshot": [7], "getProcedureResult": [FORGOTTEN]}
    taken = Scripted({**script, "GetCompletedSnapshots": [{"s": "t"}]})
    Admin(taken).snapshot("t", "s")
    assert ["Snapshot", "getProcedureResult", "GetCompletedSnapshots"] == taken.methods
    with pytest.raises(Unsupported, match="Snapshot was procedure 7"):
        Admin(Scripted({**script, "GetCompletedSnapshots": [{"r": "t"}]})).snapshot("t", "s")


WHOLE = [region(b"", b"")]
HALVES = [region(b"", b"k", made=18), region(b"k", b"", made=18)]


def splits_and_merges(done: bool) -> list[tuple[Scripted, Callable[[Admin], object], object]]:
    """A split and a merge that are forgotten, done or not, and what they give if they are done."""
    calls: list[tuple[str, list[Region], list[Region], Callable[[Admin], object], object]] = [
        ("SplitRegion", WHOLE, HALVES, lambda admin: admin.split("t", b"k"), tuple(HALVES)),
        ("MergeTableRegions", HALVES, WHOLE, lambda admin: admin.merge("t", b"a", b"z"), WHOLE[0]),
    ]
    found = []
    for method, before, after, call, result in calls:
        caller = Scripted({method: [7], "getProcedureResult": [FORGOTTEN]}, before)
        if done:
            caller.locations = Turning(before, after)
        found.append((caller, call, result))
    return found


class Turning(Places):
    """Regions that are others from the second listing on."""

    def __init__(self, before: list[Region], after: list[Region]) -> None:
        super().__init__(before)
        self._after = after

    def regions(self, table: str, deadline: Deadline) -> list[Region]:
        """All of them."""
        before, self.listed = self.listed, self._after
        return before


def test_regions_that_nobody_tells_of() -> None:
    """Forgotten splits and merges are looked for among the regions of the table."""
    for caller, call, result in splits_and_merges(done=True):
        assert result == call(Admin(caller))
    for caller, call, _ in splits_and_merges(done=False):
        with pytest.raises(Unsupported, match="was procedure 7, which the master has forgotten"):
            call(Admin(caller))


@pytest.mark.parametrize("state", [DISABLED, TableState.DISABLING])
def test_a_delete_goes_on_where_it_broke_off(state: TableState) -> None:
    """A table that is disabled, or was just being so, is deleted by the same call."""
    caller = Scripted(
        {
            "DisableTable": [TableNotEnabled("master", state.name)],
            "DeleteTable": [7],
            "getProcedureResult": [FORGOTTEN],
            "GetTableDescriptors": [None],
        }
    )
    Admin(caller).delete("t", disable=True)
    assert ["DisableTable", "DeleteTable"] == caller.methods[:2]


def test_switches_tell_how_they_were_before() -> None:
    """A switch is read before it is set: the answer of a set that was repeated is not believed."""
    caller = Scripted(
        {
            "IsBalancerEnabled": [False],
            "SetBalancerRunning": [True],
            "IsSplitOrMergeEnabled": [lambda asked: asked.switch is Switch.MERGE],
            "SetSplitOrMergeEnabled": [lambda asked: asked.on],
        }
    )
    assert (False, (False, True)) == (
        Admin(caller).balancer(True), Admin(caller).splits_and_merges(True, False)
    )  # fmt: skip
    assert [(Switch.SPLIT, True), (Switch.MERGE, False)] == [
        (one.switch, one.on) for one in caller.asked if one.method == "SetSplitOrMergeEnabled"
    ]
    reading = [one for one in caller.methods if one.startswith("Is")]
    assert ["IsBalancerEnabled", *["IsSplitOrMergeEnabled"] * 2] == reading
    assert caller.methods.index("IsBalancerEnabled") < caller.methods.index("SetBalancerRunning")


def test_where_a_region_is_now_is_asked_anew() -> None:
    """What is remembered of a region's place may be old, so it is forgotten before it is asked."""

    class Remembering(Places):
        """Regions whose remembered place is the old one."""

        def locate(self, table: str, row: bytes, deadline: Deadline) -> Region:
            """As remembered, or as it is."""
            return stale if self.remembers else now

        def forget(self, region: Region) -> None:
            """Remember no more what is remembered, if it is that."""
            self.remembers = self.remembers and region != stale

        remembers = True

    stale, now = region(b"", b"", RS1), region(b"", b"", RS2)
    status = ClusterStatus(servers=(RS1, RS2))
    caller = Scripted({"GetClusterStatus": [status], "MoveRegion": [None]})
    caller.locations = Remembering([now])
    Admin(caller).move(region(b"", b"", RS3))
    assert RS1 == caller.asked[-1].server


def test_a_move_has_a_destination() -> None:
    """A region that may go anywhere is sent to one live server where it is not by now."""
    stale, now = region(b"", b"", RS1), region(b"", b"", RS2)
    targets = set()
    for _ in range(40):
        caller = Scripted(
            {"GetClusterStatus": [ClusterStatus(servers=(RS1, RS2, RS3))], "MoveRegion": [None]},
            [now],
        )
        assert now == Admin(caller).move(stale)
        targets.add(caller.asked[-1].server)
    assert {RS1, RS3} == targets


def test_nowhere_to_go() -> None:
    """Where no other server lives a region is not moved."""
    caller = Scripted({"GetClusterStatus": [ClusterStatus(servers=(RS1,))]}, [region(b"", b"")])
    with pytest.raises(Refused, match="no server but rs1,16020,1 is live"):
        Admin(caller).move(region(b"", b""))
    assert ["GetClusterStatus"] == caller.methods
