"""How fast a table of a real cluster of three servers is copied to another design and verified."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rivals.hbase.programs import run_copy_table, start_java_client
from timing import Result

import rowkey
from rowkey.catalog import open_catalog
from rowkey.move import RateLimit, RowCopier, save_progress, verify_move
from rowkey.table import create_table

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.table import Table

ROWS, ROWS_PER_BLOCK = 1_000_000, 100_000
THREADS, REGIONS, ROUNDS = 4, 4, 3
VALUE_BYTES = 100
READ_S, READS_PER_S = 6, 200
"""Seconds for which a client reads during a copy, and its single reads a second."""
MAX_SLOWDOWN = 1.25
"""The slowest of 100 reads during a copy, as a multiple of what it is without."""
LIMITS = (None, 20_000, 5_000)
"""Rows a second that a copy may write while clients read; None for any."""
READER = """
import random, sys, time
import rowkey
url, table, rows, seconds, per_s = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
with rowkey.open(table, url) as table:
    table.get(id=0)
    taken, began = [], time.perf_counter()
    print("ready", flush=True)
    while (now := time.perf_counter()) - began < seconds:
        table.get(id=random.randrange(rows))
        taken.append(time.perf_counter() - now)
        time.sleep(max(0.0, began + len(taken) / per_s - time.perf_counter()))
print(sorted(taken)[round(len(taken) * 0.99)] * 1_000)
"""
COPY_TABLE = "HBase's CopyTable 2.6.4, without another key"
WITHOUT_START = "the same, less the time that it takes for an empty table"
JAVA = "scan and put by Java hbase-client 2.6.4, without another key"
NOTE = (
    "ZooKeeper, a master, three region servers and the client share one machine. One million rows "
    f"of {VALUE_BYTES} bytes in {REGIONS} regions were copied by {THREADS} threads to a table with "
    "buckets. CopyTable copied them to a table with the same key, with as many mappers in one "
    "process. So did Java's client in threads of a process that was already running. The targets "
    f"were empty before each of {ROUNDS} rounds, the first of which was not counted."
)
"""The text of the page above its table."""


def measure_all() -> Iterator[Result]:
    """Yield all results of the benchmark, on a cluster that is started for it."""
    from cluster import Cluster

    with Cluster.start(flags=()) as cluster:
        yield from measure_on_cluster(cluster)


def measure_on_cluster(cluster: Cluster, rows: int = ROWS) -> Iterator[Result]:
    """Yield the results on a running cluster, on which three tables are created."""
    fields = {"id": "u64", "value": "bytes"}
    designs = [
        rowkey.Design(f"bench_move_{name}", key, fields=fields)
        for name, key in (("old", "[id]"), ("new", "[bucket(id, 4)][id]"), ("java", "[id]"))
    ]
    splits = [(rows * n // REGIONS).to_bytes(8, "big") for n in range(1, REGIONS)]
    url, port = f"hbase://{cluster.zookeeper}", cluster.state.ports.zookeeper
    old, new, java = (
        create_table(one, url, splits=splits if one is not designs[1] else None) for one in designs
    )
    names = [one.table for one in designs]
    with old, new, java, start_java_client(port, names[0], names[2], rows) as client:
        load_rows(old, rows)
        cluster.judge.flush(names[0])
        cluster.judge.compact(names[0])
        rates: list[float] = []
        tool_s: list[float] = []
        java_rates: list[float] = []
        start_s = run_copy_table(port, names[2], names[1], THREADS)
        for _ in range(ROUNDS):
            for name in names[1:]:
                cluster.judge.truncate(name)
            rates.append(copy_rows(old, new, url, rows))
            java_rates.append(client.copy(rows, THREADS).rate)
            cluster.judge.truncate(names[2])
            tool_s.append(run_copy_table(port, names[0], names[2], THREADS))
        what = f"copy to another key, {THREADS} threads"
        for rival, seconds in ((COPY_TABLE, 0.0), (WITHOUT_START, start_s)):
            tool_rates = [rows / (one - seconds) for one in tool_s[1:]]
            copied = Result(what, "rows/s", rates[1:], rival, tool_rates)
            copied.goal, copied.met = "1 × CopyTable", (copied.ratio or 0) >= 1
            yield copied
        yield Result(what, "rows/s", rates[1:], JAVA, java_rates[1:])
        yield from measure_reads(old, new, url, rows)
        copy_rows(old, new, url, rows)
        began = time.perf_counter()
        found = verify_move(old.get_state(), new.get_state())
        seconds = time.perf_counter() - began
        assert found.has_passed, found
        assert rows == found.source.rows
        yield Result("verify, rows of both tables", "rows/s", [2 * rows / seconds])


def measure_reads(source: Table, target: Table, url: str, rows: int) -> Iterator[Result]:
    """Yield how long the slowest of 100 single reads takes during copies of several rates."""
    idle_ms = read_during(None, source, url, rows)
    for limit in LIMITS:
        catalog = open_catalog(source.engine.catalog_url, source.engine, url)
        save_progress(catalog, source.design.table, None)
        copier = RowCopier(
            source.get_state(),
            target.get_state(),
            catalog,
            threads=THREADS,
            limit=RateLimit(limit),
        )
        during_ms = read_during(copier, source, url, rows)
        catalog.close()
        speed = f"{limit:,} rows/s" if limit else "any speed"
        yield Result(
            f"1 of 100 reads is slower during a copy of {speed}",
            "ms",
            [during_ms],
            "the same reader without a copy",
            [idle_ms],
            goal=f"{MAX_SLOWDOWN} × without a copy" if limit else "",
            met=during_ms <= MAX_SLOWDOWN * idle_ms if limit else None,
        )


def read_during(copier: RowCopier | None, source: Table, url: str, rows: int) -> float:
    """Return the ms that one of 100 reads of another process exceeds while a copier runs."""
    numbers = map(str, (rows, READ_S, READS_PER_S))
    command = [sys.executable, "-c", READER, url, source.design.table, *numbers]
    with (
        ThreadPoolExecutor(1) as pool,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader,
    ):
        assert reader.stdout is not None
        reader.stdout.readline()
        copy = None if copier is None else pool.submit(copier.run)
        p99_ms = float(reader.stdout.readline())
        if copy is not None and copier is not None:
            copier.stop()
            copy.result()
    return p99_ms


def load_rows(table: Table, rows: int) -> None:
    """Fill a table with rows of 100 bytes."""
    import pyarrow as pa

    for start in range(0, rows, ROWS_PER_BLOCK):
        ids = range(start, min(start + ROWS_PER_BLOCK, rows))
        values = [n.to_bytes(VALUE_BYTES, "big") for n in ids]
        columns = {"id": pa.array(ids, pa.uint64()), "value": pa.array(values, pa.binary())}
        table.load(pa.table(columns))


def copy_rows(source: Table, target: Table, url: str, rows: int) -> float:
    """Copy all rows; return how many in a second."""
    catalog = open_catalog(source.engine.catalog_url, source.engine, url)
    try:
        save_progress(catalog, source.design.table, None)
        began = time.perf_counter()
        result = RowCopier(source.get_state(), target.get_state(), catalog, threads=THREADS).run()
        seconds = time.perf_counter() - began
    finally:
        catalog.close()
    assert rows == result.row_count
    return rows / seconds
