"""The commands `verify` and `repair` on damaged directories."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from cli.command import run, run_in_process
from rowkey.design import Design
from rowkey.engines.rocksdb_files.rocksdict_settings import SETTINGS_FILE
from rowkey.render import REPAIR_FIELDS, VERIFY_FIELDS, list_paths

PLACE_OPTION = ("--on", "rocks:data")
KILLED_WRITER_CODE = """
import os, signal
import rowkey
table = rowkey.open("things", "rocks:data")
for n in range(200):
    table.put({"host": "new", "ts": n, "hits": n})
os.kill(os.getpid(), signal.SIGKILL)
"""
ROWS_BEFORE = 5
"""Rows that were in files before the kill."""


@pytest.fixture
def log(things_folder: Path) -> Path:
    """Return the log of a table that was killed with 200 rows in it."""
    assert -signal.SIGKILL == run_in_process(things_folder, KILLED_WRITER_CODE).code
    logs = sorted((things_folder / "data" / "things").glob("*.log"))
    return max(logs, key=lambda path: path.stat().st_size)


def damage(log: Path) -> int:
    """Flip a bit in the middle of a log and return its offset."""
    content = bytearray(log.read_bytes())
    at = len(content) // 2
    content[at] ^= 4
    log.write_bytes(content)
    return at


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the content of a folder's files except the lock and RocksDB's own log."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in files if "LOG" not in p.name and p.name != ".lock"}


def count_rows() -> int:
    """Return how many rows the table has."""
    done = run("count", "things", *PLACE_OPTION)
    assert 0 == done.code
    return int(done.out)


def test_a_damaged_log_is_truncated_only_after_confirmation(log: Path) -> None:
    """Only with --yes a repair cuts a damaged log and keeps what precedes the damage."""
    at = damage(log)
    refused = run("count", "things", *PLACE_OPTION)
    assert 4 == refused.code
    assert "or run `rowkey repair`" in refused.err
    before = read_files(Path("data"))
    asked = run("repair", "--on", "rocks:data")
    assert (
        1,
        "nothing was changed; --yes repairs the tables and cuts damaged logs at the damage\n",
    ) == (asked.code, asked.err)
    assert asked.out.startswith("things: damaged; ")
    problem = f"the log is damaged at byte {find_reported_byte(asked.out):,}"
    assert f"{log.relative_to(Path.cwd())}: {problem}" in asked.out
    assert before == read_files(Path("data"))
    done = run("repair", "--on", "rocks:data", "--yes")
    assert (1, "") == (done.code, done.err)
    assert done.out.startswith(asked.out)
    last = done.out.splitlines()[-1]
    assert f"things: {log.name} was truncated at byte {find_reported_byte(asked.out):,}; " in last
    assert find_reported_byte(asked.out) <= at
    kept = Path("data/things/cut") / f"{log.name}.{find_reported_byte(asked.out)}"
    assert (
        before[str(log.relative_to(Path.cwd()))][find_reported_byte(asked.out) :]
        == kept.read_bytes()
    )
    assert ROWS_BEFORE < count_rows() < ROWS_BEFORE + 200
    again = run("repair", "--on", "rocks:data")
    assert 0 == again.code
    assert again.out.startswith("things: sound; ")


def find_reported_byte(text: str) -> int:
    """Return the offset at which damage is reported to begin."""
    return int(text.partition("damaged at byte ")[2].split(":")[0].replace(",", ""))


def test_the_json_of_repair_has_the_damage_and_the_repair(log: Path) -> None:
    """The JSON document has the damage, and with --yes the repair."""
    damage(log)
    asked = run("repair", "--on", "rocks:data", "-f", "json")
    found = json.loads(asked.out)["tables"][0]
    assert (1, False, True, False) == (
        asked.code, found["sound"], found["repairable"], found["repaired"],
    )  # fmt: skip
    (problem,) = found["problems"]
    assert str(log.relative_to(Path.cwd())) == problem["file"]
    assert found["changes_lost"] is None
    done = json.loads(run("repair", "--on", "rocks:data", "--yes", "-f", "json").out)
    (table,) = done["tables"]
    assert (True, log.name) == (table["repaired"], table["log"])
    assert table["changes_lost"] > 0
    sound = json.loads(run("verify", *PLACE_OPTION, "-f", "json").out)
    assert [("things", True, [])] == [
        (one["table"], one["sound"], one["problems"]) for one in sound["tables"]
    ]
    assert {path for path in list_paths(done) if path != "catalog"} <= REPAIR_FIELDS.keys()
    assert set(list_paths(sound)) <= VERIFY_FIELDS.keys()


@pytest.mark.parametrize(("typed", "rows"), [("y\n", range(6, 205)), ("n\n", range(0))])
def test_repair_asks_for_confirmation_on_a_terminal(log: Path, typed: str, rows: range) -> None:
    """On a terminal yes repairs the log and no changes nothing."""
    damage(log)
    with patch("click.testing._NamedTextIOWrapper.isatty", return_value=True):
        done = run("repair", "--on", "rocks:data", "--progress", "none", stdin=typed)
    assert 1 == done.code
    assert "Repair the damaged tables? [y/N]" in done.err
    assert bool(rows) == (" was truncated at byte " in done.out)
    assert ("nothing was changed" in done.err) == (not rows)
    if rows:
        assert count_rows() in rows
    else:
        assert 4 == run("count", "things", *PLACE_OPTION).code


def test_verify_and_repair_exit_with_0_for_a_killed_but_undamaged_table(log: Path) -> None:
    """A killed table is undamaged: both commands exit with 0 and keep all 200 rows."""
    del log
    done = run("repair", "--on", "rocks:data", "--yes")
    assert (0, "") == (done.code, done.err)
    assert done.out.startswith("things: sound; ")
    assert ROWS_BEFORE + 200 == count_rows()


def _lose_a_file(folder: Path) -> None:
    next(iter(folder.glob("*.sst"))).unlink()


def _spoil_a_file(folder: Path) -> None:
    (folder / "CURRENT").write_text("nothing")


@pytest.mark.parametrize("spoil", [_lose_a_file, _spoil_a_file])
def test_damage_outside_of_logs_exits_with_4_and_changes_nothing(
    log: Path, spoil: Callable[[Path], None]
) -> None:
    """Damage outside of logs exits with 4, names the file and a remedy, and changes nothing."""
    spoil(log.parent)
    before = read_files(Path("data"))
    done = run("repair", "--on", "rocks:data", "--yes")
    assert 4 == done.code
    assert "things: damaged; " in done.out
    assert (
        "rowkey: things cannot be repaired in place; rowkey repair --on rocks:data --into"
        in done.err
    )
    assert before == read_files(Path("data"))


def test_repair_into_a_new_directory_saves_all_readable_rows(log: Path) -> None:
    """A repair into a new place saves all readable rows and leaves the old place alone."""
    for file in log.parent.glob("*.sst"):
        file.unlink()
    before = read_files(Path("data"))
    done = run("repair", "--on", "rocks:data", "--into", "rocks:saved", "--keep-incomplete")
    assert 1 == done.code
    assert "  cells lost: rows from " in done.out
    assert "cells saved into rocks:saved" in done.out
    assert before == read_files(Path("data"))
    verified = run("verify", "--on", "rocks:saved")
    assert 0 == verified.code
    assert 200 == int(run("count", "things", "--on", "rocks:saved").out)


def test_each_row_of_a_damaged_table_is_saved_complete_or_in_a_listed_gap(
    things_folder: Path,
) -> None:
    """Each row of a table with damaged blocks is saved complete or is in a listed gap."""
    rows = [{"host": f"h{n:05}", "ts": n, "hits": n} for n in range(10_000)]
    (things_folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert 0 == run("load", "things", "rows.jsonl", *PLACE_OPTION).code
    expected = run("dump", "things", *PLACE_OPTION).out.splitlines()
    (file,) = (path for path in Path("data/things").glob("*.sst") if path.stat().st_size > 100_000)
    content = bytearray(file.read_bytes())
    for third in (1, 2):
        content[third * len(content) // 3 - 9_000] ^= 16
    file.write_bytes(content)
    assert 4 == run("dump", "things", *PLACE_OPTION).code
    verified = run("verify", *PLACE_OPTION, "-f", "json")
    assert 3 == verified.code
    (found,) = json.loads(verified.out)["tables"]
    assert 2 == len(found["lost_rows"])
    assert 1 == run("repair", "--on", "rocks:data", "--into", "rocks:saved").code
    kept = run("dump", "things", "--on", "rocks:saved").out.splitlines()
    assert set(kept) < set(expected)
    assert 0.4 * len(expected) < len(kept) < len(expected)
    encode = Design.read("things.toml").key.encode

    def is_listed(line: str) -> bool:
        key = encode(json.loads(line)).hex()
        return any(first <= key <= last for first, last in found["lost_rows"])

    assert all(map(is_listed, set(expected) - set(kept)))
    assert not any(map(is_listed, kept))


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_table_that_cannot_be_repaired_does_not_stop_the_repair_of_others(
    log: Path, output: str
) -> None:
    """A repair repairs other tables, then exits with 4 and names the broken ones."""
    others = ("aaa", "zzz")
    for name in others:
        shutil.copytree(log.parent, Path("data") / name)
        _spoil_a_file(Path("data") / name)
    shutil.copytree(log.parent, "data/between")
    damage(log)
    asked = run("repair", "--on", "rocks:data")
    assert 4 == asked.code
    assert "between: sound; " in asked.out
    assert "things: damaged; " in asked.out
    done = run("repair", "--on", "rocks:data", "--yes", "-f", output)
    assert 4 == done.code
    assert ("was truncated at" in done.out) == (output == "text")
    assert ('"repaired": true' in done.out) == (output == "json")
    if output == "json":
        told = {one["table"]: one for one in json.loads(done.out)["tables"]}
        assert {"things"} == {name for name, one in told.items() if one["repaired"]}
        assert {"aaa", "zzz"} == {
            name for name, one in told.items() if not (one["sound"] or one["repairable"])
        }
    for name in others:
        assert f"rowkey: {name} cannot be repaired in place" in done.err
    assert count_rows() in range(ROWS_BEFORE + 1, ROWS_BEFORE + 200)


def test_verify_changes_no_file(log: Path) -> None:
    """`verify` changes no file, whatever the state of the settings file."""
    settings = log.parent / SETTINGS_FILE
    for content in (settings.read_bytes(), b"", None):
        settings.unlink()
        if content is not None:
            settings.write_bytes(content)
        before = read_files(Path("data"))
        for words in (("repair", "--on", "rocks:data"), ("verify", "things", *PLACE_OPTION)):
            done = run(*words)
            assert (0, "") == (done.code, done.err)
            assert done.out.startswith("things: sound; ")
        assert before == read_files(Path("data"))
    assert ROWS_BEFORE + 200 == count_rows()


def test_a_damaged_table_is_removed_from_the_catalog_of_its_design(things_folder: Path) -> None:
    """A table named by its file is removed from the catalog that the file declares."""
    design = Path("apart.toml")
    design.write_text(
        'table = "apart"\nkey = "[n]"\ncatalog = "file:apart"\n[fields]\nn = "u8"\n', "utf-8"
    )
    assert 0 == run("create", str(design), *PLACE_OPTION).code
    (entry,) = (things_folder / "apart").glob("*.json")
    _spoil_a_file(things_folder / "data" / "apart")
    assert 0 == run("drop", str(design), *PLACE_OPTION, "--yes", "apart").code
    assert not entry.exists()
    assert 0 == run("create", str(design), *PLACE_OPTION).code


@pytest.mark.parametrize("spoil", [damage, lambda log: _spoil_a_file(log.parent)])
def test_a_damaged_table_can_be_dropped_and_created_again(
    log: Path, spoil: Callable[[Path], object]
) -> None:
    """A damaged table is dropped with its catalog entry and can be created again."""
    spoil(log)
    assert 4 == run("count", "things", *PLACE_OPTION).code
    done = run("drop", "things", *PLACE_OPTION, "--yes", "things")
    assert (0, "things: dropped\n", "") == (done.code, done.out, done.err)
    assert not (Path("data") / "things").exists()
    assert [] == list(Path("data").rglob("things*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("repair", "--on", "memory:"),
            "expected rocks:PATH",
        ),
        (("verify", "--on", "memory:"), "expected rocks:PATH"),
        (("repair", "--on", "data"), "url: 'data' has no scheme"),
        (("repair", "--on", "rocks:"), "rocks: names no directory"),
        (("repair", "--on", "rocks:none"), "rocks:none: no table is stored at this URL."),
        (
            ("verify", "none", *PLACE_OPTION),
            "rocks:data: there is no table none; expected one of things.",
        ),
        (
            ("repair", "--on", "rocks:data", "--into", "memory:"),
            "'memory:' is the URL of another engine",
        ),
    ],
)
def test_a_directory_that_cannot_be_repaired_is_wrong_usage(
    things_folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    """A place that cannot be repaired is one line of error, and nothing is created."""
    _lose_a_file(things_folder / "data" / "things")
    done = run(*arguments)
    assert 2 == done.code
    assert message in done.err
    assert not (things_folder / "none").exists()


def test_a_directory_in_use_is_not_repaired(things_folder: Path) -> None:
    """A place in use by another process is reported and not repaired."""
    del things_folder
    with Path("data", ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for words in (("repair", "--on", "rocks:data", "--yes"), ("verify", *PLACE_OPTION)):
            done = run(*words)
            assert (4, "") == (done.code, done.out)
            assert "the directory is open already" in done.err
