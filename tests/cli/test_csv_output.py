"""CSV of hostile rows: exact for `load`, harmless on a terminal and in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from cli.test_terminal import HOSTILE, find_unsafe_characters
from command_server import CODE, MAIN, find_command
from rowkey.render.csv_encoder import FORMULA_STARTS, CsvEncoder

DESIGN = """\
table = "notes"
key   = "[id]"

[fields]
id      = "u32"
"=name" = { type = "text", nullable = true }
delta   = { type = "i64", nullable = true }
price   = { type = "decimal", precision = 9, scale = 2, nullable = true }
ratio   = { type = "float64", nullable = true }
kind    = { type = "choice", of = ["plain", "@work"], nullable = true }
"a\\u2028b" = { type = "text", nullable = true }
"""
FORMULAS = ("=1+1", "+49 151", "-5", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1")
ROWS: list[dict[str, Any]] = [
    *({"id": n, "=name": text} for n, text in enumerate(FORMULAS)),
    *({"id": 100 + n, "=name": text} for n, text in enumerate(HOSTILE)),
    {"id": 200, "delta": -5, "price": "-5.00", "ratio": "-Infinity", "kind": "plain"},
    {"id": 201, "=name": "a=1", "kind": "@work"},
    {"id": 202, "=name": "größe '=1"},
]
N_FORMULAS = len(FORMULAS) + 2  # and a name, and a choice
SCAN = ("scan", "notes.toml", "--on", "rocks:data", "-f", "csv")
DUMP = ("dump", "notes.toml", "--on", "rocks:data", "-f", "csv")


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a table of hostile rows on `rocks:data`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.toml").write_text(DESIGN, "utf-8")
    assert 0 == run("create", "notes.toml", "--on", "rocks:data").code
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    assert 0 == run("put", "notes.toml", "--on", "rocks:data", stdin=lines).code
    return tmp_path


def run_on_terminal(*words: str) -> tuple[str, str]:
    """Return what a process prints on a terminal, and its standard error."""
    master, slave = os.openpty()
    command = [find_command(), *words]
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.PIPE) as process:
        os.close(slave)
        printed = b""
        try:
            while piece := os.read(master, 1 << 16):
                printed += piece
        except OSError:  # Linux says so that the last writer is gone
            pass
        os.close(master)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert 0 == process.returncode
    return printed.decode().replace("\r\n", "\n"), said


def parse(text: str) -> list[dict[str, str]]:
    """Return the rows of CSV text."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    "arguments", [SCAN, DUMP, (*DUMP, "--spreadsheet"), (*DUMP, "-o", "/dev/stdout")]
)
def test_csv_on_a_terminal_has_control_characters_escaped(arguments: tuple[str, ...]) -> None:
    """On a terminal CSV has control characters of values and names escaped."""
    printed, said = run_on_terminal(*arguments)
    assert ([], []) == (find_unsafe_characters(printed), find_unsafe_characters(said))
    names = [row[next(key for key in row if "name" in key)] for row in parse(printed)]
    assert {"web\\x1b[2J1", "a\\nb\\tc", "größe '=1"} <= set(names)


@pytest.mark.parametrize(("arguments", "encoding"), [(SCAN, "ascii"), (DUMP, "latin-1")])
def test_csv_in_a_pipe_has_every_character_as_stored(
    arguments: tuple[str, ...], encoding: str
) -> None:
    """CSV in a pipe is UTF-8 with every character as stored, and `load` reads it."""
    start = f"import sys; sys.stdout.reconfigure(encoding={encoding!r}); {MAIN}"
    env = {**os.environ, CODE: start}
    command = [find_command(), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, env=env)
    found = {row["id"]: row["=name"] for row in parse(done.stdout.decode())}
    assert {str(row["id"]): row.get("=name", "") for row in ROWS} == found
    Path("rows.csv").write_bytes(done.stdout)
    assert 0 == run("create", "notes.toml", "--on", "rocks:again").code
    assert 0 == run("load", "notes.toml", "rows.csv", "--on", "rocks:again").code
    rows = [run("dump", "notes.toml", "--on", f"rocks:{place}").out for place in ("data", "again")]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("arguments", [SCAN, DUMP, (*DUMP, "-o", "notes.csv")])
