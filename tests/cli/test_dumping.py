"""Dumps to files: the name decides the format, and a file is complete or absent."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import rowkey
from cli.command import build_signal_during_dump, run, run_in_process
from command_server import find_command
from example_counts import cover_each
from rowkey.table import Scan

PLACE_OPTION = ("--on", "rocks:data")
DUMP = ("dump", "things.toml", *PLACE_OPTION)


def run_piped(*more: str) -> bytes:
    """Return what a command prints into a pipe."""
    done = subprocess.run([find_command(), *more], capture_output=True, check=True)
    assert b"" == done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_dump_into_a_file_equals_the_dump_on_standard_output(
    things_folder: Path, form: str
) -> None:
    """A text dump is the same in a file and on standard output."""
    del things_folder
    expected = run_piped(*DUMP, "-f", form)
    for name, more in ((f"a.{form}", []), ("a.txt", ["-f", form]), (f"A.{form.upper()}", [])):
        done = run(*DUMP, "-o", name, *more)
        assert (0, "", f"5 rows written to {name}\n") == (done.code, done.out, done.err)
        assert expected == Path(name).read_bytes()
    assert expected == run_piped(*DUMP, "-f", form, "-o", "-")


def test_dumped_columns_have_the_types_of_their_fields(things_folder: Path) -> None:
    """Parquet and both Arrow formats have a column of the right type for each field."""
    del things_folder
    for name in ("a.parquet", "a.arrow", "a.arrows"):
        assert 0 == run(*DUMP, "-o", name).code
    tables = [
        parquet.read_table("a.parquet"),
        feather.read_table("a.arrow"),
        pa.ipc.open_stream(Path("a.arrows").read_bytes()).read_all(),
        pa.ipc.open_stream(run_piped(*DUMP, "-f", "arrow")).read_all(),
        parquet.read_table(io.BytesIO(run_piped(*DUMP, "-f", "parquet"))),
    ]
    for table in tables:
        assert tables[2].schema == table.schema.remove_metadata()
        assert tables[2].to_pylist() == table.to_pylist()
    assert pa.decimal128(10, 2) == tables[0].schema.field("price").type


def test_a_scan_into_a_file_obeys_order_limit_and_conditions(things_folder: Path) -> None:
    """A scan into a file obeys order, limit and conditions, and .json has a row per line."""
    del things_folder
    more = ("--where", "host=web-1", "--order", "ts", "--limit", "2")
    for name in ("a.json", "a.parquet"):
        done = run("scan", "things.toml", *PLACE_OPTION, *more, "-o", name)
        assert (0, "", f"2 rows written to {name}\n") == (done.code, done.out, done.err)
    assert [1000, 2000] == [
        json.loads(row)["ts"] for row in Path("a.json").read_text().splitlines()
    ]
    assert [-7, 2**63 - 1] == parquet.read_table("a.parquet").column("hits").to_pylist()


def test_the_dump_of_an_empty_table_has_its_columns(things_folder: Path) -> None:
    del things_folder
    assert 0 == run("create", "things.toml", "--on", "rocks:empty").code
    for name in ("a.parquet", "a.arrow", "a.csv", "a.jsonl"):
        assert 0 == run("dump", "things", "--on", "rocks:empty", "-o", name).code
    assert (0, 11) == parquet.read_table("a.parquet").shape
    assert (0, 11) == feather.read_table("a.arrow").shape
    assert (1, 0) == tuple(len(Path(f"a.{e}").read_text().splitlines()) for e in ("csv", "jsonl"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-o", "rows.dat"],
            "rows.dat: the name does not say the format; expected one of .csv .jsonl",
        ),
        (["-o", "rows"], "Or give -f with one of jsonl, csv, arrow, parquet."),
        (
            ["-o", "no/rows.csv"],
            "no/rows.csv: the output cannot be written: No such file or directory.",
        ),
        (["-o", "data", "-f", "csv"], "data: the output cannot be written: Is a directory."),
        (["-o", "a\0b.csv"], "a\\x00b.csv: the output cannot be written: "),
        (
            ["-o", "rows.parquet.gz"],
            "rows.parquet.gz: Parquet is compressed already. Remove .gz from the name.",
        ),
        (["-f", "table"], "'table' is not one of 'jsonl', 'csv', 'arrow', 'parquet'."),
    ],
)
def test_an_impossible_output_file_is_wrong_usage_and_leaves_nothing(
    things_folder: Path, arguments: list[str], message: str
) -> None:
    """An impossible output file is wrong usage in one line, and nothing is left."""
    before = sorted(path.name for path in things_folder.iterdir())
    done = run(*DUMP, *arguments)
    assert (2, "", 2) == (done.code, done.out, done.err.count("\n"))
    assert message in done.err
    assert before == sorted(path.name for path in things_folder.iterdir())


@pytest.mark.parametrize("form", ["jsonl", "csv.gz", "arrow", "parquet"])
@pytest.mark.parametrize("stood", [True, False], ids=["over", "new"])
def test_a_failed_dump_leaves_no_partial_file(things_folder: Path, form: str, stood: bool) -> None:
    """A failed dump leaves the earlier file or none, and no partial file."""
    path = things_folder / f"a.{form}"
    if stood:
        path.write_text("before")
        path.chmod(0o640)
    before = sorted(one.name for one in things_folder.iterdir())
    original = Scan.batches

    def broken(self: Scan, *words: int) -> object:
        yield from original(self, *words)
        raise KeyboardInterrupt

    with patch.object(Scan, "batches", broken):
        assert 130 == run(*DUMP, "-o", path).code
    assert before == sorted(one.name for one in things_folder.iterdir())
    assert not stood or path.read_text() == "before"
    assert 0 == run(*DUMP, "-o", path).code
    assert not stood or path.stat().st_mode & 0o777 == 0o640


def test_a_killed_dump_leaves_at_most_a_file_named_as_partial(things_folder: Path) -> None:
    """A killed dump leaves at most a file whose name says that it is partial."""
    assert (
        -signal.SIGKILL
        == run_in_process(
            things_folder, build_signal_during_dump("SIGKILL"), *DUMP, "-o", "a.csv"
        ).code
    )
    assert not (things_folder / "a.csv").exists()
    assert [".part"] == [path.suffix for path in things_folder.glob(".a.csv.*")]
    assert "5 rows written to a.csv\n" == run(*DUMP, "-o", "a.csv").err


def test_a_dump_follows_a_link_and_writes_to_a_device_without_replacing_it(
    things_folder: Path,
) -> None:
    """A dump follows a link and writes to a device, and replaces neither."""
    (things_folder / "there.csv").write_text("")
    (things_folder / "link.csv").symlink_to("there.csv")
    assert 0 == run(*DUMP, "-o", "link.csv").code
    assert (things_folder / "link.csv").is_symlink()
    assert (things_folder / "there.csv").read_bytes() == run_piped(*DUMP, "-f", "csv")
    assert 0 == run(*DUMP, "-o", os.devnull, "-f", "parquet").code
    assert not Path(os.devnull).is_file()


def test_a_pipe_closed_during_a_dump_gives_no_message(things_folder: Path) -> None:
    """A pipe that is closed early gives no message, only an exit code."""
    lines = [json.dumps({"host": f"{n:05}" * 20, "ts": n}) for n in range(8_000)]
    (things_folder / "rows.jsonl").write_text("\n".join(lines))
    assert 0 == run("load", "things.toml", "rows.jsonl", *PLACE_OPTION).code
    for form in ("jsonl", "csv", "arrow", "parquet"):
        with subprocess.Popen(
            [find_command(), *DUMP, "-f", form], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as one:
            assert one.stdout is not None
            assert one.stderr is not None
            assert 10 == len(one.stdout.read(10))
            one.stdout.close()
            said = one.stderr.read()
        assert (128 + signal.SIGPIPE, b"") == (one.returncode, said), form


TIMES = """\
table = "times"
key   = "[n]"

