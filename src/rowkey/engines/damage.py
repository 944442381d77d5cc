"""What was found in a damaged table, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.engines.pairs.layout import row_of_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.errors import OneMistakeError

Rows = tuple[bytes | None, bytes | None]
"""The first and the last row of a stretch, both inclusive; None is the beginning or the end."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of keys that cannot be read.

    Args:
        after: the last readable key before it; None if there is none.
        before: the first readable key after it; None if there is none.
        problem: what RocksDB says of it.
    """

    after: bytes | None
    before: bytes | None
    problem: str

    @property
    def first_row(self) -> bytes | None:
        """The first row that may lack cells, inclusive; None for the beginning of the table."""
        return None if self.after is None else row_of_key(self.after)

    @property
    def last_row(self) -> bytes | None:
        """The last row that may lack cells, inclusive; None for the end of the table."""
        return None if self.before is None else row_of_key(self.before)


@dataclass(slots=True)
class Examination:
    """What was found in one table.

    Args:
        table: its name.
        problems: what is damaged or gone; the file is named in each.
        repairable: those of them that `repair` mends where the table lies.
        lost_rows: stretches of rows that lack cells, ascending and apart.
        gaps: by column family, what cannot be read between the keys that can.
        cells: cells that were read.
        files: files of sorted pairs and logs that were read.
        size_bytes: bytes of them.
        notes: what is wrong, but takes nothing away, or is not known.
        is_readable: whether anything could be read.
    """

    table: str
    problems: list[OneMistakeError] = field(default_factory=list)
    repairable: list[OneMistakeError] = field(default_factory=list)
    lost_rows: list[Rows] = field(default_factory=list)
    gaps: dict[str, list[Gap]] = field(default_factory=dict)
    cells: int = 0
    files: int = 0
    size_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    is_readable: bool = True

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged or gone."""
        return not self.problems

    @property
    def needs_saving(self) -> bool:
        """Whether what can be read must be saved into a new table, as no repair mends the rest."""
        return len(self.repairable) < len(self.problems)


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair did to one table where it lies.

    Args:
        table: its name.
        log: the log that was cut, or an empty string.
        offset: the byte from which on it was cut.
        bytes_cut: bytes set aside, of this log and of those after it.
        changes_lost: changes of single cells and counters that were acknowledged and are gone;
            None if that is not known.
        batches: batches that the table has now; they are numbered from 1.
    """

    table: str
    log: str = ""
    offset: int = 0
    bytes_cut: int = 0
    changes_lost: int | None = 0
    batches: int = 0


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved of a damaged table into a new one.

    Args:
        table: its name.
        cells: cells that were saved.
        cells_left_out: cells that can be read, of rows that lack others.
        lost_rows: stretches of rows that are not in the new table.
        notes: what is uncertain about the rest.
    """

    table: str
    cells: int
    cells_left_out: int
    lost_rows: Sequence[Rows]
    notes: Sequence[str]
