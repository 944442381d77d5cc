"""Files of wrong encodings or types are refused, or their bad rows skipped."""

from __future__ import annotations

import gzip
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import rowkey
from example_counts import cover_each
from rowkey.advise import draft_design
from rowkey.errors import SampleError
from rowkey.simulate import run
from rowkey.table import load_file
from rowkey.workload.columnar import json_blocks

if TYPE_CHECKING:
    from rowkey.table import FileLoadResult

TEXT = {"type": "text", "nullable": True}
SHARE = {"type": "float64", "nullable": True}
FIELDS = {"host": "text", "n": "u32", "note": TEXT, "share": SHARE}
SERVERS = {"servers": 2}
DESIGN = rowkey.Design(
    "t", "[bucket(host, 4)][host][n]", fields=FIELDS, splits="per_bucket", cluster=SERVERS
)
CONVERT = "iconv -f ISO-8859-1 -t UTF-8"


def load_events(
    path: Path, words: dict[str, Any] | None = None
) -> tuple[FileLoadResult, list[dict[str, Any]]]:
    """Return the result of a load, and the rows of the table after the load."""
    with rowkey.open(DESIGN, "memory:") as table:
        found = load_file(table, path, format_options=words)
        return found, list(table.scan())


def get_refusal(path: Path, words: dict[str, Any] | None = None) -> str:
    """Return the message with which both simulation and load refuse a file."""
    with pytest.raises(SampleError) as judged:
        run(DESIGN, path, format_options=words)
    with pytest.raises(SampleError) as stored:
        load_events(path, words)
    assert str(judged.value) == str(stored.value)
    return str(stored.value)


# What is no file


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.jsonl", "p.parquet", "p.arrow"])
def test_a_pipe_is_refused_as_a_sample_without_reading_it(tmp_path: Path, name: str) -> None:
    """A pipe is refused without reading it, as a sample is read twice."""
    path = tmp_path / name
    os.mkfifo(path)
    said = get_refusal(path)
    assert (
        f"{path}: the path is a pipe, which can be read only once; expected a regular file." in said
    )
    assert "use rowkey put for JSON lines." in said


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl.gz", "d.parquet", "d.arrow"])
def test_a_folder_is_refused_as_a_sample_without_an_error_number(tmp_path: Path, name: str) -> None:
    """A folder is refused with the system's message, not its error number."""
    (tmp_path / name).mkdir()
    assert get_refusal(tmp_path / name).endswith(
        f"{name}: the file cannot be read: Is a directory. "
        "Check the path and its permissions, or copy the file again."
    )


# Bytes that are not UTF-8

LINES = ["host,n,note,share", "a,1,x,", "café,2,x,", "b,3,\xfc,", "c,4,\xe4,1,odd", "d,5,,"]


def _write_strange_file(path: Path) -> None:
    """Write the lines, some of them not UTF-8, in the format of the file's name."""
    lines = [line.encode("latin-1") for line in LINES]
    if path.suffix == ".csv":
        path.write_bytes(b"\n".join(lines) + b"\n")
    elif path.suffix == ".txt":
        whole = [line.replace(b",", b" ").replace(b"  ", b" - ") for line in lines]
        path.write_bytes(
            b"\n".join([b"host n note", *(b" ".join(w.split()[:3]) for w in whole[1:])])
        )
    elif path.suffix == ".jsonl":
        rows = [dict(zip(LINES[0].split(","), one.split(","), strict=False)) for one in LINES[1:]]
        told = ['{{"host": "{host}", "n": {n}, "note": "{note}"}}\n'.format(**row) for row in rows]
        path.write_bytes("".join(told).encode("latin-1"))
    else:
        hosts, notes = [b"a", b"caf\xe9", b"b", b"c", b"d"], [b"x", b"x", b"\xfc", b"\xe4", None]
        table = pa.table({"host": hosts, "n": [1, 2, 3, 4, 5], "note": notes})
        parquet.write_table(table, path)


@pytest.mark.parametrize("name", ["s.csv", "s.txt", "s.jsonl", "s.parquet"])
def test_rows_that_are_not_utf_8_are_skipped_and_reported(tmp_path: Path, name: str) -> None:
    """Skipped rows are reported with the invalid byte and a command that converts the file."""
    path = tmp_path / name
    _write_strange_file(path)
    text = path.read_bytes()
    if name != "s.parquet":
        extra = {"s.csv": b"e,6,,\nf,7,,\n", "s.txt": b"\ne 6 x\nf 7 x\n",
                 "s.jsonl": b'{"host": "e", "n": 6}\n{"host": "f", "n": 7}\n'}  # fmt: skip
        path.write_bytes(text + extra[name])
    else:
        more = pa.table({"host": [b"e", b"f"], "n": [6, 7], "note": [None, b"x"]})
        parquet.write_table(pa.concat_tables([parquet.read_table(path), more]), path)
    found, rows = load_events(path)
    assert ["a", "d", "e", "f"] == sorted(row["host"] for row in rows)
    assert (4, 3) == (found.row_count, found.left_out.count)
    assert "contains the byte" in found.left_out.first_problem
    assert "which is not UTF-8; iconv converts the file" in found.left_out.first_problem
    whole = rowkey.Design("t", "[host][note][n]", fields=FIELDS, splits=["b"], cluster=SERVERS)
    assert 4 == run(whole, path).operation_count


