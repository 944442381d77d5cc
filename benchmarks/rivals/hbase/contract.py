"""The tasks that clients are compared by, and the table they are done on."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import NamedTuple, Self

BUCKETS = 16
FAMILY, QUALIFIER = "d", b"v"
VALUE = bytes(100)
CACHING = 10_000
SPLITS = [b"%02d" % number for number in range(1, BUCKETS)]
RANGES = list(zip([b"00", *SPLITS], [*SPLITS, b""], strict=True))
"""The rows of each bucket: from, to."""


class TaskTime(NamedTuple):
    """The time of a task.

    Args:
        operations: rows, gets or puts.
        seconds: by the clock.
        cpu_s: processor seconds of the client's own process.
    """

    operations: int
    seconds: float
    cpu_s: float

    @property
    def rate(self) -> float:
        """Operations a second."""
        return self.operations / self.seconds

    @property
    def cpu_s_of_million(self) -> float:
        """Processor seconds of a million operations."""
        return self.cpu_s / self.operations * 1e6


class Rival(ABC):
    """A client at its own best settings, on a table to read and one to write.

    Row n is two digits of its bucket, n mod 16, then n in 15 digits; one cell of 100 bytes.

    Args:
        rows: how many rows the table to read has.
    """

    name = ""
    scans = ""
    """How it reads all rows, if it had a choice; else empty."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    @abstractmethod
    def load(self, rows: int) -> TaskTime:
        """Write `rows` rows, as fast as possible."""

    @abstractmethod
    def scan(self) -> TaskTime:
        """Read all rows with one scanner."""

    @abstractmethod
    def salted_scan(self) -> TaskTime:
        """Read all rows in the order of the key after the bucket."""

    @abstractmethod
    def get(self, count: int, threads: int) -> TaskTime:
        """Read random single rows."""

    @abstractmethod
    def put(self, count: int, threads: int) -> TaskTime:
        """Write single rows."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def build_row_key(number: int) -> bytes:
    """Return the key of a row.

    >>> build_row_key(17)
    b'01000000000000017'
    """
    return b"%02d%015d" % (number % BUCKETS, number)


def draw_keys(count: int, rows: int) -> list[bytes]:
    """Draw random keys, the same ones in every run."""
    chance = Random(count)
    return [build_row_key(chance.randrange(rows)) for _ in range(count)]


def time_task(operations: int, work: Callable[[], object]) -> TaskTime:
    """Return the time that some work of this process takes."""
    cpu, started = time.process_time(), time.perf_counter()
    work()
    return TaskTime(operations, time.perf_counter() - started, time.process_time() - cpu)


def run_in_threads(keys: list[bytes], threads: int, one: Callable[[bytes], object]) -> None:
    """Call a function with each key, in threads with equal shares."""
    if threads == 1:
        for key in keys:
            one(key)
        return

    def share(number: int) -> None:
        """Call the function with every n-th key."""
        for key in keys[number::threads]:
            one(key)

    with ThreadPoolExecutor(threads) as crew:
        list(crew.map(share, range(threads)))


def check_row_count(rows: int, rows_read: Iterable[object]) -> None:
    """Raise if the number of rows that were read differs from the expected one.

    Raises:
        ValueError: the numbers differ.
    """
    count = sum(1 for _ in rows_read)
    if count != rows:
        raise ValueError(f"{count} rows were read; expected {rows}")