[fields]
n = "u32"
v = "timestamp_{}"
"""


@pytest.mark.parametrize(
    ("number", "unit", "name"),
    cover_each(
        [0, 5, 40_000, 20_240_301, *(1_709_251_200 * 10**n for n in (0, 3, 6, 9))],
        ["s", "ms", "us", "ns"],
        ["a.jsonl", "a.csv", "a.parquet", "a.arrow"],
        rounds=3,
    ),
)
def test_a_dumped_time_is_loaded_as_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str, name: str, number: int
) -> None:
    """A dump is loaded back also where the digits of a time look like another unit or a date."""
    monkeypatch.chdir(tmp_path)
    Path("times.toml").write_text(TIMES.format(unit), encoding="utf-8")
    design = rowkey.Design.read("times.toml")
    text = design.fields["v"].type.format_value(number)
    if text == str(number):
        return  # a year after 9999 has no other form
    expected = [{"n": n, "v": number} for n in range(5)]
    with rowkey.open(design, "rocks:data") as table:
        for row in expected:
            table.put({**row, "v": text})
    rowkey.open(design, "rocks:copy").close()
    assert 0 == run("dump", "times", "--on", "rocks:data", "-o", name).code
    loaded = run("load", "times", name, "--on", "rocks:copy")
    assert 0 == loaded.code, loaded
    with rowkey.open(design, "rocks:copy") as table:
        assert expected == list(table.scan())
