"""The tasks that clients are compared by, and the table they are done on."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BUCKETS = 16
FAMILY, QUALIFIER = "d", b"v"
VALUE = bytes(100)
CACHING = 10_000
SPLITS = [b"%02d" % number for number in range(1, BUCKETS)]
RANGES = list(zip([b"00", *SPLITS], [*SPLITS, b""], strict=True))
"""The rows of each bucket: from, to."""


class Taken(NamedTuple):
    """What a task took.

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
    """How it came to read all rows, where it had to choose; empty where there was no choice."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    @abstractmethod
    def load(self, rows: int) -> Taken:
        """Write so many rows, as fast as it can."""

    @abstractmethod
    def scan(self) -> Taken:
        """Read all rows with one scanner."""

    @abstractmethod
    def salted_scan(self) -> Taken:
        """Read all rows in the order of what follows the bucket."""

    @abstractmethod
    def get(self, count: int, threads: int) -> Taken:
        """Read single rows by chance."""

    @abstractmethod
    def put(self, count: int, threads: int) -> Taken:
        """Write single rows."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the cluster."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def row_key(number: int) -> bytes:
    """The key of a row.

    >>> row_key(17)
    b'01000000000000017'
    """
    return b"%02d%015d" % (number % BUCKETS, number)


def some_keys(count: int, rows: int) -> list[bytes]:
    """Keys by chance, the same ones every time."""
    chance = Random(count)
    return [row_key(chance.randrange(rows)) for _ in range(count)]


def timed(operations: int, work: Callable[[], object]) -> Taken:
    """What some work of this process takes."""
    cpu, started = time.process_time(), time.perf_counter()
    work()
    return Taken(operations, time.perf_counter() - started, time.process_time() - cpu)


def spread(keys: list[bytes], threads: int, one: Callable[[bytes], object]) -> None:
    """Do something with each key, an equal share of them in each thread."""
    if threads == 1:
        for key in keys:
            one(key)
        return

    def share(number: int) -> None:
        for key in keys[number::threads]:
            one(key)

    with ThreadPoolExecutor(threads) as crew:
        list(crew.map(share, range(threads)))


def expect(rows: int, found: Iterable[object]) -> None:
    """Count what comes.

    Raises:
        ValueError: it is not so many.
    """
    count = sum(1 for _ in found)
    if count != rows:
        raise ValueError(f"{count} rows instead of {rows}")
