"""How fast files are judged, drafted from and loaded, compared with Arrow that only reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, json, parquet
from timing import measure_ratio

import rowkey
from rowkey.advise import JudgedDesign, draft_design
from rowkey.table import load_file

if TYPE_CHECKING:
    from timing import Result

ROWS = 1_000_000
HOSTS = 2_000
START = 1_700_000_000_000
NOTE = (
    "Each command goes the whole way, from the file to its result; Arrow reads the same file into "
    "memory and does nothing with it."
)
GOALS = {"simulate": 1.5e6, "init": 0.5e6, "load": 0.15e6}
"""Rows a second of each command on an idle machine with two cores."""
JSON_SIMULATE_GOAL = 0.5e6
"""The same of `simulate` with JSON lines."""


def measure_all(row_count: int = ROWS) -> Iterator[Result]:
    """Yield the results of each command with each file format.

    Args:
        row_count: rows of each file.
    """
    with TemporaryDirectory() as place:
        folder = Path(place)
        rows = build_rows(row_count)
        for format_name, (write, read) in _FORMATS.items():
            path = folder / f"events.{format_name.replace(' ', '.')}"
            write(rows, path)
            for command, run in _COMMANDS.items():
                result = measure_ratio(
                    f"{command}, {format_name}",
                    "M rows/s",
                    (row_count, partial(run, path, folder)),
                    "Arrow reads the file",
                    (row_count, partial(read, path)),
                )
                goal = GOALS[command]
                if command == "simulate" and "jsonl" in format_name:
                    goal = JSON_SIMULATE_GOAL
                result.goal = f"{goal / 1e6:g} M rows/s"
                result.met = result.median >= goal
                yield result
            path.unlink()


def build_rows(count: int) -> pa.Table:
    """Return log events of 2,000 hosts of unequal load, in the order of time."""
    chance = np.random.default_rng(0)
    shares = 1 / np.arange(1, HOSTS + 1) ** 0.6
    hosts = pa.array([f"web-{number:04d}.example.net" for number in range(HOSTS)])
    users = chance.integers(0, 2**32, count).tolist()
    items, times_ms = chance.integers(0, 9_973, count), chance.integers(0, 313, count)
    messages = zip(items.tolist(), times_ms.tolist(), strict=True)
    return pa.table(
        {
            "host": hosts.take(pa.array(chance.choice(HOSTS, count, p=shares / shares.sum()))),
            "user": pa.array([f"u{user:08x}" for user in users]),
            "ts": pa.array(np.arange(count, dtype=np.int64) * 37 + START),
            "bytes": pa.array(chance.integers(0, 2**20, count)),
            "message": pa.array([f"GET /item/{item} took {ms} ms" for item, ms in messages]),
        }
    )


def _build_design(path: Path) -> rowkey.Design:
    """Return the design of the events, with the names of a file's columns."""
    is_nested = path.name.endswith(".nested.jsonl")
    fields: dict[str, Any] = {"ts": "timestamp_ms"}
    for name, field_type in {"host": "text", "user": "text", "bytes": "i64"}.items():
        fields[name] = {"type": field_type, **({"from": f"source.{name}"} if is_nested else {})}
    return rowkey.Design(
        "events",
        "[bucket(host, 16)][host][desc(ts)]",
        splits="per_bucket",
        fields={**fields, "message": "text"},
        families={"d": {}},
        writes={"rate": "5000/s"},
        reads=[
            {"name": "tail", "where": "host = ?", "order": "ts desc", "limit": 100},
            {"name": "span", "where": "host = ? and ts >= ? and ts < ?"},
        ],
    )


def _write_json(rows: pa.Table, path: Path) -> None:
    """Write rows as JSON lines, in a nested form if the name of the file says so."""
    from json import dumps

    with path.open("w", encoding="utf-8") as stream:
        for row in rows.to_pylist():
            if path.name.endswith(".nested.jsonl"):
                row["source"] = {name: row.pop(name) for name in ("host", "user", "bytes")}
            stream.write(dumps(row) + "\n")


_FORMATS: dict[str, tuple[Callable[[pa.Table, Path], object], Callable[[Path], object]]] = {
    "csv": (csv.write_csv, csv.read_csv),
    "parquet": (parquet.write_table, parquet.read_table),
    "jsonl": (_write_json, json.read_json),
    "nested jsonl": (_write_json, json.read_json),
}
"""How each file is written, and how Arrow reads it."""


def _simulate(path: Path, _: Path) -> object:
    """Judge a design by a file, with its declared reads."""
    simulation = JudgedDesign(_build_design(path), path).simulation
    return simulation.verdict, simulation.reads


def _draft(path: Path, _: Path) -> object:
    """Draft a design from a file."""
    return draft_design(path)


def _load(path: Path, folder: Path) -> object:
    """Load a file into a new table of the embedded engine."""
    with (
        TemporaryDirectory(dir=folder) as place,
        rowkey.open(_build_design(path), f"rocks:{place}") as table,
    ):
        return load_file(table, path)


_COMMANDS: dict[str, Callable[[Path, Path], object]] = {
    "simulate": _simulate,
    "init": _draft,
    "load": _load,
}
"""What each command does."""
