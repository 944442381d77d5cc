"""The official Java client, called through `Judge.java`.

A judge speaks HBase: rows inclusive or exclusive, `value OPERATOR cell`, server names. What the
contract of rowkey's engines makes of that is `judged.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from oracles.java import Argument, JavaOracle, parse_bytes
from rowkey.cells import LATEST, Cell, CellType, RowCells

if TYPE_CHECKING:
    from rowkey.engines import CellSelection

PATIENCE_S = 150.0  # the client itself gives up after 90 s
SPLIT_MS = 60_000

Word: TypeAlias = Argument
Attributes: TypeAlias = Mapping[str, str]


class JudgeError(Exception):
    """HBase or its client raised an error.

    Args:
        kind: the simple name of the Java class.
        remote_message: the first line of its message.
    """

    def __init__(self, kind: str, remote_message: str) -> None:
        super().__init__(f"{kind}: {remote_message}")
        self.kind = kind
        self.says = remote_message


class Answer:
    """The fields of an answer, read from left to right.

    >>> told = Answer("61,empty,7,null,true")
    >>> told.read_text(), told.read_bytes(), told.number(), told.text_or_none(), told.truth()
    ('a', b'', 7, None, True)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._words = iter(text.split(",") if text else ())

    def read_bytes(self) -> bytes:
        """Return the next field as bytes."""
        return parse_bytes(next(self._words))

    def read_text(self) -> str:
        """Return the next field as text."""
        return self.read_bytes().decode()

    def text_or_none(self) -> str | None:
        """Return the next field as text, or None."""
        word = next(self._words)
        return None if word == "null" else parse_bytes(word).decode()

    def number(self) -> int:
        """Return the next field as int."""
        return int(next(self._words))

    def truth(self) -> bool:
        """Return the next field as bool."""
        return next(self._words) == "true"

    def pairs(self) -> dict[str, str]:
        """Return a count of pairs and then the pairs as a dictionary."""
        return {self.read_text(): self.read_text() for _ in range(self.number())}

    def row(self) -> RowCells:
        """Return a row or a partial row; its key is empty if there is no cell.

        The time to live of a cell is not among what a server tells a client.
        """
        row = self.read_bytes()
        return RowCells(row, [self._cell() for _ in range(self.number())])

    def _cell(self) -> Cell:
        family, qualifier = self.read_text(), self.read_bytes()
        at, kind, value = self.number(), CellType(self.number()), self.read_bytes()
        return Cell(family, qualifier, at, value, kind)

    def rows(self) -> list[RowCells]:
        """Return all remaining rows."""
        found = []
        with suppress(StopIteration):
            while True:
                found.append(self.row())
        return found


