"""The format `parquet`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.contract import Format
from rowkey.workload.files import COMPRESSED, opened, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

ROWS = 65_536


class Parquet(Format):
    """Apache Parquet; a compressed copy is unpacked into memory, which its reader needs."""

    name = "parquet"
    suffixes = (".parquet",)

    def batches(self, path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import parquet

        with opened(path) as stream:
            try:
                whole = pa.BufferReader(stream.read()) if path.suffix in COMPRESSED else stream
                file = parquet.ParquetFile(whole)
                kept = wanted(file.schema_arrow.names, columns, path)
                for batch in file.iter_batches(batch_size=ROWS, columns=kept):
                    yield batch.select(kept)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
                raise SampleError(str(path), f"is no Parquet file: {problem}") from None