def test_cells_that_look_like_formulas_are_counted_once(arguments: tuple[str, ...]) -> None:
    """Texts and names that look like formulas are counted, negative numbers are not."""
    begin = f"{N_FORMULAS} text cells begin with =, +, -, @, a tab or a line end"
    fix = "a spreadsheet may run as a formula; write CSV for a spreadsheet with --spreadsheet"
    found = run(*arguments)
    assert [f"{begin}, which {fix}"] == [one for one in found.err.splitlines() if "cells" in one]


def test_the_spreadsheet_option_prefixes_formulas_with_an_apostrophe() -> None:
    """With --spreadsheet a formula gets a leading ', with a warning not to load the file."""
    found = run(*DUMP, "--spreadsheet")
    assert 0 == found.code
    said = (
        f"a ' is put before {N_FORMULAS} text cells that look like formulas; "
        "do not load the file again"
    )
    assert f"{said}\n" == found.err
    rows = parse(found.out)
    assert [f"'{text}" for text in FORMULAS] == [row["'=name"] for row in rows[: len(FORMULAS)]]
    numbers = rows[-3]
    assert ("-5", "-5.00", "-Infinity") == (numbers["delta"], numbers["price"], numbers["ratio"])
    assert ("a=1", "'@work") == (rows[-2]["'=name"], rows[-2]["kind"])


def test_the_spreadsheet_option_changes_nothing_without_formulas() -> None:
    """Rows without formulas give the same CSV with --spreadsheet, without a message."""
    (design := Path("plain.toml")).write_text(DESIGN.replace('"=name"', "name"), "utf-8")
    on = ("--on", "rocks:plain")
    assert 0 == run("create", design, *on).code
    assert 0 == run("put", design, *on, "id=1", "name=a-b", "delta=-7").code
    plain = run("dump", design, *on, "-f", "csv")
    assert plain == run("dump", design, *on, "-f", "csv", "--spreadsheet")
    assert "" == plain.err


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow"])
def test_the_spreadsheet_option_is_refused_for_other_formats_than_csv(form: str) -> None:
    """--spreadsheet with another format is wrong usage, and nothing is written."""
    for words in (["-f", form], ["-o", f"notes.{form}"]):
        found = run(*DUMP[:-2], *words, "--spreadsheet")
        assert (2, "") == (found.code, found.out)
        assert f"--spreadsheet works with CSV only, not with {form}. Give -f csv." in found.err
    assert not Path(f"notes.{form}").exists()


@pytest.mark.parametrize("form", ["table", "json", "jsonl"])
def test_other_formats_on_a_terminal_have_no_control_characters(form: str) -> None:
    """Other formats have no control characters in values and names either."""
    found = run(*SCAN[:-1], form)
    assert ([], "") == (find_unsafe_characters(found.out), found.err)
    assert r"a\u2028b" in found.out


CELLS = st.text(st.sampled_from([*FORMULA_STARTS, *",\"';x ", "\x1b", "\u202e", "é"]), max_size=4)


@given(st.lists(st.tuples(st.none() | CELLS, st.integers(-9, 9)), max_size=5), st.booleans())
def test_csv_reads_back_as_written_except_for_guarded_formulas(
    cells: list[tuple[str | None, int]], guards: bool
) -> None:
    """CSV reads back as written, with a leading ' in exactly the counted cells."""
    encoder = CsvEncoder(["t", "n"], ["t"], guards_formulas=guards, escapes_controls=False)
    rows = [{"t": text, "n": number} for text, number in cells]
    found = parse("".join(encoder.encode_lines(rows)))
    risky = [text is not None and text[:1] in FORMULA_STARTS for text, _ in cells]
    marks = ["'" if risk and guards else "" for risk in risky]
    assert [f"{mark}{text or ''}" for mark, (text, _) in zip(marks, cells, strict=True)] == [
        row["t"] for row in found
    ]
    assert [str(number) for _, number in cells] == [row["n"] for row in found]
    assert sum(risky) == encoder.n_formulas
