"""The rows of a sample file, as one pass over it found them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.workload.batch_store import BatchStore

if TYPE_CHECKING:
    from rowkey.workload.records import SkippedRows


@dataclass(slots=True)
class ParsedRows:
    """Rows that are kept for further passes.

    Args:
        batches: the rows, in order.
        skipped_rows: what was skipped up to the end of each batch, and after the last one.
        column_names: the columns that are kept.
        has_all_columns: whether the file has no others that can be read.
        unreadable_columns: the columns that cannot, with the reason; told where all are kept.
    """

    batches: BatchStore = field(default_factory=BatchStore)
    skipped_rows: list[SkippedRows] = field(default_factory=list)
    column_names: list[str] = field(default_factory=list)
    has_all_columns: bool = False
    unreadable_columns: Mapping[str, str] = field(default_factory=dict)

    def has_columns(self, names: Sequence[str] | None) -> bool:
        """Return whether some columns are kept, each once; all of the file if None."""
        if names is None:
            return self.has_all_columns
        return all(self.column_names.count(name) == 1 for name in names)

    def read_batches(
        self, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows in order, as `RecordedSample.read_batches` does."""
        for batch, skipped in zip(self.batches, self.skipped_rows, strict=False):
            skipped_rows.extend(skipped)
            yield batch if columns is None else batch.select(columns)
        for skipped in self.skipped_rows[len(self.batches) :]:
            skipped_rows.extend(skipped)
