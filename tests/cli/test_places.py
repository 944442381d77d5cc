"""Unusable places, designs that drifted, and output on a terminal."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from cli.command import run
from cli.conftest import EVERYTHING
from command_server import find_command
from rowkey.errors import Unavailable

PLACE_OPTION = ("--on", "rocks:data")


# Places


COMMANDS = [
    ["create", "things.toml"], ["drop", "things", "--yes", "things"], ["scan", "things.toml"],
    ["put", "things.toml", "host=a", "ts=1"], ["get", "things", "host=a", "ts=1"],
    ["count", "things"], ["dump", "things.toml"], ["load", "things.toml", "rows.csv"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: str(arguments[0]))
def test_every_command_exits_with_4_if_another_process_has_the_directory(
    things_folder: Path, arguments: list[str]
) -> None:
    """Every command exits with 4 and a remedy if another process has the directory."""
    del things_folder
    with Path("data", ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(*arguments, *PLACE_OPTION)
    line = "rowkey: data: the directory is open already, in this or another process; expected "
    assert (4, "") == (done.code, done.out)
    assert done.err.startswith(line)
    assert 1 == done.err.count("\n")


HOLDER = """
import sys
from rowkey.engines import open_engine
with open_engine("rocks:data"):
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_directory_is_free_once_the_process_that_had_it_ended(things_folder: Path) -> None:
    """A second process is refused, and works as soon as the first has ended."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        cwd=things_folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert b"open\n" == holder.stdout.readline()
        assert 4 == run("count", "things", *PLACE_OPTION).code
        holder.kill()
    assert (0, "5\n") == ((done := run("count", "things", *PLACE_OPTION)).code, done.out)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: str(arguments[0]))
def test_a_file_in_place_of_the_directory_exits_with_4(
    things_folder: Path, arguments: list[str]
) -> None:
    """A file in place of the directory exits with 4 and not as wrong usage."""
    del things_folder
    Path("taken").write_text("")
    done = run(*arguments, "--on", "rocks:taken/data")
    assert (4, "") == (done.code, done.out)
    assert "rowkey: taken/data: the directory cannot be used: " in done.err
    assert os.strerror(errno.ENOTDIR) in done.err


@pytest.mark.parametrize(
    ("url", "what"),
    [
        (
            "cassandra://zk1:2181/hbase",
            "url: no storage engine is called 'cassandra'; expected hbase:... or ",
        ),
        (
            "hbase://zk1:70000/hbase",
            "url.hosts[0]: '70000' is not a port; expected a number from 1 to 65535. Remove",
        ),
        ("hbase://", "url.hosts[0]: the host is empty"),
        ("roks:data", "Did you mean rocks:?"),
        ("data", "url: 'data' has no scheme"),
        ("rocks:", "url: the URL rocks: names no directory; expected rocks:PATH"),
        ("rocks:other", "rocks:other: no table is stored at this URL. Check the URL, or create"),
        (
            "rocks:a\0b",
            "url: 'a\\x00b' contains a character that no path can have; expected rocks:PATH",
        ),
        ("rocks:\ud800", "url: '\\ud800' contains a character that no path can have"),
        ("MEMORY:x", "--on: MEMORY:x stores tables in the memory of one process"),
        ("x" * 10**6, "has no scheme"),
    ],
)
def test_an_unknown_scheme_is_wrong_usage(things_folder: Path, url: str, what: str) -> None:
    """An unknown scheme and a place without the table are wrong usage."""
    del things_folder
    done = run("scan", "things.toml", "--on", url)
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert what in done.err
    assert len(done.err) < 1_000


def test_a_cluster_that_does_not_answer_exits_with_4(things_folder: Path) -> None:
    del things_folder
    done = run("scan", "things.toml", "--on", "hbase://localhost:1/hbase")
    assert (4, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert done.err.startswith("rowkey: hbase://localhost:1/hbase: ")
    assert "localhost:1: the server does not accept connections" in done.err


def test_an_unknown_table_is_reported_with_the_existing_tables(things_folder: Path) -> None:
    """An unknown table is reported in one line with the existing tables."""
    del things_folder
    done = run("scan", "thing", *PLACE_OPTION)
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert "there is no table thing; expected one of things.\n" in done.err


@pytest.mark.parametrize("name", ["..", "a\0b", "\ud800", "x" * 10**6, "", "a\nb"])
def test_a_text_that_cannot_be_a_table_name_is_reported_in_one_line(
    things_folder: Path, name: str
) -> None:
    """A text that cannot be a table's name is reported in one short line with what it may be."""
    del things_folder
    done = run("scan", name, *PLACE_OPTION)
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert done.err.startswith("rowkey: the table name ")
    assert "; expected " in done.err
    assert len(done.err) < 1_000


def test_an_engine_that_fails_during_a_command_exits_with_4(things_folder: Path) -> None:
    """An engine that fails during a read or write exits with 4."""
    del things_folder
    full = Unavailable("data/things", "the disk is full", remedy="Free space.")
    with patch("rowkey.engines.rocksdb.RocksStore.mutate", side_effect=full):
        done = run("put", "things.toml", *PLACE_OPTION, "host=a", "ts=1")
    assert (4, "") == (done.code, done.out)
    assert "rowkey: data/things: the disk is full. Free space.\n" == done.err


