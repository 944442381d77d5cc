"""Text files of odd encodings, headers and shapes are read right, or refused with the option."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from rowkey.advise import draft_design
from rowkey.errors import SampleError
from rowkey.workload import SkippedRows
from rowkey.workload.formats.csv import CsvFormat
from workload.awkward.files import find_options, get_refusal, read_rows

FIELDS: dict[str, Any] = {"host": "text", "n": "u32"}
PLAIN = "host,n\nweb-1,1\nweb-2,2\n"
TWO = [("web-1", 1), ("web-2", 2)]

READ: dict[str, tuple[bytes, Any, list[tuple[Any, ...]]]] = {
    "bom.csv": (b"\xef\xbb\xbf" + PLAIN.encode(), None, TWO),
    "crlf.csv": (PLAIN.replace("\n", "\r\n").encode(), None, TWO),
    "no-end.csv": (PLAIN.rstrip().encode(), None, TWO),
    "blank.csv": (PLAIN.replace("\nweb-2", "\n\n\nweb-2").encode(), None, TWO),
    "spaces.csv": (b" host , n \nweb-1,1\n", None, TWO[:1]),
    "quoted.csv": (b'host,n\n"web\n1",1\n"a,b",2\n', None, [("web\n1", 1), ("a,b", 2)]),
    "index.csv": (b",host,n\n0,web-1,1\n1,web-2,2\n", None, TWO),
    "ragged.csv": (b"host,n\nweb-1,1\nweb-9\nweb-2,2\nx,3,4\n", {"max_skipped": 0.5}, TWO),
    "cut.csv": (b"host,n\nweb-1,1\nweb-2,2\nweb-", None, TWO),
    "title.csv": (b"Report\n\n" + PLAIN.encode(), {"skip_lines": 2}, TWO),
    "headerless.csv": (b"web-1,1\nweb-2,2\n", {"names": ["host", "n"]}, TWO),
    "twice.csv": (b"n,n\nweb-1,1\nweb-2,2\n", {"names": ["host", "n"], "skip_lines": 1}, TWO),
    "nulls.csv": (b"host,n\nweb-1,1\n-,NA\nweb-2,2\n", {"nulls": ["-", "NA"], "max_skipped": 0.4},
                  TWO),
    "latin.csv": ("host,n\ncaf\u00e9,1\n".encode("latin-1"), {"encoding": "latin-1"},
                  [("caf\u00e9", 1)]),
    "wide.csv": ("host,n\ncaf\u00e9,1\n".encode("utf-16"), {"encoding": "utf-16"},
                 [("caf\u00e9", 1)]),
    "chinese.csv": ("host,n\n\u4e3b\u673a,1\n".encode("gb18030"), {"encoding": "gb18030"},
                    [("\u4e3b\u673a", 1)]),
    "spaced.txt": (b"host   n\nweb-1  1\n  web-2 2\n", None, TWO),
    "spaced-headerless.txt": (b"web-1 1\nweb-2 2\n", {"names": ["host", "n"]}, TWO),
    "latin.txt": ("host n\ncaf\u00e9 1\n".encode("latin-1"), {"encoding": "latin-1"},
                  [("caf\u00e9", 1)]),
    "title.txt": (b"# made by x\nhost n\nweb-1 1\n", {"skip_lines": 1}, TWO[:1]),
}  # fmt: skip
"""By name the bytes of a file, the options that it needs, and its rows."""


@pytest.mark.parametrize("name", READ)
def test_every_row_of_an_awkward_text_file_is_read(tmp_path: Path, name: str) -> None:
    """The rows of each file are exactly those that were written."""
    data, options, expected = READ[name]
    path = tmp_path / name
    path.write_bytes(data)
    kind = "columns" if name.endswith(".txt") else "csv"
    words = None if options is None else {"kind": kind, **options}
    assert expected == read_rows(path, FIELDS, words)


REFUSED = {
    "latin.csv": (
        "host,n\ncaf\u00e9,1\nb\u00fcro,2\n".encode("latin-1"),
        [("caf\u00e9", 1), ("b\u00fcro", 2)],
    ),
    "wide.csv": ("host,n\ncaf\u00e9,1\n".encode("utf-16"), [("caf\u00e9", 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_of_another_encoding_is_refused_with_an_option_that_reads_it(
    tmp_path: Path, name: str
) -> None:
    """The option that the error names reads the file."""
    data, expected = REFUSED[name]
    (tmp_path / name).write_bytes(data)
    [options] = find_options(get_refusal(tmp_path / name, FIELDS))
    assert expected == read_rows(tmp_path / name, FIELDS, options)


DRAFTED: dict[str, tuple[bytes, str, int]] = {
    "latin.csv": (
        "Ger\u00e4t;n\na;1\nb;2\n".encode("latin-1"),
        "'Ger\\xe4t' contains the byte e4",
        2,
    ),
    "latin.txt": (
        "Ger\u00e4t n\na 1\nb 2\n".encode("latin-1"),
        "'Ger\\xe4t' contains the byte e4",
        2,
    ),
    "values.csv": (b"web-1,1\nweb-2,2\n", "looks like a row of values", 2),
    "values.txt": (b"web-1 1\nweb-2 2\n", "looks like a row of values", 2),
    "times.csv": (b"web-1,03.11.2025 10:00\nweb-2,14.11.2025 10:00\n", "a row of values", 2),
    "words.csv": (b"web-1,GET\nweb-2,GET\nweb-3,POST\n", "the first line may be a row", 3),
    "twice.csv": (b"a,b,a\n1,2,3\n4,5,6\n", "several columns have the same name: 'a'", 2),
    "caret.csv": (b"a^b\n1^2\n2^3\n", "the file has one column, 'a^b'", 2),
    "colons.csv": (b"a:b\n1:2\n2:3\n", "the file has one column, 'a:b'", 2),
    "commas.tsv": (b"a,b\n1,2\n2,3\n", "'a,b'; expected values separated by a tab.", 2),
    "semicolons.tsv.gz": (gzip.compress(b"a;b\n1;2\n2;3\n"), "the file has one column, 'a;b'", 2),
    "sep.csv": (b"sep=;\r\na;b\r\n1;2\r\n2;3\r\n", "'sep=;' declares a delimiter", 2),
    "sep-comma.csv": (b"\xef\xbb\xbfSEP=,\na,b\n1,2\n2,3\n", "'SEP=,' declares a delimiter", 2),
    "w3c.tsv": (b"#Version: 1.0\n#Fields: a b\n1\tx\n2\ty\n", "begins with a comment, '#Ver", 2),
    "w3c.txt": (b"#Fields: a b\n1 x\n2 y\n", "begins with a comment, '#Fields: a b'", 2),
    "comments.csv": (b"# by x, 1\n# of y\na,b\n1,2\n2,3\n", "with a comment, '# by x, 1'", 2),
    "psql.txt": (b" a | b\n---+---\n 1 | 2\n 2 | 3\n 3 | 4\n", "names are separated by |", 3),
    "trailing.csv": (b"a,b\n1,x,\n2,y,\n", "2 of 2 lines do not follow the format, most with 3", 2),
    "more.csv": (b'a,b\n1,x,"y\nz"\n2,y,z\n', "most with 3 values, the first of them line 2", 2),
    "dates.txt": (b"a  when\n1  2024-05-06 10:00\n2  2024-05-06 11:00\n", "most with 3 values", 2),
    "spaces.csv": (b"a b\n1 2\n2 3\n", "the file has one column, 'a b'", 2),
}


@pytest.mark.parametrize("name", DRAFTED)
def test_a_wrong_header_makes_no_draft_but_an_option_that_works(tmp_path: Path, name: str) -> None:
    """The first option that the error names makes a draft with every row of the file."""
    data, problem, row_count = DRAFTED[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SampleError, match=re.escape(problem)) as caught:
        draft_design(path)
    draft = draft_design(path, format_options=find_options(str(caught.value))[0])
    assert f": {row_count} rows." in draft.text.split("\n")[0]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("one-line.csv", b"host,n\n", "no rows after the line of column names"),
        ("empty.txt", b"", "the file is empty"),
        ("cut.csv.gz", gzip.compress(PLAIN.encode() * 999, mtime=0)[:-20], "cannot be read"),
        ("utf-32.csv", PLAIN.encode("utf-32"), "the file is in UTF-32"),
        ("two-dates.csv", b"d1,d2,t1\n2024-01-01,2024-01-02,10:00\n", "belong together"),
    ],
)
def test_a_file_that_shows_too_little_makes_no_draft(
    tmp_path: Path, name: str, data: bytes, problem: str
) -> None:
    """An empty file, one without rows, a cut one and dates without their times make no draft."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SampleError, match=problem):
        draft_design(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.csv.gz"])
def test_a_file_declared_utf_16_without_byte_order_mark_is_refused(
    tmp_path: Path, name: str
) -> None:
    """A file that is declared in UTF-16 and has no byte order mark is refused, not a crash."""
    data = PLAIN.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    kind = "columns" if name.endswith(".txt") else "csv"
    with pytest.raises(SampleError, match="no byte order mark, so it is not in utf-16"):
        read_rows(tmp_path / name, FIELDS, {"kind": kind, "encoding": "utf-16"})


def test_the_row_number_column_of_a_data_frame_is_left_out_of_a_draft(tmp_path: Path) -> None:
    """A column without a name is left out, and the draft says so."""
    path = tmp_path / "a.csv"
    path.write_text(",host,id\n" + "".join(f"{n},h{n % 9},{n + 17850}.0\n" for n in range(300)))
    draft = draft_design(path)
    assert ["host", "id"] == list(draft.design.fields)
    assert "u32" == draft.design.fields["id"].type.name
    assert "# The column '' is left out: it has no name" in draft.text


@pytest.mark.parametrize(("name", "data"), [("a.csv", b"#a,b\n1,2\n"), ("a.txt", b"#a b\n1 2\n")])
def test_a_header_may_begin_with_a_number_sign(tmp_path: Path, name: str, data: bytes) -> None:
    """One such line holds the names, as many programs write it."""
    (tmp_path / name).write_bytes(data)
    assert {"#a", "b"} == set(draft_design(tmp_path / name).design.fields)


@pytest.mark.parametrize(
    "data", [b"a,b\n1,'x,y'\n2,'y,z'\n", b'a,b\n1,"\\"x\\",y"\n2,"\\"y\\",z"\n']
)
def test_no_column_names_are_proposed_for_values_in_unsupported_quotes(
    tmp_path: Path, data: bytes
) -> None:
    """Values in other quotes are divided, so that their number is not that of the columns."""
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(SampleError, match="2 of 2 lines do not follow the format") as caught:
        draft_design(tmp_path / "a.csv")
    assert [] == find_options(str(caught.value))


@pytest.mark.parametrize("head", ["\n\n", "Report of 2024\n\n", "Report\n"])
def test_lines_above_the_header_are_skipped_by_the_suggested_option(
    tmp_path: Path, head: str
) -> None:
    """Empty lines and a title are not taken for the end of the file or for the names."""
    path = tmp_path / "events.csv"
    path.write_text(f"{head}host,n\n" + "web,1\n" * 9)
    fields = {"host": "text", "n": "u8"}
    with pytest.raises(SampleError) as caught:
        draft_design(path)
    [options] = find_options(str(caught.value))
    assert [("web", 1)] * 9 == read_rows(path, fields, options)


def test_a_malformed_line_is_named_by_its_number_after_empty_and_joined_lines(
    tmp_path: Path,
) -> None:
    """The line is that of the file, whatever lines are empty or part of a value before it."""
    path = tmp_path / "events.csv"
    text = 'title\nhost,n\n\n"a\nb",1\n\nweb,2,3\nweb,4\n"c,5\nd",6,7\n'
    path.write_text(text + "web,8\n" * 9)
    skipped = SkippedRows()
    sample_format = CsvFormat({"kind": "csv", "skip_lines": 1})
    list(sample_format.read_batches(path, ["host"], skipped))
    numbers = [re.match(r"line (\d+) ", said) for said in skipped.format_problems()]
    assert ["7", "9"] == [found and found[1] for found in numbers]
    assert 3 == skipped.count
