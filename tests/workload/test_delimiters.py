"""CSV files without a declared delimiter or without a header are read right, or refused."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import divide_examples
from rowkey.advise import draft_design
from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import open_sample

DELIMITERS = [",", ";", "\t", "|"]
NAMES = ["host", "value", "note"]
TEXTS = st.text("ab 1,;|\t\"'\n.é", max_size=8)


def encode_csv(rows: list[list[str]], delimiter: str, names: list[str] = NAMES) -> bytes:
    """Encode rows as CSV with a header line, quoted where Python's writer quotes."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows([names, *rows])
    return stream.getvalue().encode()


def read_rows(
    path: Path, format_options: dict[str, Any] | None = None, names: list[str] = NAMES
) -> tuple[list[dict[str, str]], list[str]]:
    """Read a sample of texts; return its rows and what was assumed."""
    design = Design("t", "[host]", fields=dict.fromkeys(names, "text"))
    sample = open_sample(path, design.fields, None, format_options)
    rows = [row for events in sample.read_events() for row in events.rows.to_pylist()]
    return rows, sample.assumptions


@pytest.mark.parametrize("delimiter", DELIMITERS)
@divide_examples(3)
@given(rows=st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_detected_delimiter_reads_the_same_as_a_declared_one(
    delimiter: str, rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Values may contain every other delimiter, quotes and line ends."""
    path = tmp_path_factory.mktemp("csv") / "events.csv"
    path.write_bytes(encode_csv(rows, delimiter))
    detected, _ = read_rows(path)
    declared, assumptions = read_rows(path, {"kind": "csv", "delimiter": delimiter})
    assert (declared, []) == (detected, assumptions)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize(("delimiter", "shown"), [(";", ";"), ("\t", "a tab"), ("|", "|")])
def test_a_detected_delimiter_is_reported_once(
    tmp_path: Path, delimiter: str, shown: str, suffix: str
) -> None:
    """A delimiter other than a comma is listed with the assumptions, once per sample."""
    path = tmp_path / f"events.{suffix}"
    data = encode_csv([["a", "1,5", "x"], ["b", "2,5", "y"]], delimiter)
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    rows, assumptions = read_rows(path)
    assert [{"host": "a", "value": "1,5", "note": "x"}] == rows[:1]
    sentence = f"the values of {path.name} are separated by {shown}, as in its first lines"
    assert [sentence] == list(map(str, assumptions))


@pytest.mark.parametrize("delimiter", DELIMITERS)
@divide_examples(3)
@given(
    rows=st.lists(
        st.lists(st.text("ab 1.é", max_size=6), min_size=3, max_size=3), min_size=1, max_size=6
    )
)
def test_spaces_after_delimiters_are_dropped_if_the_header_has_them(
    delimiter: str, rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """If a space follows each delimiter of the header, values begin after their spaces."""
    path = tmp_path_factory.mktemp("csv") / "events.csv"
    lines = [f"{delimiter} ".join(record) for record in ([*NAMES], *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    read, assumptions = read_rows(path, {"kind": "csv", "delimiter": delimiter})
    stripped = [[value.lstrip(" ") for value in row] for row in rows]
    assert [dict(zip(NAMES, row, strict=True)) for row in stripped] == read
    (sentence,) = map(str, assumptions)
    assert "spaces at the start of values of events.csv are dropped" in sentence


@pytest.mark.parametrize("header", ["host,value,note", "host, value,note"])
def test_spaces_after_delimiters_are_kept_unless_the_whole_header_has_them(
    header: str, tmp_path: Path
) -> None:
    """Without a space after each delimiter of the header, spaces are part of values."""
    path = tmp_path / "events.csv"
    path.write_text(f"{header}\na, 1, x\n")
    rows, assumptions = read_rows(path)
    assert ([{"host": "a", "value": " 1", "note": " x"}], []) == (rows, assumptions)


def test_a_quote_after_a_space_is_refused(tmp_path: Path) -> None:
    """A quote after a space begins no quoted value, so that the file cannot be read as meant."""
    path = tmp_path / "events.csv"
    path.write_text('host, value, note\na, 1, "x, y"\nb, 2, z\n')
    with pytest.raises(SampleError, match="Remove the spaces between delimiters and quotes"):
        read_rows(path)


def test_a_text_for_null_after_a_space_is_null(tmp_path: Path) -> None:
    """A text that stands for null does so after a space, too."""
    path = tmp_path / "events.csv"
    path.write_text("host, value, note\na, 1, NULL\nb, NULL, x\nc, , y\n")
    fields: dict[str, Any] = {
        "host": "text",
        "value": {"type": "u8", "nullable": True},
        "note": {"type": "text", "nullable": True},
    }
    design = Design("t", "[host]", fields=fields)
    sample = open_sample(path, design.fields, None, {"kind": "csv", "nulls": ["NULL"]})
    rows = [row for events in sample.read_events() for row in events.rows.to_pylist()]
    assert [("a", 1, None), ("b", None, "x"), ("c", None, "y")] == [
        tuple(row.values()) for row in rows
    ]


def test_a_few_malformed_lines_do_not_hide_the_delimiter(tmp_path: Path) -> None:
    """Most of the first lines decide, and the malformed ones are skipped."""
    path = tmp_path / "events.csv"
    good = [[f"h{number}", "1", "x"] for number in range(10)]
    path.write_bytes(encode_csv([*good, ["only one"], ["a", "b"]], ";"))
    rows, _ = read_rows(path)
    assert 10 == len(rows)


def test_a_comma_in_a_column_name_does_not_beat_the_delimiter_of_all_rows(tmp_path: Path) -> None:
    """The header alone does not decide if the rows contradict it."""
    path = tmp_path / "events.csv"
    names = ["host", "value, in kB", "note"]
    path.write_bytes(encode_csv([["a", "1", "x"], ["b", "2", "y"]], ";", names))
    rows, _ = read_rows(path, names=names)
    assert {"host": "a", "value, in kB": "1", "note": "x"} == rows[0]


def test_a_draft_declares_the_detected_delimiter(tmp_path: Path) -> None:
    """The drafted design reads the file by itself, and its first comments name the delimiter."""
    path = tmp_path / "events.csv"
    path.write_bytes(encode_csv([["a", "1", "x"], ["b", "2", "y"]], ";"))
    text = draft_design(path, folder=tmp_path).text
    design = Design.loads(text, directory=tmp_path)
    assert {"kind": "csv", "delimiter": ";"} == design.sample_format
    assert NAMES == list(design.fields)
    assert "# Assumed: the values of events.csv are separated by ;" in text


@pytest.mark.parametrize("first", ["a,1609459200000,1.5", "10.0.0.1,x,y", "a,2024-03-01 10:00,b"])
def test_a_file_without_a_header_makes_no_draft_but_names_the_option(
    tmp_path: Path, first: str
) -> None:
    """A file without a header is refused with the option that reads it, and the option works."""
    path = tmp_path / "events.csv"
    path.write_text(f"{first}\n{first.replace('a', 'b')}\n")
    with pytest.raises(SampleError, match="the first line looks like a row of values") as caught:
        draft_design(path, folder=tmp_path)
    options = {"kind": "csv", "names": ["c1", "c2", "c3"]}
    assert """--sample-format '{ kind = "csv", names = ["c1", "c2", "c3"] }'""" in str(caught.value)
    draft = draft_design(path, format_options=options, folder=tmp_path)
    design = Design.loads(draft.text, directory=tmp_path)
    assert (["c1", "c2", "c3"], options) == (list(design.fields), design.sample_format)


@pytest.mark.parametrize("header", ["country,2019,2020", "host,v1.5,note", "a,b2,1st"])
def test_column_names_with_digits_are_accepted_in_a_draft(tmp_path: Path, header: str) -> None:
    """Years and names that contain numbers are names of columns."""
    path = tmp_path / "events.csv"
    path.write_text(f"{header}\nDE,5,6\nFR,7,8\n")
    assert 3 == len(Design.loads(draft_design(path, folder=tmp_path).text).fields)


def test_a_file_separated_by_spaces_makes_no_draft_but_names_the_option(tmp_path: Path) -> None:
    """A file separated by spaces is refused with the option that reads it, and the option works."""
    path = tmp_path / "events.csv"
    path.write_text("host value note\na 1 x\nb 2 y\n")
    with pytest.raises(SampleError, match="the file has one column, 'host value note'") as caught:
        draft_design(path, folder=tmp_path)
    assert """--sample-format '{ kind = "csv", delimiter = " " }'""" in str(caught.value)
    draft = draft_design(path, format_options={"kind": "csv", "delimiter": " "}, folder=tmp_path)
    assert NAMES == list(Design.loads(draft.text, directory=tmp_path).fields)
