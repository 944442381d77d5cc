"""Probes of a table that may be damaged, and the verdicts on their answers."""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import rowkey
from reliability.places import COUNTER_ID, DESIGN, make_rows
from rowkey.errors import RowkeyError
from rowkey.table import repair_tables, save_tables, verify_tables

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from pathlib import Path

RIGHT, REFUSED, WRONG = "right", "refused", "wrong"
PROBES = ("open", "get", "scan", "count", "dump", "increment", "check_and_put", "repair")


def probe_all(place: Path, state: str, verdicts: dict[str, Counter[str]]) -> list[str]:
    """Run all probes on a directory, count verdicts, and return the wrong answers.

    Args:
        place: the directory; a repair may change its files.
        state: the state of the directory before the damage.
        verdicts: by probe, how many answers were right, refused or wrong.
    """
    expected = make_rows(state)
    wrong: list[str] = []

    def judge(name: str, ask: Callable[[], Any]) -> None:
        try:
            problem = ask()
        except RowkeyError:
            verdicts[name][REFUSED] += 1
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it was not meant
            problem = f"{type(error).__name__}: {error}"
        verdicts[name][WRONG if problem else RIGHT] += 1
        if problem:
            wrong.append(f"{name}: {problem}")

    url = f"rocks:{place}"
    copy = place.with_name(f"{place.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(place, copy, symlinks=True)
    try:
        table = rowkey.open(DESIGN, url)
    except RowkeyError:
        for name in PROBES[:-1]:
            verdicts[name][REFUSED] += 1
    except Exception as error:  # noqa: BLE001 - as above
        verdicts["open"][WRONG] += 1
        wrong.append(f"open: {type(error).__name__}: {error}")
    else:
        verdicts["open"][RIGHT] += 1
        with suppress(RowkeyError), closing(table):
            judge("get", lambda: _describe_difference(expected, _get_all(table, expected)))
            judge("scan", lambda: _describe_difference(expected, _sort_by_id(table.scan())))
            judge("count", lambda: _describe_difference(len(expected), table.count()))
            judge("dump", lambda: _describe_difference(expected, _sort_by_id(_dump(table))))
            judge("increment", lambda: _probe_increment(table))
            judge("check_and_put", lambda: _probe_check_and_put(table))
    judge("repair", lambda: _probe_repair(copy, expected))
    shutil.rmtree(copy, ignore_errors=True)
    return wrong


def _sort_by_id(rows: Any) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["id"])


def _get_all(table: rowkey.Table, expected: list[dict[str, Any]]) -> list[Any]:
    return table.get_many([{"id": row["id"]} for row in expected])


def _dump(table: rowkey.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for batch in table.scan().batches(500):
        rows += batch.to_pylist()
    return rows


def _describe_difference(expected: Any, found: Any) -> str:
    if expected == found:
        return ""
    if isinstance(expected, list):
        missing = sum(row not in found for row in expected[::17])
        return f"{len(found)} of {len(expected)} rows, {missing} of some are missing"
    return f"{found} instead of {expected}"


def _probe_increment(table: rowkey.Table) -> str:
    """Increment an existing counter and a new one, and check both values."""
    before = make_rows("")[COUNTER_ID]["n"]
    return _describe_difference(
        {"n": before + 3}, table.increment({"id": COUNTER_ID}, n=3)
    ) or _describe_difference({"n": 2}, table.increment({"id": 5}, n=2))


def _probe_check_and_put(table: rowkey.Table) -> str:
    """Check that a put on a condition happens exactly if the condition is true."""
    row = make_rows("")[COUNTER_ID + 1]
    if table.check_and_put({**row, "v": "new"}, n=None):
        return "a value that stands was taken for absent"
    if not table.check_and_put({**row, "v": "new"}, n=row["n"]):
        return "a value that stands was not found"
    return _describe_difference("new", table.get(id=row["id"])["v"])


def _probe_repair(place: Path, expected: list[dict[str, Any]]) -> str:
    """Check that a repair, in place or into a copy, keeps right rows and reports missing ones."""
    url, into = f"rocks:{place}", place.with_name(f"{place.name}-saved")
    found = list(verify_tables(url))
    if not found:
        return "no table was found"
    (one,) = found
    try:
        if one.is_sound:
            return _check_rows(url, expected, told=bool(one.notes), allowed=not one.notes)
        if not one.needs_saving:
            list(repair_tables(url, ["t"]))
            return _check_rows(url, expected, told=True)
        list(save_tables(url, f"rocks:{into}", ["t"]))
        return _check_rows(f"rocks:{into}", expected, told=True)
    finally:
        shutil.rmtree(into, ignore_errors=True)


def _check_rows(
    url: str, expected: list[dict[str, Any]], *, told: bool, allowed: bool = False
) -> str:
    """Check that rows are unchanged, and missing only where the repair reported it."""
    by_id = {row["id"]: row for row in expected}
    with rowkey.open(DESIGN, url, create=False) as table:
        rows = list(table.scan())
    if any(by_id.get(row["id"]) != row for row in rows):
        return "a row is other than it was"
    if len(rows) < len(expected) and not told:
        return f"{len(expected) - len(rows)} rows are missing without a word"
    del allowed
    return ""