def test_a_broken_plugin_package_exits_with_4_in_every_command(things_folder: Path) -> None:
    del things_folder
    broken = Unavailable("entry point rowkey.kinds, x = y", "it cannot be loaded")
    with patch("rowkey.design.Design.read", side_effect=broken):
        codes = [run("scan", "things.toml", *PLACE_OPTION).code, run("encode", "things.toml").code]
    assert [4, 4] == codes


READING = [words for words in COMMANDS if words[0] != "create"]


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: str(arguments[0]))
def test_a_missing_directory_is_reported_and_not_created(
    things_folder: Path, arguments: list[str]
) -> None:
    done = run(*arguments, "--on", "rocks:other/data")
    line = "rowkey: rocks:other/data: no table is stored at this URL. Check the URL, or create a "
    remedy = "table: rowkey create DESIGN --on rocks:other/data."
    assert (2, "", f"{line}{remedy}\n") == (done.code, done.out, done.err)
    assert not (things_folder / "other").exists()


# Designs


def test_a_drifted_design_prints_each_difference_and_writes_nothing(things_folder: Path) -> None:
    """A drifted design prints each declared and stored value, and writes nothing."""
    drifted = EVERYTHING.replace("bucket(host, 4)", "bucket(ts, 4)").replace(
        'day    = { type = "date"', 'day    = { type = "text"'
    )
    (things_folder / "things.toml").write_text(drifted)
    done = run("put", "things.toml", *PLACE_OPTION, "host=a", "ts=1")
    first, *more = done.err.splitlines()
    assert (2, "") == (done.code, done.out)
    assert "rowkey: table things: the design does not fit the table. It differs in:" == first
    assert ["rowkey:   key", "rowkey:   fields.day"] == [
        line[: len("rowkey:   key" if n == 0 else "rowkey:   fields.day")]
        for n, line in enumerate(more[:2])
    ]
    assert "5\n" == run("count", "things", *PLACE_OPTION).out


# Terminals


def _run_on_terminal(command: list[str], folder: Path, typed: str = "") -> tuple[int, str]:
    """Return exit code and output of a process whose streams are a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    shown = b""
    with subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as one:
        os.close(theirs)
        os.write(ours, typed.encode())
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # it has closed its side
                break
            shown += piece
        os.close(ours)
    return one.returncode, shown.decode()


DAY = 1_609_459_200_000
"""The start of 2021 in milliseconds, which cannot be mistaken for seconds."""


def _write_lines(folder: Path, count: int) -> None:
    rows = [json.dumps({"host": f"web-{n % 5}", "ts": DAY + n}) for n in range(count)]
    (folder / "rows.jsonl").write_text("\n".join(rows))


def test_progress_on_a_terminal_is_cleared_at_the_end(things_folder: Path) -> None:
    """Progress overwrites one line and is cleared at the end, plain with NO_COLOR."""
    _write_lines(things_folder, 40_000)
    code, shown = _run_on_terminal(
        [find_command(), "load", "things.toml", "rows.jsonl", *PLACE_OPTION], things_folder
    )
    assert 0 == code
    *before, last = shown.replace("\r\n", "\n").rstrip("\n").split("\r")
    assert "40,000 rows written" == last
    shown_line = re.compile(r"loading +\d+%  [\d,]+ of [\d,]+ rows  [\d,]+/s  \d+ s left *")
    assert any(map(shown_line.fullmatch, before))
    assert "" == before[-1].strip()
    assert "\x1b" not in shown


def test_progress_as_json_is_a_line_per_second(things_folder: Path) -> None:
    """Progress as JSON is a line per second and a last one with all rows, on request only."""
    _write_lines(things_folder, 10_000)
    done = run("load", "things.toml", "rows.jsonl", *PLACE_OPTION, "--progress", "json")
    *told, last = done.err.splitlines()
    assert "10,000 rows written" == last
    lines = [json.loads(line) for line in told]
    words = ("what", "done", "total", "seconds_left")
    assert ("loading", 10_000, 10_000, 0) == tuple(lines[-1][name] for name in words)
    assert {*words, "rate"} == set(lines[0])
    quiet = run(
        "load", "things.toml", "rows.jsonl", *PLACE_OPTION, "--restart", "--progress", "none"
    )
    assert "10,000 rows written\n" == quiet.err


@pytest.mark.parametrize(("typed", "code"), [("things\n", 0), ("thing\n", 2), ("\x04", 130)])
def test_a_drop_on_a_terminal_needs_the_right_name_typed(
    things_folder: Path, typed: str, code: int
) -> None:
    """A drop needs the right name typed; another name or the end of input keeps the table."""
    left, shown = _run_on_terminal(
        [find_command(), "drop", "things.toml", *PLACE_OPTION], things_folder, typed
    )
    assert code == left
    assert "This removes the table things on rocks:data and all its rows." in shown
    assert (code != 0) == (run("count", "things", *PLACE_OPTION).code == 0)


def test_arrow_output_to_a_terminal_is_refused(things_folder: Path) -> None:
    """Arrow output to a terminal is refused with a remedy."""
    code, shown = _run_on_terminal(
        [find_command(), "dump", "things.toml", *PLACE_OPTION, "-f", "arrow"], things_folder
    )
    assert 2 == code
    assert (
        "-f arrow: standard output is a terminal, which cannot show binary data. Give -o FILE."
        in shown
    )
