"""The compared clients behind one interface: write rows and read them back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cluster.judge import Answer, JudgeError
from oracles.build import Source, build_command
from oracles.java import JavaOracle
from rowkey.cells import RowCells
from rowkey.engines import CellSelection
from rowkey.hbase import ReadSpec, ScanSpec, connect

if TYPE_CHECKING:
    from cluster import Cluster, Judge
    from oracles.java import Argument
    from rowkey.engines import ScanRange

ASYNC = Source(Path(__file__).parent / "async", "Async")
VERSIONS = 1_000_000
EVERY_VERSION = ReadSpec(versions=VERSIONS)
ROWS_AT_ONCE = 500
BYTES_AT_ONCE = 4 << 20
PATIENCE_S = 150.0
# A server ends an answer at 2 MB by itself; what these bound is what a client holds.
SCAN_ROWS, SCAN_CELLS = 1_000, 100_000


class Peer(ABC):
    """A client of one cluster."""

    @abstractmethod
    def write(self, table: str, rows: Sequence[RowCells]) -> None:
        """Put all cells; return when all are acknowledged."""

    @abstractmethod
    def scan(self, table: str, part: ScanRange) -> list[RowCells]:
        """Return all rows of a range with all versions, in the order they arrive."""

    @abstractmethod
    def get(self, table: str, rows: Sequence[bytes]) -> list[RowCells]:
        """Return rows with all versions; a row without cells has an empty key."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection to the cluster."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Official(Peer):
    """The client that HBase ships with.

    Args:
        judge: the official client in a JVM of its own, ended by `close`.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def write(self, table: str, rows: Sequence[RowCells]) -> None:
        for portion in split_rows(rows):
            self.judge.mutate(table, portion)

    def scan(self, table: str, part: ScanRange) -> list[RowCells]:
        found: list[RowCells] = []
        start, ask = (part.start, True), CellSelection(versions=VERSIONS, limit=SCAN_ROWS)
        while more := self.judge.scan(table, ask, start, (part.stop, False)):
            found += more
            start = (more[-1].row, False)
        return found

    def get(self, table: str, rows: Sequence[bytes]) -> list[RowCells]:
        ask, found = CellSelection(versions=VERSIONS), []
        for at in range(0, len(rows), ROWS_AT_ONCE):
            found += self.judge.get(table, rows[at : at + ROWS_AT_ONCE], ask)
        return found

    def close(self) -> None:
        self.judge.stop()


class Asynchbase(Peer):
    """asynchbase, which shares no code with the official client.

    Args:
        zookeeper: host:port.

    Raises:
        Absent: Java or Maven is missing, or its jars cannot be had.
    """

    def __init__(self, zookeeper: str) -> None:
        self.oracle = JavaOracle([*build_command(ASYNC), zookeeper], PATIENCE_S)

    def _ask(self, name: str, *words: Argument) -> Answer:
        told = self.oracle.ask(name, *words)
        if told.startswith("! "):
            kind, _, says = told[2:].partition(": ")
            raise JudgeError(kind, says)
        return Answer(told)

    def write(self, table: str, rows: Sequence[RowCells]) -> None:
        for portion in split_rows(rows):
            words: list[Argument] = [table, len(portion)]
            for row, cells in portion:
                words += (row, len(cells))
                for cell in cells:
                    words += (cell.family, cell.qualifier, cell.timestamp, cell.value)
            self._ask("put", *words)

    def scan(self, table: str, part: ScanRange) -> list[RowCells]:
        return self._ask("scan", table, part.start, part.stop, SCAN_ROWS, SCAN_CELLS).rows()

    def get(self, table: str, rows: Sequence[bytes]) -> list[RowCells]:
        found: list[RowCells] = []
        for at in range(0, len(rows), ROWS_AT_ONCE):
            portion = rows[at : at + ROWS_AT_ONCE]
            told = self._ask("get", table, len(portion), *portion)
            found += (told.row() for _ in range(told.number()))
        return found

    def close(self) -> None:
        self.oracle.stop()


class Ours(Peer):
    """rowkey's own client.

    Args:
        url: of the cluster.
    """

    def __init__(self, url: str) -> None:
        self.client = connect(url)

    def write(self, table: str, rows: Sequence[RowCells]) -> None:
        self.client.table(table).mutate_rows(rows)

    def scan(self, table: str, part: ScanRange) -> list[RowCells]:
        asked = ScanSpec(part.start, part.stop, read=EVERY_VERSION)
        with self.client.table(table).scan(asked) as found:
            return list(found.iter_row_cells())

    def get(self, table: str, rows: Sequence[bytes]) -> list[RowCells]:
        found = self.client.table(table).get_many(rows, EVERY_VERSION)
        return [row if row.cells else RowCells(b"", []) for row in found]

    def close(self) -> None:
        self.client.close()


def split_rows(rows: Sequence[RowCells]) -> Iterator[list[RowCells]]:
    """Yield the rows in order in small groups, since a question is one line."""
    portion: list[RowCells] = []
    size = 0
    for row in rows:
        more = sum(len(row.row) + len(cell.value) for cell in row.cells)
        if portion and (len(portion) == ROWS_AT_ONCE or size + more > BYTES_AT_ONCE):
            yield portion
            portion, size = [], 0
        portion.append(row)
        size += more
    if portion:
        yield portion


def open_official(cluster: Cluster) -> Official:
    """Return the official client without cached regions."""
    return Official(cluster.new_judge())


def open_asynchbase(cluster: Cluster) -> Asynchbase:
    """Return asynchbase without cached regions."""
    return Asynchbase(cluster.zookeeper)


def open_ours(cluster: Cluster) -> Ours:
    """Return rowkey's client without cached regions."""
    return Ours(f"hbase://{cluster.zookeeper}")


PEERS = {"ours": open_ours, "official": open_official, "asynchbase": open_asynchbase}
"""Every client, by name: what opens it for a cluster."""
