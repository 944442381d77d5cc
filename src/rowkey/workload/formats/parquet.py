"""The format `parquet`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.errors import SampleError
from rowkey.workload.columnar.arrow_ipc import UnpackedSizeLimit
from rowkey.workload.columnar.batches import (
    MAX_BATCH_BYTES,
    MAX_BATCH_ROWS,
    choose_columns,
    find_unread_columns,
    refuse_damaged,
)
from rowkey.workload.columnar.parquet_pages import (
    RowGroup,
    bound_row_bytes,
    check_footer,
    read_row_groups,
)
from rowkey.workload.compression import find_compression
from rowkey.workload.contract import SampleFormat
from rowkey.workload.records import SkippedRows, build_empty_batch
from rowkey.workload.sample_streams import (
    copy_to_temporary_file,
    measure_stream,
    open_uncompressed,
)

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


class ParquetFormat(SampleFormat):
    """Apache Parquet; a compressed copy is unpacked into a temporary file first."""

    name = "parquet"
    suffixes = (".parquet",)
    first_bytes = b"PAR1"
    is_columnar = True

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        with self._open_file(path) as (stream, file):
            schema = file.schema_arrow
            places = choose_columns(schema, columns, path)
            column_names = [schema.field(place).name for place in places]
            if not file.metadata.num_rows:
                yield build_empty_batch(schema, places)
            limits, widths = UnpackedSizeLimit(measure_stream(stream)), _find_widths(file, places)
            row_groups = read_row_groups(stream, limits.file_bytes, len(file.metadata.schema))
            for run in _group_row_groups(row_groups):
                read = [row_groups[number] for number in run]
                each = bound_row_bytes(stream, read, widths, limits)
                rows = max(min(MAX_BATCH_ROWS, MAX_BATCH_BYTES // max(each, 1)), 1)
                for batch in file.iter_batches(rows, run, column_names):
                    yield batch if columns is None else batch.select(column_names)

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        with self._open_file(path) as (_, file):
            return list(file.schema_arrow.names)

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        with self._open_file(path) as (_, file):
            return find_unread_columns(file.schema_arrow)

    def count_rows(self, path: Path) -> int | None:
        if find_compression(path) != "":
            return None
        try:
            with self._open_file(path) as (_, file):
                return int(file.metadata.num_rows)
        except SampleError:  # broken: reading tells
            return None

    @contextmanager
    def _open_file(self, path: Path) -> Iterator[tuple[IO[bytes], ParquetFile]]:
        """Open a file and return its seekable bytes and its reader.

        Raises:
            SampleError: it is damaged, or is not Parquet.
        """
        from pyarrow import parquet

        is_packed = find_compression(path) != ""
        with (
            open_uncompressed(path) as stored,
            refuse_damaged(path, "Parquet"),
            copy_to_temporary_file(stored) if is_packed else nullcontext(stored) as stream,
        ):
            check_footer(stream, measure_stream(stream))
            yield stream, parquet.ParquetFile(stream, page_checksum_verification=True)


def _find_widths(file: ParquetFile, column_indexes: list[int]) -> dict[int, int]:
    """Return the bytes of a value by the place of each column among the leaves; 0 of texts."""
    names = {file.schema_arrow.field(place).name for place in column_indexes}
    leaves = map(file.metadata.schema.column, range(len(file.metadata.schema)))
    return {
        at: 0 if leaf.physical_type == "BYTE_ARRAY" else max(leaf.length, 16)
        for at, leaf in enumerate(leaves)
        if leaf.path in names
    }


def _group_row_groups(groups: list[RowGroup]) -> Iterator[list[int]]:
    """Return row groups to read together: Arrow keeps something of each until the last is read."""
    run: list[int] = []
    rows = 0
    for number, group in enumerate(groups):
        run.append(number)
        rows += group.rows
        if rows >= MAX_BATCH_ROWS:
            yield run
            run, rows = [], 0
    if run:
        yield run
