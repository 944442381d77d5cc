"""Records read line by line and collected into batches of text columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.errors import SampleError
from rowkey.messages import pluralize
from rowkey.workload.sample_streams import (
    CONVERT_REMEDY,
    OTHER_FORMAT_REMEDY,
    find_marked_byte,
    format_invalid_byte,
    format_marked_text,
)

if TYPE_CHECKING:
    Record = Sequence[str | None]

MAX_SKIPPED_ROWS_NAMED = 10
"""Rows left out whose problems are kept; further ones are counted."""
MAX_BATCH_RECORDS = 16_384
"""Records of one batch."""
MAX_BATCH_CHARACTERS = 1 << 23
"""Characters of one batch, and of the record that reaches it."""


@dataclass(slots=True)
class SkippedRows:
    """Counts the rows of a file that are skipped, and keeps the problems of the first.

    Args:
        count: how many rows or lines.
        problems: the first of them: the row's number from 1, or None if the text names its line;
            and what is wrong with it.
        lines: the line of the file on which each of these rows begins, by the number of the row;
            empty where the file has no lines.
    """

    count: int = 0
    problems: list[tuple[int | None, str]] = field(default_factory=list)
    lines: dict[int, int] = field(default_factory=dict)

    @property
    def first_problem(self) -> str:
        """Return the problem of the first skipped row; empty if there is none."""
        return next(iter(self.format_problems()), "")

    def note(self, count: int, problem: str, row: int | None = None) -> None:
        """Count some rows, and keep the problem of the first.

        Args:
            count: how many rows.
            problem: what is wrong with the first of them.
            row: its number in the file from 1; None if `problem` names its line.
        """
        self.count += count
        self.add_problem(problem, row)

    def add_problem(self, problem: str, row: int | None = None) -> None:
        """Keep the problem of a row that is already counted, up to a limit."""
        if self.can_keep_more:
            self.problems.append((row, problem))

    @property
    def can_keep_more(self) -> bool:
        """Return whether the problems of more rows are kept."""
        return len(self.problems) < MAX_SKIPPED_ROWS_NAMED

    def extend(self, later: SkippedRows) -> None:
        """Add the skipped rows of a later part of the file."""
        self.count += later.count
        for row, problem in later.problems:
            self.add_problem(problem, row)

    def merge(self, other: SkippedRows) -> SkippedRows:
        """Return the skipped rows of two parts of a file: the count, and the first problems."""
        problems = [*self.problems, *other.problems][:MAX_SKIPPED_ROWS_NAMED]
        return SkippedRows(self.count + other.count, problems, {**self.lines, **other.lines})

    def format_problems(self) -> list[str]:
        """Return the problems, each with its line of the file, or its row where none is known."""
        return [
            text
            if row is None
            else f"line {self.lines[row]}{text}"
            if row in self.lines
            else f"row {row}{text}"
            for row, text in self.problems
        ]


def build_batches(records: Iterable[Record], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Return batches of text columns of bounded size; at least one.

    Args:
        records: the values of each record, one for each column.
        columns: their names.
    """
    rows: list[Record] = []
    size, has_batch = 0, False
    for record in records:
        rows.append(record)
        for value in record:
            size += len(value) if value else 0
        if len(rows) >= MAX_BATCH_RECORDS or size >= MAX_BATCH_CHARACTERS:
            yield build_text_batch(rows, columns)
            rows, size, has_batch = [], 0, True
    if rows or not has_batch:
        yield build_text_batch(rows, columns)


def build_text_batch(rows: list[Record], columns: Sequence[str]) -> pa.RecordBatch:
    """Return records as columns of text."""
    found = zip(*rows, strict=True) if rows else ((),) * len(columns)
    arrays = [pa.array(values, pa.string()) for values in found]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def build_empty_batch(schema: pa.Schema, column_indexes: Sequence[int]) -> pa.RecordBatch:
    """Return a batch of typed columns without rows, for a file that has none.

    Args:
        schema: all columns.
        column_indexes: those wanted.
    """
    fields = [schema.field(place) for place in column_indexes]
    arrays = [pa.nulls(0, field.type) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, names=[field.name for field in fields])


