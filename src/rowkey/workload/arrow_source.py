"""Samples that are tables in memory: data frames, Arrow tables, results of queries.

They are read through the Arrow C stream interface, which pandas, polars, DuckDB and pyarrow have:
none of these is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rowkey.array_libraries import pa
from rowkey.errors import SampleError
from rowkey.messages import format_value
from rowkey.workload.batch_store import BatchStore
from rowkey.workload.columnar.batches import (
    MAX_BATCH_ROWS,
    choose_columns,
    find_nested_columns,
    find_unread_columns,
    split_batch,
)
from rowkey.workload.contract import SampleFormat
from rowkey.workload.joined_columns import expand_names, join_batch, replace_joined_names
from rowkey.workload.recorded_sample import RecordedSample
from rowkey.workload.records import SkippedRows

ALLOWED_SOURCES = "a pandas or polars DataFrame, a pyarrow Table or reader, or a DuckDB relation"
COLLECT_REMEDY = "Of a polars LazyFrame give collect(), of a pyarrow Dataset scanner().to_reader()."


class ArrowStreamable(Protocol):
    """A table that can be read as an Arrow C stream, such as a data frame."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with the stream."""


SampleInput = str | Path | RecordedSample | ArrowStreamable
"""What is taken as a sample: the path of a file, a recorded sample, or a table in memory."""


def name_source(source: object) -> str:
    """Return the name of an object in messages: its library and class.

    >>> import pyarrow
    >>> name_source(pyarrow.table({}))
    'pyarrow.Table'
    """
    library = type(source).__module__.partition(".")[0].lstrip("_")
    return f"{library}.{type(source).__name__}"


def is_arrow_source(source: object) -> bool:
    """Return whether an object is a table that can be read through an Arrow interface."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def open_arrow_source(source: Any) -> pa.RecordBatchReader:
    """Return a reader of the rows of a table in memory, which can be read once.

    Args:
        source: an object with `__arrow_c_stream__` or `__arrow_c_array__`.

    Raises:
        SampleError: it cannot be converted to Arrow.
    """
    with refuse_unreadable(name_source(source)):
        if hasattr(source, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(source)
        batch = pa.record_batch(source)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def read_new_batches(reader: pa.RecordBatchReader, name: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a reader that are not read yet.

    Args:
        reader: the reader of a table in memory.
        name: what the table is called.

    Raises:
        SampleError: the owner of the table fails to read it.
    """
    while True:
        with refuse_unreadable(name):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch


@contextmanager
def refuse_unreadable(name: str) -> Iterator[None]:
    """Raise a SampleError for whatever the owner of a table raises while it is read.

    Args:
        name: what the table is called.

    Raises:
        SampleError: with the reason of the owner.
    """
    try:
        yield
    except SampleError:
        raise
    except MemoryError as problem:
        what = f"the rows do not fit into memory: {problem}"
        raise SampleError(name, what, remedy="Give fewer rows, such as one day.") from None
    except Exception as problem:  # noqa: BLE001 - each library has its own
        reason = "; ".join(map(str, problem.args)) or type(problem).__name__
        what = f"it cannot be read as an Arrow table: {' '.join(reason.split()).rstrip('.')}"
        remedy = f"Give each column one type and its own name. {COLLECT_REMEDY}"
        raise SampleError(name, what, remedy=remedy) from None


class ArrowSourceFormat(SampleFormat):
    """The format of a table in memory, whose rows an `ArrowSource` reads.

    Args:
        raw_options: the options that every format has.
        schema: the columns of the table.
    """

    name: ClassVar[str] = "arrow_source"

    def __init__(self, raw_options: Mapping[str, Any], schema: pa.Schema) -> None:
        super().__init__(raw_options)
        self.schema = schema

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Raise an error: only the `ArrowSource` has the rows."""
        raise NotImplementedError

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        return find_unread_columns(self.schema)


class ArrowSource(RecordedSample):
    """A table in memory as a sample: it is read once, and its rows are kept.

    Rows beyond 128 MiB are kept in a temporary file.

    Args:
        source: an object with `__arrow_c_stream__` or `__arrow_c_array__`.
        format_options: `max_skipped`, if it is not 0.05.

    Raises:
        SampleError: it has neither, or cannot be converted to Arrow.
    """

    format: ArrowSourceFormat

    def __init__(self, source: object, format_options: Mapping[str, Any] | None = None) -> None:
        if not is_arrow_source(source):
            what = f"{format_value(source)} is neither a path nor a table"
            raise SampleError("sample", what, f"a file, {ALLOWED_SOURCES}", COLLECT_REMEDY)
        reader = open_arrow_source(source)
        sample_format = ArrowSourceFormat(format_options or {}, reader.schema)
        super().__init__(Path(name_source(source)), sample_format, format_options)
        self._new_batches = read_new_batches(reader, name_source(source))
        self._kept_batches = BatchStore()
        self._failure: SampleError | None = None
        nested = find_nested_columns(reader.schema)
        self._kept_columns = [
            index for index, name in enumerate(reader.schema.names) if name not in nested
        ]

    @property
    def is_file(self) -> bool:
        return False

    def read_column_names(self, wanted_names: Iterable[str] = ()) -> list[str]:
        return replace_joined_names(self.format.joins, self.format.schema.names)

    def read_batches(
        self, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows in order, a bounded number at a time.

        Raises:
            SampleError: the table has no such column, or its owner fails to read it.
        """
        joins = self.format.joins
        own_columns = None if columns is None else expand_names(joins, columns)
        wanted = choose_columns(self.format.schema, own_columns, self.path)
        places = [self._kept_columns.index(index) for index in wanted]
        for batch in self._read_rows():
            rows = batch.select(places)
            yield join_batch(joins, rows, columns) if joins else rows
        if not self._kept_batches.row_count:
            remedy = (
                "What can be read only once, such as a RecordBatchReader, is empty after that; "
                "for several uses give record_sample(reader)."
            )
            raise SampleError(str(self.path), "it has no rows", "at least one row", remedy)

    def _read_rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows: those that are kept, then new ones, also with other passes under way."""
        read_count = 0
        while len(self._kept_batches) > read_count or self._keep_next_rows():
            for batch in self._kept_batches.read_from(read_count):
                read_count += 1
                yield batch

    def _keep_next_rows(self) -> bool:
        """Keep the next rows of the reader, and return whether there are more."""
        if self._failure is not None:
            raise self._failure
        try:
            batch = next(self._new_batches, None)
            if batch is not None:
                self._keep_rows(batch)
        except SampleError as failure:
            self._failure = failure  # what is kept is no complete sample for a later pass either
            raise
        return batch is not None

    def _keep_rows(self, batch: pa.RecordBatch) -> None:
        """Keep the rows of a batch, a bounded number at a time."""
        for start in range(0, batch.num_rows, MAX_BATCH_ROWS):
            rows = batch.slice(start, MAX_BATCH_ROWS).select(self._kept_columns)
            with refuse_unreadable(str(self.path)):
                for part in split_batch(rows, self.path):
                    self._kept_batches.append(part)
