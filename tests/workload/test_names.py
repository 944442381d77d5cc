"""All names of JSON objects become columns, also names that the first object lacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rowkey.advise import draft_design
from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import FORMATS, SkippedRows, open_sample
from rowkey.workload.formats import json_lines


def write_objects(folder: Path, objects: Sequence[Any]) -> Path:
    """Write objects to a file, one a line."""
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    return path


def read_columns(path: Path) -> dict[str, list[Any]]:
    """Return all columns of a file of JSON lines."""
    (batch,) = FORMATS["json_lines"]({}).read_batches(path, None, SkippedRows())
    return {name: batch.column(name).to_pylist() for name in batch.schema.names}


def test_json_columns_are_in_order_of_first_occurrence(tmp_path: Path) -> None:
    """Columns are in order of first occurrence, with null where an object lacks the name."""
    path = write_objects(tmp_path, [{"b": 1}, {}, {"b": 2, "a": "x"}, {"c": {"d": 3, "e": True}}])
    expected = {
        "b": ["1", None, "2", None],
        "a": [None, None, "x", None],
        "c.d": [None, None, None, "3"],
        "c.e": [None, None, None, "true"],
    }
    found = read_columns(path)
    assert list(expected) == list(found)
    assert expected == found


@pytest.mark.parametrize("lacking", [None, {}])
def test_an_object_that_is_sometimes_null_has_no_column_of_its_own(
    tmp_path: Path, lacking: Any
) -> None:
    """An object that is sometimes null has columns for its values only."""
    found = read_columns(write_objects(tmp_path, [{"c": lacking}, {"c": {"d": 1}}, {"c": lacking}]))
    assert {"c.d": [None, "1", None]} == found


def test_a_value_that_is_an_object_in_other_rows_keeps_its_own_column(tmp_path: Path) -> None:
    """A plain value has its own column next to those of an object of the same name."""
    found = read_columns(write_objects(tmp_path, [{"c": 5}, {"c": {"d": 1}}]))
    assert {"c": ["5", '{"d": 1}'], "c.d": [None, "1"]} == found


def test_a_name_that_first_occurs_late_is_a_nullable_field_of_a_draft(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": n, "at": 1_706_659_200 + n} for n in range(40)]
    rows[30]["late"] = "x"
    design = draft_design(write_objects(tmp_path, rows)).design
    assert ["id", "at", "late"] == list(design.fields)
    assert design.fields["late"].nullable


def test_json_with_too_many_different_names_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects with too many different names are refused at the line that exceeds the limit."""
    monkeypatch.setattr(json_lines, "MAX_NAMES", 5)
    path = write_objects(tmp_path, [{"a": 1, f"user {number}": 1} for number in range(9)])
    with pytest.raises(SampleError) as caught:
        draft_design(path)
    assert f"{path}:5: the objects have more than 5 different field names" in str(caught.value)


FIELDS = {
    "host": {"type": "text", "from": "h"},
    "ts": "timestamp_s",
    "note": {"type": "text", "nullable": True, "from": "n.text"},
}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the events of a file."""
    design = Design("t", "[host][ts]", fields=FIELDS)
    sample = open_sample(path, design.fields, design.writes.time).match_columns()
    return [
        {"host": row["host"], "note": row["note"]}
        for events in sample.read_events()
        for row in events.rows.to_pylist()
    ]


def test_the_column_of_a_field_is_found_although_another_object_has_its_name(
    tmp_path: Path,
) -> None:
    """A field's column is found, although the first object has the field's own name."""
    rows = [{"ts": 1, "host": "own", "h": "a"}, {"ts": 2, "h": "b", "n": {"text": "x"}}]
    for several in (rows, rows[::-1]):
        found = read_rows(write_objects(tmp_path, several))
        expected = [{"host": "a", "note": None}, {"host": "b", "note": "x"}]
        assert expected == sorted(found, key=lambda row: str(row["host"]))


def test_a_field_is_read_from_a_column_that_first_occurs_late(tmp_path: Path) -> None:
    """A field with `from` is read from its column, also if that first occurs in row two."""
    rows = [{"ts": 1, "h": "a", "note": "own"}, {"ts": 2, "h": "b", "n": {"text": "x"}}]
    expected = [{"host": "a", "note": None}, {"host": "b", "note": "x"}]
    assert expected == read_rows(write_objects(tmp_path, rows))


def test_the_error_of_a_missing_column_lists_all_names(tmp_path: Path) -> None:
    """The error of a missing column lists all names of the file."""
    rows = [{"ts": 1}, {"ts": 2, "hh": "b"}]
    with pytest.raises(SampleError) as caught:
        read_rows(write_objects(tmp_path, rows))
    assert "has no column 'h'; expected one of ts, hh." in str(caught.value)


CSV_FILES: dict[str, tuple[bytes, dict[str, Any], list[str]]] = {
    "rows.csv": (b"host,n\nweb-1,1\n", {}, ["host", "n"]),
    "no-rows.csv": (b"host,n\n", {}, ["host", "n"]),
    "mark.csv": (b"\xef\xbb\xbfhost,n\nweb-1,1\n", {}, ["host", "n"]),
    "twice.csv": (b"n,n\nweb-1,1\n", {}, ["n", "n"]),
    "spaces.csv": (b" host , n \nweb-1,1\n", {}, [" host ", " n "]),
    "line-end.csv": (b'"ho\nst";n\nweb-1;1\n', {}, ["ho\nst", "n"]),
    "tabs.tsv": (b"host,n\tm\n1\t2\n", {}, ["host,n", "m"]),
    "skipped.csv": (b"Report\n\nhost|n\nweb-1|1\n", {"skip_lines": 2}, ["host", "n"]),
    "named.csv": (b"web-1,1\n", {"names": ["host", "n"]}, ["host", "n"]),
    "named-empty.csv": (b"", {"names": ["host", "n"]}, ["host", "n"]),
    "wide.csv": ("host,n\nweb-1,1\n".encode("utf-16"), {"encoding": "utf-16"}, ["host", "n"]),
}
"""By name the bytes of a file, the options that it needs, and the names of its columns."""


@pytest.mark.parametrize("name", CSV_FILES)
def test_the_names_of_a_csv_file_are_those_of_its_batches(name: str, tmp_path: Path) -> None:
    """The names from the header line, or the declared ones, are those that rows are read with."""
    data, options, expected = CSV_FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    batch = next(iter(FORMATS["csv"](options).read_batches(path, None, SkippedRows())))
    assert expected == FORMATS["csv"](options).read_column_names(path) == batch.schema.names


def _count_read_bytes() -> int:
    """Return how many bytes this process has read from files."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs /proc/self/io of Linux")
def test_only_the_head_of_a_csv_file_is_read_for_its_names(tmp_path: Path) -> None:
    """The names of a CSV file of 16 MB are found in its first megabytes."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 4_000_000)
    before = _count_read_bytes()
    assert ["a", "b"] == FORMATS["csv"]({}).list_columns(path)
    assert _count_read_bytes() - before < 3 << 20
