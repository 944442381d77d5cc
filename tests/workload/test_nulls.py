"""With texts that stand for null, judging and loading use the same rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rowkey
from rowkey.errors import InvalidDesign, SampleError
from rowkey.simulate import run
from rowkey.table import load_file

LINES = ["host n speed", "a 1 7", "b 2 NA", "c 3 -", "d 4 9", "NA 5 1"]
FORMATS = [("csv", ","), ("columns", " ")]


def build_design(words: dict[str, Any]) -> rowkey.Design:
    """Build a design of hosts with a nullable speed."""
    fields = {"host": "text", "n": "u8", "speed": {"type": "u16", "nullable": True}}
    read = {"path": "s.txt", "format": words}
    return rowkey.Design("t", "[bucket(host, 4)][speed][host][n]", fields=fields, sample=read,
                         splits="per_bucket", cluster={"servers": 2})  # fmt: skip


@pytest.mark.parametrize(("kind", "between"), FORMATS)
@pytest.mark.parametrize(
    ("nulls", "hosts"),
    [
        ([], ["a", "d", "NA"]),
        (["NA"], ["a", "b", "d"]),
        (["NA", "-"], ["a", "b", "c", "d"]),
    ],
)
def test_load_and_simulate_skip_the_same_rows_of_invalid_values(
    kind: str, between: str, nulls: list[str], hosts: list[str], tmp_path: Path
) -> None:
    """Declared texts are null, and other invalid values skip their row, in both."""
    sample = tmp_path / "s.txt"
    sample.write_text("\n".join(line.replace(" ", between) for line in LINES) + "\n")
    words = {"kind": kind, "nulls": nulls}
    declared = build_design(words)
    predicted = run(declared, sample)
    with rowkey.open(declared, "memory:") as table:
        loaded = load_file(table, sample, format_options=words)
        assert sorted(hosts) == sorted(row["host"] for row in table.scan())
        assert len(hosts) == loaded.row_count == predicted.operation_count
        assert 5 - len(hosts) == loaded.left_out.count
        assert [r.writes for r in predicted.regions] == [r.writes for r in table.regions()]


def test_a_quoted_csv_text_is_never_null(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text('host,n,speed\n"NA",1,NA\n')
    with rowkey.open(build_design({"kind": "csv"}), "memory:") as table:
        load_file(table, tmp_path / "s.csv", format_options={"kind": "csv", "nulls": ["NA"]})
        assert [{"host": "NA", "n": 1, "speed": None}] == list(table.scan())


@pytest.mark.parametrize("nulls", ["NA", [1], [""], [None], {"NA": 1}])
@pytest.mark.parametrize("kind", ["csv", "columns"])
def test_an_invalid_list_of_null_texts_is_refused(kind: str, nulls: Any) -> None:
    """An invalid list of texts is refused with the option's name and the allowed values."""
    with pytest.raises(InvalidDesign, match=r"nulls.*expected a list of texts"):
        build_design({"kind": kind, "nulls": nulls})


def test_a_file_with_many_null_texts_gets_the_option_that_reads_it(tmp_path: Path) -> None:
    """Where such texts skip most rows, the error names the option."""
    (tmp_path / "s.csv").write_text("host,n,speed\na,1,NA\nb,2,NA\nc,3,NA\nd,4,1\n")
    with pytest.raises(SampleError, match=r'nulls = \["NA"\]'):
        run(build_design({"kind": "csv"}), tmp_path / "s.csv")


def test_an_event_with_a_null_time_is_skipped_by_a_simulation(tmp_path: Path) -> None:
    """A null time is stored by a load, and skipped with a remark by a simulation."""
    path = tmp_path / "s.csv"
    path.write_text("ts,host\n,a\n2021-01-01T00:00:00Z,b\n2021-01-01T00:00:01Z,c\n")
    fields = {"ts": {"type": "timestamp_s", "nullable": True}, "host": "text"}
    timed = rowkey.Design("t", "[host]", fields=fields, writes={"time": "ts"},
                          splits=["6d"], cluster={"servers": 2})  # fmt: skip
    found = run(timed, path)
    assert 2 == found.operation_count
    assert 1 == found.source.skipped_rows.count
