"""Tests that blocks of JSON lines have the same values however they are parsed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkey.errors import SampleError
from rowkey.workload import SkippedRows
from rowkey.workload.columnar import json_arrays, json_blocks
from rowkey.workload.columnar.json_blocks import LineBlock, ObjectParser, read_line_blocks
from rowkey.workload.formats import FORMATS, json_lines

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-100, 100),
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 21.0, 1e16, 1e-7, 2.0**53, 2**63, -(2**63), "", "x", "1.50"]),
    st.text(max_size=5),
)
STEADY = {
    "t": st.text(max_size=5) | st.none(),
    "n": st.integers(0, 10**6),
    "f": st.sampled_from([1.5, 2.0, 3, None, -0.25, 10**20]),
    "o": st.fixed_dictionaries({}, optional={"t": st.text(max_size=3), "x": st.booleans()}),
}
OBJECTS = st.fixed_dictionaries({}, optional=STEADY) | st.dictionaries(
    st.sampled_from(["t", "n", "f", "o", "o.t", "new"]),
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from("tx"), SCALARS),
)
ODD_LINES = [
    b"", b"  ", b"\xc2\xa0", b"[1]", b"5", b"{", b'{"t": "a"} {"t": "b"}',
    b'{"t": "a"}{"t": "b"}',     b'{"t":', b'"a"}', b'{"t": "\xff"}', b'{"u": "\xff"}',
    b'{"n": NaN}', b'{"n": Inf}', b'{"u":-NaN}',     b'{"u": Infinity, "n": 1}',
    b'{"f": 1e400}', b'{"u": 1e400}', b'{"f": 1E2, "n": 1.0}',
    b'{"n": -0}',     b'{"f": -0, "t": "f\\": 7"}', b'{"t": "\\ud83d\\ude00"}',
    b'{"t": "\\ud83d"}', b'{"t": "\\ude00"}',     b'{"n": 1, "n": 2}',
    b'{"\\u0074": "escaped"}', b'{"t": "x"}\x0b', b'\t{"t": "x"} \r',
    b'{"n": 01}',     b'{"u": ' + b"[" * 2_000 + b"]" * 2_000 + b"}", b'{"t": "a\x00b"}',
    b'{"t": "\\u0000"}', b"\x00",     b'{"o": {"t": "1", "t": "2"}}', b'{"o": 5}',
    b'{"o": {}, "f": 12345678901234567890}', b'{"t": {}}',     b'{"n": ' + b"1" * 400 + b"}",
    b'{"u": ' + b"1" * 5_000 + b"}",
    b'{"t": "2024-01-01T00:00:00Z"}',     b'{"u": ' + b"1" * 400 + b".0}",
    b'{"f": ' + b"1" * 400 + b".5}",
    b'{"f": 0.' + b"1" * 999 + b"}",     b'{"f": 1.0, "o": {"f": 2.0}}', b'{"t": "x",}',
    b'{"t": "x"} // c', b'{"n": 1e-400}', b'{"f": 4.94E-324, "u": "x-1e-400"}',
    b'{"u": [1,\t"a\\"]\\\\", {"x": [true,null]}], "f" : 7 , "n":[]}', b'{"t": [1e400]}',
    b'{"t": [{"x": 1, "x": 2}]}', b'{"t": ["\\ufdd0", "\xef\xb7\x90"], "n": [1.50]}',
    b'{"t": "\xef\xb7\x905", "n": true}',
]  # fmt: skip


def write_lines(folder: Path, lines: list[bytes], *, is_last_ended: bool = True) -> Path:
    """Return a file with some lines."""
    path = folder / "rows.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n" * is_last_ended)
    return path


def read_all(path: Path, columns: list[str] | None) -> tuple[Any, ...]:
    """Return the rows, the column names and the skipped lines of a file, or its error."""
    sample_format, skipped = FORMATS["json_lines"]({}), SkippedRows()
    try:
        batches = list(sample_format.read_batches(path, columns, skipped))
    except SampleError as error:
        return (str(error),)
    rows = [row for batch in batches for row in batch.to_pylist()]
    types = {tuple(map(str, batch.schema.types)) for batch in batches}
    return rows, batches[0].schema.names, types, skipped.count, skipped.problems


def check_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch, columns: list[str] | None) -> None:
    """Assert that a file has the same values, with and without Arrow."""
    monkeypatch.setattr(json_lines, "MIN_HALVED_LINES", 2)
    found = read_all(path, columns)
    with monkeypatch.context() as patch:
        patch.setattr(ObjectParser, "parse", lambda *_: None)
        expected = read_all(path, columns)
    assert expected == found


@settings(max_examples=150 if IS_LONG else 8, deadline=None)
@given(
    st.lists(OBJECTS.map(json.dumps).map(str.encode) | st.sampled_from(ODD_LINES), max_size=12),
    st.lists(st.sampled_from(["t", "n", "f", "o", "o.t", "o.x", "u"]), unique=True, min_size=1),
    st.sampled_from(["compact", "escaped", "plain"]),
    st.booleans(),
)
def test_json_parsed_by_blocks_equals_json_parsed_by_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    columns: list[str],
    spelling: str,
    is_last_ended: bool,
) -> None:
    """A file has the same values, skipped lines and names, parsed by blocks or by lines."""
    if spelling == "compact":
        lines = [line.replace(b'": ', b'":') for line in lines]
    with pytest.MonkeyPatch.context() as monkeypatch:
        path = write_lines(tmp_path_factory.mktemp("json"), lines * 3, is_last_ended=is_last_ended)
        check_both_ways(path, monkeypatch, columns)
        check_both_ways(path, monkeypatch, None)


@settings(max_examples=150 if IS_LONG else 8, deadline=None)
@given(st.lists(OBJECTS.map(json.dumps).map(str.encode) | st.sampled_from(ODD_LINES), max_size=12))
def test_json_read_with_all_columns_equals_json_read_by_names(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """A file that is read with all columns has the values that it has if they are named."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(json_lines, "MIN_HALVED_LINES", 2)
        monkeypatch.setattr(json_blocks, "MAX_BLOCK_LINES", 5)
        path = write_lines(tmp_path_factory.mktemp("json"), lines * 3)
        found = read_all(path, None)
        assert len(found) == 1 or not found[1] or found == read_all(path, found[1])


