"""Load the rows of a file; an interrupted load goes on where it stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.catalog import TABLE_ID_ATTRIBUTE
from rowkey.design import Design
from rowkey.errors import RowError, SampleError
from rowkey.messages import pluralize
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress
from rowkey.table.bulk_load import BLOCK_ROWS, put_block, split_blocks, write_block
from rowkey.table.generations.activation import reconcile_attributes
from rowkey.table.table import Table
from rowkey.workload import (
    DistinctCounter,
    SampleFile,
    SkippedRows,
    choose_format,
    open_sample,
)

SHUFFLE_ROWS = 1_000_000
"""Rows that are shuffled together; a file sorted by key is spread over as many."""
CHECKPOINT_INTERVAL_S = 2.0
"""Seconds between two writes of how far a load has come."""
_NOTE_PREFIX = "rowkey.load."


@dataclass(frozen=True, slots=True)
class FileLoadResult:
    """The result of loading a file.

    Args:
        row_count: rows written now.
        rows_before: rows that an interrupted load had written or left out before.
        left_out: rows of the file that cannot be rows of the table, of those read now.
        absent_fields: nullable fields that the file has no column for.
        assumptions: what the file does not say and was guessed, as sentences.
        problems: the first ten rows left out, each with its line in the file and the reason.
        repeat_count: rows written now that have the row key of an earlier one; None where rows of
            the file share a row of the table by design.
        is_exact_count: whether `repeat_count` is exact, as it is up to half a million row keys.
    """

    row_count: int
    rows_before: int
    left_out: SkippedRows
    absent_fields: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    repeat_count: int | None = None
    is_exact_count: bool = True


@explain_shortage
def load_file(
    table: Table,
    path: str | Path,
    *,
    format_options: Mapping[str, Any] | None = None,
    shuffle: bool = False,
    restart: bool = False,
    progress: ReportProgress | None = None,
    on_resume: Callable[[int], None] | None = None,
) -> FileLoadResult:
    """Put all rows of a file; after an interruption the same call goes on where it stopped.

    The number of rows written is kept with the table. Rows that were written just before an
    interruption are written again, which changes nothing. A row with a value that its field does
    not allow is left out; a nullable field whose column is missing stays null.

    Args:
        path: a file of any sample format, also compressed.
        format_options: how the file is read, as `[sample] format`; from its name if None.
        shuffle: whether rows are mixed, a million at a time, so that a sorted file does not write
            to one region after another. Of rows with one key any may then be the last.
        restart: whether to begin at the first row, even if a load was interrupted.
        progress: called with how many rows of the file are done; their total may be an estimate.
        on_resume: called once, before the first row is written, with how many rows are skipped
            because an interrupted load has written them.

    Raises:
        SampleError: the file cannot be read, or most of its rows cannot be rows of the table.

    Cost: 1 to 3 µs a row on an embedded engine.
    """
    design = table.design
    path = path if isinstance(path, Path) else Path(path)
    options = format_options or choose_format(path, design.sample_format, design.sample_path)
    sample = open_sample(path, design.fields, None, options).match_columns()
    sample.can_be_empty = True
    read_options = (str(design.key), _describe_fields(design), repr(options), shuffle)
    checkpoint = _LoadCheckpoint(table, path, read_options)
    rows_before = 0 if restart else checkpoint.read_row_count()
    if rows_before and on_resume is not None:
        on_resume(rows_before)
    row_count, refused = rows_before, SkippedRows()
    key_counter = None
    if not design.layout.has_shared_rows and design.layout.cell_timestamp is None:
        key_counter = DistinctCounter()
    rows: Iterable[_NumberedRows] = _read_rows(
        sample, count_written=lambda: row_count - rows_before - refused.count
    )
    if shuffle:
        rows = _shuffle_rows(rows)

    def report() -> None:
        """Report how many rows of the file are done, with those that are left out."""
        if progress is not None:
            at, total = row_count + sample.skipped_rows.count, sample.estimate_total()
            progress(Progress("rows", at, max(total, at) if total else 0, "rows"))

    report()
    try:
        for batch, numbers in _skip_rows(rows, rows_before):
            for number, problem in _put_batch(table, batch, numbers, key_counter):
                refused.note(1, f": {problem}", number)
                _check_refused_share(sample, refused, row_count - rows_before + batch.num_rows)
            row_count += batch.num_rows
            checkpoint.save_row_count(row_count)
            report()
    except BaseException:
        checkpoint.save_row_count(row_count, force=True)
        raise
    checkpoint.delete_row_count()
    left_out = sample.skipped_rows.merge(refused)
    sample.locate_rows(left_out)
    absent = tuple(name for name in design.fields if name not in sample.fields)
    return FileLoadResult(
        row_count - rows_before - refused.count,
        rows_before,
        left_out,
        absent,
        tuple(sample.assumptions),
        tuple(left_out.format_problems()),
        None if key_counter is None else key_counter.repeat_count,
        key_counter is None or key_counter.is_exact,
    )


def _read_rows(sample: SampleFile, count_written: Callable[[], int]) -> Iterator[_NumberedRows]:
    """Yield the rows of a file.

    Args:
        count_written: returns how many of its rows are written so far.

    Raises:
        SampleError: the file cannot be read any further; it says how many rows are written.
    """
    try:
        for events in sample.read_events():
            yield events.rows, events.row_numbers
    except SampleError as problem:
        mistake, count = problem.mistake, count_written()
        if not count:
            raise
        again = (
            f"The load has written {pluralize(count, 'row')} before it stopped here; load the "
            "corrected file again: rows with the same keys are overwritten."
        )
        remedy = f"{mistake.remedy} {again}".strip()
        raise SampleError(mistake.path, mistake.problem, mistake.expected, remedy) from None


def _describe_fields(design: Design) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the types and options of all fields; if they change, a load begins again."""
    return {name: (f.type.name, f.declaration.model_dump()) for name, f in design.fields.items()}


