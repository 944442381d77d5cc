"""The damage found in a table, and the results of repairing or saving it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.engines.pairs.layout import parse_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.errors import OneMistakeError

RowInterval = tuple[bytes | None, bytes | None]
"""The first and the last row of a stretch, both inclusive; None is the beginning or the end."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of keys that cannot be read.

    Args:
        previous_key: the last readable key before it; None if there is none.
        next_key: the first readable key after it; None if there is none.
        problem: what RocksDB says of it.
    """

    previous_key: bytes | None
    next_key: bytes | None
    problem: str

    @property
    def first_row(self) -> bytes | None:
        """Return the first row that may lack cells, inclusive; None for the start of the table."""
        return None if self.previous_key is None else parse_row(self.previous_key)

    @property
    def last_row(self) -> bytes | None:
        """Return the last row that may lack cells, inclusive; None for the end of the table."""
        return None if self.next_key is None else parse_row(self.next_key)


@dataclass(slots=True)
class Examination:
    """The result of examining one table.

    Args:
        table: its name.
        problems: what is damaged or gone; the file is named in each.
        repairable_problems: those of them that `repair` mends where the table lies.
        lost_rows: stretches of rows that lack cells, ascending and apart.
        gaps: by column family, what cannot be read between the keys that can.
        cell_count: cells that were read.
        file_count: files of sorted pairs and logs that were read.
        size_bytes: bytes of them.
        notes: what is wrong, but takes nothing away, or is not known.
        is_readable: whether anything could be read.
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

    @property
    def is_sound(self) -> bool:
        """Return whether nothing is damaged or missing."""
        return not self.problems

    @property
    def needs_saving(self) -> bool:
        """Return whether the damage cannot be repaired, so that the rest must be saved."""
        return len(self.repairable_problems) < len(self.problems)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of repairing one table in place.

    Args:
        table: its name.
        log_name: the log that was cut, or an empty string.
        offset: the byte from which on it was cut.
        truncated_bytes: bytes set aside, of this log and of those after it.
        lost_change_count: changes of single cells and counters that were acknowledged and are gone;
            None if that is not known.
        batch_count: batches that the table has now; they are numbered from 1.
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
        cell_count: cells that were saved.
        omitted_cell_count: cells that can be read, of rows that lack others.
        lost_rows: stretches of rows that are not in the new table.
        notes: what is uncertain about the rest.
    """

    table: str
    cell_count: int
    omitted_cell_count: int
    lost_rows: Sequence[RowInterval]
    notes: Sequence[str]