_BINARY_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""A control character that no text file contains."""


class MalformedLines:
    """Counts the lines that do not follow the format.

    Args:
        expected_format: what its lines should be.
        skipped_rows: where each is noted.
        remedy: what to do if most lines do not follow the format, though they are text in UTF-8.
        suggest: returns a better remedy for lines with a number of values; empty if none is known.
        line_name: what a line is called: `item` where a line holds an item of an array.
    """

    def __init__(
        self,
        path: Path,
        expected_format: str,
        skipped_rows: SkippedRows,
        remedy: str = OTHER_FORMAT_REMEDY,
        suggest: Callable[[int], str] | None = None,
        line_name: str = "line",
    ) -> None:
        self.path = path
        self.expected_format = expected_format
        self.skipped_rows = skipped_rows
        self.remedy = remedy
        self.line_name = line_name
        self.count = 0
        self._suggest = suggest
        self._value_counts: Counter[int] = Counter()
        self._has_other_quotes = False
        self.first_line = ""
        self.first_number = 0
        self.has_invalid_bytes = False
        self.is_binary = False

    def add(self, number: int, line: str, value_count: int = 0) -> None:
        """Note one line.

        Args:
            number: its number in the file.
            line: its text, which may be marked.
            value_count: how many values it has, if the format counts them.
        """
        self._value_counts[value_count] += 1
        self._has_other_quotes |= "'" in line or '\\"' in line
        byte = find_marked_byte(line)
        line_count = line.rstrip("\r\n").count("\n") + 1  # a quote may join several
        line = format_marked_text(line[:80]).rstrip("\0")  # a mark may be cut
        self.count += 1
        self.is_binary = self.is_binary or _BINARY_CHARACTER.search(line) is not None
        self.has_invalid_bytes = self.has_invalid_bytes or bool(byte)
        self.first_number = self.first_number or number
        self.first_line = self.first_line or f"{self.line_name} {number}: {line!r}"
        what = (
            f"contains {format_invalid_byte(byte)}"
            if byte
            else f"does not follow the format: {line!r}"
        )
        self.skipped_rows.note(max(line_count, 1), f"{self.line_name} {number} {what}")

    def format_place(self, number: int) -> str:
        """Return the place of a line for an error."""
        return (
            f"{self.path}:{number}" if self.line_name == "line" else f"{self.path}: item {number}"
        )

    def _suggest_remedy(self) -> str:
        """Return what to do about lines that do not follow the format."""
        if self.is_binary:
            return "Give a text file in UTF-8, neither compressed nor in a binary format."
        if self.has_invalid_bytes:
            return CONVERT_REMEDY
        # Lines with quotes that the format does not know have other values than those counted.
        if self._suggest is None or self._has_other_quotes:
            return self.remedy
        return self._suggest(self._find_usual_count()) or self.remedy

    def _find_usual_count(self) -> int:
        """Return how many values most of the lines have; 0 if no number is that of most."""
        [(value_count, line_count)] = self._value_counts.most_common(1)
        return value_count if line_count * 2 > self.count else 0

    def check_count(self, line_count: int) -> None:
        """Raise if most lines were malformed: then the format is wrong, not the lines.

        Raises:
            SampleError: more than half of at least one line were misfits.
        """
        if self.count * 2 > line_count:
            usual = self._find_usual_count()
            found = f", most with {pluralize(usual, 'value')}" if usual else ""
            raise SampleError(
                str(self.path),
                f"{self.count:,} of {pluralize(line_count, self.line_name)} do not follow the "
                f"format{found}, the first of them {self.first_line}",
                self.expected_format,
                self._suggest_remedy(),
            )
