"""Clients of other languages: a program reads one task per line and prints its time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from oracles.build import Source, build_oracle
from rivals.hbase.contract import Rival, TaskTime

OFFICIAL = Source(Path(__file__).parent / "official", "Bench")
COPY_TABLE = "org.apache.hadoop.hbase.mapreduce.CopyTable"
TURNS = 4
"""The number of rounds for each of two ways to scan; the first is not counted."""
FLAGS = ("-Xmx2g", "-Djava.net.preferIPv4Stack=true")


class Program(Rival):
    """A client in a process of its own; the tasks are those of `official/Bench.java`.

    Args:
        name: what to call it.
        command: starts it.
        rows: rows of the table to read.
    """

    def __init__(self, name: str, command: Sequence[str], rows: int) -> None:
        super().__init__(rows)
        self.name = name
        self._fetches_ahead: bool | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

    def _run_task(self, *words: object) -> TaskTime:
        """Send a task to the program, and return the time that it prints."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        answer = self._process.stdout.readline().split()
        if not answer or answer[0] != "=":
            raise RuntimeError(f"{self.name} could not {words}: {' '.join(answer)}")
        return TaskTime(int(answer[1]), float(answer[2]), float(answer[3]))

    def load(self, rows: int) -> TaskTime:
        """Have the program write `rows` rows."""
        return self._run_task("load", rows)

    def copy(self, rows: int, threads: int) -> TaskTime:
        """Have the program copy all rows to the other table."""
        return self._run_task("copy", rows, threads)

    def scan(self) -> TaskTime:
        """Have the program read all rows, in the faster of two ways."""
        if self._fetches_ahead is None:
            self._fetches_ahead = self._is_prefetch_faster()
        return self._scan(ahead=self._fetches_ahead)

    def _scan(self, *, ahead: bool) -> TaskTime:
        """Have the program read all rows, with or without prefetching."""
        return self._run_task("scan", self.rows, str(ahead).lower())

    def _is_prefetch_faster(self) -> bool:
        """Return whether prefetching is faster, measured in turns; the first turn warms up."""
        rates: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(TURNS):
            for ahead, found in rates.items():
                found.append(self._scan(ahead=ahead).rate)
        plain, fetching = (median(rates[ahead][1:]) for ahead in (False, True))
        faster = fetching > plain
        self.scans = (
            f"Java {'with' if faster else 'without'} prefetching: before the rounds "
            f"{fetching:,.0f} rows/s with it, {plain:,.0f} rows/s without"
        )
        return faster

    def salted_scan(self) -> TaskTime:
        """Have the program read all rows in the order of the key after the bucket."""
        return self._run_task("salted", self.rows)

    def get(self, count: int, threads: int) -> TaskTime:
        """Have the program read random single rows."""
        return self._run_task("get", count, threads, self.rows)

    def put(self, count: int, threads: int) -> TaskTime:
        """Have the program write single rows."""
        return self._run_task("put", count, threads)

    def close(self) -> None:
        """Kill the program and close its pipes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def start_java_client(zookeeper_port: int, source: str, sink: str, rows: int) -> Program:
    """Start HBase's own Java client as a benchmark program.

    Args:
        zookeeper_port: where ZooKeeper listens on this machine.
        source: the table to read.
        sink: the table to write.
        rows: how many rows the table to read has.
    """
    built = build_oracle(OFFICIAL)
    command = [built.java, *FLAGS, "-cp", built.class_path, OFFICIAL.main]
    return Program("Java hbase-client 2.6.4", [*command, str(zookeeper_port), source, sink], rows)


def run_copy_table(zookeeper_port: int, source: str, sink: str, threads: int) -> float:
    """Copy a table by HBase's CopyTable, its mappers in threads of one process.

    Args:
        zookeeper_port: where ZooKeeper listens on this machine.
        source: the table to read.
        sink: the table to write, with the same families.
        threads: how many regions are copied at the same time.

    Returns:
        The seconds that the command took, with the start of its JVM.
    """
    built = build_oracle(OFFICIAL)
    options = {
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.zookeeper.property.clientPort": zookeeper_port,
        "mapreduce.local.map.tasks.maximum": threads,
    }
    command = [built.java, *FLAGS, "-cp", built.class_path, COPY_TABLE]
    command += [f"-D{name}={value}" for name, value in options.items()]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, f"--new.name={sink}", source], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"CopyTable failed: {done.stderr[-2_000:]}{done.stdout[-2_000:]}")
    return time.perf_counter() - began
