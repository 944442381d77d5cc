"""Data frames and other tables in memory, loaded into a table and read from it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rowkey
from data_frames import ORDERS, SOURCES, build_orders, write_parquet
from rowkey import Design, RowError
from rowkey.table import load_file

DESIGN = Design(**ORDERS)


@pytest.mark.parametrize("name", SOURCES)
def test_a_table_in_memory_is_loaded_as_its_parquet_file(name: str, tmp_path: Path) -> None:
    """Every kind of table gives the stored rows of the same rows in a Parquet file."""
    rows = build_orders(60)
    with rowkey.open(DESIGN, "memory:") as expected, rowkey.open(DESIGN, "memory:") as actual:
        load_file(expected, write_parquet(rows, tmp_path))
        assert 60 == actual.load(SOURCES[name](rows))
        assert expected.scan().to_arrow().equals(actual.scan().to_arrow())


def test_the_arrow_table_of_a_scan_is_read_by_pandas_polars_and_duckdb() -> None:
    """The Arrow table of a scan becomes a frame of pandas and polars, and is queried by DuckDB."""
    with rowkey.open(DESIGN, "memory:") as orders:
        orders.load(build_orders(20).to_pandas())
        scan = orders.scan("shop = ?", "shop-1", order="at")
        found = scan.to_arrow()
        expected = found["id"].to_pylist()
        assert expected
        assert expected == [row["id"] for row in scan]
        assert expected == scan.to_pandas()["id"].tolist()
        assert expected == scan.to_polars()["id"].to_list()
        assert expected == pa.table(scan)["id"].to_pylist()
        assert len(expected) == orders.load(scan)
    assert expected == found.to_pandas()["id"].tolist()
    assert expected == pl.DataFrame(found)["id"].to_list()
    assert expected == [n for (n,) in duckdb.connect().from_arrow(found)["id"].fetchall()]


def test_a_type_checker_finds_a_misspelt_name_of_the_package() -> None:
    """The package hides no name from a type checker, which finds a misspelt one."""
    with pytest.raises(AttributeError, match="has no attribute 'opne'"):
        rowkey.opne  # type: ignore[attr-defined] # noqa: B018 - mypy reports an unused ignore


CONVERTED: dict[str, tuple[Any, Any]] = {
    "price": ([1.5, float("nan"), 2.0, None], [Decimal("1.50"), None, Decimal("2.00"), None]),
    "kind": (["new", "", "old", None], ["new", None, "old", None]),
    "tax": (["1", "2.50", "0.01", "3"], [Decimal(n) for n in ("1.00", "2.50", "0.01", "3.00")]),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_values_of_a_data_frame_are_converted_as_those_of_a_file(name: str) -> None:
    """Floats become decimals, and texts numbers; NaN of pandas and blanks are null."""
    given, expected = CONVERTED[name]
    frame = build_orders(4).drop_columns([name]).to_pandas()
    frame[name] = given
    with rowkey.open(DESIGN, "memory:") as orders:
        assert 4 == orders.load(frame)
        found = {row["id"]: row.get(name) for row in orders.scan()}
    assert expected == [found[n] for n in range(4)]


def replace_column(name: str, values: Any, count: int = 4) -> pa.Table:
    """Return rows with other values in one column."""
    table = build_orders(count)
    return table.set_column(table.schema.get_field_index(name), name, values)


REFUSED: dict[str, tuple[Callable[[], Any], str, int]] = {
    "value": (
        lambda: pl.from_arrow(replace_column("price", pa.array([1.5, 2.25, float("nan"), 1.0]))),
        r"^row 2 \(counted from 0\), field price: .*nan",
        2,
    ),
    "rounded": (
        lambda: replace_column("price", pa.array([1.5, 0.001, 1.0, 1.0])),
        r"^row 1 \(counted from 0\), field price: .*0.001",
        1,
    ),
    "text": (
        lambda: replace_column("id", pa.array(["1", "x", "3", "4"])),
        r"^row 1 \(counted from 0\), field id: 'x'",
        1,
    ),
    "later batch": (
        lambda: replace_column("id", pa.array([*range(4_000), -1, 1]), 4_002).to_reader(
            max_chunksize=1_500
        ),
        r"^row 4000 \(counted from 0\), field id: -1",
        4_000,
    ),
    "unknown column": (
        lambda: build_orders(4).append_column("color", pa.array(["red"] * 4)),
        r"^batch: the design has no such field: color",
        0,
    ),
    "nested": (
        lambda: replace_column("shop", pa.array([["a"]] * 4)),
        r"^row 0 \(counted from 0\), field shop: \['a'\] is a list; expected text",
        0,
    ),
    "mixed": (
        lambda: pd.DataFrame({"id": [1, "x"]}),
        r"^argument rows, pandas.DataFrame: it cannot be read as an Arrow table: .*column id",
        0,
    ),
    "rows": (
        lambda: [{"id": 1}],
        r"^argument rows: .* is not a table; expected a pandas or polars",
        0,
    ),
    "lazy": (
        lambda: pl.LazyFrame({"id": [1]}),
        r"^argument rows: .* is not a table.*collect\(\)",
        0,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_value_of_a_data_frame_is_named_with_its_row(name: str) -> None:
    """The error names the row and the column; the rows before it are written, no others."""
    build, message, row_count = REFUSED[name]
    with rowkey.open(DESIGN, "memory:") as orders:
        with pytest.raises(RowError, match=message):
            orders.load(build())
        assert row_count == orders.count()


def test_the_unnamed_index_of_a_pandas_frame_is_left_out() -> None:
    """Rows chosen from a pandas frame are loaded; their index is no column."""
    frame = build_orders(40).to_pandas()
    with rowkey.open(DESIGN, "memory:") as orders:
        assert 20 == orders.load(frame[frame["id"] % 4 > 1])
