"""The measured cost of a declared read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from rowkey.messages import pluralize
from rowkey.workload import count_read_operations

if TYPE_CHECKING:
    from rowkey.plan import DeclaredRead
    from rowkey.simulate.read_load import AnswerLoad

MIN_RETURNS = 1.5
"""Times the expected rows from which on those of values that may come again are told."""


@dataclass(frozen=True, slots=True)
class ReadMargins:
    """How far the means of a read's cost may lie from the true means, in 95 of 100 cases.

    Args:
        fan_out: of the ranges.
        regions: of the regions.
        returned_rows: of the rows of the answer.
        read_rows: of the rows read for them.
    """

    fan_out: float = 0.0
    regions: float = 0.0
    returned_rows: float = 0.0
    read_rows: float = 0.0


@dataclass(frozen=True, slots=True)
class ReadCost:
    """The measured cost of one declared read, averaged over many trials.

    Args:
        fan_out: ranges read for one answer, mean and most.
        regions: regions touched, mean and most.
        returned_rows: rows of the answer, mean; events, where they share rows.
        read_rows: rows read for them, mean.
        residual_fields: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the requested order, forwards or backwards.
        assumption: what was assumed to run it, or an empty string.
        error: why it could not be run, or an empty string.
        margins: how far the means may lie from the true ones.
        row_bytes: bytes of a row, or of an event where they share rows, mean.
        load: where its operations fall; None if it could not be run.
        is_get: whether it always knows the whole row keys, so that Bloom filters spare files.
    """

    name: str
    fan_out: tuple[float, int] = (0.0, 0)
    regions: tuple[float, int] = (0.0, 0)
    returned_rows: float = 0.0
    read_rows: float = 0.0
    residual_fields: tuple[str, ...] = ()
    is_full_scan: bool = False
    serves_order: bool = True
    assumption: str = ""
    error: str = ""
    margins: ReadMargins = ReadMargins()
    row_bytes: float = 0.0
    load: AnswerLoad | None = field(default=None, compare=False, repr=False)
    is_get: bool = False

    def add_possible_returns(self, read: DeclaredRead, rows: float) -> ReadCost:
        """Return the cost with margins up to the rows of values that come again after the sample.

        Args:
            read: the read.
            rows: the rows that an answer then has.
        """
        most = min(rows, read.limit or inf)
        if most < MIN_RETURNS * self.returned_rows:
            return self
        margins = replace(
            self.margins,
            returned_rows=max(self.margins.returned_rows, most - self.returned_rows),
            read_rows=max(self.margins.read_rows, most - self.read_rows),
        )
        names = " and ".join(read.equality_fields)
        said = (
            f"hardly a value of {names} is in the sample twice, so it does not show whether values "
            f"come again: taken as if they do not; if each comes once in a time as long as the "
            f"sample, an answer has {pluralize(round(most), 'row')}; declare distinct or unique of "
            f"{names}, or take a longer sample"
        )
        assumption = "; ".join(filter(None, (self.assumption, said)))
        return replace(self, margins=margins, assumption=assumption)

    @property
    def amplification(self) -> float | None:
        """Return the rows read for each row returned; None if nothing was returned."""
        return self.read_rows / self.returned_rows if self.returned_rows else None

    @property
    def operations(self) -> float:
        """Return the operations of an answer, mean."""
        return count_read_operations(self.regions[0], self.read_rows, self.row_bytes)

    @property
    def needed_operations(self) -> float:
        """Return the operations of the answer if its rows lay together and were all returned."""
        rows = min(self.returned_rows, self.read_rows)
        return count_read_operations(min(self.regions[0], 1), rows, self.row_bytes)
