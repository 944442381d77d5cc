"""Records read line by line, gathered into batches of text columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.files import CONVERT, marked_byte, not_utf8, unmarked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    Record = Sequence[str | None]

ROWS = 16_384
"""Records of one batch."""
CHARACTERS = 1 << 23
"""Characters of one batch, and of the record that reaches it."""


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
    """Batches of text columns, of a bounded number of records and of characters; at least one.

    Args:
        records: the values of each record, as many as there are columns.
        columns: their names.
    """
    rows: list[Record] = []
    size, given = 0, False
    for record in records:
        rows.append(record)
        for value in record:
            size += len(value) if value else 0
        if len(rows) >= ROWS or size >= CHARACTERS:
            yield text_batch(rows, columns)
            rows, size, given = [], 0, True
    if rows or not given:
        yield text_batch(rows, columns)


def text_batch(rows: list[Record], columns: Sequence[str]) -> pa.RecordBatch:
    """Records as columns of text."""
    import pyarrow as pa

    found = zip(*rows, strict=True) if rows else ((),) * len(columns)
    arrays = [pa.array(values, pa.string()) for values in found]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def no_rows(schema: pa.Schema, places: Sequence[int]) -> pa.RecordBatch:
    """Return a batch of typed columns without rows, for a file that has none.

    Args:
        schema: all columns.
        places: those wanted.
    """
    import pyarrow as pa

    fields = [schema.field(place) for place in places]
    arrays = [pa.nulls(0, field.type) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, names=[field.name for field in fields])


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
        self.is_strange = False

    def add(self, number: int, line: str) -> None:
        """Note one line, which may be marked."""
        byte = marked_byte(line)
        line = unmarked(line[:80])
        self.count += 1
        self.is_strange = self.is_strange or bool(byte)
        self.first = self.first or f"line {number}: {line!r}"
        what = f"holds {not_utf8(byte)}" if byte else f"does not fit: {line!r}"
        self.left_out.note(1, f"line {number} {what}")

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
                CONVERT if self.is_strange else "",
            )
