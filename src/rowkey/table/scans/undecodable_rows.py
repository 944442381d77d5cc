"""Rows that a scan leaves out because the design cannot decode them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rowkey.cells import RowCells
from rowkey.engines import Cursor
from rowkey.errors import RowError
from rowkey.keys import Key

MAX_UNDECODABLE_SAMPLES = 5
"""Rows that are named."""
SKIP_HINT = "To leave out such rows, scan or count with skip_undecodable=True (--skip-undecodable)."


class UndecodableRow(NamedTuple):
    """A row that was left out.

    Args:
        reason: why it cannot be decoded.
    """

    row_key: bytes
    reason: str


@dataclass(slots=True)
class UndecodableRows:
    """How many rows a scan has left out, with the first of them.

    Args:
        row_count: the rows; of a shared row whose key can be decoded, the events.
        samples: the first of them, in the order in which they were read.
    """

    row_count: int = 0
    samples: list[UndecodableRow] = field(default_factory=list)

    def add(self, row_key: bytes, problem: RowError) -> None:
        """Add a row that cannot be decoded."""
        self.row_count += 1
        if len(self.samples) < MAX_UNDECODABLE_SAMPLES:
            self.samples.append(UndecodableRow(row_key, str(problem)))

    def forget_after(self, row_count: int) -> None:
        """Forget all rows after the first ones, to count them again."""
        self.row_count, self.samples = row_count, self.samples[:row_count]


def skip_undecodable_keys(
    cursor: Cursor, key: Key, leave_out: Callable[[bytes, RowError], None]
) -> Iterator[RowCells]:
    """Yield the rows of a cursor, or parts of rows, whose keys can be decoded.

    Args:
        cursor: the rows in their order.
        leave_out: called with each other row key, once, and why it cannot be decoded.
    """
    last_key, is_decodable = None, True
    for row in cursor:
        if row.row != last_key:
            last_key, is_decodable = row.row, True
            try:
                key.decode(row.row)
            except RowError as problem:
                is_decodable = False
                leave_out(row.row, problem)
        if is_decodable:
            yield row


def add_skip_hint(problem: RowError) -> RowError:
    """Return the error of a stored row, with the option that leaves out such rows."""
    return RowError.join(
        [
            RowError(one.path, one.problem, one.expected, f"{one.remedy} {SKIP_HINT}".strip())
            for one in problem.mistakes
        ]
    )
