"""The format `arrow`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rowkey.array_libraries import pa
from rowkey.errors import SampleError
from rowkey.workload.columnar.arrow_ipc import (
    MAGIC,
    MAX_MESSAGE_RATIO,
    MAX_UNPACKED_BYTES,
    ArrowFileBlocks,
    CheckedMessageStream,
    UnpackedSizeLimit,
)
from rowkey.workload.columnar.batches import choose_columns, find_unread_columns, refuse_damaged
from rowkey.workload.compression import find_compression
from rowkey.workload.contract import SampleFormat
from rowkey.workload.records import SkippedRows, build_empty_batch
from rowkey.workload.sample_streams import (
    copy_to_temporary_file,
    open_uncompressed,
)


class ArrowFormat(SampleFormat):
    """Arrow IPC, as a file or a stream, such as `rowkey dump -f arrow` writes."""

    name = "arrow"
    suffixes = (".arrow", ".arrows", ".feather")
    first_bytes = b"ARROW1"
    is_columnar = True

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        with self._open_reader(path) as (schema, batches):
            indexes = choose_columns(schema, columns, path)
            batch = next(batches, None)
            if batch is None:
                yield build_empty_batch(schema, indexes)
            while batch is not None:
                yield batch.select(indexes)
                batch = next(batches, None)

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        with self._open_reader(path) as (schema, _):
            return list(schema.names)

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        with self._open_reader(path) as (schema, _):
            return find_unread_columns(schema)

    def count_rows(self, path: Path) -> int | None:
        if find_compression(path) != "":
            return None
        try:
            with open_uncompressed(path) as stream, refuse_damaged(path, "Arrow"):
                blocks = ArrowFileBlocks(stream, UnpackedSizeLimit(path.stat().st_size))
                return sum(blocks.check_block(block).rows for block in blocks.batches)
        except SampleError:  # a stream, or broken: reading tells
            return None

    @contextmanager
    def _open_reader(self, path: Path) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """Open a file and return its schema and an iterator of its batches.

        Raises:
            SampleError: the file is damaged, or is not Arrow.
        """
        with open_uncompressed(path, self.progress) as stream, refuse_damaged(path, "Arrow"):
            is_file = stream.read(len(MAGIC)) == MAGIC
            stream.seek(0)
            limits, is_packed = (
                UnpackedSizeLimit(path.stat().st_size),
                find_compression(path) != "",
            )
            if not is_file:
                most = max(MAX_UNPACKED_BYTES, MAX_MESSAGE_RATIO * limits.file_bytes)
                yield _read_stream(stream, limits, most if is_packed else limits.file_bytes)
            elif is_packed:
                with copy_to_temporary_file(stream) as unpacked:
                    yield _read_file(unpacked, limits)
            else:
                yield _read_file(stream, limits)


def _read_stream(
    stream: IO[bytes], limits: UnpackedSizeLimit, max_body_bytes: int
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    checked = CheckedMessageStream(stream, limits, max_body_bytes)
    reader = pa.ipc.open_stream(pa.PythonFile(checked, "r"))
    return reader.schema, iter(reader)


def _read_file(
    stream: IO[bytes], limits: UnpackedSizeLimit
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    blocks = ArrowFileBlocks(stream, limits)
    for block in blocks.dictionaries:
        blocks.check_block(block)
    file = pa.ipc.open_file(pa.PythonFile(stream, "r"))

    def read_batch() -> Iterator[pa.RecordBatch]:
        """Yield each record batch of the file after its block is checked."""
        for number, block in enumerate(blocks.batches):
            blocks.check_block(block)
            yield file.get_batch(number)

    return file.schema, read_batch()
