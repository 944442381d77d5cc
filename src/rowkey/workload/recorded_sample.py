"""A sample file that is read once for all designs and rules that use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import pa
from rowkey.workload.columnar.batches import join_batches, read_batches
from rowkey.workload.parsed_rows import ParsedRows
from rowkey.workload.records import SkippedRows
from rowkey.workload.sample_cache import SampleCache

if TYPE_CHECKING:
    from rowkey.workload.contract import SampleFormat
    from rowkey.workload.field_profile import FieldProfile


class RecordedSample:
    """The rows of a sample file, kept from the first pass for all later ones.

    A later pass reads the file again only if it needs a column that was neither requested nor read
    before. Rows beyond 128 MiB are kept in a temporary file. Where `allow_sample_cache` says so,
    rows of 4 MiB or more are kept beside the file as well, for the next command.

    Args:
        format_options: the options that `sample_format` was made from; None if the file's name
            told it.
    """

    def __init__(
        self,
        path: Path,
        sample_format: SampleFormat,
        format_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.format = sample_format
        self.format_options = format_options
        self._requested_names: list[str] = []
        self._names_by_wanted: dict[frozenset[str], list[str] | None] = {}
        self._rows: ParsedRows | None = None
        self.field_profile: FieldProfile | None = None
        """What all rows show of some fields; it is shared by the designs that have these fields."""

    @property
    def is_file(self) -> bool:
        """Return whether the sample is a file that a design can name."""
        return True

    def __str__(self) -> str:
        return str(self.path)

    def take_rows(self, other: RecordedSample) -> None:
        """Take over the rows that another sample of the file keeps, if they are the same ones.

        Args:
            other: reads the same file, perhaps with other options.
        """
        self.format.detect_options(self.path)
        is_same_format = type(self.format) is type(other.format)
        if is_same_format and self.format.reading_options == other.format.reading_options:
            self._names_by_wanted, self._rows = other._names_by_wanted, other._rows

    def request_columns(self, names: Iterable[str]) -> None:
        """Read these columns too in the next pass over the file, if it has them."""
        self._requested_names += [name for name in names if name not in self._requested_names]

    @property
    def row_count(self) -> int | None:
        """Return how many rows the file has; None before the first pass."""
        return None if self._rows is None else self._rows.batches.row_count

    def read_column_names(self, wanted_names: Iterable[str] = ()) -> list[str] | None:
        """Return the names of the file's columns, as `SampleFormat.read_column_names` does.

        Raises:
            SampleError: the file cannot be read.
        """
        name_set = frozenset(wanted_names)
        if name_set not in self._names_by_wanted:
            self._names_by_wanted[name_set] = self.format.list_columns(self.path, name_set)
        return self._names_by_wanted[name_set]

    def find_unreadable_columns(self) -> Mapping[str, str]:
        """Return the columns that are left out if all are wanted, with the reason.

        Raises:
            SampleError: the file cannot be read.
        """
        if self._rows is not None and self._rows.has_all_columns:
            return self._rows.unreadable_columns
        return self.format.find_unreadable_columns(self.path)

    def read_batches(
        self, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Return the file's rows in order, a bounded number at a time.

        Args:
            columns: the columns wanted, in any order; None for all.
            skipped_rows: where lines that are no rows are noted.

        Raises:
            SampleError: the file cannot be read, or has no such column.
        """
        cache = SampleCache.find(self.path, self.format) if self._rows is None else None
        if cache is not None:
            self._rows = cache.load()
        if self._rows is not None and self._rows.has_columns(columns):
            yield from self._rows.read_batches(columns, skipped_rows)
            return
        if cache is not None and self._rows is not None:
            self.request_columns(self._rows.column_names)
        yield from self._read_file(columns, skipped_rows)
        if cache is not None and self._rows is not None:
            cache.save(self._rows)

    def _read_file(
        self, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows from the file, and keep them once all are read."""
        file_columns = None if columns is None else self._add_requested_columns(columns)
        rows, noted = ParsedRows(has_all_columns=columns is None), SkippedRows()
        for batch in join_batches(read_batches(self.format, self.path, file_columns, noted)):
            rows.batches.append(batch)
            rows.skipped_rows.append(SkippedRows(noted.count, noted.problems))
            skipped_rows.extend(noted)
            noted.count, noted.problems = 0, []
            yield batch if columns is None else batch.select(columns)
        rows.skipped_rows.append(noted)
        skipped_rows.extend(noted)
        if rows.has_all_columns:
            rows.unreadable_columns = self.format.find_unreadable_columns(self.path)
        rows.column_names = batch.schema.names if len(rows.batches) else list(file_columns or ())
        self._rows = rows

    def _add_requested_columns(self, columns: Sequence[str]) -> list[str]:
        """Return some columns, followed by the other requested ones that the file has."""
        missing = [name for name in self._requested_names if name not in columns]
        if not missing or self.format.has_named_values:
            return [*columns, *missing]
        names = self.read_column_names() or []
        unreadable = self.find_unreadable_columns()
        readable = (n for n in missing if names.count(n) == 1 and n not in unreadable)
        return [*columns, *readable]
