"""How long is waited for what is done to every region of a table: the longer, the more it has."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from hbase.admin.scripted import Scripted
from rowkey.cells import Family
from rowkey.errors import DriftError
from rowkey.hbase.admin import Admin
from rowkey.hbase.admin.procedures import PAGE, REGION_S, count_regions
from rowkey.hbase.errors import OutOfTime
from rowkey.hbase.locations import Region
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.procedure_result import ProcedureResult, ProcedureState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import Server, region_name

if TYPE_CHECKING:
    from collections.abc import Callable

FINISHED = ProcedureResult(ProcedureState.FINISHED)
RS1 = Server("rs1", 16020, 1)
THREE = TableSchema("t", tuple(FamilySchema(name) for name in "def"))


def many(count: int) -> list[Region]:
    """So many regions of the table t."""
    keys = [b"", *(b"%06d" % n for n in range(1, count)), b""]
    return [
        Region("t", region_name("t", start, 17), start, stop, RS1, 1)
        for start, stop in pairwise(keys)
    ]


@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 2 * PAGE + 7])
def test_regions_are_counted_by_pages(count: int) -> None:
    """Each region of a table is counted once, however many answers that takes."""
    caller = Scripted({}, many(count) if count else [])
    assert count == count_regions(caller, "t", Deadline.after(9))
    assert max(1, -(-count // PAGE)) == caller.meta_scans


def test_counting_ends() -> None:
    """Who has no time left counts nothing."""
    with pytest.raises(OutOfTime, match="hbase:meta"):
        count_regions(Scripted({}), "t", Deadline.after(0))


BUDGETS: list[tuple[Callable[[Admin], object], int]] = [
    (lambda admin: admin.enable("t"), 1),
    (lambda admin: admin.disable("t"), 1),
    (lambda admin: admin.truncate("t"), 1),
    (lambda admin: admin.truncate("t", disable=True), 2),
    (lambda admin: admin.delete("t"), 1),
    (lambda admin: admin.delete("t", disable=True), 2),
    (lambda admin: admin.annotate("t", {"a.b": "1"}), 1),
    (lambda admin: admin.alter("t", [Family("d", versions=3), Family("e")]), 2),
    (lambda admin: admin.remove_families("t", ["d", "e"]), 2),
    (lambda admin: admin.snapshot("t", "s"), 1),
    (lambda admin: admin.clone("s", "u"), 1),
    (
        lambda admin: admin.create(
            "t", [Family("d")], [b"%03d" % n for n in range(1, 1_000)], {"REGION_REPLICATION": "3"}
        ),
        3,
    ),
]


@pytest.mark.parametrize(("call", "times"), BUDGETS)
def test_time_grows_with_the_regions(call: Callable[[Admin], object], times: int) -> None:
    """What is done to 1,000 regions has 0.25 s more for each, as often as it is done to all."""
    script: dict[str, list[Any]] = {
        **{
            method: [7]
            for method in (
                "EnableTable", "DisableTable", "truncateTable", "DeleteTable", "ModifyTable",
                "AddColumn", "ModifyColumn", "DeleteColumn", "Snapshot", "RestoreSnapshot",
                "CreateTable",
            )
        },
        "getProcedureResult": [FINISHED],
        "GetCompletedSnapshots": [{"s": "t"}],
        "GetTableDescriptors": [lambda asked: THREE if asked.table == "t" else None],
    }  # fmt: skip
    caller = Scripted(script, many(1_000))
    now = Deadline.after(0).at
    with suppress(DriftError):  # this table never changes
        call(Admin(caller))
    asked = caller.methods.index("getProcedureResult")
    given = caller.deadlines[asked]
    assert given is not None
    expected = caller.settings.operation_s + REGION_S * 1_000 * times
    assert expected == pytest.approx(given.at - now, abs=5)


def test_who_says_how_long_is_not_second_guessed() -> None:
    """With `wait_s` given, regions are not counted."""
    caller = Scripted({"EnableTable": [7], "getProcedureResult": [FINISHED]}, many(3))
    now = Deadline.after(0).at
    Admin(caller).enable("t", wait_s=7)
    given = caller.deadlines[0]
    assert given is not None
    assert pytest.approx(7, abs=1) == given.at - now
    assert caller.meta_scans == 0
