"""The field types that a draft chooses from the values of a column."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from rowkey.advise import draft_design
from rowkey.advise.drafts.column_stats import ColumnStats, guess_field
from rowkey.advise.drafts.text_forms import SeenNumbers
from rowkey.errors import SampleError

if TYPE_CHECKING:
    from rowkey.design import Design


def list_options(design: Design, name: str) -> dict[str, Any]:
    """Return the declared options of a field."""
    return design.declaration.fields[name].model_dump(by_alias=True, exclude_defaults=True)


def draft_column(folder: Path, name: str, values: list[str]) -> Design:
    """Draft a design from a CSV file whose second column has the given values."""
    path = folder / "rows.csv"
    lines = [f"{number},{value}" for number, value in enumerate(values)]
    path.write_text("\n".join([f"n,{name}", *lines, ""]), encoding="utf-8")
    return draft_design(path).design


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("ts", ["1706659200", "1706659300"], {"type": "timestamp_s"}),
        ("ts", ["1706659200000", "1706659300000"], {"type": "timestamp_ms"}),
        ("ts", ["1706659200000000", "1706659300000000"], {"type": "timestamp_us"}),
        ("ts", ["1706659200000000000", "1706659200000000001"], {"type": "timestamp_ns"}),
        ("at", ["2024-01-31T10:00:00Z", "2024-01-31T10:00:00.25+08:00"], {"type": "timestamp_ms"}),
        ("at", ["2024-01-31 10:00:00", "2024-01-31 10:00:01"], {"type": "timestamp_s"}),
        ("born", ["1960-01-31 10:00:00", "2024-01-31 00:00:00"], {"type": "text", "max_bytes": 64}),
        ("born", ["1960-01-31T00:00:00Z", "2024-01-31 00:00"], {"type": "date"}),
        ("born", ["1960-01-31T00:00:00+01:00"], {"type": "text", "max_bytes": 64}),
        ("at", ["1900-01-01 00:00:00", *["2024-01-31 10:00:00"] * 50], {"type": "timestamp_s"}),
        ("at", ["2024-01-31 10:00:00.000001", "2024-01-31"], {"type": "text", "max_bytes": 64}),
        ("day", ["2024-01-31", "2024-02-29"], {"type": "date"}),
        ("day", ["20240131", "20240229"], {"type": "date"}),
        ("day", ["20240131", "20240230"] * 50, {"type": "u32"}),
        ("at", ["20240131100000", "20240131235959"], {"type": "timestamp_s"}),
        ("phone", ["1706659200", "1706659300"], {"type": "u64"}),
        ("status", ["0", "63"] * 50, {"type": "u8"}),
        ("status", ["0", "64"] * 50, {"type": "u16"}),
        ("hour", ["-1", "31"] * 50, {"type": "i8"}),
        ("n", ["0", "63"] * 50, {"type": "u32"}),
        ("visits", ["0", "4294966"] * 50, {"type": "u32"}),
        ("visits", ["0", "4294967"] * 50, {"type": "u64"}),
        ("size", ["-1", "40000"] * 50, {"type": "i32"}),
        ("size", ["18446744073709551615", "1"], {"type": "u64"}),
        ("size", ["18446744073709551616", "1"], {"type": "text", "max_bytes": 64}),
        ("zip", ["00501", "90210"] * 50, {"type": "digits", "width": 5}),
        ("zip", ["00501", "90210"], {"type": "text", "max_bytes": 64}),
        ("zip", [f"0{n}" for n in range(200)], {"type": "text", "max_bytes": 8}),
        ("on", ["true", "FALSE"], {"type": "bool"}),
        ("price", ["1.50", "12.00"], {"type": "decimal", "precision": 18, "scale": 2}),
        ("price", ["1.50", "12.00"] * 50, {"type": "decimal", "precision": 6, "scale": 2}),
        ("price", ["1.5", "12.00", "1e3"], {"type": "float64"}),
        ("user_id", ["9007199254740993.0", "9007199254740994.0"] * 50, {"type": "u64"}),
        ("user_id", ["1.5", "12.0"], {"type": "text", "max_bytes": 64}),
        ("part", ["10E4", "100E3"], {"type": "text", "max_bytes": 64}),
        ("part", ["10E4", "100E3", "-1.5"], {"type": "text", "max_bytes": 64}),
        ("phone", ["+491701200000", "+491701200001"], {"type": "text", "max_bytes": 64}),
        ("code", ["+00007", "00008"], {"type": "text", "max_bytes": 64}),
        ("TZ", ["+0200", "-0500"], {"type": "text", "max_bytes": 64}),
        ("code", ["007.50", "107.5"], {"type": "text", "max_bytes": 64}),
        ("x", ["0.12345678901234567", "1.5"], {"type": "text", "max_bytes": 64}),
        ("x", ["9007199254740993.5", "1.5"], {"type": "text", "max_bytes": 64}),
        ("x", ["0.30000000000000004", "0.10000000000000001"], {"type": "float64"}),
        ("x", ["+1.25", "-0.75", "0", "-0.0"], {"type": "float64"}),
        ("x", ["1.5e-7", "1e+20"], {"type": "float64"}),
        ("release", ["1.1", "1.10"], {"type": "text", "max_bytes": 64}),
        ("release", ["1.1", "1.10", "+1.9"], {"type": "text", "max_bytes": 64}),
        ("trace", ["00ff00ff", "12345678"], {"type": "hex", "width": 8}),
        ("key", ["123e4567-e89b-12d3-a456-426614174000"], {"type": "uuid"}),
        ("peer", ["10.0.0.1", "255.255.255.255"], {"type": "ipv4"}),
        ("client", ["10.0.0.1", "256.0.0.1"] * 50, {"type": "text", "max_bytes": 32}),
        ("level", ["WARN", "INFO"] * 60, {"type": "choice", "of": ("INFO", "WARN")}),
        ("size", ["7", "", "12"] * 50, {"type": "u32", "nullable": True}),
        ("note", ["short"] * 900, {"type": "text", "max_bytes": 64}),
        ("note", [f"note {n}" for n in range(100, 400)], {"type": "text", "max_bytes": 16}),
        ("product", ["pear", "apple"] * 60, {"type": "text", "max_bytes": 16}),
        ("订单号", ["1706659200000", "1706659300000"] * 50, {"type": "u64"}),
        ("order_id", ["20240131", "20240229"] * 50, {"type": "u64"}),
        ("采集时间", ["1706659200", "1706659300"], {"type": "timestamp_s"}),
    ],
)
def test_a_drafted_type_fits_all_values_of_its_column(
    name: str, values: list[str], options: dict[str, Any], tmp_path: Path
) -> None:
    """The type of a column fits all values, and the name decides only between possible types."""
    name = f"{name}_" if name == "n" else name
    assert options == list_options(draft_column(tmp_path, name, values), name)


@pytest.mark.parametrize("count", [1, 2, 3, 99, 100])
@pytest.mark.parametrize(("least", "wide", "narrow"), [(4, "u64", "u32"), (-4, "i64", "i32")])
def test_a_number_column_of_under_100_rows_gets_the_widest_type(
    count: int, least: int, wide: str, narrow: str, tmp_path: Path
) -> None:
    """A number column of under 100 rows gets the widest type, and the draft says why."""
    path = tmp_path / "rows.csv"
    lines = [f"{least + n % 5},{1_706_659_200 + n}" for n in range(count)]
    path.write_text("\n".join(["user,ts", *lines, ""]))
    draft = draft_design(path)
    assert (wide if count < 100 else narrow) == list_options(draft.design, "user")["type"]
    said = "1 number does not" if count == 1 else f"{count} numbers do not"
    assert (count < 100) == (f"{said} show how large later ones may be" in draft.text)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["+0200", "-0500"] * 9, "as numbers, they would lose zeros, signs or digits"),
        (["0.12345678901234567", "1.5"] * 9, "float64 would lose digits"),
        (["1.1", "1.10"] * 9, "as float64, different texts would be equal"),
    ],
)
def test_a_draft_comments_why_a_number_column_stays_text(
    tmp_path: Path, values: list[str], reason: str
) -> None:
    """A column of numbers that stays text has the reason in its comment."""
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["n,x", *(f"{n},{value}" for n, value in enumerate(values)), ""]))
    assert reason in draft_design(path).text


def test_a_32_bit_column_of_a_typed_file_gets_a_32_bit_type(tmp_path: Path) -> None:
    """A 32-bit column of a typed file gets a 32-bit type, however few rows it has."""
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"user": pa.array([4, 5], pa.int32()), "v": ["a", "b"]}), path)
    assert {"type": "u32"} == list_options(draft_design(path).design, "user")


def test_na_among_numbers_is_declared_as_null(tmp_path: Path) -> None:
    """NA among numbers is declared as null, and the field is nullable."""
    design = draft_column(tmp_path, "size", ["7", "NA", "12"] * 50)
    assert {"type": "u32", "nullable": True} == list_options(design, "size")
    assert {"kind": "csv", "nulls": ("NA",)} == {
        word: tuple(value) if isinstance(value, list) else value
        for word, value in (design.sample_format or {}).items()
    }


def test_a_quoted_na_is_read_as_text(tmp_path: Path) -> None:
    """A quoted NA is text, and its row is kept."""
    design = draft_column(tmp_path, "size", ['"7"', '"NA"', '"12"'])
    assert {"type": "text", "max_bytes": 64} == list_options(design, "size")
    assert design.sample_format is None


def test_nested_json_values_become_columns_and_missing_ones_nullable(tmp_path: Path) -> None:
    """A nested JSON value becomes a column, and a value that may be missing is nullable."""
    rows = [{"id": n, "at": {"ms": 1_706_659_200_000 + n}, "tag": "x"} for n in range(50)]
    del rows[7]["tag"]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    design = draft_design(path).design
    assert {"type": "timestamp_ms", "from": "at.ms"} == list_options(design, "at_ms")
    assert design.fields["tag"].nullable


def test_parquet_columns_keep_their_types_and_unsupported_ones_are_reported(tmp_path: Path) -> None:
    """Parquet columns keep their types, and a column that no field can hold is reported."""
    table = pa.table(
        {
            "at": pa.array([datetime(2024, 1, 31, tzinfo=UTC)] * 3, pa.timestamp("us", "UTC")),
            "day": [date(2024, 1, 31)] * 3,
            "host": pa.array(["a", "b", "c"]).dictionary_encode(),
            "price": [Decimal("1.50")] * 3,
            "small": pa.array([1.5, None, 2.5], pa.float32()),
            "blob": [b"\0", b"\1", b"\2"],
            "list": [[1], [2], [3]],
            "nothing": pa.nulls(3),
        }
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    draft = draft_design(tmp_path / "rows.parquet")
    types = {name: field.type.name for name, field in draft.design.fields.items()}
    assert {
        "at": "timestamp_us", "day": "date", "host": "text", "price": "decimal",
        "small": "float32", "blob": "bytes",
    } == types  # fmt: skip
    assert "# The column 'list' is left out: it has the type list<" in draft.text
    assert "# The column 'nothing' is left out: it holds no value." in draft.text


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("n", [0.0, None, 299.0], "u64"),
        ("when", [1_714_989_600_123.0, 1_714_989_601_123.0], "timestamp_ms"),
        ("day", [20240131.0, None, 20240229.0], "date"),
        ("day", [20240131.0, 20240230.0], "u64"),
        ("x", [20240131.0, 20240131.5], "float64"),
    ],
)
def test_whole_numbers_in_parquet_floats_get_integer_or_time_types(
    tmp_path: Path, name: str, values: list[float | None], kind: str
) -> None:
    """Integers that a data frame wrote as floats get the type that integers would have."""
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"id": [*map(str, range(len(values)))], name: values}), path)
    draft = draft_design(path)
    assert kind == draft.design.fields[name].type.name
    assert 0 == draft.skipped_rows.count


@pytest.mark.parametrize(("hour", "kind"), [(0, "date"), (7, "text")])
def test_parquet_times_before_1970_become_dates_or_text(
    tmp_path: Path, hour: int, kind: str
) -> None:
    """Times before 1970 become dates if they are days, and text otherwise; all are read."""
    path = tmp_path / "rows.parquet"
    times = [datetime(1960, 1, day, hour, tzinfo=UTC) for day in range(1, 32)]
    parquet.write_table(pa.table({"n": [*range(31)], "born": times}), path)
    draft = draft_design(path)
    assert kind == draft.design.fields["born"].type.name
    assert 0 == draft.skipped_rows.count
    assert "timestamps begin in 1970" in draft.text


def test_fixed_size_binary_and_halffloat_columns_become_fields(tmp_path: Path) -> None:
    """Fixed-size binary becomes bytes, halffloat a float32 or integer; both are read."""
    path = tmp_path / "rows.parquet"
    columns = {
        "hash": pa.array([bytes([n]) * 16 for n in range(9)], pa.binary(16)),
        "share": pa.array([np.float16(n / 8) for n in range(9)], pa.float16()),
        "n": pa.array([np.float16(n) for n in range(9)], pa.float16()),
    }
    parquet.write_table(pa.table(columns), path)
    draft = draft_design(path)
    assert {"type": "bytes", "max_bytes": 16} == list_options(draft.design, "hash")
    kinds = [draft.design.fields[name].type.name for name in ("share", "n")]
    assert ["float32", "u64"] == kinds
    assert 0 == draft.skipped_rows.count


def test_the_error_for_an_empty_typed_file_mentions_no_header_line(tmp_path: Path) -> None:
    """The error for Parquet and JSON without rows speaks of no line of column names."""
    parquet.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("")
    for name in ("a.parquet", "a.jsonl"):
        with pytest.raises(SampleError, match="no rows; expected columns with distinct names"):
            draft_design(tmp_path / name)


DIVIDED: dict[str, tuple[str, list[str], list[str]]] = {
    "versions": ("ver", [f"1.{n}" for n in range(1, 10)], [f"1.{n}" for n in range(10, 31)]),
    "dates": ("day", ["2024-01-31", "2024-02-01"] * 9, ["01.02.2024"] * 9),
    "digits": ("day", ["20240131", "20240201"] * 9, ["01.02.2024"] * 9),
    "measures": ("value", [f"{n / 7:.3f}" for n in range(99)], [f"{n / 7}" for n in range(99)]),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_the_type_of_a_column_does_not_depend_on_batch_boundaries(name: str) -> None:
    """Texts in later batches than others count as if all were in one."""
    column, first, later = DIVIDED[name]
    guesses = []
    for batches in ([first, later], [first + later], [[text] for text in first + later]):
        stats = ColumnStats(column)
        for texts in batches:
            stats.add_values(pa.array(texts))
        guess = guess_field(stats)
        guesses.append(guess and guess.options["type"])
    assert [guesses[0]] * 3 == guesses


def test_repeated_numbers_are_found_among_very_many_whatever_the_batches() -> None:
    """Of more numbers than are kept, those with small hashes stand for all."""
    texts = [f"{n}.5" for n in range(100_000)]
    seen = SeenNumbers()
    assert not seen.add_texts(pa.array(texts))
    assert seen.add_texts(pa.array([f"{text}0" for text in texts[:50_000]]))
