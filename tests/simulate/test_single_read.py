"""Each command reads the rows of its sample file once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from cli.command import run
from rowkey.workload import FORMATS

DESIGN = """
table  = "logs"
key    = "[bucket(host, 4)][host][ts]"
splits = "per_bucket"

[fields]
host = {{ type = "text", max_bytes = 8 }}
ts   = "timestamp_s"
user = {{ type = "text", max_bytes = 8, pack = "p" }}
size = {{ type = "u32", pack = "p" }}

[writes]
rate = "500/s"
{more}
"""


@pytest.fixture
def designs(tmp_path: Path) -> list[str]:
    """Three designs of one sample; the second reads it for splits and for the replay."""
    rows = "".join(f"h{n % 31},{n},u{n % 7},{n * 3}\n" for n in range(600))
    (tmp_path / "events.csv").write_text("host,ts,user,size\n" + rows)
    text = DESIGN.format(more="")
    counted = text.replace('"per_bucket"', '{ algorithm = "hex_string", regions = 4 }')
    sampled = text.replace('"per_bucket"', '{ algorithm = "sample", regions = 4 }')
    paths = [tmp_path / f"{name}.toml" for name in "abc"]
    for path, one in zip(paths, (text, sampled, counted), strict=True):
        path.write_text(one)
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("command", "design_count"),
    [("check", 1), ("simulate", 1), ("compare", 3), ("report", 1), ("report", 3), ("init", 0)],
)
def test_every_command_reads_its_sample_once(
    designs: list[str],
    command: str,
    design_count: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """One pass over the file serves every design, rule and measure of a command."""
    passes = []
    read_batches = FORMATS["csv"].read_batches

    def count_pass(*arguments: Any) -> Iterator[Any]:
        yield from read_batches(*arguments)
        passes.append(arguments)

    monkeypatch.setattr(FORMATS["csv"], "read_batches", count_pass)
    output = ["-o", str(tmp_path / "page.html")] if command == "report" else []
    path = str(tmp_path / "events.csv")
    sample = [path] if command == "init" else ["--sample", path]
    outcome = run(command, *designs[:design_count], *sample, *output)
    assert outcome.code in (0, 1), outcome.err
    assert 1 == len(passes)


def test_a_sorted_sample_with_few_columns_is_read_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A sample that is sorted by time is read once, from Parquet too."""
    passes = []
    read_batches = FORMATS["parquet"].read_batches

    def count_pass(*arguments: Any) -> Iterator[Any]:
        yield from read_batches(*arguments)
        passes.append(arguments)

    monkeypatch.setattr(FORMATS["parquet"], "read_batches", count_pass)
    columns = {"host": [f"h{n % 31}" for n in range(600)], "ts": range(600, 0, -1)}
    parquet.write_table(pa.table(columns), tmp_path / "events.parquet")
    (tmp_path / "sorted.toml").write_text(DESIGN.format(more="sort = true"))
    outcome = run("simulate", tmp_path / "sorted.toml", "--sample", tmp_path / "events.parquet")
    assert outcome.code in (0, 1), outcome.err
    assert 1 == len(passes)
