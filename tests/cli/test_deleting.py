"""`rowkey delete` shows what it would delete, asks for the table's name, and deletes it."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

import rowkey
from cli.command import Outcome, run
from cli.test_dumping import PLACE_OPTION
from rowkey.cells import LATEST, Cell, RowCells
from table.companion_tables import write_designs

WEB_1 = ("--where", "host=web-1")


def run_delete(*more: object, typed: str | None = None) -> Outcome:
    """Run the command on the table of the folder, on a terminal if something is typed."""
    command = ("delete", "things.toml", *PLACE_OPTION, "--progress", "none", *more)
    if typed is None:
        return run(*command)
    with patch("click.testing._NamedTextIOWrapper.isatty", return_value=True):
        return run(*command, stdin=f"{typed}\n")


def count_things(*more: object) -> int:
    """Return how many rows of the table meet conditions."""
    return int(run("count", "things.toml", *PLACE_OPTION, *more).out)


@pytest.mark.usefixtures("things_folder")
def test_a_dry_run_shows_the_rows_and_how_they_are_found() -> None:
    """It prints the exact number, the ranges that are read, the first rows, and deletes nothing."""
    found = run_delete(*WEB_1, "--dry-run")
    assert (0, "") == (found.code, found.err)
    first, *lines = found.out.splitlines()
    assert "things: 3 rows would be deleted" == first
    assert "read    host = 'web-1'" in lines
    assert any(line.startswith("ranges  ") for line in lines)
    assert 3 == sum(line.startswith("web-1") for line in lines)
    assert 5 == count_things()
    assert "things: 1 row would be deleted" in run_delete(*WEB_1, "--limit", 1, "--dry-run").out
    assert "things: 5 rows would be deleted" in run_delete("--all-rows", "--dry-run").out


def test_a_dry_run_names_the_rows_that_it_does_not_show(things_folder: Path) -> None:
    rows = [json.dumps({"host": "web-9", "ts": n}) for n in range(1_300)]
    assert 0 == run("put", things_folder / "things.toml", *PLACE_OPTION, stdin="\n".join(rows)).code
    found = run_delete("--where", "host=web-9", "--dry-run")
    assert "things: 1,300 rows would be deleted" in found.out
    assert "… and 1,295 more rows" in found.out


@pytest.mark.usefixtures("things_folder")
@pytest.mark.parametrize(
    ("typed", "left"), [("things", 2), ("thing", 5), ("y", 5), ("things.toml", 5)]
)
def test_the_table_name_is_typed_on_a_terminal_after_the_preview(typed: str, left: int) -> None:
    found = run_delete(*WEB_1, typed=typed)
    assert "things: 3 rows would be deleted" in found.err
    assert "Type the table's name to confirm" in found.err
    assert ("things: 3 rows deleted\n" if left == 2 else "") == found.out
    assert (0 if left == 2 else 2) == found.code
    assert left == count_things()
    if left == 5:
        assert "no row of things is deleted: " in found.err


@pytest.mark.usefixtures("things_folder")
def test_nothing_is_asked_where_no_row_meets_the_conditions() -> None:
    found = run_delete("--where", "host=web-7", typed="things")
    assert (0, "") == (found.code, found.err)
    assert found.out.startswith("things: 0 rows would be deleted")


@pytest.mark.usefixtures("things_folder")
def test_without_a_terminal_the_name_must_be_given() -> None:
    for words in ((), ("--yes",), ("--yes", "other")):
        found = run_delete(*WEB_1, *words)
        assert (2, "") == (found.code, found.out)
        assert "no row of things is deleted: " in found.err
        assert "Give --yes things." in found.err
    assert 5 == count_things()
    assert "things: 1 row deleted\n" == run_delete(*WEB_1, "--limit", 1, "--yes", "things").out
    assert "things: 2 rows deleted\n" == run("delete", "things", *PLACE_OPTION, *WEB_1, "--yes").out
    assert 2 == count_things()
    assert "things: 2 rows deleted\n" == run_delete("--all-rows", "--yes", "things").out
    assert 0 == count_things()


MISTAKES = {
    "no condition": ((), ["without a condition every row would be deleted", "--all-rows"]),
    "both": ((*WEB_1, "--all-rows"), ["--all-rows deletes every row, and --where some"]),
    "several": (
        ("--where", "hots=web-1 and hits=many", "--where", "ts>soon"),
        ["where[0]: there is no field 'hots'", "where[1]: hits = 'many'", "where[2]: ts > 'so"],
    ),
    "no grammar": (("--where", "host web-1"), ["--where 'host web-1'"]),
    "a limit": ((*WEB_1, "--limit", "few"), ["'few' is not a valid whole number"]),
}


@pytest.mark.usefixtures("things_folder")
@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("more", [("--dry-run",), ("--yes", "things"), ()])
def test_all_mistakes_of_a_delete_are_named_and_no_row_is_deleted(
    name: str, more: tuple[str, ...]
) -> None:
    words, expected = MISTAKES[name]
    found = run_delete(*words, *more)
    assert (2, "") == (found.code, found.out)
    assert [] == [text for text in expected if text not in found.err]
    assert "Traceback" not in found.err
    assert 5 == count_things()


def test_cells_of_other_programs_are_named_and_stay(things_folder: Path) -> None:
    del things_folder
    row = {"host": "web-1", "ts": 1000}
    with rowkey.open("things", "rocks:data") as table:
        cells = [Cell("d", b"x", LATEST, b"\1")]
        table.store.mutate([RowCells(table.design.key.encode(row), cells)])
    named = (
        "these cells are not deleted:\nthings has 1 cell in columns that its design does not "
        "declare, in 1 row: 1 in d:x\n"
    )
    assert named in run_delete(*WEB_1, "--dry-run").out
    assert "things: 3 rows deleted\n" == run_delete(*WEB_1, "--yes", "things").out
    with rowkey.open("things", "rocks:data") as table:
        assert {"d:x": b"\1"} == table.get(row, undeclared=True)["undeclared"]


def test_a_preview_names_the_table_that_is_read_and_all_that_lose_rows(tmp_path: Path) -> None:
    on = ("--on", f"rocks:{tmp_path / 'data'}")
    with rowkey.open(write_designs(tmp_path), on[1]) as table:
        for n in range(8):
            table.put({"user": f"u{n % 2}", "at": n, "number": n})
    command = ("delete", tmp_path / "orders.toml", *on, "--where", "number = 5")
    found = run(*command, "--dry-run")
    assert "table   orders_by_number: " in found.out
    assert "tables  orders, orders_by_number, orders_by_time" in found.out
    assert "orders: 1 row deleted\n" == run(*command, "--yes", "orders").out
    for name in ("orders", "orders_by_number", "orders_by_time"):
        assert "7\n" == run("count", name, *on).out


@pytest.mark.usefixtures("things_folder")
def test_progress_has_the_number_of_rows_of_the_preview() -> None:
    found = run_delete(*WEB_1, "--progress", "json", typed="things")
    lines = [json.loads(line) for line in found.err.splitlines() if line.startswith("{")]
    assert ("counting", 3, None) in [(one["what"], one["done"], one["total"]) for one in lines]
    assert ("deleting", 3, 3) == tuple(lines[-1][name] for name in ("what", "done", "total"))
