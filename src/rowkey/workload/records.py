"""Records read line by line, gathered into batches of text columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    Record = Sequence[str | None]

ROWS = 16_384
"""Records of one batch."""


def batches_of(records: Iterable[Record], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Batches of text columns.

    Args:
        records: the values of each record, as many as there are columns.
        columns: their names.
    """
    rows: list[Record] = []
    for record in records:
        rows.append(record)
        if len(rows) == ROWS:
            yield _batch(rows, columns)
            rows = []
    if rows:
        yield _batch(rows, columns)


def _batch(rows: list[Record], columns: Sequence[str]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


class Misfits:
    """Counts lines that are no records, so that they are never left out silently."""

    def __init__(self, path: Path, expected: str) -> None:
        self.path = path
        self.expected = expected
        self.count = 0
        self.first = ""

    def add(self, number: int, line: str) -> None:
        """Note one line."""
        self.count += 1
        self.first = self.first or f"line {number}: {line[:80]!r}"

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