@pytest.mark.parametrize("odd", ODD_LINES)
def test_an_odd_json_line_is_parsed_the_same_next_to_regular_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bytes
) -> None:
    """An odd line among usual ones is read as it is when each line is parsed alone."""
    usual = [
        json.dumps({"t": f"a{n}", "n": n, "f": n / 4, "o": {"t": "é", "x": True}}).encode()
        for n in range(10)
    ]
    path = write_lines(tmp_path, [*usual, odd, *usual])
    check_both_ways(path, monkeypatch, ["t", "n", "f", "o.t", "o.x"])
    check_both_ways(path, monkeypatch, None)


@settings(max_examples=300 if IS_LONG else 12, deadline=None)
@given(st.lists(OBJECTS, min_size=1, max_size=12), st.sampled_from([None, 1]), st.integers(1, 40))
def test_a_json_array_has_the_rows_of_its_items_as_lines(
    tmp_path_factory: pytest.TempPathFactory,
    objects: list[dict[str, Any]],
    indent: int | None,
    chunk_bytes: int,
) -> None:
    """An array has the rows of a file of lines, in any layout and however it is cut to chunks."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(json_arrays, "CHUNK_BYTES", chunk_bytes)
        folder = tmp_path_factory.mktemp("json")
        path = write_lines(folder, [json.dumps(one).encode() for one in objects])
        array = folder / "rows.json"
        array.write_text(json.dumps(objects, indent=indent, ensure_ascii=False))
        expected = read_all(path, None)
        if len(expected) > 1:
            assert expected == read_all(array, None)


def test_a_json_array_of_equal_objects_is_parsed_by_blocks(tmp_path: Path) -> None:
    """An array of equal objects is as regular as a file of lines."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"n": n} for n in range(1_000)], indent=2).replace("\n    ", " "))
    blocks = [*read_line_blocks(path, None, 1 << 20)]
    assert 1_000 == sum(block.line_count for block in blocks)
    assert all(b"{" == line[:1] for line in blocks[0].data.splitlines())


