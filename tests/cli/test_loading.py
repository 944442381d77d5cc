"""Files into tables and out again: every format, interrupted loads, progress, broken places."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from cli.command import LOGS, run

ROWKEY = [sys.executable, "-m", "rowkey"]
ON = ("--on", "rocks:data")
COUNT = 3_000
MANY = 400_000
"""Rows of a load that is interrupted: far more than are written before progress is first told."""


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, made the current one, with an empty table and its rows as a CSV file."""
    monkeypatch.chdir(tmp_path)
    Path("logs.toml").write_text(LOGS)
    assert 0 == run("create", "logs.toml", *ON).code
    lines = [f"web-{n % 7},{1_609_459_200_000 + n}\n" for n in range(COUNT)]
    Path("rows.csv").write_text("host,ts\n" + "".join(lines))
    return tmp_path


def dumped(table: str = "logs.toml", on: str = "rocks:data") -> str:
    """All rows of a table as JSON lines."""
    found = run("dump", table, "--on", on)
    assert (0, "") == (found.code, found.err)
    return found.out


def counted() -> int:
    """How many rows the table holds."""
    return int(run("count", "logs.toml", *ON).out)


def written(name: str) -> None:
    """The rows of the CSV file, written in the format that a name tells."""
    table = csv.read_csv("rows.csv")
    if name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(Path("rows.csv").read_bytes()))
    elif name.endswith(".jsonl"):
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    elif name.endswith(".parquet"):
        parquet.write_table(table, name)
    elif name.endswith(".feather"):
        feather.write_feather(table, name)
    elif name != "rows.csv":
        with pa.OSFile(name, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)


# Formats


NAMES = ["rows.csv", "more.csv.gz", "rows.jsonl", "rows.parquet", "rows.feather", "rows.arrows"]


@pytest.mark.parametrize("shuffle", [[], ["--shuffle"]], ids=["", "shuffled"])
@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_rows(logs: Path, name: str, shuffle: list[str]) -> None:
    """Shuffled or not, all rows of the file are there, once each."""
    del logs
    written(name)
    done = run("load", "logs.toml", name, *ON, *shuffle)
    assert (0, "", f"{COUNT:,} rows written\n") == (done.code, done.out, done.err)
    rows = [json.loads(line) for line in dumped().splitlines()]
    assert csv.read_csv("rows.csv").to_pylist() == sorted(rows, key=lambda row: row["ts"])


def test_shuffled_rows_go_to_every_region_from_the_start(logs: Path) -> None:
    """What each region counts is the same either way: a load writes each row once."""
    del logs
    written("rows.parquet")
    found = []
    for shuffle in ([], ["--shuffle"]):
        assert 0 == run("load", "logs.toml", "rows.parquet", *ON, *shuffle).code
        document = json.loads(run("count", "logs.toml", *ON, "--regions", "-f", "json").out)
        found.append([one["writes"] for one in document["regions"]])
    assert [2 * n for n in found[0]] == found[1]
    assert COUNT == sum(found[0])


@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow"])
def test_what_is_dumped_can_be_loaded(things: Path, form: str) -> None:
    """A dump of every type, loaded into another table, is the same table; CSV but for nulls."""
    name = {"arrow": "all.arrows"}.get(form, f"all.{form}")
    with Path(name).open("wb") as file:
        command = [*ROWKEY, "dump", "things.toml", *ON, "-f", form]
        assert 0 == subprocess.run(command, cwd=things, stdout=file, check=False).returncode
    on = ("--on", "rocks:copy")
    assert 0 == run("create", "things.toml", *on).code
    assert 0 == run("load", "things.toml", name, *on).code
    before, after = dumped("things.toml"), dumped("things.toml", "rocks:copy")
    if form == "csv":  # which has no null: the fields that may be empty texts are such
        empty = re.compile('"(text|raw|my =)": null')
        before = empty.sub(r'"\1": ""', before)
    assert before == after


def test_a_dump_is_loaded_whatever_its_columns_were_called(logs: Path) -> None:
    """A field that is read `from` another column is found under its own name too."""
    del logs
    Path("logs.toml").write_text(LOGS.replace('"text"', '{ type = "text", from = "h" }'))
    Path("rows.csv").write_text("h,ts\nweb-1,5\nweb-2,6\n")
    for name in ("rows.csv", "dump.csv", "dump.jsonl"):
        assert 0 == run("load", "logs.toml", name, *ON).code
        for form in ("csv", "jsonl"):
            Path(f"dump.{form}").write_text(run("dump", "logs.toml", *ON, "-f", form).out)
        assert 2 == counted()
        assert 0 == run("drop", "logs", *ON, "--yes", "logs").code
        assert 0 == run("create", "logs.toml", *ON).code


def test_rows_left_out_are_told(logs: Path) -> None:
    """They are counted, the first is shown, the others are written, and the code is 1."""
    del logs
    Path("some.csv").write_text("host,ts\nweb-1,5\nweb-2,soon\nweb-3,6\n,7\nweb-4,\n")
    done = run("load", "logs.toml", "some.csv", *ON)
    first, second = done.err.splitlines()
    assert (1, "3 rows written") == (done.code, first)
    assert second.startswith("2 rows left out; row 2")
    assert 3 == counted()


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("none.csv", None, "none.csv: there is no such file"),
        ("rows.dump", "host,ts\na,1\n", "the name does not tell its format, .dump"),
        ("empty.csv", "", "is empty; expected a line of names"),
        ("other.csv", "a,b\n1,2\n", "has no column 'host'; expected a, b"),
        ("wrong.csv", "host,ts\na,x\nb,y\n", "2 of 2 rows are no events"),
        ("torn.parquet", "PAR1", "torn.parquet"),
        ("torn.csv.gz", "no", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told(
    logs: Path, name: str, text: str | None, what: str
) -> None:
    """In one line with what is wrong; the code is that of a wrong file."""
    del logs
    if text is not None:
        Path(name).write_text(text)
    done = run("load", "logs.toml", name, *ON)
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert what in done.err
    assert 0 == counted()


# Interrupted


def _interrupted(*more: str) -> None:
    """A load of many rows that gets Ctrl-C once it has told of progress."""
    command = [*ROWKEY, "load", "logs.toml", "many.parquet", *ON, "--progress", "json", *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as one:
        assert one.stderr is not None
        assert None is json.loads(one.stderr.readline())["total"]
        one.send_signal(signal.SIGINT)
        _, err = one.communicate(timeout=60)
    assert (130, "interrupted") == (one.returncode, err.splitlines()[-1])
    assert "Traceback" not in err


@pytest.mark.parametrize("more", [[], ["--restart"]], ids=["resumed", "restarted"])
def test_an_interrupted_load_goes_on(logs: Path, more: list[str]) -> None:
    """The same command writes the rest and says how many stood; with --restart it writes all."""
    del logs
    numbers = pa.array(range(MANY), pa.int64())
    table = pa.table({"host": pa.array(["web"] * MANY), "ts": numbers})
    parquet.write_table(table, "many.parquet", row_group_size=50_000)
    _interrupted()
    done = run("load", "logs.toml", "many.parquet", *ON, *more)
    *stood, wrote = [int(line.split()[0].replace(",", "")) for line in done.err.splitlines()]
    assert (0, MANY) == (done.code, wrote + sum(stood))
    assert (len(stood) == 1, wrote == MANY) == (not more, bool(more))
    assert MANY == counted()
    assert f"{MANY:,} rows written\n" == run("load", "logs.toml", "many.parquet", *ON).err
