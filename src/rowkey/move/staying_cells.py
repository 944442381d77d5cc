"""Cells that stay behind when rows are moved or dropped, by column and reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from rowkey.messages import pluralize
from rowkey.rows import UndeclaredCells, format_column
from rowkey.table import StayReason

MAX_COLUMN_CHARACTERS = 200
"""Characters of the name of a column in a note: ZooKeeper stores at most 1 MB."""


@dataclass(frozen=True, slots=True)
class StayingCells:
    """Cells of one column that a move leaves behind for one reason.

    Args:
        column: the column in HBase's notation, such as `d:x`; empty for those that are too many to
            be listed.
        cell_count: how many cells, not counting older versions.
        reason: why they stay.
        row_key: the key of a row that has one, in hexadecimal; empty if none was kept.
    """

    column: str
    cell_count: int
    reason: str
    row_key: str = ""

    def __str__(self) -> str:
        """Return the cells and the reason as a clause."""
        example = f", such as in row key {self.row_key}" if self.row_key else ""
        cells = f"{pluralize(self.cell_count, 'cell')} of {_format_column(self.column)}"
        return f"{cells}{example}: {self.reason}"

    def to_document(self) -> dict[str, Any]:
        """Return it as it is noted and printed as JSON; a long name of a column is cut."""
        return asdict(self) | {"column": self.column[:MAX_COLUMN_CHARACTERS]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return what was noted."""
        return cls(**document)


def list_staying_cells(staying: Mapping[StayReason, UndeclaredCells]) -> list[StayingCells]:
    """Return the cells of summaries by reason as one item for each column and reason."""
    found = []
    for reason, summary in staying.items():
        row_keys = {
            format_column(*one.cell[:2]): one.row_key.hex() for one in reversed(summary.samples)
        }
        for column, count in summary.column_counts.items():
            found.append(StayingCells(column, count, reason.value, row_keys.get(column, "")))
        if summary.unlisted_cell_count:
            found.append(StayingCells("", summary.unlisted_cell_count, reason.value))
    return sorted(found, key=lambda one: (one.column, one.reason))


def list_consents(staying: Iterable[StayingCells]) -> dict[str, list[StayingCells]]:
    """Return what must be typed before cells are dropped, with the cells that each is about."""
    columns: dict[str, list[StayingCells]] = {}
    for one in staying:
        columns.setdefault(one.column, []).append(one)
    consents = {}
    for column, some in columns.items():
        count = sum(one.cell_count for one in some)
        cells = "1 cell" if count == 1 else f"{count} cells"
        consents[f"drop {cells} of {_format_column(column)}"] = some
    return consents


def format_uncompared_consent(table: str) -> str:
    """Return what must be typed before a table is dropped that was not compared."""
    return f"drop {table} without a comparison"


def _format_column(column: str) -> str:
    """Return a column as a consent names it; an empty one is all that were not listed."""
    return f"column {column}" if column else "other columns"