@dataclass(frozen=True, slots=True)
class Status:
    """The master's status of its cluster.

    Args:
        master: HBase's name of the master.
        moving: regions on their way from one server to another.
        live: number of regions by region server, as `host,port,start`.
        dead: servers that were given up.
    """

    master: str
    moving: int
    live: Mapping[str, int]
    dead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A region, its server, and its counters since it was opened there.

    Args:
        start: its first row key.
        stop: the first row key after it; empty for the last one.
        name: its encoded name.
        server: HBase's name of the server, or None while there is none.
        writes: writeRequestsCount, -1 while there is no server.
        reads: readRequestsCount, likewise.
        files: store files, likewise.
        size: bytes of its store files, in whole MB.
    """

    start: bytes
    stop: bytes
    name: str
    server: str | None
    writes: int
    reads: int
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class SchemaAnswer:
    """The schema of a table as HBase returns it.

    Args:
        families: all attributes of each family, defaults included.
        settings: the configuration of each family.
        words: what is kept with the table, HBase's own words included.
    """

    families: Mapping[str, Attributes]
    settings: Mapping[str, Attributes]
    words: Attributes


class Judge:
    """The official Java client of one cluster, in a JVM of its own.

    Threads may share one, and take turns. A JVM that fell silent is replaced at the next question.

    Args:
        command: the JVM and its arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._oracle: JavaOracle | None = None
        self._lock = Lock()

    def ask(self, name: str, *words: Word) -> Answer:
        """Return the answer to one question of `Judge.java`.

        Raises:
            JudgeError: HBase or its client threw.
            OracleError: the judge died, fell silent or did not understand.

        Cost: 0.3 ms to 2 ms for one row; seconds for what the master does.
        """
        with self._lock:
            if self._oracle is None:
                self._oracle = JavaOracle(self._command, PATIENCE_S)
            try:
                told = self._oracle.ask(name, *words)
            except BaseException as error:
                # The JVM still answers when only the question was wrong.
                if not str(error).startswith("the JVM could not put the question"):
                    self._oracle.stop()
                    self._oracle = None
                raise
        if told.startswith("! "):
            kind, _, says = told[2:].partition(": ")
            raise JudgeError(kind, says)
        return Answer(told)

    def stop(self) -> None:
        """End the JVM; the next question starts another."""
        with self._lock:
            if self._oracle is not None:
                self._oracle.stop()
            self._oracle = None

    def now(self) -> int:
        """Return milliseconds since 1970 by the clock that all servers of the cluster share."""
        return self.ask("now").number()

    def status(self) -> Status:
        """Return the master's status, at most half a second old."""
        told = self.ask("status")
        master, moving = told.read_text(), told.number()
        live = {told.read_text(): told.number() for _ in range(told.number())}
        return Status(master, moving, live, tuple(told.read_text() for _ in range(told.number())))

    def create(
        self,
        table: str,
        families: Mapping[str, Attributes],
        splits: Sequence[bytes] = (),
        words: Attributes | None = None,
        settings: Mapping[str, Attributes] | None = None,
    ) -> None:
        """Create a table, and its namespace if missing; return when it is online.

        Args:
            table: its name.
            families: attributes of each family, in HBase's words.
            splits: where its regions begin.
            words: kept with the table.
            settings: the configuration of families.
        """
        told = _families(families, settings or {})
        self.ask("create", table, *told, *_pairs(words or {}), len(splits), *splits)

    def describe(self, table: str) -> SchemaAnswer:
        """Return the schema of a table."""
        told = self.ask("describe", table)
        families, settings = {}, {}
        for _ in range(told.number()):
            name = told.read_text()
            families[name] = told.pairs()
            settings[name] = told.pairs()
        return SchemaAnswer(families, settings, told.pairs())

    def alter(
        self,
        table: str,
        families: Mapping[str, Attributes],
        settings: Mapping[str, Attributes] | None = None,
    ) -> None:
        """Change or add families; attributes that are not given stay."""
        self.ask("alter", table, *_families(families, settings or {}))

    def annotate(self, table: str, words: Mapping[str, str | None]) -> None:
        """Set attributes of a table; None removes one."""
        self.ask("annotate", table, *_pairs(words))

    def drop(self, table: str) -> None:
        """Delete a table."""
        self.ask("drop", table)

    def truncate(self, table: str, *, keep_splits: bool = True) -> None:
        """Delete all rows of a table."""
        self.ask("truncate", table, keep_splits)

    def tables(self) -> list[str]:
        """Return all user tables in ascending order."""
        told = self.ask("tables")
        return sorted(told.read_text() for _ in range(told.number()))

    def snapshot(self, table: str, copy: str) -> None:
        """Create a copy of a table through a snapshot."""
        self.ask("snapshot", table, copy)

    def mutate(self, table: str, mutations: Sequence[RowCells]) -> None:
        """Apply mutations in order; those of different rows may be sent as one batch."""
        words = (word for one in mutations for word in (one.row, *format_cells(one.cells)))
        self.ask("mutate", table, len(mutations), *words)

    def increment(
        self, table: str, row: bytes, amounts: Sequence[tuple[str, bytes, int]]
    ) -> list[int]:
        """Add to counters and return the new values."""
        told = self.ask("increment", table, row, len(amounts), *_flatten(amounts))
        return [told.number() for _ in amounts]

    def append(
        self, table: str, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]]
    ) -> list[bytes]:
        """Append to cells and return the new values."""
        told = self.ask("append", table, row, len(pieces), *_flatten(pieces))
        return [told.read_bytes() for _ in pieces]

    def check_and_mutate(
        self,
        table: str,
        row: bytes,
        column: tuple[str, bytes],
        operator: str,
        value: bytes | None,
        cells: Sequence[Cell],
    ) -> bool:
        """Apply cells if *value OPERATOR cell*; the operator is a name of CompareOperator."""
        words = (table, row, *column, operator, value, *format_cells(cells))
        return self.ask("checkAndMutate", *words).truth()

    def get(self, table: str, rows: Sequence[bytes], ask: CellSelection) -> list[RowCells]:
        """Return the cells of rows; a row without cells has an empty key."""
        told = self.ask("get", table, *_format_selection(ask), len(rows), *rows)
        return [told.row() for _ in range(told.number())]

    def scan(
        self,
        table: str,
        ask: CellSelection,
        start: tuple[bytes, bool] = (b"", True),
        stop: tuple[bytes, bool] = (b"", False),
        caching: int | None = None,
    ) -> list[RowCells]:
        """Return all rows, or partial rows, of a scan.

        Args:
            table: its name.
            ask: what is wanted.
            start: where it begins, the higher end in reverse, and whether that row belongs to it.
            stop: where it ends, likewise.
            caching: rows of one call to a server.
        """
        ends = (*start, *stop, ask.reverse, ask.raw)
        told = self.ask(
            "scan", table, *_format_selection(ask), *ends, ask.limit, ask.batch, caching
        )
        return told.rows()

    def regions(self, table: str) -> list[Region]:
        """Return the regions in key order with their current counters."""
        told = self.ask("regions", table)
        return [_parse_region(told) for _ in range(told.number())]

    def flush(self, table: str) -> None:
        """Flush the memstores of a table to files; return when that is done."""
        self.ask("flush", table)

    def compact(self, table: str, *, major: bool = True) -> None:
        """Compact a table; return when none of its regions is compacting any more."""
        self.ask("compact", table, major)

    def split(self, table: str, at: bytes) -> None:
        """Split the region that holds a row key; return when both halves are online."""
        self.ask("split", table, at, SPLIT_MS)

    def move(self, table: str, row: bytes, server: str) -> None:
        """Move the region that holds a row key to a server, by HBase's name of it."""
        self.ask("move", table, row, server)


