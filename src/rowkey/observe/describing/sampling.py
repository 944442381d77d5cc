"""A bounded look into a table: the first rows of its regions, with their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from rowkey.engines import Ask, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.cells import RowCells
    from rowkey.engines import Store

REGIONS = 256
"""Regions that are looked into at most, evenly chosen."""
ROWS = 4_096
"""Rows that are looked at in all, and at least one of each region."""
MOST_EACH = 512
"""Rows of one region."""
CELLS = 256
"""Cells of a row that are looked at: where many events share a row, they are its first."""
COLUMNS = 64
"""Different qualifiers of a family, above which they are taken to hold data."""


@dataclass(slots=True)
class Column:
    """What was seen of one column.

    Args:
        family: its family.
        qualifier: its qualifier.
        rows: rows that have it.
        shortest: bytes of its shortest value.
        longest: bytes of its longest value.
        is_text: whether all of its values are text that prints, or empty.
    """

    family: str
    qualifier: bytes
    rows: int = 0
    shortest: int = 0
    longest: int = 0
    is_text: bool = True

    def add(self, value: bytes) -> None:
        """Look at the value of another row."""
        self.shortest = min(self.shortest, len(value)) if self.rows else len(value)
        self.longest = max(self.longest, len(value))
        self.is_text = self.is_text and (not value or bool(text_of(value)))
        self.rows += 1


@dataclass(slots=True)
class Sampled:
    """What was seen of a table.

    Args:
        keys: row keys, ascending.
        columns: by family and qualifier, those of the first families and qualifiers that were seen.
        wide: families with more qualifiers than columns of a table usually are.
        regions: regions that were looked into.
        of: regions there are.
    """

    keys: list[bytes] = field(default_factory=list)
    columns: dict[tuple[str, bytes], Column] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)
    regions: int = 0
    of: int = 0

    def add(self, row: RowCells) -> None:
        """Look at the next row, or at the next piece of the last one."""
        if not self.keys or self.keys[-1] != row.row:
            self.keys.append(row.row)
        for cell in row.cells:
            column = self._column(cell.family, cell.qualifier)
            if column is not None:
                column.add(cell.value)

    def _column(self, family: str, qualifier: bytes) -> Column | None:
        """What is kept of a column; None where its family has too many."""
        if family in self.wide:
            return None
        found = self.columns.get((family, qualifier))
        if found is None:
            if sum(1 for name, _ in self.columns if name == family) >= COLUMNS:
                self.wide.add(family)
                self.columns = {key: c for key, c in self.columns.items() if key[0] != family}
                return None
            found = self.columns[family, qualifier] = Column(family, qualifier)
        return found


def text_of(data: bytes) -> str:
    """Bytes as text that prints; empty where they are none.

    Args:
        data: a qualifier or a value.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""


def sampled(store: Store, splits: Sequence[bytes]) -> Sampled:
    """The first rows of the regions of a table, with their newest cells.

    Args:
        store: the table.
        splits: where its regions begin.

    Cost: one short scan a region, of 4,096 rows in all and 256 cells a row; each row that is looked
        at counts as read.
    """
    bounds = list(zip((b"", *splits), (*splits, b""), strict=True))
    step = -(-len(bounds) // REGIONS)
    chosen = bounds[::step]
    each = max(min(ROWS // len(chosen), MOST_EACH), 1)
    found = Sampled(regions=len(chosen), of=len(bounds))
    ask = Ask(limit=each, batch=CELLS)
    for start, stop in chosen:
        (cursor,) = store.scan([Span(start, stop)], ask)
        with cursor:
            _take(found, cursor, each)
    return found


def _take(found: Sampled, rows: Iterable[RowCells], each: int) -> None:
    """Look at the first rows of a region; of a row in pieces at the first."""
    seen: bytes | None = None
    for row in islice(rows, each):
        if row.row != seen:
            seen = row.row
            found.add(row)
