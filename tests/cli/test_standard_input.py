"""Standard input is taken wherever a sample or a file of rows is."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from cli.command import run
from rowkey.cli import streams
from rowkey.design import Design

ROWS = "time,host,seq\n" + "".join(
    f"2024-01-31T12:00:{n % 60:02d}Z,web-{n % 90},{n}\n" for n in range(900)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty folder, and put temporary files into another one."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize("is_compressed", [False, True])
def test_init_drafts_a_design_from_standard_input(folder: Path, *, is_compressed: bool) -> None:
    """The draft names no file, and the copy of standard input is gone."""
    data = gzip.compress(ROWS.encode()) if is_compressed else ROWS.encode()
    found = run("init", "-", "--sample-format", "csv", "-o", "a.toml", stdin=data)
    assert 0 == found.code
    design = Design.read("a.toml")
    assert ("events", None) == (design.table, design.sample_path)
    assert '# path   = "FILE"\n# format = { kind = "csv" }\n' in Path("a.toml").read_text()
    assert [] == list((folder / "temporary").iterdir())


def test_check_simulate_and_load_read_standard_input() -> None:
    """`check`, `simulate` and `load` read the format that the design declares or the option."""
    run("init", "-", "--sample-format", "csv", "-o", "a.toml", stdin=ROWS)
    options = ("--sample-format", "csv")
    assert 0 == run("check", "a.toml", "--sample", "-", *options, stdin=ROWS).code
    assert 0 == run("simulate", "a.toml", "--sample", "-", *options, stdin=ROWS).code
    assert 0 == run("create", "a.toml", "--on", "rocks:data").code
    found = run("load", "a.toml", "-", "--on", "rocks:data", *options, stdin=ROWS)
    assert (0, "900 rows written\n") == (found.code, found.err)


def test_csv_on_standard_input_needs_a_format_and_parquet_does_not() -> None:
    """CSV must be named by --sample-format; Parquet is recognized."""
    found = run("init", "-", stdin=ROWS)
    assert 2 == found.code
    assert "give --sample-format csv" in found.err
    stream = io.BytesIO()
    parquet.write_table(pa.table({"host": ["a", "b"], "n": [1, 2]}), stream)
    assert 0 == run("init", "-", stdin=stream.getvalue()).code


def test_standard_input_above_the_size_limit_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More bytes than the limit are refused, and their copy is removed."""
    monkeypatch.setattr(streams, "MAX_STANDARD_INPUT_BYTES", 1_000)
    found = run("init", "-", "--sample-format", "csv", stdin=ROWS)
    assert 2 == found.code
    assert "standard input has more than 1,000 bytes. Save it to a file" in found.err
    assert [] == list((folder / "temporary").iterdir())


def test_no_message_shows_the_temporary_copy_of_standard_input(folder: Path) -> None:
    """No refusal, note, verdict or report has the path of the copy."""
    run("init", "-", "--sample-format", "csv", "-o", "a.toml", stdin=ROWS)
    assert "made from standard input: 900 rows" in Path("a.toml").read_text()
    options = ("--sample", "-", "--sample-format", "csv")
    simulated = run("simulate", "a.toml", *options, stdin=ROWS)
    assert "900 events: standard input\n" in simulated.out
    refused = run("simulate", "a.toml", *options, stdin=ROWS + '"open')
    assert "rowkey: standard input:902: a quote is not closed" in refused.err
    run("report", "a.toml", *options, "-o", "a.html", stdin=ROWS)
    advised = run("advise", "a.toml", *options, "--write", "b.toml", stdin=ROWS)
    outputs = (simulated, refused, advised, Path("a.html").read_text(), Path("a.toml").read_text())
    assert not any(str(folder / "temporary") in str(output) for output in outputs)
