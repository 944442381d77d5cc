"""Writers and ordered scans of one salted table while servers fail."""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Self, TypeVar

import rowkey
from rowkey.errors import RowkeyError
from rowkey.hbase import Settings
from rowkey.table import drop_table

WRITERS, SCANS, BUCKETS = 4, 2, 8
BATCH = 20
PAUSE_S = 0.02 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 0.2
"""The least pause after each batch of a writer and each scan."""
REST = 0 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10
"""Seconds of pause for each second of the processor, which leaves time to the servers."""

DEADLINE_S = Settings().operation_timeout_s + 5.0
"""The deadline of a call, plus the delays of two busy cores."""

T = TypeVar("T")


def build_design() -> rowkey.Design:
    """Return the design of a table with a new name."""
    return rowkey.Design(
        f"storm.{token_hex(4)}",
        f"[bucket(id, {BUCKETS})][id]",
        fields={"id": "u64", "note": {"type": "text", "family": "d", "qualifier": "n"}},
        splits="per_bucket",
    )


def build_zero_counts() -> dict[int, int]:
    """Return a count of 0 for each writer."""
    return dict.fromkeys(range(WRITERS), 0)


def build_no_times() -> dict[int, list[float]]:
    """Return an empty list for each writer."""
    return {writer: [] for writer in range(WRITERS)}


@dataclass
class StormResult:
    """The counts, times and errors of the threads.

    Args:
        acknowledged: how many rows of each writer were acknowledged.
        times: when each of its writes was acknowledged.
        slowest_s: the longest call: a put, a batch of puts, or the next row of a scan.
        rows: rows of the completed scans.
        scans: how many scans completed before the end of the storm.
        wrong: the errors as sentences.
    """

    acknowledged: dict[int, int] = field(default_factory=build_zero_counts)
    times: dict[int, list[float]] = field(default_factory=build_no_times)
    slowest_s: float = 0.0
    rows: int = 0
    scans: int = 0
    wrong: list[str] = field(default_factory=list)

    def gap_s(self, begin: float, end: float) -> float:
        """Return the longest time in which some writer had no write acknowledged."""
        longest = 0.0
        for times in self.times.values():
            inside = [begin, *(at for at in tuple(times) if begin <= at <= end), end]
            pauses = (later - at for at, later in itertools.pairwise(inside))
            longest = max(longest, *pauses)
        return longest


class Storm:
    """The threads, which run during the `with` block; the table exists until `close`.

    Args:
        url: the cluster.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.table = rowkey.open(build_design(), url)
        self.seen = StormResult()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            *(self._thread(self._write, number) for number in range(WRITERS)),
            *(self._thread(self._scan, number) for number in range(SCANS)),
        ]

    def _thread(self, work: Callable[[int], None], number: int) -> threading.Thread:
        """Return a daemon thread."""
        name = f"{work.__name__} {number}"
        return threading.Thread(
            target=self._run_and_report, args=(work, number), name=name, daemon=True
        )

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        until = time.monotonic() + DEADLINE_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                self.seen.wrong.append(f"{thread.name}: its call has not ended by its deadline")

    def close(self) -> None:
        """Drop and close the table."""
        name = self.table.design.table
        self.table.close()
        drop_table(name, self._url)

    def _run_and_report(self, work: Callable[[int], None], number: int) -> None:
        """Work until the end; an exception is recorded as an error."""
        try:
            while not self._over.is_set():
                begin_s = time.thread_time()
                work(number)
                self._over.wait(max(PAUSE_S, REST * (time.thread_time() - begin_s)))
        except RowkeyError as error:
            self.seen.wrong.append(f"{work.__name__} {number}: {type(error).__name__}: {error}")

    def _time_call(self, call: Callable[[], T]) -> T:
        """Return the result of a call, and record its time even if it fails."""
        begin = time.monotonic()
        try:
            return call()
        finally:
            took = time.monotonic() - begin
            with self._lock:
                self.seen.slowest_s = max(self.seen.slowest_s, took)

    def _write(self, writer: int) -> None:
        """Write the next rows of a writer, in one batch or one by one."""
        done = self.seen.acknowledged[writer]
        rows = [build_row(writer, done + step) for step in range(BATCH)]
        if done // BATCH % 4:
            self._time_call(lambda: self._put_all(rows))
        else:
            for row in rows:
                self._time_call(partial(self.table.put, row))
        self.seen.times[writer].append(time.monotonic())
        self.seen.acknowledged[writer] = done + BATCH

    def _put_all(self, rows: list[dict[str, object]]) -> None:
        with self.table.batch() as batch:
            for row in rows:
                batch.put(row)

    def _scan(self, number: int) -> None:
        """Scan all rows in order, and compare them with the writes acknowledged before."""
        before = {writer: self.seen.acknowledged[writer] for writer in range(WRITERS)}
        found: dict[int, int] = defaultdict(int)
        last, count = -1, 0
        rows = iter(self.table.scan())
        while (row := self._time_call(lambda: next(rows, None))) is not None:
            if row["id"] <= last:
                self.seen.wrong.append(f"scan {number}: {row['id']} behind {last}")
            last = row["id"]
            writer, step = last % WRITERS, last // WRITERS
            if step < before[writer]:
                found[writer] += 1
            count += 1
            if self._over.is_set():
                return
        if found != {writer: count for writer, count in before.items() if count}:
            self.seen.wrong.append(f"scan {number}: {dict(found)} of {before}")
        with self._lock:
            self.seen.rows += count
            self.seen.scans += 1

    def check(self) -> None:
        """Compare all stored rows with all acknowledged ones."""
        there = {row["id"]: row["note"] for row in self.table.scan()}
        for writer, count in self.seen.acknowledged.items():
            rows = [build_row(writer, step) for step in range(count)]
            lost = [row["id"] for row in rows if there.get(row["id"]) != row["note"]]
            if lost:
                self.seen.wrong.append(f"writer {writer}: {len(lost)} lost, the first {lost[0]}")
            some = random.Random(writer).sample(rows, min(50, len(rows)))
            missed = [row["id"] for row in some if self.table.get(id=row["id"]) != row]
            if missed:
                self.seen.wrong.append(f"writer {writer}: a get does not give {missed}")


def build_row(writer: int, step: int) -> dict[str, object]:
    """Return a row of a writer."""
    return {"id": step * WRITERS + writer, "note": f"row {step} of writer {writer}"}


def count_threads_and_sockets() -> tuple[int, int]:
    """Return how many threads and sockets each process has."""
    files = _list_files(Path("/proc/self/fd"))
    return threading.active_count(), sum(file.startswith("socket:") for file in files)


def _list_files(folder: Path) -> list[str]:
    """Return the targets of a process's file descriptors, without those closed meanwhile."""
    found = []
    for path in folder.iterdir():
        try:
            found.append(str(path.readlink()))
        except OSError:
            continue
    return found
