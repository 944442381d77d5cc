"""The default timeout of operations on all regions of a table grows with their number."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from hbase.admin.scripted import ScriptedMaster
from rowkey.cells import Family
from rowkey.errors import CatalogMismatch
from rowkey.hbase.admin import Admin
from rowkey.hbase.admin.procedures import META_PAGE_ROWS, SECONDS_PER_REGION, count_regions
from rowkey.hbase.errors import OperationTimedOut
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.requests.tables import ProcedureResult, ProcedureState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import ServerName, build_region_name

FINISHED_RESULT = ProcedureResult(ProcedureState.FINISHED)
RS1 = ServerName("rs1", 16020, 1)
THREE = TableSchema("t", tuple(FamilySchema(name) for name in "def"))


def build_regions(count: int) -> list[RegionLocation]:
    """Return this many regions of the table t."""
    keys = [b"", *(b"%06d" % n for n in range(1, count)), b""]
    return [
        RegionLocation("t", build_region_name("t", start, 17), start, stop, RS1, 1)
        for start, stop in pairwise(keys)
    ]


@pytest.mark.parametrize(
    "count", [0, 1, META_PAGE_ROWS, META_PAGE_ROWS + 1, 2 * META_PAGE_ROWS + 7]
)
def test_each_region_is_counted_once_across_pages(count: int) -> None:
    """Each region of a table is counted once, however many answers that takes."""
    caller = ScriptedMaster({}, build_regions(count) if count else [])
    assert count == count_regions(caller, "t", Deadline.from_now(9))
    assert max(1, -(-count // META_PAGE_ROWS)) == caller.meta_scans


def test_counting_regions_ends_with_an_error_at_the_deadline() -> None:
    with pytest.raises(OperationTimedOut, match="hbase:meta"):
        count_regions(ScriptedMaster({}), "t", Deadline.from_now(0))


BUDGETS: list[tuple[Callable[[Admin], object], int]] = [
    (lambda admin: admin.enable_table("t"), 1),
    (lambda admin: admin.disable_table("t"), 1),
    (lambda admin: admin.truncate_table("t"), 1),
    (lambda admin: admin.truncate_table("t", disable=True), 2),
    (lambda admin: admin.delete_table("t"), 1),
    (lambda admin: admin.delete_table("t", disable=True), 2),
    (lambda admin: admin.set_attributes("t", {"a.b": "1"}), 1),
    (lambda admin: admin.alter_families("t", [Family("d", versions=3), Family("e")]), 2),
    (lambda admin: admin.remove_families("t", ["d", "e"]), 2),
    (lambda admin: admin.take_snapshot("t", "s"), 1),
    (lambda admin: admin.clone_snapshot("s", "u"), 1),
    (
        lambda admin: admin.create_table(
            "t", [Family("d")], [b"%03d" % n for n in range(1, 1_000)], {"REGION_REPLICATION": "3"}
        ),
        3,
    ),
]


@pytest.mark.parametrize(("call", "times"), BUDGETS)
def test_the_time_limit_of_an_operation_grows_with_the_regions(
    call: Callable[[Admin], object], times: int
) -> None:
    """An operation on 1,000 regions has 0.25 s more per region and pass over all regions."""
    script: dict[str, list[Any]] = {
        **{
            method: [7]
            for method in (
                "EnableTable", "DisableTable", "truncateTable", "DeleteTable", "ModifyTable",
                "AddColumn", "ModifyColumn", "DeleteColumn", "Snapshot", "RestoreSnapshot",
                "CreateTable",
            )
        },
        "getProcedureResult": [FINISHED_RESULT],
        "GetCompletedSnapshots": [{"s": "t"}],
        "GetTableDescriptors": [lambda asked: THREE if asked.table == "t" else None],
    }  # fmt: skip
    caller = ScriptedMaster(script, build_regions(1_000))
    now = Deadline.from_now(0).expires_at
    with suppress(CatalogMismatch):  # this table never changes
        call(Admin(caller))
    asked = caller.methods.index("getProcedureResult")
    given = caller.deadlines[asked]
    assert given is not None
    expected = caller.settings.operation_timeout_s + SECONDS_PER_REGION * 1_000 * times
    assert expected == pytest.approx(given.expires_at - now, abs=5)


def test_with_an_explicit_wait_s_the_regions_are_not_counted() -> None:
    caller = ScriptedMaster(
        {"EnableTable": [7], "getProcedureResult": [FINISHED_RESULT]}, build_regions(3)
    )
    now = Deadline.from_now(0).expires_at
    Admin(caller).enable_table("t", wait_s=7)
    given = caller.deadlines[0]
    assert given is not None
    assert pytest.approx(7, abs=1) == given.expires_at - now
    assert caller.meta_scans == 0
