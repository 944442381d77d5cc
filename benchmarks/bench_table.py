"""How fast a table on the embedded engine is written and read, compared with others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rivals.rocks import RocksTable
from timing import measure_ratio

import rowkey

if TYPE_CHECKING:
    from timing import Result

    from rowkey.table import Table

ROWS, HOSTS = 200_000, 400
START = 1_700_000_000_000
GETS = 5_000


def measure_all() -> Iterator[Result]:
    """Yield all results on writing and reading tables of the embedded engine."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        yield from _measure_loading(folder)
        yield from _measure_reading(folder)
        yield _measure_first_row(folder)
        yield _measure_sorted_scan(folder)
        yield from _measure_databases(folder)


def build_rows(count: int = ROWS) -> pa.RecordBatch:
    """Return log events of 400 hosts, ten a second, in the order of time."""
    chance = np.random.default_rng(0)
    hosts = pa.array([f"web-{n:03d}.example" for n in range(HOSTS)])
    return pa.record_batch(
        {
            "host": hosts.take(pa.array(chance.integers(0, HOSTS, count))),
            "ts": pa.array(np.arange(count, dtype=np.int64) * 100 + START),
            "status": pa.array(chance.choice([200, 304, 404, 500], count), pa.uint16()),
            "bytes": pa.array(chance.integers(0, 2**20, count), pa.uint32()),
            "message": pa.array([f"GET /item/{n % 9973} took {n % 313} ms" for n in range(count)]),
        }
    )


def build_design(key: str) -> rowkey.Design:
    """Return the design of the log with a key."""
    return rowkey.Design(
        "logs",
        key,
        fields={
            "host": "text",
            "ts": "timestamp_ms",
            "status": "u16",
            "bytes": "u32",
            "message": "text",
        },
        families={"d": {"bloom": "NONE"}},
    )


def _open_table(folder: Path, name: str, key: str = "[bucket(host, 16)][host][ts]") -> Table:
    """Open a new table of the benchmark in a folder."""
    return rowkey.open(build_design(key), f"rocks:{folder / name}")


class _FreshFolders:
    """Creates folders that were not used before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __call__(self) -> Path:
        self.count += 1
        return self.folder / f"fresh-{self.count}"


def _measure_loading(folder: Path) -> Iterator[Result]:
    """Yield the result of loading rows, against rocksdict by hand."""
    batch, fresh = build_rows(), _FreshFolders(folder)

    def ours() -> None:
        """Load the rows into a new table by rowkey."""
        with rowkey.open(build_design("[bucket(host, 16)][host][ts]"), f"rocks:{fresh()}") as table:
            table.load(batch)

    def theirs() -> None:
        """Load the rows into a new database by rocksdict."""
        place = fresh()
        place.mkdir()
        db = RocksTable(place)
        db.load(batch)
        db.close()

    found = measure_ratio(
        "load, rows of three columns", "M rows/s", (ROWS, ours), "rocksdict by hand", (ROWS, theirs)
    )
    found.goal = "≥ 0.7× of rocksdict by hand"
    found.met = (found.ratio or 0) >= 0.7
    yield found


def _measure_reading(folder: Path) -> Iterator[Result]:
    """Yield the results of scans and gets, against rocksdict by hand."""
    batch = build_rows()
    (folder / "hand").mkdir()
    db = RocksTable(folder / "hand", 0)
    db.load(batch)
    with _open_table(folder, "ours", "[host][ts]") as table:
        table.load(batch)
        everything = (b"\0", b"\xff" * 64)
        assert list(islice(table.scan(), 1_000)) == list(islice(db.rows(*everything), 1_000))
        whole = (ROWS, lambda: _consume(table.scan()))
        yield _measure_within(
            "scan, rows decoded", whole, (ROWS, lambda: _consume(db.rows(*everything))), 2.0
        )
        arrow = (ROWS, lambda: table.scan().to_arrow())
        yield _measure_within("scan to Arrow", arrow, (ROWS, db.to_arrow), 1.3)
        at = np.random.default_rng(1).integers(0, ROWS, GETS).tolist()
        wanted = [(r["host"], r["ts"]) for r in batch.take(pa.array(at)).to_pylist()]
        assert table.get(host=wanted[0][0], ts=wanted[0][1]) == db.get(*wanted[0])
        gets = (GETS, lambda: [table.get({"host": h, "ts": t}) for h, t in wanted])
        yield _measure_within("get", gets, (GETS, lambda: [db.get(h, t) for h, t in wanted]), 2.0)
    db.close()
    (folder / "merged").mkdir()
    db = RocksTable(folder / "merged")
    db.load(batch)
    with _open_table(folder, "spread") as table:
        table.load(batch)
        yield measure_ratio(
            "ordered scan over 16 buckets",
            "M rows/s",
            (ROWS, lambda: _consume(table.scan())),
            "a heap merge of 16 iterators by hand",
            (ROWS, lambda: db.read_merged(ROWS)),
        )
    db.close()


def _measure_within(name: str, ours: Any, theirs: Any, max_ratio: float) -> Result:
    """Return a result with the goal of at most `max_ratio` times the rival's time."""
    found = measure_ratio(name, "M rows/s", ours, "rocksdict by hand", theirs)
    found.goal = f"≤ {max_ratio}× the time of rocksdict by hand"
    found.met = (found.ratio or 0) >= 1 / max_ratio
    return found


