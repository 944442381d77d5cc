"""happybase through HBase's Thrift gateway, which is how Python came to HBase until now."""

from __future__ import annotations

import heapq
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any

import happybase

from cluster.ports import Claims
from cluster.site import HOST, OPENED
from oracles.build import Source, build
from rivals.hbase.contract import (
    CACHING,
    RANGES,
    VALUE,
    Rival,
    Taken,
    expect,
    row_key,
    some_keys,
    spread,
    timed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = Source(Path(__file__).parent / "gateway", "Gateway")
START_S = 60.0
LOADERS = 2
COLUMN = b"d:v"


class Happybase(Rival):
    """happybase on a gateway of its own, which ends with it.

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
        self._gateway = _started(self._port, zookeeper_port)
        self._mine = local()

    def _table(self, name: str) -> Any:
        """A table on this thread's own connection: one carries one call at a time."""
        if not hasattr(self._mine, "connection"):
            self._mine.connection = happybase.Connection(HOST, self._port)
        return self._mine.connection.table(name)

    def load(self, rows: int) -> Taken:
        with ThreadPoolExecutor(LOADERS) as crew:
            shares = [range(number, rows, LOADERS) for number in range(LOADERS)]
            return timed(rows, lambda: list(crew.map(self._load, shares)))

    def _load(self, numbers: range) -> None:
        with self._table(self._sink).batch(batch_size=CACHING) as batch:
            for number in numbers:
                batch.put(row_key(number), {COLUMN: VALUE})

    def scan(self) -> Taken:
        found = self._table(self._source).scan(batch_size=CACHING)
        return timed(self.rows, lambda: expect(self.rows, found))

    def salted_scan(self) -> Taken:
        return timed(self.rows, lambda: expect(self.rows, self._merged()))

    def _merged(self) -> Iterator[Any]:
        table = self._table(self._source)
        runs = [
            table.scan(row_start=start, row_stop=stop or None, batch_size=CACHING)
            for start, stop in RANGES
        ]
        return heapq.merge(*runs, key=lambda row: row[0][2:])

    def get(self, count: int, threads: int) -> Taken:
        return self._each(some_keys(count, self.rows), threads, self._get)

    def _get(self, key: bytes) -> None:
        if not self._table(self._source).row(key):
            raise ValueError(f"{key!r} is not found")

    def put(self, count: int, threads: int) -> Taken:
        return self._each([row_key(number) for number in range(count)], threads, self._put)

    def _put(self, key: bytes) -> None:
        self._table(self._sink).put(key, {COLUMN: VALUE})

    @staticmethod
    def _each(keys: list[bytes], threads: int, one: Callable[[bytes], object]) -> Taken:
        return timed(len(keys), lambda: spread(keys, threads, one))

    def close(self) -> None:
        self._gateway.kill()
        self._gateway.wait()
        self._claims.release()


def _started(port: int, zookeeper_port: int) -> subprocess.Popen[bytes]:
    """The gateway, listening."""
    built = build(SOURCE)
    settings = {
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": str(zookeeper_port),
        "hbase.thrift.info.port": "-1",
    }
    command = [
        *(built.java, "-Xmx2g", "-Djava.net.preferIPv4Stack=true"),
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
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
