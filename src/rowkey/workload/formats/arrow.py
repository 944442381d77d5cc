"""The format `arrow`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.contract import Format
from rowkey.workload.files import opened, wanted
from rowkey.workload.records import no_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import IO

    import pyarrow as pa

    from rowkey.workload.records import LeftOut

MAGIC = b"ARROW1\0\0"
"""How a file begins; a stream begins otherwise. Source: the Arrow columnar format, IPC files."""


class Arrow(Format):
    """Arrow's own form, as a file or as a stream, such as `rowkey dump -f arrow` writes."""

    name = "arrow"
    suffixes = (".arrow", ".arrows", ".feather")

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with opened(path, self.meter) as stream:
            try:
                schema, found = _read(stream)
                kept = wanted(schema.names, columns, path)
                yield no_rows(schema, kept)
                for batch in found:
                    yield batch.select(kept)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as problem:
                raise SampleError(str(path), f"is no Arrow file: {problem}") from None

    def count(self, path: Path) -> int | None:
        import pyarrow as pa
        from pyarrow.dataset import dataset

        try:
            return int(dataset(path, format="ipc").count_rows())
        except (pa.ArrowInvalid, OSError):  # a stream, or compressed, or broken: reading tells
            return None


def _read(stream: IO[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The names and types of the columns, and the batches as they come."""
    import pyarrow as pa

    is_file = stream.read(len(MAGIC)) == MAGIC
    stream.seek(0)
    source = pa.PythonFile(stream, "r")
    if not is_file:
        reader = pa.ipc.open_stream(source)
        return reader.schema, iter(reader)
    file = pa.ipc.open_file(source)
    return file.schema, map(file.get_batch, range(file.num_record_batches))
