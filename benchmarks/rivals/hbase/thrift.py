"""happybase through HBase's Thrift gateway."""

from __future__ import annotations

import heapq
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import local
from typing import Any

import happybase

from cluster.ports import Claims
from cluster.site import HOST, OPENED_PACKAGES
from oracles.build import Source, build_oracle
from rivals.hbase.contract import (
    CACHING,
    RANGES,
    VALUE,
    Rival,
    TaskTime,
    build_row_key,
    check_row_count,
    draw_keys,
    run_in_threads,
    time_task,
)

SOURCE = Source(Path(__file__).parent / "gateway", "Gateway")
START_S = 60.0
LOADERS = 2
COLUMN = b"d:v"


class Happybase(Rival):
    """happybase with its own gateway, which is stopped with it.

    Binary protocol and buffered transport: thriftpy2 has both as compiled code, the compact
    protocol only in Python. A call carries 10,000 rows.

    Args:
        zookeeper_port: where ZooKeeper listens on this machine.
        source: the table to read.
        sink: the table to write.
        rows: how many rows the table to read has.
    """

    def __init__(self, zookeeper_port: int, source: str, sink: str, rows: int) -> None:
        super().__init__(rows)
        self.name = "happybase 1.3, Thrift gateway 2.4.17"
        self._claims = Claims()
        self._port = self._claims.port()
        self._source, self._sink = source, sink
        self._gateway = _start_gateway(self._port, zookeeper_port)

    @contextmanager
    def _open_tables(self, name: str, count: int) -> Iterator[list[Any]]:
        """Open a table on several connections, each after one warm-up call.

        A connection carries one call at a time. The first call of each is made here, since the
        gateway gives a connection its thread by then.
        """
        with ExitStack() as opened:
            found = []
            for _ in range(count):
                connection = opened.enter_context(closing(happybase.Connection(HOST, self._port)))
                found.append(connection.table(name))
                found[-1].row(build_row_key(0))
            yield found

    def load(self, rows: int) -> TaskTime:
        """Write `rows` rows on two connections."""
        shares = [range(number, rows, LOADERS) for number in range(LOADERS)]
        with self._open_tables(self._sink, LOADERS) as tables, ThreadPoolExecutor(LOADERS) as crew:
            return time_task(rows, lambda: list(crew.map(self._load, tables, shares)))

    @staticmethod
    def _load(table: Any, numbers: range) -> None:
        """Write rows on one connection in batches."""
        with table.batch(batch_size=CACHING) as batch:
            for number in numbers:
                batch.put(build_row_key(number), {COLUMN: VALUE})

    def scan(self) -> TaskTime:
        """Read all rows with one scanner."""
        with self._open_tables(self._source, 1) as [table]:
            found = table.scan(batch_size=CACHING)
            return time_task(self.rows, lambda: check_row_count(self.rows, found))

    def salted_scan(self) -> TaskTime:
        """Read all rows in the order of the key after the bucket."""
        with self._open_tables(self._source, 1) as [table]:
            return time_task(
                self.rows, lambda: check_row_count(self.rows, self._iter_merged(table))
            )

    @staticmethod
    def _iter_merged(table: Any) -> Iterator[Any]:
        """Yield the rows of all buckets, merged by the key after the bucket."""
        runs = [
            table.scan(row_start=start, row_stop=stop or None, batch_size=CACHING)
            for start, stop in RANGES
        ]
        return heapq.merge(*runs, key=lambda row: row[0][2:])

    def get(self, count: int, threads: int) -> TaskTime:
        """Read random single rows."""
        return self._run_for_keys(self._source, draw_keys(count, self.rows), threads, self._get)

    @staticmethod
    def _get(table: Any, key: bytes) -> None:
        """Read one row; raise if it does not exist."""
        if not table.row(key):
            raise ValueError(f"{key!r} is not found")

    def put(self, count: int, threads: int) -> TaskTime:
        """Write single rows."""
        keys = [build_row_key(number) for number in range(count)]
        return self._run_for_keys(self._sink, keys, threads, self._put)

    @staticmethod
    def _put(table: Any, key: bytes) -> None:
        """Write one row."""
        table.put(key, {COLUMN: VALUE})

    def _run_for_keys(
        self, name: str, keys: list[bytes], threads: int, one: Callable[[Any, bytes], object]
    ) -> TaskTime:
        """Call a function with each key; each thread uses one of the open connections."""
        mine, free = local(), SimpleQueue[Any]()

        def run_on_connection(key: bytes) -> None:
            """Call the function with a key on this thread's connection."""
            if not hasattr(mine, "table"):
                mine.table = free.get_nowait()
            one(mine.table, key)

        with self._open_tables(name, threads) as tables:
            for table in tables:
                free.put(table)
            return time_task(len(keys), lambda: run_in_threads(keys, threads, run_on_connection))

    def close(self) -> None:
        """Stop the gateway and release its port."""
        self._gateway.kill()
        self._gateway.wait()
        self._claims.release()


def _start_gateway(port: int, zookeeper_port: int) -> subprocess.Popen[bytes]:
    """Start HBase's Thrift gateway, and wait until it listens."""
    built = build_oracle(SOURCE)
    settings = {
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": str(zookeeper_port),
        "hbase.thrift.info.port": "-1",
    }
    command = [
        *(built.java, "-Xmx2g", "-Djava.net.preferIPv4Stack=true"),
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        *("-cp", built.class_path, SOURCE.main),
        *(f"{name}={value}" for name, value in settings.items()),
        *("start", "-b", HOST, "-p", str(port)),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as caller:
            if not caller.connect_ex((HOST, port)):
                return process
        time.sleep(0.1)
    process.kill()
    process.wait()
    raise RuntimeError("the Thrift gateway did not start")
