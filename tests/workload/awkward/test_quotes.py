"""Quotes that are not closed are refused or told; quotes and line ends within values are read."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from unittest.mock import Mock

import pytest

from rowkey.errors import SampleError
from rowkey.workload.formats import csv as csv_format
from rowkey.workload.formats.csv import CsvFormat
from rowkey.workload.records import SkippedRows
from workload.awkward.files import read_rows

OPEN_QUOTES = {
    "last column": (b'host,n,note\nweb-1,1,a\nweb-2,2,"b\nweb-3,3,c\nweb-4,4,d\n', 3),
    "other column": (b'host,n,note\nweb-1,1,a\nweb-2,2,c\n"web-3,3,c\nweb-4,4,d\n', 4),
    "after lines": (b'host,n,note\nweb-1,1,a\n"web\r\n-2",2,"b\nweb-3,3,c\n', 4),
    "last line": (b'host,n,note\nweb-1,1,a\nweb-2,2,b\nweb-3,3,"', 4),
    "quotes within": (b'host,n,note\nweb-1,1,5"\nweb-2,2,"b ""c""\nweb-3,3,c\n', 3),
}


@pytest.mark.parametrize("name", OPEN_QUOTES)
@pytest.mark.parametrize("columns", [["host", "n", "note"], ["n"]])
def test_an_unclosed_quote_is_refused_with_its_line(
    tmp_path: Path, name: str, columns: list[str]
) -> None:
    """Also in a column that is not read; no row with the rest of the file is delivered."""
    data, line = OPEN_QUOTES[name]
    path = tmp_path / "events.csv"
    path.write_bytes(b"title\n" + data)
    fields = dict.fromkeys(columns, "text")
    problem = f"events.csv:{line + 1}: a quote is not closed before the end of the file"
    with pytest.raises(SampleError, match=re.escape(problem)):
        read_rows(path, fields, {"kind": "csv", "skip_lines": 1})


@pytest.mark.parametrize(
    "data", [b'a,n\nb,5"\nc"d,6\n', b'a,n\n"b\nb",5\n', b'a,n\n"",""\n"b",""', b"a\n"]
)
def test_closed_quotes_and_quotes_within_values_are_accepted(tmp_path: Path, data: bytes) -> None:
    """A quote opens a value only at its start; the end of the last line may be missing."""
    path = tmp_path / "events.csv"
    path.write_bytes(data)
    sample_format = CsvFormat({"kind": "csv"})
    batches = sample_format.read_batches(path, None, SkippedRows())
    records = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert len(records) - 1 == sum(batch.num_rows for batch in batches)
    assert [] == sample_format.assumptions


ROWS = "".join(f"web-{n},2024-05-06 10:{n:02d}:00,m{n}\n" for n in range(10, 60))


@pytest.mark.parametrize(
    ("sign", "column", "count"), [(",m", "note", 10), (",2024-05-06 10:", "when", 9)]
)
def test_rows_joined_by_two_quotes_are_reported(
    tmp_path: Path, sign: str, column: str, count: int
) -> None:
    """Two quotes that begin values join the rows between them to one value."""
    path = tmp_path / "events.csv"
    rows = ROWS
    for number in (20, 30):
        rows = rows.replace(f"{sign}{number}", f'{sign[0]}"{sign[1:]}{number}')
    path.write_text("host,when,note\n" + rows)
    sample_format = CsvFormat({"kind": "csv"})
    batches = list(sample_format.read_batches(path, None, SkippedRows()))
    assert 40 == sum(batch.num_rows for batch in batches)
    sentence = (
        f"a quoted value of {column} contains lines like the rows of events.csv, {count} in all: "
        "if they are rows, a quote is not closed in the row that begins on line 12"
    )
    assert [sentence] == list(map(str, sample_format.assumptions))


@pytest.mark.parametrize(
    "note",
    [
        "first\nsecond, third, fourth",
        "web-1,2024-05-06,m1",
        "see\nweb-1,2024-05-06 10:00:00,m1\nand more",
        "Dear all,\n1,2,3\n",
        "Main Street\nParis, FR, EU",
    ],
)
def test_texts_of_several_lines_are_not_reported_as_joined_rows(tmp_path: Path, note: str) -> None:
    """Lines with as many commas as a row are text where their values do not look like a row's."""
    path = tmp_path / "events.csv"
    path.write_text("host,when,note\n" + ROWS.replace("m20", f'"{note}"'))
    sample_format = CsvFormat({"kind": "csv"})
    list(sample_format.read_batches(path, None, SkippedRows()))
    assert [] == sample_format.assumptions


def test_an_address_of_two_lines_is_one_value(tmp_path: Path) -> None:
    """The second line of a value before the last column ends in its row, whatever commas it has."""
    path = tmp_path / "shops.csv"
    path.write_text('id,address,n\n7,"Main Street\nParis, FR, EU",5\n8,"Side Street",6\n')
    sample_format = CsvFormat({"kind": "csv"})
    batches = list(sample_format.read_batches(path, None, SkippedRows()))
    assert 2 == sum(batch.num_rows for batch in batches)
    assert [] == sample_format.assumptions


def test_rows_joined_within_an_unread_column_are_reported(tmp_path: Path) -> None:
    """Rows that two quotes join to a value vanish with its column, so all columns are searched."""
    path = tmp_path / "events.csv"
    rows = ROWS.replace(",m20", ',"m20').replace(",m30", ',"m30')
    path.write_text("host,when,note\n" + rows)
    sample_format = CsvFormat({"kind": "csv"})
    batches = list(sample_format.read_batches(path, ["host"], SkippedRows()))
    assert 40 == sum(batch.num_rows for batch in batches)
    [said] = sample_format.assumptions
    assert said.startswith("a quoted value of note contains lines like the rows of events.csv, 10")


@pytest.mark.parametrize("columns", [None, ["host"]])
def test_joined_rows_are_searched_for_once_per_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: list[str] | None
) -> None:
    """Later passes over the same file do not search it again."""
    path = tmp_path / "events.csv"
    path.write_text("host,when,note\n" + ROWS.replace("m20", '"m\n20"'))
    search = Mock(wraps=csv_format.find_joined_rows)
    monkeypatch.setattr(csv_format, "find_joined_rows", search)
    sample_format = CsvFormat({"kind": "csv"})
    for _ in range(3):
        list(sample_format.read_batches(path, columns, SkippedRows()))
    assert (1 if columns is None else 2) == search.call_count
