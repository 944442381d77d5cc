"""`rowkey init` writes a design file from a sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import run
from rowkey.design import Design

ROWS = "".join(f"2024-01-31T12:00:{n % 60:02d}Z,web-{n % 90},{n}\n" for n in range(1_800))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a sample."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web logs.csv").write_text(f"time,host,seq\n{ROWS}")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_init_without_o_prints_the_draft_to_standard_output() -> None:
    """Without -o the draft alone goes to standard output."""
    found = run("init", "web logs.csv")
    assert (0, "") == (found.code, found.err)
    design = Design.loads(found.out)
    assert "web_logs" == design.table
    assert "[bucket(host, 16)][host][desc(time)][seq]" == design.declaration.key


def test_a_draft_written_with_o_works_in_other_commands(folder: Path) -> None:
    """With -o the draft is a file that names the sample and works in other commands."""
    (folder / "designs").mkdir()
    found = run(
        "init", "web logs.csv", "-o", "designs/logs.toml", "--table", "ops:logs",
        "--servers", "3",
    )  # fmt: skip
    said = "designs/logs.toml: the key is [bucket(host, 6)][host][desc(time)][seq]\n"
    assert (0, "") == (found.code, found.out)
    assert found.err.startswith(f"{said}GOOD: writes: even, ")
    design = Design.read(folder / "designs" / "logs.toml")
    assert ("ops:logs", 3) == (design.table, design.cluster.servers)
    assert 0 == run("check", "designs/logs.toml").code
    assert 0 == run("check", "designs/logs.toml", "--sample", "web logs.csv").code
    assert 0 == run("simulate", "designs/logs.toml").code
    assert 0 == run("explain", "designs/logs.toml").code


def test_init_does_not_overwrite_an_existing_file(folder: Path) -> None:
    (folder / "logs.toml").write_text("mine")
    found = run("init", "web logs.csv", "-o", "logs.toml")
    assert 2 == found.code
    assert "logs.toml already exists" in found.err
    assert "mine" == (folder / "logs.toml").read_text()


def test_init_reports_a_missing_empty_or_unknown_file(folder: Path) -> None:
    """A missing, empty or unknown file exits with 2 and a message."""
    (folder / "empty.csv").write_text("a,a\n")
    (folder / "rows.xyz").write_text("a\n1\n")
    for name, said in (
        ("none.csv", "there is no such file"),
        ("empty.csv", "several columns have the same name: 'a'; expected distinct names"),
        ("rows.xyz", "the format of a file with the suffix"),
    ):
        found = run("init", name)
        assert (2, "") == (found.code, found.out)
        assert said in found.err


@pytest.mark.usefixtures("folder")
def test_the_draft_declares_the_given_sample_format() -> None:
    """--sample-format sets how the file is read, and the draft declares it."""
    found = run("init", "web logs.csv", "--sample-format", "csv")
    assert 0 == found.code
    assert {"kind": "csv"} == Design.loads(found.out).sample_format


FORMAT_TABLE = """{ kind = "csv", names = ["a", "b", "c"] }"""


def test_the_sample_format_option_takes_the_inline_table_of_a_design_file(folder: Path) -> None:
    """--sample-format takes the inline table of the design file, and the draft declares it."""
    (folder / "web logs.csv").write_text(ROWS)
    found = run("init", "web logs.csv", "--sample-format", FORMAT_TABLE)
    assert (0, "") == (found.code, found.err)
    assert {"kind": "csv", "names": ["a", "b", "c"]} == Design.loads(found.out).sample_format


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{ kind = "csv", names = [ }', "is not an inline table of TOML"),
        ('{ names = ["a"] }', "names no kind"),
        ('{ kind = "csv", nmaes = ["a"] }', "Did you mean names?"),
        ('{ kind = "cvs" }', "is not a sample format"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_malformed_sample_format_is_refused_with_a_valid_example(text: str, problem: str) -> None:
    """A malformed --sample-format is an error of the command line that shows a valid one."""
    found = run("init", "web logs.csv", "--sample-format", text)
    assert (2, "") == (found.code, found.out)
    assert problem in found.err
