"""What calls of administration refuse: each wrong argument, before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hbase.admin.scripted import Scripted
from rowkey.cells import Family
from rowkey.errors import DeclarationError, Refused
from rowkey.hbase.admin import Admin
from rowkey.hbase.errors import InvalidFamilyOperation
from rowkey.hbase.locations import Region
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.wire.names import Server, region_name

if TYPE_CHECKING:
    from collections.abc import Callable

D = Family("d")
RS1 = Server("rs1", 16020, 17)
REGION = Region("t", region_name("t", b"", 17), b"", b"", RS1, 1)

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[str]]] = [
    ("tables", (7,), {}, ["namespace"]),
    ("tables", ("",), {}, ["namespace"]),
    ("tables", ("\ud800",), {}, ["namespace"]),
    ("create_namespace", (None,), {"wait_s": "x"}, ["name", "wait_s"]),
    ("delete_namespace", (None,), {}, ["name"]),
    ("delete_namespace", ("n",), {"wait_s": -1}, ["wait_s"]),
    ("balancer", ("no",), {}, ["on"]),
    ("balancer", (1,), {}, ["on"]),
    ("splits_and_merges", ("no",), {}, ["on"]),
    ("splits_and_merges", (0, "yes"), {}, ["on", "merges"]),
    ("delete_snapshot", ("",), {}, ["name"]),
    ("delete_snapshot", (b"s",), {}, ["name"]),
    ("snapshot", ("", "a:b"), {"wait_s": "x"}, ["table", "name", "wait_s"]),
    ("clone", (None, "a b"), {"wait_s": []}, ["snapshot", "table", "wait_s"]),
    ("enable", (None,), {"wait_s": "x"}, ["name", "wait_s"]),
    ("disable", ("t",), {"wait_s": True}, ["wait_s"]),
    ("truncate", ("", "no"), {"disable": 1}, ["name", "keep_splits", "disable"]),
    ("delete", ("t",), {"disable": "yes", "wait_s": 1e9}, ["disable", "wait_s"]),
    ("alter", ("", None), {"wait_s": "x"}, ["name", "families", "wait_s"]),
    ("alter", ("t", "d"), {}, ["families"]),
    ("alter", ("t", D), {}, ["families"]),
    ("annotate", ("", None), {"wait_s": "x"}, ["name", "attributes", "wait_s"]),
    ("annotate", ("t", ["READONLY"]), {}, ["attributes"]),
    ("remove_families", ("t", "de"), {}, ["families"]),
    ("remove_families", ("t", b"de"), {}, ["families"]),
    ("remove_families", ("t", None), {"wait_s": "x"}, ["families", "wait_s"]),
    ("remove_families", ("t", ["d", 7, "d"]), {}, ["families[1]", "families[2]"]),
    ("regions", ("",), {"wait_s": "x"}, ["name", "wait_s"]),
    ("counters", (7,), {"wait_s": float("nan")}, ["name", "wait_s"]),
    ("reported_counters", (None,), {}, ["name"]),
    ("split", (None, "k"), {"wait_s": "x"}, ["name", "at", "wait_s"]),
    ("merge", ("", "a", b"k" * 32_768), {}, ["name", "first", "second"]),
    ("move", ("r", "rs1:16020"), {"wait_s": "x"}, ["region", "wait_s", "server"]),
    ("move", (None,), {}, ["region"]),
    ("flush", ("",), {"wait_s": "x"}, ["name", "wait_s"]),
    ("compact", ("",), {"major": "yes", "wait": 0}, ["name", "major", "wait"]),
]


@pytest.mark.parametrize(("verb", "given", "named", "paths"), CALLS, ids=str)
def test_refused(
    verb: str, given: tuple[Any, ...], named: dict[str, Any], paths: list[str]
) -> None:
    """All wrong arguments of a call are told at once, by their names, and nothing is sent."""
    caller = Scripted({}, [REGION])
    with pytest.raises(
        DeclarationError if len(paths) > 1 else (Refused, DeclarationError)
    ) as caught:
        getattr(Admin(caller), verb)(*given, **named)
    error: Any = caught.value
    told = error.mistakes if isinstance(error, DeclarationError) else (error.mistake,)
    assert (paths, [], 0) == ([one.path for one in told], caller.asked, caller.meta_scans)


def test_all_types_at_once() -> None:
    """A create with nothing but wrong types tells of each, once."""
    caller = Scripted({})
    with pytest.raises(DeclarationError) as caught:
        Admin(caller).create(None, None, 7, "x", configuration=[1], wait_s="x", progress=1)  # type: ignore[arg-type]
    assert [
        "name", "families", "splits", "attributes", "configuration", "wait_s", "progress"
    ] == [mistake.path for mistake in caught.value.mistakes]  # fmt: skip
    assert [] == caller.asked


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["d", "no", "nor"], r"t: has no family 'no', 'nor'; expected d, e\."),
        (["e", "d"], r"t: would be left without families: e, d are all it has"),
    ],
)
def test_families_that_cannot_go(names: list[str], said: str) -> None:
    """Families that are not there, and all that are there, are refused before one is removed."""
    schema = TableSchema("t", (FamilySchema("d"), FamilySchema("e")))
    caller = Scripted({"GetTableDescriptors": [schema]})
    with pytest.raises(InvalidFamilyOperation, match=said):
        Admin(caller).remove_families("t", names)
    assert ["GetTableDescriptors"] == caller.methods


@pytest.mark.parametrize("seconds", [0.1, 1, 86_400])
@pytest.mark.parametrize(
    "call",
    [
        lambda admin, wait_s: admin.regions("t", wait_s=wait_s),
        lambda admin, wait_s: admin.compact("t", wait_s=wait_s, wait=False),
    ],
)
def test_seconds_that_pass(call: Callable[[Admin, float], Any], seconds: float) -> None:
    """Any number of seconds up to a day may be waited, whole or not."""
    caller = Scripted({"CompactRegion": [None]}, [REGION])
    assert call(Admin(caller), seconds) in ([REGION], None)
