"""The format `parquet`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.contract import Format
from rowkey.workload.files import COMPRESSED, opened, wanted
from rowkey.workload.records import no_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    from rowkey.workload.records import LeftOut

ROWS = 65_536


class Parquet(Format):
    """Apache Parquet; a compressed copy is unpacked into memory, which its reader needs."""

    name = "parquet"
    suffixes = (".parquet",)

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import parquet

        with opened(path) as stream:
            try:
                is_packed = path.suffix.lower() in COMPRESSED
                whole = pa.BufferReader(stream.read()) if is_packed else stream
                file = parquet.ParquetFile(whole)
                kept = wanted(file.schema_arrow.names, columns, path)
                if not file.metadata.num_rows:
                    yield no_rows(file.schema_arrow, kept)
                for groups in _runs(file):
                    for batch in file.iter_batches(ROWS, groups, kept):
                        yield batch.select(kept)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
                raise SampleError(str(path), f"is no Parquet file: {problem}") from None

    def count(self, path: Path) -> int | None:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return int(parquet.read_metadata(path).num_rows)
        except (pa.ArrowInvalid, OSError):  # compressed or broken: reading tells
            return None


def _runs(file: ParquetFile) -> Iterator[list[int]]:
    """Row groups to read together: Arrow keeps something of each until the last one is read."""
    run: list[int] = []
    rows = 0
    for group in range(file.num_row_groups):
        run.append(group)
        rows += file.metadata.row_group(group).num_rows
        if rows >= ROWS:
            yield run
            run, rows = [], 0
    if run:
        yield run
