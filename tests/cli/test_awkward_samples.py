"""`init`, `simulate`, `check` and `load` read awkward files by what was detected."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from cli.command import run
from rowkey.design import Design

GERMAN = "Datum;Rechner;Betrag\n" + "".join(
    f"{n // 100 % 28 + 1:02d}.11.2025 {n % 24:02d}:{n % 60:02d}:01;"
    f"web-{n % 97};{n % 3 + 1}.100,50\n"
    for n in range(2_000)
)
ORDER = "when,host\n" + "".join(f"8/{n % 12 + 1}/18 9:{n % 60:02d},web-{n}\n" for n in range(300))
SYSLOG = "".join(
    f"Dec 31 23:{n % 60:02d}:{n // 60:02d} web-{n % 97} su[{n}]: x\n" for n in range(900)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_csv_with_decimal_commas_needs_no_options(folder: Path) -> None:
    """Semicolons, dates and commas are detected, told and declared; no option is needed."""
    (folder / "umsatz.csv").write_text(GERMAN)
    found = run("init", "umsatz.csv", "-o", "umsatz.toml")
    assert 0 == found.code
    layout, proof = "%d.%m.%Y %H:%M:%S", "13.11.2025 00:00:01 fits no other order"
    assert [
        "assumed: the values of umsatz.csv are separated by ;, as in its first lines",
        "assumed: the numbers of Betrag are written as 1.234,56, such as 1.100,50",
        f"assumed: the times of Datum are read as {layout} in UTC: {proof}",
    ] == found.err.splitlines()[:3]
    design = Design.read("umsatz.toml")
    kinds = {name: field.type.name for name, field in design.fields.items()}
    assert {"Datum": "timestamp_s", "Rechner": "text", "Betrag": "decimal"} == kinds
    assert {
        "kind": "csv",
        "delimiter": ";",
        "numbers": {"Betrag": "1.234,56"},
        "times": {"Datum": layout},
    } == design.sample_format
    assert 0 == run("simulate", "umsatz.toml").code
    checked = run("check", "umsatz.toml", "--sample", "umsatz.csv")
    assert (0, "") == (checked.code, checked.err)
    options = ("--sample-format", "csv")
    checked = run("check", "umsatz.toml", "--sample", "umsatz.csv", *options)
    assert "umsatz.toml: assumed: the numbers of Betrag are written as 1.234,56" in checked.err
    run("create", "umsatz.toml", "--on", "rocks:data")
    loaded = run("load", "umsatz.toml", "umsatz.csv", "--on", "rocks:data")
    assert (0, "2,000 rows written") == (loaded.code, loaded.err.splitlines()[0])
    rows = run("scan", "umsatz.toml", "--on", "rocks:data", "--limit", "1", "-f", "jsonl")
    assert "100.50" in rows.out


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("order.csv", ORDER, "the order of day and month is not certain"),
        ("messages.log", SYSLOG, "the times of a log of syslog have no year"),
    ],
)
def test_the_option_printed_for_an_ambiguous_file_makes_it_readable(
    folder: Path, name: str, text: str, problem: str
) -> None:
    """The printed option is given as it stands, and the draft then needs none."""
    (folder / name).write_text(text)
    found = run("init", name, "-o", "a.toml")
    assert 2 == found.code
    assert problem in found.err
    options = re.findall(r"--sample-format '\{.*?\}'(?=[.,]|$)", found.err)
    assert options
    for option in options:
        drafted = run("init", name, "-o", "a.toml", "--force", *shlex.split(option))
        assert 0 == drafted.code
        assert run("simulate", "a.toml").code in (0, 1)


def test_init_reports_columns_that_become_no_fields(folder: Path) -> None:
    """`init` prints one line on standard error with the columns that it leaves out."""
    nested = {"tags": [["a"]] * 9, "none": [None] * 9}
    parquet.write_table(pa.table({"n": [*range(9)], **nested}), folder / "a.parquet")
    found = run("init", "a.parquet", "-o", "a.toml")
    problem = "which no field type can store"
    columns = f"'none' holds no value; 'tags' has the type list<element: string>, {problem}"
    notes = [line for line in found.err.splitlines() if "left out" in line]
    assert [f"2 columns left out: {columns}"] == notes
    assert "left out" not in run("--quiet", "init", "a.parquet").err