LIKE_OTHERS: dict[str, list[dict[str, Any]]] = {
    "equal": [{}],
    "lists": [{"a": [{"x": n, "y": "\\é"}, []]} for n in range(3)],
    "mixed": [{"a": 1}, {"a": "x"}, {"a": True}, {"a": [1]}],
    "whole": [{"a": 1.0}, {"a": 0.5}, {"a": 10**20}],
    "digits": [{"a": 1700000000.123456}, {"a": 0.1234567890123456}],
}
"""Further values of the objects of a file."""


@pytest.mark.parametrize("kind", LIKE_OTHERS)
def test_json_lines_of_equal_objects_are_parsed_by_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Of a file of similar objects only the lines that tell the types are parsed one by one."""
    lines = [
        json.dumps({"n": n, "o": {"v": n / 2}, **other, "t": f"{n}"}).encode()
        for n in range(1_000)
        for other in LIKE_OTHERS[kind]
    ]
    path = write_lines(tmp_path, lines)
    parsed: list[int] = []
    parse_lines = json_lines._parse_lines

    def count_lines(block: LineBlock, misfits: Any, paths: Any) -> Any:
        """Note how many lines are parsed one by one."""
        parsed.append(block.line_count)
        return parse_lines(block, misfits, paths)

    monkeypatch.setattr(json_lines, "_parse_lines", count_lines)
    rows, names, *_ = read_all(path, None)
    assert ("999", "499.5", "999") == tuple(rows[-1][name] for name in ("n", "o.v", "t"))
    assert {"n", "o.v", "t"} == {*names} - {"a"}
    assert sum(parsed) <= json_lines.MIN_HALVED_LINES + 1


def test_blocks_of_json_keep_the_line_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of a file have all of its lines, each with its number."""
    monkeypatch.setattr(json_blocks, "BLOCK_BYTES", 10)
    monkeypatch.setattr(json_blocks, "MAX_BLOCK_LINES", 2)
    path = write_lines(tmp_path, [b"\xef\xbb\xbfa", *(b"%d" % n for n in range(2, 40)), b"end"])
    blocks = list(read_line_blocks(path, None, 1 << 20))
    numbers = [(one.first_line, one.data.splitlines()[0]) for one in blocks]
    assert (1, b"a") == numbers[0]
    assert all(data == b"%d" % number for number, data in numbers[1:-1])
    assert 40 == sum(block.line_count for block in blocks)
    assert [b"1\n2\n", b"3"] == [part.data for part in LineBlock(1, b"1\n2\n3").split(2)]


def test_a_column_name_with_dots_reads_a_nested_json_value(tmp_path: Path) -> None:
    """Each listed column is read, wherever the file joins the steps to its value by dots."""
    path = tmp_path / "a.jsonl"
    lines = ['{"a.b": {"c": 1}, "x": {"y.z": 2}}', '{"a": {"b": {"c": 3}}, "x.y": {"z": 4}}']
    path.write_text("\n".join(lines * 100))
    sample_format = FORMATS["json_lines"]({"kind": "json_lines"})
    [batch] = sample_format.read_batches(path, None, SkippedRows())
    assert {"a.b.c": ["1", "3"] * 100, "x.y.z": ["2", "4"] * 100} == batch.to_pydict()
    assert ["a.b.c", "x.y.z"] == sample_format.read_column_names(path, ["a.b.c", "x.y.z"])


def test_a_column_name_with_too_many_dots_is_left_out_with_the_reason(tmp_path: Path) -> None:
    """A column whose values would not be found is left out with the reason."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a.b.c": {"d.e": {"f": 1}}, "n": 2}\n' * 3)
    sample_format = FORMATS["json_lines"]({"kind": "json_lines"})
    [batch] = sample_format.read_batches(path, None, SkippedRows())
    assert ["n"] == batch.schema.names
    assert ["a.b.c.d.e.f"] == list(sample_format.find_unreadable_columns(path))