_NumberedRows = tuple["pa.RecordBatch", Any]
"""Rows, and the number of each in the file."""


def _put_batch(
    table: Table, batch: pa.RecordBatch, numbers: Any, key_counter: DistinctCounter | None
) -> Iterator[tuple[int, RowError]]:
    """Put rows of a file, and yield the number of each refused row, with its error."""
    first, put_some = 0, partial(put_block, key_counter=key_counter)
    for some in split_blocks(batch):
        for index, problem in write_block(table, some, put_some):
            yield int(numbers[first + index]), problem
        first += some.num_rows


MIN_REFUSED_TO_STOP = 1_000
"""Refused rows from which a load stops, if they are most of the rows read."""


def _check_refused_share(sample: SampleFile, left_out: SkippedRows, rows_read: int) -> None:
    """Raise an error that stops the load if most rows of the file are refused.

    Raises:
        SampleError: at least 1,000 rows are refused, and more than half of those read.
    """
    if left_out.count >= MIN_REFUSED_TO_STOP and 2 * left_out.count > rows_read:
        sample.locate_rows(left_out)
        problem = f"{left_out.count:,} of {rows_read:,} rows are refused; {left_out.first_problem}"
        remedy = (
            "The load has stopped; rows that were not refused may be in the table. "
            "Check that the file fits the design, then load it again."
        )
        raise SampleError(str(sample.path), problem, remedy=remedy)


class _LoadCheckpoint:
    """The number of rows of one file that a load has written, kept for the next try.

    It is an attribute of the table. On a cluster, where a change of an attribute closes all regions
    for a moment, it is a note in the table's catalog.
    """

    def __init__(self, table: Table, path: Path, read_options: object) -> None:
        self.store, self.catalog, self.table_name = table.store, table.catalog, table.design.table
        self.is_shared = table.engine.is_shared
        self.table_id = (
            table.store.families_and_attributes[1].get(TABLE_ID_ATTRIBUTE, "")
            if self.is_shared
            else ""
        )
        stat = path.stat() if path.exists() else None
        identity = (os.fspath(path.resolve()), stat and stat.st_size, stat and stat.st_mtime_ns)
        digest = sha256(repr((*identity, read_options)).encode()).hexdigest()
        self.note_key = _NOTE_PREFIX + digest[:16]
        self.saved_at_s = time.monotonic()

    def read_row_count(self) -> int:
        """Return how many rows an interrupted load of the same file has written."""
        if self.is_shared:
            notes = self.catalog.read_notes(self.table_name)
            table_id, _, row_count = notes.get(self.note_key, "").rpartition(" ")
            return int(row_count) if row_count and table_id == self.table_id else 0
        return int(self.store.spec.attributes.get(self.note_key, 0))

    def save_row_count(self, row_count: int, *, force: bool = False) -> None:
        """Save how many rows are written, unless that was saved less than two seconds ago."""
        at = time.monotonic()
        if force or at - self.saved_at_s > CHECKPOINT_INTERVAL_S:
            self.saved_at_s = at
            if self.is_shared:
                self.catalog.write_note(
                    self.table_name, self.note_key, f"{self.table_id} {row_count}"
                )
            else:
                self._write_attributes(
                    {**self.store.spec.attributes, self.note_key: str(row_count)}
                )

    def delete_row_count(self) -> None:
        """Delete the saved number once the load is complete."""
        if self.is_shared:
            self.catalog.write_note(self.table_name, self.note_key, None)
            return
        left = {k: v for k, v in self.store.spec.attributes.items() if k != self.note_key}
        if len(left) < len(self.store.spec.attributes):
            self._write_attributes(left)

    def _write_attributes(self, attributes: Mapping[str, str]) -> None:
        """Replace the attributes of the table, then sync those that repeat its catalog entry.

        A change of buckets may have written attributes since these were read.
        """
        self.store.replace_attributes(attributes)
        reconcile_attributes(self.catalog, self.table_name, self.store)


def _skip_rows(rows: Iterable[_NumberedRows], count: int) -> Iterator[_NumberedRows]:
    """Yield the rows of a file without the first `count`, which were loaded before."""
    for batch, numbers in rows:
        if count >= batch.num_rows:
            count -= batch.num_rows
            continue
        yield batch.slice(count), numbers[count:]
        count = 0


def _shuffle_rows(rows: Iterable[_NumberedRows]) -> Iterator[_NumberedRows]:
    """Yield the rows of a file shuffled, `SHUFFLE_ROWS` at a time, in a reproducible order."""
    buffer: list[_NumberedRows] = []
    random = np.random.default_rng(0)
    for one in chain(rows, [None]):
        # A batch with a value that is left out may have other types than other batches.
        is_other = bool(buffer) and one is not None and one[0].schema != buffer[0][0].schema
        is_full = sum(len(some) for _, some in buffer) >= SHUFFLE_ROWS
        if buffer and (one is None or is_other or is_full):
            table = pa.Table.from_batches([batch for batch, _ in buffer]).combine_chunks()
            order = random.permutation(table.num_rows)
            numbers = np.concatenate([some for _, some in buffer])[order]
            mixed, first = table.take(pa.array(order)).combine_chunks(), 0
            for batch in mixed.to_batches(max_chunksize=BLOCK_ROWS):
                yield batch, numbers[first : first + batch.num_rows]
                first += batch.num_rows
            buffer = []
        if one is not None:
            buffer.append(one)
