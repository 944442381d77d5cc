"""Undeclared cells: cells of a table's rows in columns or families that its design does not name.

HBase has no schema, so that another program may write any column of a row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.cells import Cell
from rowkey.errors import DesignRefused
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    Column = tuple[str, bytes]
    """A family, and a qualifier without the prefix of its event."""

MAX_LISTED_COLUMNS = 100
"""Columns that a summary counts one by one: the first ones in the order of their names."""
UNDECLARED_NAME = "undeclared"
"""The name under which a row that is read has its undeclared cells, next to the fields."""
MAX_SAMPLE_BYTES = 64
"""Bytes of the value of such a cell, the first ones."""
MAX_SAMPLES = 5
"""Cells that a summary has as a sample: the first ones in the order of the row keys."""


class UndeclaredCell(NamedTuple):
    """A put of a row in no column of the design.

    Args:
        event_prefix: the prefix of its qualifier, which names the event that it belongs to; empty
            if a row holds one event; None if rows hold several and the qualifier names none, so
            that the cell belongs to the whole row.
        cell: the cell, with its whole qualifier.
    """

    event_prefix: bytes | None
    cell: Cell

    @property
    def column(self) -> Column:
        """Its family, and its qualifier without the prefix of its event."""
        return self.cell.family, self.cell.qualifier[len(self.event_prefix or b"") :]


class RowWithUndeclared(NamedTuple):
    """A row, or an event of a shared row, with its undeclared cells.

    Args:
        values: its fields; of a row that is not declared those in its key and its qualifiers, and
            the others None.
        is_declared: whether it has declared cells, so that it is a row of the design.
        event_prefix: the prefix of its qualifiers; None if it stands for the cells of a shared row
            that belong to no event.
        cells: its undeclared cells, in their order.
    """

    values: dict[str, Any]
    is_declared: bool
    event_prefix: bytes | None
    cells: list[UndeclaredCell]

    def build_row(self) -> dict[str, Any]:
        """Return the fields, and the values of undeclared cells by column in HBase's notation."""
        cells: dict[str, bytes] = {}
        for one in self.cells:  # the newest version of a column comes first
            cells.setdefault(format_column(*one.column), one.cell.value)
        return {**self.values, UNDECLARED_NAME: cells}


class CellSample(NamedTuple):
    """An undeclared cell of a sample, with the key of its row."""

    row_key: bytes
    cell: Cell


@dataclass(slots=True)
class UndeclaredCells:
    """How many undeclared cells some rows have, in which columns, with a sample of them.

    Summaries of parts of a table can be merged in any order, with the same result.

    Args:
        row_count: the rows that have such cells; events, where rows hold several.
        undeclared_row_count: the rows that have no other cells. The design has no row there.
        columns: how many of the cells are in each column; of the first columns only.
        samples: the first of the cells.
    """

    cell_count: int = 0
    row_count: int = 0
    undeclared_row_count: int = 0
    columns: dict[Column, int] = field(default_factory=dict)
    samples: list[CellSample] = field(default_factory=list)

    @property
    def unlisted_cell_count(self) -> int:
        """How many of the cells are in columns that are not listed."""
        return self.cell_count - sum(self.columns.values())

    @property
    def column_counts(self) -> dict[str, int]:
        """How many cells are in each listed column, named in HBase's notation."""
        return {format_column(*column): count for column, count in self.columns.items()}

    def add_row(
        self,
        row_key: bytes,
        cells: Sequence[UndeclaredCell],
        event_prefixes: Collection[bytes],
        *,
        is_rest: bool = False,
    ) -> None:
        """Count the undeclared cells of one row, and keep the first as samples.

        Args:
            event_prefixes: the prefixes of those events in it that have declared cells.
            is_rest: whether the row was counted with other cells of it that belong to no event.
        """
        prefixes = {one.event_prefix for one in cells}
        if is_rest:
            prefixes.discard(None)
        columns: dict[Column, int] = {}
        for one in cells:
            columns[one.column] = columns.get(one.column, 0) + 1
        self._add(
            len(cells),
            len(prefixes),
            len(prefixes.difference(event_prefixes)),
            columns,
            [
                CellSample(row_key, one.cell._replace(value=one.cell.value[:MAX_SAMPLE_BYTES]))
                for one in nsmallest(MAX_SAMPLES, cells, key=attrgetter("cell"))
            ],
        )

    def clear(self) -> None:
        """Forget all cells, to count again."""
        self.cell_count = self.row_count = self.undeclared_row_count = 0
        self.columns, self.samples = {}, []

    def merge(self, other: UndeclaredCells) -> None:
        """Add the cells of another summary, which is of other rows."""
        if not other.cell_count:
            return
        self._add(
            other.cell_count,
            other.row_count,
            other.undeclared_row_count,
            other.columns,
            other.samples,
        )

    def _add(
        self,
        cell_count: int,
        row_count: int,
        undeclared_row_count: int,
        columns: dict[Column, int],
        samples: list[CellSample],
    ) -> None:
        """Add counts, and keep the first columns and samples of both."""
        self.cell_count += cell_count
        self.row_count += row_count
        self.undeclared_row_count += undeclared_row_count
        has_new_columns = not columns.keys() <= self.columns.keys()
        for column, count in columns.items():
            self.columns[column] = self.columns.get(column, 0) + count
        if has_new_columns:
            # A column that is among the first of all is among the first of each part, so that its
            # count is complete.
            self.columns = dict(sorted(self.columns.items())[:MAX_LISTED_COLUMNS])
        if len(self.samples) < MAX_SAMPLES or min(samples) < self.samples[-1]:
            self.samples = nsmallest(MAX_SAMPLES, [*self.samples, *samples])


def format_column(family: str, qualifier: bytes) -> str:
    r"""Return the name of a column in HBase's notation.

    >>> format_column("d", b"x"), format_column("d", b"\x80")
    ('d:x', 'd:\\x80')
    """
    return f"{family}:{to_string_binary(qualifier)}"


def check_undeclared_name(fields: Collection[str]) -> None:
    """Raise if a declared field has the name under which rows have their undeclared cells.

    Raises:
        DesignRefused: a field has that name.
    """
    if UNDECLARED_NAME in fields:
        what = "rows that are read with their undeclared cells have them under this name"
        remedy = "Rename the field, or read without undeclared cells."
        raise DesignRefused(f"fields.{UNDECLARED_NAME}", what, remedy=remedy)
