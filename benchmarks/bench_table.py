"""How fast rows go in and come out of a table on the embedded engine, and who is faster."""

from __future__ import annotations

import sqlite3
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rivals.rocks import ByHand
from timing import against

import rowkey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timing import Result

    from rowkey.table import Table

ROWS, HOSTS = 200_000, 400
START = 1_700_000_000_000
GETS = 5_000


def results() -> Iterator[Result]:
    """Every figure of this page."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        yield from _loading(folder)
        yield from _reading(folder)
        yield _first_of_many(folder)
        yield _order_costs(folder)
        yield from _same_task(folder)


def rows(count: int = ROWS) -> pa.RecordBatch:
    """Log events of 400 hosts, ten a second, in the order of time."""
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


def design(key: str) -> rowkey.Design:
    """The log's design under a key."""
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


def _opened(folder: Path, name: str, key: str = "[bucket(host, 16)][host][ts]") -> Table:
    return rowkey.open(design(key), f"rocks:{folder / name}")


class _Fresh:
    """Places that were not used before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def __call__(self) -> Path:
        self.count += 1
        return self.folder / f"fresh-{self.count}"


def _loading(folder: Path) -> Iterator[Result]:
    batch, fresh = rows(), _Fresh(folder)

    def ours() -> None:
        with rowkey.open(design("[bucket(host, 16)][host][ts]"), f"rocks:{fresh()}") as table:
            table.load(batch)

    def theirs() -> None:
        place = fresh()
        place.mkdir()
        db = ByHand(place)
        db.load(batch)
        db.close()

    found = against(
        "load, rows of three columns", "M rows/s", (ROWS, ours), "rocksdict by hand", (ROWS, theirs)
    )
    found.goal = "≥ 0.7× of rocksdict by hand"
    found.met = (found.ratio or 0) >= 0.7
    yield found


def _reading(folder: Path) -> Iterator[Result]:
    batch = rows()
    (folder / "hand").mkdir()
    db = ByHand(folder / "hand", 0)
    db.load(batch)
    with _opened(folder, "ours", "[host][ts]") as table:
        table.load(batch)
        everything = (b"\0", b"\xff" * 64)
        assert list(islice(table.scan(), 1_000)) == list(islice(db.rows(*everything), 1_000))
        whole = (ROWS, lambda: _drain(table.scan()))
        yield _within(
            "scan, rows decoded", whole, (ROWS, lambda: _drain(db.rows(*everything))), 2.0
        )
        arrow = (ROWS, lambda: table.scan().to_arrow())
        yield _within("scan to Arrow", arrow, (ROWS, db.to_arrow), 1.3)
        at = np.random.default_rng(1).integers(0, ROWS, GETS).tolist()
        wanted = [(r["host"], r["ts"]) for r in batch.take(pa.array(at)).to_pylist()]
        assert table.get(host=wanted[0][0], ts=wanted[0][1]) == db.get(*wanted[0])
        gets = (GETS, lambda: [table.get({"host": h, "ts": t}) for h, t in wanted])
        yield _within("get", gets, (GETS, lambda: [db.get(h, t) for h, t in wanted]), 2.0)
    db.close()
    (folder / "merged").mkdir()
    db = ByHand(folder / "merged")
    db.load(batch)
    with _opened(folder, "spread") as table:
        table.load(batch)
        yield against(
            "ordered scan over 16 buckets",
            "M rows/s",
            (ROWS, lambda: _drain(table.scan())),
            "a heap merge of 16 iterators by hand",
            (ROWS, lambda: db.merged(ROWS)),
        )
    db.close()


def _within(name: str, ours: Any, theirs: Any, most: float) -> Result:
    """A result whose goal is a time at most so many times the rival's."""
    found = against(name, "M rows/s", ours, "rocksdict by hand", theirs)
    found.goal = f"≤ {most}× the time of rocksdict by hand"
    found.met = (found.ratio or 0) >= 1 / most
    return found


def _drain(found: Any) -> None:
    for _ in found:
        pass


def _first_of_many(folder: Path) -> Result:
    batch = rows()
    (folder / "many-hand").mkdir()
    db = ByHand(folder / "many-hand", 256)
    db.load(batch)
    with _opened(folder, "many", "[bucket(host, 256)][host][ts]") as table:
        table.load(batch)
        assert list(table.scan(limit=100)) == db.merged(100)
        found = against(
            "first rows of LIMIT 100 over 256 buckets",
            "reads/s",
            (20, lambda: [list(islice(table.scan(limit=100), 1)) for _ in range(20)]),
            "a heap merge by hand",
            (20, lambda: [db.merged(1) for _ in range(20)]),
        )
    db.close()
    found.goal = "≤ 2× the time of a heap merge by hand"
    found.met = (found.ratio or 0) >= 0.5
    return found


def _order_costs(folder: Path) -> Result:
    batch = rows()
    with (
        _opened(folder, "buckets") as spread,
        _opened(folder, "plain", "[host][ts]") as plain,
    ):
        spread.load(batch)
        plain.load(batch)
        assert list(islice(spread.scan(), 1000)) == list(islice(plain.scan(), 1000))
        return against(
            "ordered scan over 16 buckets",
            "M rows/s",
            (ROWS, lambda: _drain(spread.scan())),
            "one scan of the same rows without buckets",
            (ROWS, lambda: _drain(plain.scan())),
        )


QUERY = "SELECT * FROM logs WHERE host = ? AND ts >= ? AND ts < ? ORDER BY ts DESC LIMIT 100"


def _same_task(folder: Path) -> Iterator[Result]:
    batch = rows()
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
    with _opened(folder, "task", "[bucket(host, 16)][host][ts]") as table:
        table.load(batch)
        where = "host = ? and ts >= ? and ts < ?"

        def ours() -> list[Any]:
            return list(table.scan(where, *asked, order="ts desc", limit=100))

        theirs = lite.execute(QUERY, asked).fetchall()
        assert [tuple(row.values()) for row in ours()] == theirs
        yield against(
            name,
            "reads/s",
            (50, lambda: [ours() for _ in range(50)]),
            f"SQLite {sqlite3.sqlite_version}",
            (50, lambda: [lite.execute(QUERY, asked).fetchall() for _ in range(50)]),
        )
        yield from _duckdb(name, batch, asked, ours)
    lite.close()


def _duckdb(
    name: str, batch: pa.RecordBatch, asked: tuple[Any, ...], ours: Any
) -> Iterator[Result]:
    import duckdb

    db = duckdb.connect()
    table = pa.Table.from_batches([batch])
    db.register("arrow", table)
    db.execute("CREATE TABLE logs AS SELECT * FROM arrow ORDER BY host, ts")
    assert [tuple(row.values()) for row in ours()] == db.execute(QUERY, asked).fetchall()
    yield against(
        name,
        "reads/s",
        (50, lambda: [ours() for _ in range(50)]),
        f"DuckDB {duckdb.__version__}, sorted table",
        (50, lambda: [db.execute(QUERY, asked).fetchall() for _ in range(50)]),
    )
    db.close()
