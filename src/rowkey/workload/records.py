"""Records read line by line, gathered into batches of text columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rowkey.errors import SampleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    Record = Sequence[str | None]

ROWS = 16_384
"""Records of one batch."""
CHARACTERS = 1 << 23
"""Characters of one batch, give or take the records between two counts."""
COUNTED = 64
"""Records between two counts of characters."""


@dataclass(slots=True)
class LeftOut:
    """What of a sample could not be an event, counted, so that nothing is left out silently.

    Args:
        count: how many rows or lines.
        first: the first that was noticed, by its number from 1, and what it lacked.
    """

    count: int = 0
    first: str = ""

    def note(self, count: int, what: str) -> None:
        """Note some rows or lines, the first of them in words."""
        self.count += count
        self.first = self.first or what


def batches_of(records: Iterable[Record], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Batches of text columns, of a bounded number of records and of characters.

    Args:
        records: the values of each record, as many as there are columns.
        columns: their names.
    """
    rows: list[Record] = []
    size = 0
    stream = iter(records)
    while some := list(islice(stream, COUNTED)):
        rows += some
        size += sum(len(value) for record in some for value in record if value)
        if len(rows) >= ROWS or size >= CHARACTERS:
            yield _batch(rows, columns)
            rows, size = [], 0
    if rows:
        yield _batch(rows, columns)


def _batch(rows: list[Record], columns: Sequence[str]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


class Misfits:
    """Counts lines that are no records.

    Args:
        path: the file.
        expected: what its lines should be.
        left_out: where each is noted.
    """

    def __init__(self, path: Path, expected: str, left_out: LeftOut) -> None:
        self.path = path
        self.expected = expected
        self.left_out = left_out
        self.count = 0
        self.first = ""

    def add(self, number: int, line: str) -> None:
        """Note one line."""
        self.count += 1
        self.first = self.first or f"line {number}: {line[:80]!r}"
        self.left_out.note(1, f"line {number} does not fit: {line[:80]!r}")

    def check(self, lines: int) -> None:
        """Raise if most lines were misfits: then the format is wrong, not the lines.

        Raises:
            SampleError: more than half of at least one line were misfits.
        """
        if self.count * 2 > lines:
            raise SampleError(
                str(self.path),
                f"{self.count:,} of {lines:,} lines do not fit, the first is {self.first}",
                self.expected,
            )
