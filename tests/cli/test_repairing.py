"""The verb `repair`: on directories whose process was killed and whose logs were then damaged."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from cli.command import run
from rowkey.engines import open_engine
from rowkey.engines.rocksdb.files import CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable

ON = ("--on", "rocks:data")
KILLED = """
import os, signal
import rowkey
table = rowkey.open("things", "rocks:data")
for n in range(200):
    table.put({"host": "new", "ts": n, "hits": n})
os.kill(os.getpid(), signal.SIGKILL)
"""
BEFORE = 5
"""Rows that were in files before."""


@pytest.fixture
def log(things: Path) -> Path:
    """The log of a table that was killed with 200 rows in it."""
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=things, check=False)
    assert -signal.SIGKILL == done.returncode
    logs = sorted((things / "data" / "things").glob("*.log"))
    return max(logs, key=lambda path: path.stat().st_size)


def damage(log: Path) -> int:
    """Turn a bit over in the middle of a log, and give the byte."""
    content = bytearray(log.read_bytes())
    at = len(content) // 2
    content[at] ^= 4
    log.write_bytes(content)
    return at


def all_bytes(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, but for the lock and RocksDB's own diary."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in files if "LOG" not in p.name and p.name != ".lock"}


def counted() -> int:
    """How many rows the table holds."""
    done = run("count", "things", *ON)
    assert 0 == done.code
    return int(done.out)


def test_a_damaged_log_is_cut_once_that_is_confirmed(log: Path) -> None:
    """It is told and left alone without --yes; with it, what precedes it is kept and is read."""
    at = damage(log)
    refused = run("count", "things", *ON)
    assert 4 == refused.code
    assert "or run `rowkey repair`" in refused.err
    before = all_bytes(Path("data"))
    asked = run("repair", "rocks:data")
    assert (1, "nothing was changed; --yes cuts what is damaged\n") == (asked.code, asked.err)
    assert asked.out.startswith(f"things: {log.name} is damaged at byte ")
    assert (
        f"moves the {len(before[str(log.relative_to(Path.cwd()))]) - told_at(asked.out):,} bytes"
        in asked.out
    )
    assert before == all_bytes(Path("data"))
    done = run("repair", "rocks:data", "--yes")
    first, second = done.out.splitlines()
    assert (1, "", asked.out.strip()) == (done.code, done.err, first)
    assert f"things: {log.name} was cut at byte {told_at(first):,}; " in second
    assert told_at(first) <= at
    kept = Path("data/things/cut") / f"{log.name}.{told_at(first)}"
    assert before[str(log.relative_to(Path.cwd()))][told_at(first) :] == kept.read_bytes()
    assert BEFORE < counted() < BEFORE + 200
    assert (0, "things: no log is damaged.\n") == (
        (again := run("repair", "rocks:data")).code,
        again.out,
    )


def told_at(line: str) -> int:
    """The byte that a line tells."""
    return int(line.partition("at byte ")[2].split(":")[0].split(";")[0].replace(",", ""))


def test_machines_are_told_the_same(log: Path) -> None:
    """One document tells what was found, and with --yes what was done."""
    size = log.stat().st_size
    damage(log)
    found = json.loads((asked := run("repair", "rocks:data", "-f", "json")).out)["tables"][0]
    assert (1, True, False, log.name) == (
        asked.code, found["damaged"], found["mended"], found["log"],
    )  # fmt: skip
    assert size == found["at"] + found["bytes_behind"]
    assert found["changes_cut"] is None
    done = json.loads(run("repair", "rocks:data", "--yes", "-f", "json").out)["tables"][0]
    assert found == {**done, "mended": False, "batches_kept": None, "changes_cut": None}
    assert done["mended"]
    assert done["changes_cut"] > 0
    sound = json.loads(run("repair", "rocks:data", "-f", "json").out)["tables"]
    assert [("things", False, None)] == [(o["table"], o["damaged"], o["log"]) for o in sound]


@pytest.mark.parametrize(("typed", "rows"), [("y\n", range(6, 205)), ("n\n", range(0))])
def test_a_terminal_is_asked(log: Path, typed: str, rows: range) -> None:
    """Yes cuts and no leaves all as it is."""
    damage(log)
    with patch("click.testing._NamedTextIOWrapper.isatty", return_value=True):
        done = run("repair", "rocks:data", stdin=typed)
    assert 1 == done.code
    assert "Cut what is damaged? [y/N]" in done.err
    assert bool(rows) == (" was cut at byte " in done.out)
    assert ("nothing was changed" in done.err) == (not rows)
    if rows:
        assert counted() in rows
    else:
        assert 4 == run("count", "things", *ON).code


def test_a_sound_place_is_left_with_0(log: Path) -> None:
    """A kill damages nothing: all 200 rows are there, before and after."""
    del log
    done = run("repair", "rocks:data", "--yes")
    assert (0, "things: no log is damaged.\n", "") == (done.code, done.out, done.err)
    assert BEFORE + 200 == counted()


def _lose_a_file(folder: Path) -> None:
    next(iter(folder.glob("*.sst"))).unlink()


def _spoil_a_file(folder: Path) -> None:
    (folder / "CURRENT").write_text("nothing")


@pytest.mark.parametrize("spoil", [_lose_a_file, _spoil_a_file])
def test_what_is_in_no_log_cannot_be_mended(log: Path, spoil: Callable[[Path], None]) -> None:
    """It leaves with 4, says what is broken, and changes nothing."""
    spoil(log.parent)
    before = all_bytes(Path("data"))
    done = run("repair", "rocks:data", "--yes")
    assert (4, "") == (done.code, done.out)
    assert "rowkey: things: it cannot be mended. data/things: " in done.err
    assert before == all_bytes(Path("data"))


@pytest.mark.parametrize("output", ["text", "json"])
def test_one_that_cannot_be_mended_does_not_stop_the_others(log: Path, output: str) -> None:
    """The others are told and mended; then it leaves with 4 and names those that are broken."""
    others = ("aaa", "zzz")
    for name in others:
        shutil.copytree(log.parent, Path("data") / name)
        _spoil_a_file(Path("data") / name)
    shutil.copytree(log.parent, "data/between")
    damage(log)
    asked = run("repair", "rocks:data")
    assert 4 == asked.code
    assert "between: no log is damaged.\n" in asked.out
    assert "things: 0" in asked.out
    done = run("repair", "rocks:data", "--yes", "-f", output)
    assert 4 == done.code
    assert ("was cut at" in done.out) == (output == "text")
    assert ('"mended": true' in done.out) == (output == "json")
    if output == "json":
        told = {one["table"]: one for one in json.loads(done.out)["tables"]}
        assert {True, False} == {one["broken"] is None for one in told.values()}
        assert not any(one["mended"] for one in told.values() if one["broken"])
    for name in others:
        assert f"rowkey: {name}: it cannot be mended. data/{name}: it is damaged" in done.err
    assert counted() in range(BEFORE + 1, BEFORE + 200)


def test_who_only_looks_changes_no_file(log: Path) -> None:
    """The logs of sound tables are read and stay, whatever state the settings were in."""
    settings = log.parent / CONFIG
    for content in (settings.read_bytes(), b"", None):
        settings.unlink()
        if content is not None:
            settings.write_bytes(content)
        before = all_bytes(Path("data"))
        done = run("repair", "rocks:data")
        assert (0, "things: no log is damaged.\n", "") == (done.code, done.out, done.err)
        assert before == all_bytes(Path("data"))
    assert BEFORE + 200 == counted()


def test_a_damaged_table_is_forgotten_where_its_design_says(things: Path) -> None:
    """Named by its file, its entry goes out of the catalog that the file declares."""
    design = Path("apart.toml")
    design.write_text(
        'table = "apart"\nkey = "[n]"\ncatalog = "file:apart"\n[fields]\nn = "u8"\n', "utf-8"
    )
    assert 0 == run("create", str(design), *ON).code
    (entry,) = (things / "apart").glob("*.json")
    _spoil_a_file(things / "data" / "apart")
    assert 0 == run("drop", str(design), *ON, "--yes", "apart").code
    assert not entry.exists()
    assert 0 == run("create", str(design), *ON).code


@pytest.mark.parametrize("spoil", [damage, lambda log: _spoil_a_file(log.parent)])
def test_a_damaged_table_can_be_dropped(log: Path, spoil: Callable[[Path], object]) -> None:
    """It is gone with its rows and its entry in the catalog, so that another can be made."""
    spoil(log)
    assert 4 == run("count", "things", *ON).code
    done = run("drop", "things", *ON, "--yes", "things")
    assert (0, "things: dropped\n", "") == (done.code, done.out, done.err)
    assert not (Path("data") / "things").exists()
    assert [] == list(Path("data").rglob("things*"))


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("memory:", "memory: is nothing that can be mended; expected rocks:PATH"),
        ("data", "data is nothing that can be mended"),
        ("rocks:", "rocks: names no directory"),
        ("rocks:none", "rocks:none: there is no such place, and no table."),
    ],
)
def test_a_place_that_cannot_be_mended_is_wrong_usage(things: Path, url: str, what: str) -> None:
    """It is told in a line, and nothing is made."""
    done = run("repair", url)
    assert (2, "") == (done.code, done.out)
    assert what in done.err
    assert not (things / "none").exists()


def test_a_place_in_use_is_not_mended(things: Path) -> None:
    """Another process has it: that is told first."""
    del things
    with open_engine("rocks:data"):
        done = run("repair", "rocks:data", "--yes")
    assert (4, "") == (done.code, done.out)
    assert "it is open already" in done.err
