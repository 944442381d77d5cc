"""Every file that a table is dumped to loads as an equal table."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from click import UsageError
from hypothesis import assume, given, settings

import rowkey
from rowkey.cli.destination import Destination
from rowkey.cli.row_formats import write_rows
from rowkey.design import Design
from rowkey.errors import Mistakes, SampleError
from rowkey.keys import TYPES, bind_fields
from rowkey.schema import FieldDeclaration
from rowkey.table import load_file
from strategies import declarations, values

FORMS = ("jsonl", "csv", "parquet", "arrow", "arrows", "jsonl.gz", "csv.gz", "arrow.gz")
AWKWARD_VALUES = {
    "text": st.sampled_from(
        ["", " ", "null", "NaN", '""', '"', ",", "a,b", 'x"y', "\n", "\r\n", "\r", "\t", "\\N",
         "\ufeff", "größe", "日本", "\U0001f600", "\u2028", "\x85", "'", "\\", "\\xe9", "-", "=1"]
    ),
    "bytes": st.sampled_from([b"", b"\0", b"\xff\xfe", b'"', b",\n"]),
    "timestamp_s": st.sampled_from([0, 20_210_101, 20_210_199, 20_991_231]),
    "timestamp_ms": st.sampled_from([20_210_101, 20_210_101_235_959, 2**53 + 1]),
    "float64": st.sampled_from([float("inf"), float("-inf"), -0.0, 5e-324, 1e300, 0.1]),
    "i64": st.sampled_from([-(2**63), 2**63 - 1, -1, 20_210_101]),
}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> tuple[Design, list[dict[str, Any]]]:
    """Draw a design with nullable columns of some types, and rows for it."""
    chosen = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=5))
    words = [draw(declarations(name)).model_copy(update={"nullable": True}) for name in chosen]
    fields: dict[str, Any] = {
        "id": "u32",
        "host": {"type": "text", "nullable": draw(st.booleans())},
    }
    names = ["plain", " spaced ", "a, name's", "größe", "x.y"]
    for name, one in zip(names, words, strict=False):
        fields[name] = one.model_dump(exclude_unset=True)
    mistakes = Mistakes()
    bind_fields(
        {
            name: FieldDeclaration.model_validate(one if isinstance(one, dict) else {"type": one})
            for name, one in fields.items()
        },
        mistakes,
    )
    assume(not mistakes.mistakes)
    times = [name for name, one in fields.items() if TYPES[_get_type(one)].unit_ns is not None]
    design = Design("t", "[id]", fields=fields, writes={"time": times[0]} if times else {})
    rows = []
    for number in range(draw(st.integers(1, 6))):
        row: dict[str, Any] = {"id": number, "host": draw(AWKWARD_VALUES["text"])}
        for name in list(fields)[2:]:
            field = design.fields[name]
            some = values(field)
            if field.type.name in AWKWARD_VALUES and not field.type.options:
                some = some | AWKWARD_VALUES[field.type.name]
            row[name] = draw(st.none() | some)
        rows.append(row)
    return design, rows


def _get_type(words: Any) -> str:
    return str(words if isinstance(words, str) else words["type"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all examples write to."""
    return tmp_path_factory.mktemp("dumped")


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=settings().max_examples // 2)
@given(given_table=tables())
def test_values_of_every_type_survive_dump_and_load_in_every_format(
    folder: Path, form: str, given_table: tuple[Design, list[dict[str, Any]]]
) -> None:
    """Values of every type, null or not, are equal after a dump and a load in every format."""
    design, rows = given_table
    to = Destination.from_options(
        None, str(folder / f"all.{form}"), ("jsonl", "csv", "arrow", "parquet")
    )
    with rowkey.open(design, "memory:") as table, rowkey.open(design, "memory:") as other:
        for row in rows:
            table.put(row)
        expected = list(table.scan())
        assume(form != "parquet" or not any(map(_is_beyond_parquet, expected)))
        assert len(rows) == write_rows(table.scan(), to)
        try:
            loaded = load_file(other, str(to.path))
        except SampleError:  # times after the year 9999 may be of our days in another unit
            loaded = load_file(other, str(to.path), format_options=declare_units(design, form))
        assert (len(rows), 0, "") == (
            loaded.row_count,
            loaded.left_out.count,
            loaded.left_out.first_problem,
        )
        assert expected == list(other.scan())