def _consume(found: Any) -> None:
    """Iterate over all items."""
    for _ in found:
        pass


def _measure_first_row(folder: Path) -> Result:
    """Return the time to the first row of a limited scan over 256 buckets."""
    batch = build_rows()
    (folder / "many-hand").mkdir()
    db = RocksTable(folder / "many-hand", 256)
    db.load(batch)
    with _open_table(folder, "many", "[bucket(host, 256)][host][ts]") as table:
        table.load(batch)
        assert list(table.scan(limit=100)) == db.read_merged(100)
        found = measure_ratio(
            "first rows of LIMIT 100 over 256 buckets",
            "reads/s",
            (20, lambda: [list(islice(table.scan(limit=100), 1)) for _ in range(20)]),
            "a heap merge by hand",
            (20, lambda: [db.read_merged(1) for _ in range(20)]),
        )
    db.close()
    found.goal = "≤ 2× the time of a heap merge by hand"
    found.met = (found.ratio or 0) >= 0.5
    return found


def _measure_sorted_scan(folder: Path) -> Result:
    """Return the rate of an ordered scan over buckets, against one without buckets."""
    batch = build_rows()
    with (
        _open_table(folder, "buckets") as spread,
        _open_table(folder, "plain", "[host][ts]") as plain,
    ):
        spread.load(batch)
        plain.load(batch)
        assert list(islice(spread.scan(), 1000)) == list(islice(plain.scan(), 1000))
        return measure_ratio(
            "ordered scan over 16 buckets",
            "M rows/s",
            (ROWS, lambda: _consume(spread.scan())),
            "one scan of the same rows without buckets",
            (ROWS, lambda: _consume(plain.scan())),
        )


QUERY = "SELECT * FROM logs WHERE host = ? AND ts >= ? AND ts < ? ORDER BY ts DESC LIMIT 100"


def _measure_databases(folder: Path) -> Iterator[Result]:
    """Yield the results of a limited query, against SQLite and DuckDB."""
    batch = build_rows()
    asked = ("web-007.example", START + 5_000_000, START + 15_000_000)
    lite = sqlite3.connect(folder / "logs.sqlite")
    lite.execute(
        "CREATE TABLE logs (host TEXT, ts INTEGER, status INTEGER, bytes INTEGER, message TEXT,"
        " PRIMARY KEY (host, ts)) WITHOUT ROWID"
    )
    columns = [column.to_pylist() for column in batch.columns]
    lite.executemany("INSERT INTO logs VALUES (?, ?, ?, ?, ?)", zip(*columns, strict=True))
    lite.commit()
    name = "the latest 100 of one host in a stretch of time"
    with _open_table(folder, "task", "[bucket(host, 16)][host][ts]") as table:
        table.load(batch)
        where = "host = ? and ts >= ? and ts < ?"

        def ours() -> list[Any]:
            return list(table.scan(where, *asked, order="ts desc", limit=100))

        theirs = lite.execute(QUERY, asked).fetchall()
        assert [tuple(row.values()) for row in ours()] == theirs
        yield measure_ratio(
            name,
            "reads/s",
            (50, lambda: [ours() for _ in range(50)]),
            f"SQLite {sqlite3.sqlite_version}",
            (50, lambda: [lite.execute(QUERY, asked).fetchall() for _ in range(50)]),
        )
        yield from _open_duckdb(name, batch, asked, ours)
    lite.close()


def _open_duckdb(
    name: str, batch: pa.RecordBatch, asked: tuple[Any, ...], ours: Any
) -> Iterator[Result]:
    """Yield the result of the query against DuckDB."""
    import duckdb

    db = duckdb.connect()
    table = pa.Table.from_batches([batch])
    db.register("arrow", table)
    db.execute("CREATE TABLE logs AS SELECT * FROM arrow ORDER BY host, ts")
    assert [tuple(row.values()) for row in ours()] == db.execute(QUERY, asked).fetchall()
    yield measure_ratio(
        name,
        "reads/s",
        (50, lambda: [ours() for _ in range(50)]),
        f"DuckDB {duckdb.__version__}, sorted table",
        (50, lambda: [db.execute(QUERY, asked).fetchall() for _ in range(50)]),
    )
    db.close()
