"""Record batches that are read once and kept in memory or in a temporary file."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rowkey.array_libraries import pa

MAX_MEMORY_BYTES = 1 << 27
"""Bytes of batches that are kept in memory; further ones go to a temporary file."""


class BatchStore:
    """Keeps record batches in order for any number of passes.

    Batches beyond `max_memory_bytes` are written to a temporary file, uncompressed, and mapped into
    memory when they are read. The file is deleted with the store.

    Args:
        max_memory_bytes: bytes of batches that are kept in memory.
    """

    def __init__(self, max_memory_bytes: int = MAX_MEMORY_BYTES) -> None:
        self.max_memory_bytes = max_memory_bytes
        self.row_count = 0
        self.byte_count = 0
        self._batches: list[pa.RecordBatch] = []
        self._file: Any = None
        self._path: Path | None = None
        self._spans: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._batches) + len(self._spans)

    def append(self, batch: pa.RecordBatch) -> None:
        """Add a record batch at the end."""
        self.row_count += batch.num_rows
        self.byte_count += batch.nbytes
        if self.byte_count <= self.max_memory_bytes:
            self._batches.append(batch)
        else:
            self._write(batch)

    def _write(self, batch: pa.RecordBatch) -> None:
        """Write a batch to the temporary file, which is created at the first one."""
        if self._file is None:
            folder = TemporaryDirectory(prefix="rowkey-sample-")
            self._path = Path(folder.name) / "batches.arrow"
            self._file = pa.OSFile(str(self._path), "wb")
            weakref.finalize(self, _delete_spill, self._file, folder)
        start = self._file.tell()
        with pa.ipc.new_stream(self._file, batch.schema) as writer:
            writer.write_batch(batch)
        self._spans.append((start, self._file.tell() - start))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.read_from(0)

    def read_from(self, index: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches from one on; those that are added meanwhile may be missing."""
        batches = self._batches[index:]
        spans = self._spans[max(index - len(self._batches), 0) :]
        yield from batches
        if not spans:
            return
        self._file.flush()
        with pa.memory_map(str(self._path)) as source:
            for start, size in spans:
                source.seek(start)
                yield from pa.ipc.open_stream(pa.BufferReader(source.read_buffer(size)))


def _delete_spill(file: Any, folder: TemporaryDirectory[str]) -> None:
    file.close()
    folder.cleanup()
