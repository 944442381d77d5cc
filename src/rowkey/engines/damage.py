"""The damage found in a table, and the results of repairing or saving it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rowkey.array_libraries import pa
from rowkey.engines.pairs.layout import parse_row
from rowkey.engines.requests import CellSelection, TableSpec
from rowkey.errors import OneMistakeError, Unavailable

CellInspection: TypeAlias = (
    "Callable[[TableSpec, Callable[[CellSelection], Iterator[pa.RecordBatch]]], None]"
)
"""Is called with the spec of a table without damage, and a function that reads its cells."""

RowInterval = tuple[bytes | None, bytes | None]
"""The first and the last row of a range, both inclusive; None for an open end."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of keys of a column family that cannot be read.

    Args:
        previous_key: the last readable key before it; None if there is none.
        next_key: the first readable key after it; None if there is none.
        problem: the error of RocksDB.
    """

    previous_key: bytes | None
    next_key: bytes | None
    problem: str

    @property
    def first_row(self) -> bytes | None:
        """Return the first row that may lack cells, inclusive; None if it is the table's first."""
        return None if self.previous_key is None else parse_row(self.previous_key)

    @property
    def last_row(self) -> bytes | None:
        """Return the last row that may lack cells, inclusive; None if it is the table's last."""
        return None if self.next_key is None else parse_row(self.next_key)


@dataclass(slots=True)
class Examination:
    """The damage that was found in one table.

    Args:
        table: its name.
        problems: the damaged and missing files.
        repairable_problems: the problems that `repair` removes in place.
        lost_rows: ranges of rows that lack cells or may be older, ascending, without overlaps.
        gaps: the unreadable ranges of keys by column family.
        cell_count: number of cells read.
        file_count: number of table files and logs read.
        size_bytes: bytes of these files.
        notes: irregularities that lose no data, and what is uncertain.
        is_readable: whether any cell could be read.
        spec: the stored families, attributes and regions of the table; None if they are lost.
    """

    table: str
    problems: list[OneMistakeError] = field(default_factory=list)
    repairable_problems: list[OneMistakeError] = field(default_factory=list)
    lost_rows: list[RowInterval] = field(default_factory=list)
    gaps: dict[str, list[Gap]] = field(default_factory=dict)
    cell_count: int = 0
    file_count: int = 0
    size_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    is_readable: bool = True
    spec: TableSpec | None = None

    @property
    def is_sound(self) -> bool:
        """Return whether the table can be opened, read and written."""
        return not self.problems

    @property
    def is_damaged(self) -> bool:
        """Return whether something of it is damaged or missing, not merely out of reach."""
        return not all(isinstance(problem, Unavailable) for problem in self.problems)

    @property
    def needs_saving(self) -> bool:
        """Return whether a repair in place cannot remove all damage of the table."""
        return len(self.repairable_problems) < len(self.problems)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of repairing one table in place.

    Args:
        table: its name.
        log_name: the log that was truncated, or an empty string.
        offset: the byte at which it was truncated.
        truncated_bytes: bytes moved to the folder `cut`, of this log and of later ones.
        lost_change_count: acknowledged changes of cells and counters that were lost; None if that
            is not known.
        batch_count: number of batches of changes that the table has now.
    """

    table: str
    log_name: str = ""
    offset: int = 0
    truncated_bytes: int = 0
    lost_change_count: int | None = 0
    batch_count: int = 0


@dataclass(frozen=True, slots=True)
class SalvageResult:
    """The result of saving a damaged table into a new one.

    Args:
        table: its name.
        cell_count: number of cells saved.
        omitted_cell_count: readable cells that were left out, as their rows lack other cells or may
            be older than they were.
        lost_rows: ranges of rows that are missing, lack cells or may be older in the new table.
        notes: what is uncertain about the saved rows.
    """

    table: str
    cell_count: int
    omitted_cell_count: int
    lost_rows: Sequence[RowInterval]
    notes: Sequence[str]