def format_cells(cells: Sequence[Cell]) -> list[Word]:
    """Return cells as the arguments of a question."""
    words: list[Word] = [len(cells)]
    for cell in cells:
        words += (cell.family, cell.qualifier, cell.timestamp, int(cell.cell_type), cell.value)
        words.append(cell.ttl_ms)
    return words


def _flatten(rows: Iterable[tuple[Word, ...]]) -> list[Word]:
    return [word for row in rows for word in row]


def _pairs(words: Mapping[str, str | None]) -> list[Word]:
    return [len(words), *_flatten(words.items())]


def _families(families: Mapping[str, Attributes], settings: Mapping[str, Attributes]) -> list[Word]:
    words: list[Word] = [len(families)]
    for name, attributes in families.items():
        words += [name, *_pairs(attributes), *_pairs(settings.get(name, {}))]
    return words


def _format_selection(ask: CellSelection) -> list[Word]:
    """Return the arguments that gets and scans share; defaults are not sent to HBase either."""
    words: list[Word] = [len(ask.columns or {})]
    for family, qualifiers in (ask.columns or {}).items():
        words += [family, len(qualifiers), *qualifiers]
    words += (None, None) if ask.time_range == (0, LATEST) else ask.time_range
    first, end = ask.qualifier_range
    bounds = (None, None) if ask.qualifier_range == (b"", b"") else (first, end or None)
    return [*words, ask.versions, *bounds]


def _parse_region(told: Answer) -> Region:
    start, stop, name = told.read_bytes(), told.read_bytes(), told.read_text()
    server = told.text_or_none()
    writes, reads, files, size = (told.number() for _ in range(4))
    return Region(start, stop, name, server, writes, reads, files, size)
