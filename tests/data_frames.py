"""The same rows as objects of each library that has the Arrow C stream interface."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

START_S = 1_714_521_600
ROW_COUNT = 900


def build_orders(count: int = ROW_COUNT) -> pa.Table:
    """Return rows with a column of every type that frames hold and tables store."""
    numbers = range(count)
    times = pa.array([(START_S + n // 3) * 1_000_000_000 for n in numbers])
    return pa.table(
        {
            "shop": pa.array([f"shop-{n * n % 11}" for n in numbers]),
            "at": times.cast(pa.timestamp("ns", "Europe/Berlin")),
            "id": pa.array(numbers, pa.int64()),
            "price": pa.array([None if n % 7 == 0 else n / 4 for n in numbers], pa.float64()),
            "kind": pa.array([("new", "old", None)[n % 3] for n in numbers]).dictionary_encode(),
            "day": pa.array([f"2024-05-{n % 28 + 1:02}" for n in numbers]).cast(pa.date32()),
            "paid": pa.array([n % 5 > 0 for n in numbers]),
            "tax": pa.array([Decimal(n % 100).scaleb(-2) for n in numbers], pa.decimal128(9, 2)),
        }
    )


ORDERS: dict[str, Any] = {
    "table": "orders",
    "key": "[bucket(shop, 8)][shop][at][id]",
    "splits": "per_bucket",
    "fields": {
        "shop": {"type": "text", "max_bytes": 12},
        "at": "timestamp_ms",
        "id": "u32",
        "price": {"type": "decimal", "precision": 9, "scale": 2, "nullable": True},
        "kind": {"type": "choice", "of": ["new", "old"], "nullable": True},
        "day": "date",
        "paid": "bool",
        "tax": {"type": "decimal", "precision": 9, "scale": 2},
    },
    "cluster": {"servers": 4},
    "writes": {"time": "at"},
}


def _build_relation(table: pa.Table) -> Any:
    """Return a relation of DuckDB whose connection lives as long as it."""
    return duckdb.connect().from_arrow(table)


SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas index": lambda table: table.to_pandas().iloc[::-1].sort_values("id"),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "duckdb": _build_relation,
    "pyarrow table": lambda table: table,
    "pyarrow chunks": lambda table: pa.Table.from_batches(table.to_batches(max_chunksize=200)),
    "pyarrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "pyarrow reader": lambda table: table.to_reader(max_chunksize=200),
    "string views": lambda table: table.set_column(0, "shop", table["shop"].cast(pa.string_view())),
    "large strings": lambda table: table.set_column(
        0, "shop", table["shop"].cast(pa.large_string())
    ),
    "array interface": lambda table: ArrayOnly(table.combine_chunks().to_batches()[0]),
}
"""Objects that hold the rows of a table, by the name of what they are."""


class ArrayOnly:
    """An object that has only the Arrow C array interface.

    Args:
        batch: its rows.
    """

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        """Return the capsules of the schema and the rows."""
        return self.batch.__arrow_c_array__(requested_schema)


def write_parquet(table: pa.Table, folder: Path) -> Path:
    """Write rows to a Parquet file and return its path."""
    path = folder / "orders.parquet"
    parquet.write_table(table, path)
    return path
