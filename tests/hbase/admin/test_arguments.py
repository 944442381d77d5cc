"""Wrong arguments of administration are refused before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hbase.admin.scripted import ScriptedMaster
from rowkey.cells import Family
from rowkey.errors import InvalidArgument, InvalidDesign
from rowkey.hbase.admin import Admin
from rowkey.hbase.errors import InvalidFamilyOperation
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.wire.names import ServerName, build_region_name

D = Family("d")
RS1 = ServerName("rs1", 16020, 17)
REGION = RegionLocation("t", build_region_name("t", b"", 17), b"", b"", RS1, 1)

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[str]]] = [
    ("list_tables", (7,), {}, ["namespace"]),
    ("list_tables", ("",), {}, ["namespace"]),
    ("list_tables", ("\ud800",), {}, ["namespace"]),
    ("create_namespace", (None,), {"wait_s": "x"}, ["name", "wait_s"]),
    ("delete_namespace", (None,), {}, ["name"]),
    ("delete_namespace", ("n",), {"wait_s": -1}, ["wait_s"]),
    ("set_balancer", ("no",), {}, ["enabled"]),
    ("set_balancer", (1,), {}, ["enabled"]),
    ("set_splits_and_merges", ("no",), {}, ["splits"]),
    ("set_splits_and_merges", (0, "yes"), {}, ["splits", "merges"]),
    ("delete_snapshot", ("",), {}, ["name"]),
    ("delete_snapshot", (b"s",), {}, ["name"]),
    ("take_snapshot", ("", "a:b"), {"wait_s": "x"}, ["table", "name", "wait_s"]),
    ("clone_snapshot", (None, "a b"), {"wait_s": []}, ["snapshot", "table", "wait_s"]),
    ("enable_table", (None,), {"wait_s": "x"}, ["name", "wait_s"]),
    ("disable_table", ("t",), {"wait_s": True}, ["wait_s"]),
    ("truncate_table", ("", "no"), {"disable": 1}, ["name", "keep_splits", "disable"]),
    ("delete_table", ("t",), {"disable": "yes", "wait_s": 1e9}, ["disable", "wait_s"]),
    ("alter_families", ("", None), {"wait_s": "x"}, ["name", "families", "wait_s"]),
    ("alter_families", ("t", "d"), {}, ["families"]),
    ("alter_families", ("t", D), {}, ["families"]),
    ("set_attributes", ("", None), {"wait_s": "x"}, ["name", "attributes", "wait_s"]),
    ("set_attributes", ("t", ["READONLY"]), {}, ["attributes"]),
    ("remove_families", ("t", "de"), {}, ["families"]),
    ("remove_families", ("t", b"de"), {}, ["families"]),
    ("remove_families", ("t", None), {"wait_s": "x"}, ["families", "wait_s"]),
    ("remove_families", ("t", ["d", 7, "d"]), {}, ["families[1]", "families[2]"]),
    ("list_regions", ("",), {"wait_s": "x"}, ["name", "wait_s"]),
    ("get_counters", (7,), {"wait_s": float("nan")}, ["name", "wait_s"]),
    ("count_open_regions", (7,), {"wait_s": -1}, ["name", "wait_s"]),
    ("get_reported_counters", (None,), {}, ["name"]),
    ("split_region", (None, "k"), {"wait_s": "x"}, ["name", "split_key", "wait_s"]),
    ("merge_regions", ("", "a", b"k" * 32_768), {}, ["name", "first", "second"]),
    ("move_region", ("r", "rs1:16020"), {"wait_s": "x"}, ["region", "wait_s", "server"]),
    ("move_region", (None,), {}, ["region"]),
    ("flush_table", ("",), {"wait_s": "x"}, ["name", "wait_s"]),
    ("compact_table", ("",), {"major": "yes", "wait": 0}, ["name", "major", "wait"]),
]


@pytest.mark.parametrize(
    ("verb", "given", "named", "paths"), CALLS, ids=lambda value: str(value)[:60]
)
def test_all_wrong_arguments_of_an_admin_call_are_reported_together(
    verb: str, given: tuple[Any, ...], named: dict[str, Any], paths: list[str]
) -> None:
    """All wrong arguments of a call are reported together by name, and nothing is sent."""
    caller = ScriptedMaster({}, [REGION])
    with pytest.raises(
        InvalidDesign if len(paths) > 1 else (InvalidArgument, InvalidDesign)
    ) as caught:
        getattr(Admin(caller), verb)(*given, **named)
    error: Any = caught.value
    told = error.mistakes if isinstance(error, InvalidDesign) else (error.mistake,)
    assert (paths, [], 0) == ([one.path for one in told], caller.asked, caller.meta_scans)


def test_a_create_with_wrong_types_reports_each_once() -> None:
    caller = ScriptedMaster({})
    with pytest.raises(InvalidDesign) as caught:
        Admin(caller).create_table(None, None, 7, "x", configuration=[1], wait_s="x", progress=1)  # type: ignore[arg-type]
    assert [
        "name", "families", "splits", "attributes", "configuration", "wait_s", "progress"
    ] == [mistake.path for mistake in caught.value.mistakes]  # fmt: skip
    assert [] == caller.asked


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["d", "no", "nor"], r"t: the table has no family 'no', 'nor'; expected one of d, e\."),
        (["e", "d"], r"t: e, d are all families of the table"),
    ],
)
def test_removing_an_unknown_family_or_all_families_is_refused(
    names: list[str], message: str
) -> None:
    """Removing an unknown family or all families is refused before one is removed."""
    schema = TableSchema("t", (FamilySchema("d"), FamilySchema("e")))
    caller = ScriptedMaster({"GetTableDescriptors": [schema]})
    with pytest.raises(InvalidFamilyOperation, match=message):
        Admin(caller).remove_families("t", names)
    assert ["GetTableDescriptors"] == caller.methods


@pytest.mark.parametrize("seconds", [0.1, 1, 86_400])
@pytest.mark.parametrize(
    "call",
    [
        lambda admin, wait_s: admin.list_regions("t", wait_s=wait_s),
        lambda admin, wait_s: admin.compact_table("t", wait_s=wait_s, wait=False),
    ],
)
def test_any_number_of_seconds_up_to_a_day_is_a_valid_timeout(
    call: Callable[[Admin, float], Any], seconds: float
) -> None:
    caller = ScriptedMaster({"CompactRegion": [None]}, [REGION])
    assert call(Admin(caller), seconds) in ([REGION], None)
