"""The format `arrow`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.columnar.batches import choose_columns, find_nested_columns, refuse_damaged
from rowkey.workload.columnar.ipc import (
    MAGIC,
    MESSAGE_RATIO,
    MOST_UNPACKED_BYTES,
    FileBlocks,
    Limits,
    MessageStream,
)
from rowkey.workload.contract import Format
from rowkey.workload.files import COMPRESSED, copy_to_temporary_file, opened
from rowkey.workload.records import no_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    import pyarrow as pa

    from rowkey.workload.records import LeftOut


class Arrow(Format):
    """Arrow's own form, as a file or as a stream, such as `rowkey dump -f arrow` writes."""

    name = "arrow"
    suffixes = (".arrow", ".arrows", ".feather")

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        with self._read(path) as (schema, found):
            kept = choose_columns(schema, columns, path)
            batch = next(found, None)
            if batch is None:
                yield no_rows(schema, kept)
            while batch is not None:
                yield batch.select(kept)
                batch = next(found, None)

    def column_names(self, path: Path, sought: Collection[str] = ()) -> list[str] | None:
        with self._read(path) as (schema, _):
            return list(schema.names)

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        with self._read(path) as (schema, _):
            return find_nested_columns(schema)

    def count(self, path: Path) -> int | None:
        if path.suffix.lower() in COMPRESSED:
            return None
        try:
            with opened(path) as stream, refuse_damaged(path, "Arrow"):
                blocks = FileBlocks(stream, Limits(path.stat().st_size))
                return sum(blocks.check(block).rows for block in blocks.batches)
        except SampleError:  # a stream, or broken: reading tells
            return None

    @contextmanager
    def _read(self, path: Path) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """Open a file, and return its schema and an iterator of its batches.

        Raises:
            SampleError: the file is damaged, or none of Arrow's.
        """
        with opened(path, self.meter) as stream, refuse_damaged(path, "Arrow"):
            is_file = stream.read(len(MAGIC)) == MAGIC
            stream.seek(0)
            limits, is_packed = Limits(path.stat().st_size), path.suffix.lower() in COMPRESSED
            if not is_file:
                most = max(MOST_UNPACKED_BYTES, MESSAGE_RATIO * limits.file_bytes)
                yield _read_stream(stream, limits, most if is_packed else limits.file_bytes)
            elif is_packed:
                with copy_to_temporary_file(stream) as unpacked:
                    yield _read_file(unpacked, limits)
            else:
                yield _read_file(stream, limits)


def _read_stream(
    stream: IO[bytes], limits: Limits, most_body_bytes: int
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow as pa

    checked = MessageStream(stream, limits, most_body_bytes)
    reader = pa.ipc.open_stream(pa.PythonFile(checked, "r"))
    return reader.schema, iter(reader)


def _read_file(stream: IO[bytes], limits: Limits) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow as pa

    blocks = FileBlocks(stream, limits)
    for block in blocks.dictionaries:
        blocks.check(block)
    file = pa.ipc.open_file(pa.PythonFile(stream, "r"))

    def read_batch() -> Iterator[pa.RecordBatch]:
        for number, block in enumerate(blocks.batches):
            blocks.check(block)
            yield file.get_batch(number)

    return file.schema, read_batch()
