"""Every real recording, with a design for all of its fields."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import rowkey
from rowkey import Design
from rowkey.regions import to_string_binary
from rowkey.simulate import choose_design_splits
from rowkey.workload import open_sample

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
EXAMPLES = Path(str(resources.files(rowkey))) / "examples"
SHARED = ROOT.parent / "shared" / "data"
"""Recordings that are too large for the repository; their tests say so where they are not."""
SIXTEEN = {"algorithm": "sample", "regions": 16}
FEW_ROWS = 5_000
_READ: dict[tuple[Path, bool], pa.Table] = {}
"""The rows of the files that were read so far, or a few: several tests take their first rows."""
NO_VALUE = "NA"
"""How R, which wrote the two from New York, says that there is no value."""


def make_nullable(kind: str) -> dict[str, Any]:
    """Return a nullable field of a type."""
    return {"type": kind, "nullable": True}


@dataclass(frozen=True)
class Recording:
    """A recording and a design for the file.

    Args:
        path: the file.
        words: the design's key, fields and splits.
        columns: the number of columns of the file, and of fields of the design.
    """

    path: Path
    words: dict[str, Any]
    columns: int

    def sample(self, most: int | None, folder: Path) -> Path:
        """Return the first rows as a file that can be loaded; all rows if `most` is None.

        Args:
            most: the number of rows.
            folder: a folder for the file.
        """
        if not self.path.exists():
            pytest.skip(f"NOT LOADED: {self.path.relative_to(ROOT.parent)} is not beside rowkey")
        is_typed = self.path.is_relative_to(SHARED)
        if most is None and not is_typed:
            return self.path
        is_part = most is not None and most <= FEW_ROWS and not is_typed
        if (self.path, is_part) not in _READ:
            _READ[self.path, is_part] = (
                read_typed(self.path) if is_typed else self._read(FEW_ROWS if is_part else None)
            )
        table = _READ[self.path, is_part]
        parquet.write_table(table.slice(0, most), folder / "sample.parquet")
        return folder / "sample.parquet"

    def _read(self, most: int | None) -> pa.Table:
        """Return at least so many rows, or all, as rowkey reads them, named as in the file."""
        fields = Design("t", **self.words).fields
        batches: list[pa.RecordBatch] = []
        for events in open_sample(self.path, fields, None).read_events():
            batches.append(events.rows)
            if most is not None and sum(rows.num_rows for rows in batches) >= most:
                break
        table = pa.Table.from_batches(batches)
        return table.rename_columns([fields[n].declaration.source or n for n in table.column_names])

    def design(self, sample: Path) -> Design:
        """Return the design with fixed boundaries, as it is created.

        Args:
            sample: the rows that decide the boundaries.
        """
        cut = choose_design_splits(Design("t", **self.words, cluster={"servers": 8}), sample)
        listed = [to_string_binary(split) for split in cut.boundaries.splits]
        return Design("t", **(self.words | {"splits": listed}), cluster={"servers": 8})


def read_typed(path: Path) -> pa.Table:
    """Read a CSV file with the types and nulls that Arrow infers."""
    words = csv.ConvertOptions(null_values=[NO_VALUE], strings_can_be_null=True)
    return csv.read_csv(pa.BufferReader(_read_content(path)), convert_options=words)


def _read_content(path: Path) -> bytes:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        return archive.read(archive.namelist()[0])


RECORDINGS: dict[str, Recording] = {
    "flights": Recording(
        SHARED / "flights_nyc13" / "flights.csv.zip",
        {
            "key": "[bucket(carrier, flight, 16)][carrier][flight][time][origin]",
            "splits": "per_bucket",
            "fields": {
                "year": "u16",
                "month": "u8",
                "day": "u8",
                "dep_time": make_nullable("u16"),
                "sched_dep_time": "u16",
                "dep_delay": make_nullable("i16"),
                "arr_time": make_nullable("u16"),
                "sched_arr_time": "u16",
                "arr_delay": make_nullable("i16"),
                "carrier": "text",
                "flight": "u16",
                "tailnum": make_nullable("text"),
                "origin": "text",
                "dest": "text",
                "air_time": make_nullable("u16"),
                "distance": "u16",
                "hour": "u8",
                "minute": "u8",
                "time": {"type": "timestamp_s", "from": "time_hour"},
            },
        },
        19,
    ),
    "weather": Recording(
        SHARED / "flights_nyc13" / "weather.csv.gz",
        {
            "key": "[origin][desc(time)]",
            "splits": SIXTEEN,
            "fields": {
                "origin": "text",
                "year": "u16",
                "month": "u8",
                "day": "u8",
                "hour": "u8",
                "temp": make_nullable("float64"),
                "dewp": make_nullable("float64"),
                "humid": make_nullable("float64"),
                "wind_dir": make_nullable("u16"),
                "wind_speed": make_nullable("float64"),
                "wind_gust": make_nullable("float64"),
                "precip": make_nullable("float64"),
                "pressure": make_nullable("float64"),
                "visib": make_nullable("float64"),
                "time": {"type": "timestamp_s", "from": "time_hour"},
            },
        },
        15,
    ),
    "shipped flights": Recording(
        EXAMPLES / "flights.parquet",
        {
            "key": "[mod(time, 24)][time][carrier][flight][origin]",
            "splits": "per_bucket",
            "fields": {
                "time": {"type": "timestamp_s", "from": "time_hour"},
                "carrier": "text",
                "flight": "u16",
                "tailnum": make_nullable("text"),
                "origin": "text",
                "dest": "text",
            },
        },
        6,
    ),
    "nab": Recording(
        DATA / "nab_real_streams.csv.gz",
        {
            "key": "[sensor][timestamp]",
            "splits": SIXTEEN,
            "fields": {
                "timestamp": "timestamp_s",
                "group": "text",
                "sensor": "text",
                "value": make_nullable("float64"),
            },
        },
        4,
    ),
    "cdnow": Recording(
        DATA / "CDNOW_master.txt.gz",
        {
            "key": "[mod(date, 7)][date][customer_id]",
            "splits": "per_bucket",
            "fields": {
                "customer_id": "text",
                "date": "date",
                "number_of_cds": "u16",
                "dollar_value": {"type": "decimal", "precision": 9, "scale": 2},
            },
        },
        4,
    ),
    "apache": Recording(
        EXAMPLES / "apache_access.log.gz",
        {
            "key": "[bucket(client, 16)][client][desc(time)]",
            "splits": "per_bucket",
            "fields": {
                "client": "text",
                "ident": make_nullable("text"),
                "user": make_nullable("text"),
                "time": "timestamp_s",
                "method": "text",
                "path": "text",
                "protocol": make_nullable("text"),
                "status": "u16",
                "bytes": make_nullable("u32"),
                "referer": make_nullable("text"),
                "agent": make_nullable("text"),
            },
        },
        11,
    ),
}