def declare_units(design: Design, form: str) -> dict[str, Any]:
    """Return the options of a format with the unit of each time, as the refusal offers it."""
    units = {
        name: field.type.name.replace("timestamp", "epoch")
        for name, field in design.fields.items()
        if field.type.name.startswith("timestamp_")
    }
    return {"kind": "csv" if form.startswith("csv") else "json_lines", "times": units}


def test_a_refused_time_of_january_1970_suggests_a_unit_that_works(folder: Path) -> None:
    """A refusal of times of January 1970 offers their unit, which then reads them."""
    design = Design("t", "[ts]", fields={"ts": "timestamp_ms"})
    path = folder / "early.csv"
    path.write_text("ts\n32874\n", encoding="utf-8")
    with rowkey.open(design, "memory:") as other:
        with pytest.raises(SampleError, match=r'If they are ms: .* times = \{ ts = "epoch_ms" \}'):
            load_file(other, str(path))
        load_file(other, str(path), format_options=declare_units(design, "csv"))
        assert [{"ts": 32_874}] == list(other.scan())


def _is_beyond_parquet(row: dict[str, Any]) -> bool:
    """Return whether a row may have seconds that exceed 64-bit milliseconds."""
    return any(isinstance(value, int) and value > 2**63 // 1_000 for value in row.values())


def test_a_dump_to_parquet_refuses_a_time_beyond_its_range(folder: Path) -> None:
    """A dump to Parquet refuses seconds that exceed its milliseconds and leaves no file."""
    design = Design("t", "[ts]", fields={"ts": "timestamp_s"})
    to = Destination("parquet", str(folder / "late.parquet"))
    with rowkey.open(design, "memory:") as table:
        table.put({"ts": 2**62})
        with pytest.raises(UsageError, match=r"4611686018427387904 .* Use -f arrow"):
            write_rows(table.scan(), to)
    assert [] == list(folder.glob("*late*"))


EMPTY = Design(
    "t",
    "[host][ts]",
    fields={
        "host": "text",
        "ts": "timestamp_ms",
        "note": {"type": "text", "nullable": True},
        "raw": {"type": "bytes", "nullable": True},
    },
)


def test_csv_distinguishes_null_from_an_empty_text(folder: Path) -> None:
    """CSV has null as nothing and an empty text as two quotes, and reads both."""
    path = folder / "empties.csv"
    text = 'host,ts,note,raw\n"",1,,\na,2,"",""\nb,3," ",00\n'
    with rowkey.open(EMPTY, "memory:") as table:
        for host, ts, note, raw in (
            ("", 1, None, None), ("a", 2, "", b""), ("b", 3, " ", b"\0"),
        ):  # fmt: skip
            table.put({"host": host, "ts": ts, "note": note, "raw": raw})
        expected = list(table.scan())
        write_rows(table.scan(), Destination("csv", str(path)))
    assert text.splitlines() == path.read_text().replace("b,3, ,00", 'b,3," ",00').splitlines()
    path.write_text(text)
    with rowkey.open(EMPTY, "memory:") as table:
        load_file(table, path)
        assert expected == list(table.scan())


def test_an_empty_csv_value_of_a_field_that_is_not_nullable_is_an_empty_text(folder: Path) -> None:
    path = folder / "others.csv"
    path.write_text("host,ts,note\n,1,\n")
    with rowkey.open(EMPTY, "memory:") as table:
        load_file(table, path)
        assert [{"host": "", "ts": 1, "note": None, "raw": None}] == list(table.scan())


def test_equal_tables_give_equal_compressed_dumps(folder: Path) -> None:
    """Equal tables give equal compressed dumps, without a time of day."""
    path = folder / "same.csv.gz"
    with rowkey.open(EMPTY, "memory:") as table:
        table.put({"host": "a", "ts": 1})
        write_rows(table.scan(), Destination("csv", str(path)))
        first = path.read_bytes()
        write_rows(table.scan(), Destination("csv", str(path)))
    assert first == path.read_bytes()
    assert b"host,ts,note,raw\na,1,,\n" == gzip.decompress(first)