def test_no_conversion_is_proposed_for_a_binary_file(tmp_path: Path) -> None:
    """For lines with control characters no conversion is proposed."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\x9d\x01\xe9\x00\n\x10\xcf\n")
    assert get_refusal(path).endswith(
        "Give a text file in UTF-8, neither compressed nor in a binary format."
    )
    path.write_bytes(b"caf\xe9\nth\xe9\n")
    assert CONVERT in get_refusal(path)


def test_a_row_that_is_not_utf_8_is_named_with_its_byte(tmp_path: Path) -> None:
    """The message names the row, the field and the byte."""
    path = tmp_path / "s.csv"
    path.write_bytes(b"host,n,note,share\na,1,,\ncaf\xe9,2,,\nb,3,,\n")
    what = "line 3: host contains the byte e9, which is not UTF-8; iconv converts the file"
    assert what == load_events(path)[0].left_out.first_problem


def test_invalid_bytes_in_an_unused_column_skip_no_row(tmp_path: Path) -> None:
    """Invalid bytes in a column that no field uses skip no row."""
    path = tmp_path / "s.csv"
    path.write_bytes(b"host,n,other\na,1,\xe9\n")
    assert (1, 0) == (load_events(path)[0].row_count, load_events(path)[0].left_out.count)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", b"host,n\n\xe9,1\n\xe8,2\n"),
        ("s.txt", b"host n note share\n\xe9 1 x 1\n\xe8 2 x 1\n"),
        ("s.jsonl", b'{"host": "\xe9", "n": 1}\n{"host": "\xe8", "n": 2}\n'),
    ],
)
def test_a_file_that_is_mostly_not_utf_8_is_refused(tmp_path: Path, name: str, text: bytes) -> None:
    """The error names the command that converts the file."""
    (tmp_path / name).write_bytes(text)
    assert CONVERT in get_refusal(tmp_path / name)


def test_invalid_bytes_of_a_log_line_are_escaped_and_kept(tmp_path: Path) -> None:
    design = rowkey.Design("t", "[path][status]", fields={"path": "text", "status": "u16"})
    line = b'h - - [10/Oct/2000:13:55:36 -0700] "GET /\xe9 HTTP/1.0" 200 1\n'
    (tmp_path / "a.log").write_bytes(line)
    with rowkey.open(design, "memory:") as table:
        load_file(table, tmp_path / "a.log")
        assert [{"path": "/\\xe9", "status": 200}] == list(table.scan())


# JSON lines


@pytest.mark.parametrize(
    "line",
    [
        r'{"host": "\ud800x", "n": 9}',
        r'{"host": "\uD800x", "n": 9}',
        r'{"host": "a", "n": 9, "note": "\udce9"}',
        '{"host": "a", "n": 9, "share": 1e400}',
        '{"host": "a", "n": 9, "share": -1e400}',
    ],
)
def test_json_values_that_nothing_can_hold_skip_their_row(tmp_path: Path, line: str) -> None:
    """A lone surrogate and a number beyond float64 skip their row."""
    path = tmp_path / "s.jsonl"
    good = r'{"host": "\ud83d\ude00", "n": 1, "share": 1e300}'
    path.write_text(f'{good}\n{line}\n{{"host": "b", "n": 2}}\n')
    found, rows = load_events(path)
    assert (2, 1) == (found.row_count, found.left_out.count)
    assert found.left_out.first_problem.startswith("line 2 does not follow the format: ")
    assert [("\U0001f600", 1e300), ("b", None)] == sorted(
        ((row["host"], row["share"]) for row in rows), reverse=True
    )
    assert 2 == run(DESIGN, path).operation_count


@pytest.mark.parametrize("size", [2 << 20, 9 << 20])
def test_long_json_lines_are_read(tmp_path: Path, size: int) -> None:
    """A long line of JSON is a row, and so are the lines around that."""
    path = tmp_path / "s.jsonl"
    long = f'{{"host": "b", "n": 2, "note": "{"x" * size}"}}\n'
    path.write_text('{"host": "a", "n": 1}\n' + long + '{"host": "c", "n": 3}\n')
    found, rows = load_events(path)
    assert 3 == found.row_count
    assert {"a": 0, "b": size, "c": 0} == {r["host"]: len(r["note"] or "") for r in rows}


@pytest.mark.parametrize("name", ["s.json", "s.jsonl.gz"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", ["", "\ufeff \n"])
def test_a_file_with_one_json_array_is_read_as_its_objects(
    tmp_path: Path, name: str, indent: int | None, mark: str
) -> None:
    """A file with one JSON array, in any layout, is read as its objects would be as lines."""
    records = [{"host": f'"{n}\\', "n": n, "note": "],\n[{"} for n in range(100)]
    text = (mark + json.dumps(records, indent=indent) + "\n").encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    found, rows = load_events(path)
    assert (100, 0) == (found.row_count, found.left_out.count)
    assert [r["host"] for r in records] == [
        row["host"] for row in sorted(rows, key=lambda r: r["n"])
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            '[{"host": "a", "n": 1}, 5,\n {"host": "b", "n": 2}]',
            "item 2 does not follow the format: '5'",
        ),
        ('[{"host": "a", "n": 1}, {"host": "b", "n": "x"}]', "row 2: "),
    ],
)
def test_a_malformed_item_of_a_json_array_is_skipped_by_number(
    tmp_path: Path, text: str, what: str
) -> None:
    """An item that is no event is left out and named by its number."""
    path = tmp_path / "s.json"
    path.write_text(text)
    assert load_events(path)[0].problems[0].startswith(what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[{"host": "a", "n": 1}, {"host": "b', "the file ends within item 2 of the array"),
        ('[{"host": "a", "n": 1}] []', "something follows the array of 1 items"),
        ("[{5}, 6, 7]", "3 of 3 items do not follow the format"),
        ('[{"n": {"a": 1}, "n.a": 2}]', "s.json: item 1: the object has two values of 'n.a'"),
        ("[\n\n{", "the file ends within item 1 of the array"),
    ],
)
def test_a_truncated_json_array_is_refused_with_its_item(
    tmp_path: Path, text: str, what: str
) -> None:
    """A file whose array is cut off, followed by more or mostly no objects is refused."""
    path = tmp_path / "s.json"
    path.write_text(text)
    assert what in get_refusal(path)


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ('{"host": "a", "n": 1}{"host": "b", "n": 2}', "jq -c . FILE"),
        ('{\n"host": "a",\n"n": 1\n}\n', "jq -c . FILE"),
        ('[["host", "n"], ["a", 1]]', "jq -r '.[] | @csv' FILE"),
        ('{"host": "a", "n": 1}\n'.encode("utf-16"), "iconv -f UTF-16 -t UTF-8 FILE"),
        ("host,n\na,1\n", "Declare the format of the file"),
    ],
)
def test_json_of_another_layout_is_refused_with_a_command_that_converts_it(
    tmp_path: Path, content: str | bytes, remedy: str
) -> None:
    """The message for JSON that is no JSON lines has the command that converts it."""
    path = tmp_path / "s.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert remedy in get_refusal(path)


def test_an_invalid_first_line_of_json_objects_is_skipped(tmp_path: Path) -> None:
    """A file of objects may begin with an invalid line."""
    path = tmp_path / "s.jsonl"
    path.write_text('[INFO] began\n{"host": "a", "n": 1}\n{"host": "b", "n": 2}\n')
    assert (2, 1) == (load_events(path)[0].row_count, load_events(path)[0].left_out.count)


@pytest.mark.parametrize("line", [1, 2, 300, 299])
def test_a_json_name_that_is_both_dotted_and_nested_is_refused_with_its_line(
    tmp_path: Path, line: int
) -> None:
    """An object has no name both with a dot and nested; null and an empty object do not count."""
    path = tmp_path / "s.jsonl"
    texts = [f'{{"host": "a", "n": {n}, "note.x": null, "note": {{"x": "b"}}}}' for n in range(300)]
    texts[-2] = '{"host": "a", "n": 7, "note.x": "b", "note": {}}'
    texts[line - 1] = '{"host": "a", "n": 8, "note.x": "b", "note": {"x": "c"}}'
    path.write_text("\n".join(["", *texts]))
    fields = FIELDS | {"note": TEXT | {"from": "note.x"}}
    design = rowkey.Design("t", "[host][n]", fields=fields, cluster=SERVERS)
    refusal = f":{line + 1}: the object has two values of 'note.x'"
    with rowkey.open(design, "memory:") as table, pytest.raises(SampleError, match=refusal):
        load_file(table, path)
    with pytest.raises(SampleError, match=refusal):
        draft_design(path)
    assert 300 == load_events(path)[0].row_count


BLOCK_LINES, LINE_COUNT = 800, 1_000
"""Lines that are parsed together here, and those of a file of more than one block."""


@pytest.mark.parametrize("line", [1, 2, 300, LINE_COUNT])
def test_a_name_that_occurs_twice_in_a_json_object_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int
) -> None:
    """Neither value is taken in silence, also where blocks of lines are parsed together."""
    monkeypatch.setattr(json_blocks, "MAX_BLOCK_LINES", BLOCK_LINES)
    path = tmp_path / "s.jsonl"
    texts = [f'{{"host": "a", "n": {n}, "note": {{"x": "b"}}}}' for n in range(LINE_COUNT)]
    texts[line - 1] = '{"host": "a", "n": 7, "note": {"x": "b"}, "host": "c"}'
    path.write_text("\n".join(texts))
    design = rowkey.Design("t", "[host][n]", fields=FIELDS, cluster=SERVERS)
    refusal = f":{line}: the object has the name 'host' twice"
    with rowkey.open(design, "memory:") as table, pytest.raises(SampleError, match=refusal):
        load_file(table, path)
    with pytest.raises(SampleError, match=refusal):
        draft_design(path)


@pytest.mark.parametrize(
    ("number", "line"),
    cover_each(
        ["123456789012345678.5", "9007199254740993.0", "0.1234567890123456789", "5e-19"],
        [1, 300, LINE_COUNT],
    ),
)
def test_a_json_number_with_more_digits_than_a_float_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, number: str
) -> None:
    """A number in JSON with more digits than a float holds is stored as it is written."""
    monkeypatch.setattr(json_blocks, "MAX_BLOCK_LINES", BLOCK_LINES)
    path = tmp_path / "s.jsonl"
    texts = [f'{{"host": "a", "n": {n}, "price": {n}.25}}' for n in range(LINE_COUNT)]
    texts[line - 1] = f'{{"host": "b", "n": 7, "price": {number}}}'
    path.write_text("\n".join(texts))
    price = {"type": "decimal", "precision": 38, "scale": 19}
    design = rowkey.Design("t", "[host][n]", fields={**FIELDS, "price": price}, cluster=SERVERS)
    with rowkey.open(design, "memory:") as table:
        assert LINE_COUNT == load_file(table, path).row_count
        assert Decimal(number) == table.get(host="b", n=7)["price"]
        assert Decimal("9.25") == table.get(host="a", n=9)["price"]


def test_a_name_that_occurs_twice_in_a_nested_json_object_is_refused(tmp_path: Path) -> None:
    """Also in an object within an array, if the array is read."""
    path = tmp_path / "s.json"
    path.write_text('[{"host": "a", "n": 1}, {"host": "b", "n": 2, "note": [{"x": 1, "x": 1}]}]')
    with pytest.raises(SampleError, match="item 2: the object has the name 'x' twice"):
        draft_design(path)
    assert run(DESIGN, path).operation_count == 2


# Nothing


@pytest.mark.parametrize(
    "name",
    ["e.csv", "e.csv.gz", "e.txt", "e.jsonl", "e.parquet", "e.arrow", "e.arrows", "e.log"],
)
def test_an_empty_file_can_be_loaded_but_not_simulated(tmp_path: Path, name: str) -> None:
    """A load of an empty file writes nothing, and a simulation refuses the file."""
    path = tmp_path / name
    names = ["host", "n", "note", "share"]
    text = {".csv": ",".join(names), ".gz": ",".join(names), ".txt": " ".join(names)}
    table = pa.table({name: pa.array([], pa.string()) for name in names})
    if name == "e.parquet":
        parquet.write_table(table, path)
    elif name == "e.arrow":
        feather.write_feather(table, path)
    elif name == "e.arrows":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema):
            pass
    else:
        plain = text.get(path.suffix, "").encode()
        path.write_bytes(gzip.compress(plain) if path.suffix == ".gz" else plain)
    if name == "e.log":
        design = rowkey.Design("t", "[path][status]", fields={"path": "text", "status": "u16"})
    else:
        design = DESIGN
    with rowkey.open(design, "memory:") as empty:
        found = load_file(empty, path)
    assert (0, 0) == (found.row_count, found.left_out.count)
    with pytest.raises(SampleError, match="the file has no rows"):
        run(design, path)


def test_an_empty_file_without_the_columns_of_the_design_is_refused(tmp_path: Path) -> None:
    """An empty file without the design's columns is refused."""
    (tmp_path / "e.csv").write_text("a,b\n")
    assert "has no column 'host'; expected one of a, b" in get_refusal(tmp_path / "e.csv")
