"""The format `csv`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import SampleError
from rowkey.workload.contract import Format, Option
from rowkey.workload.files import opened, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import IO

    import pyarrow as pa


class Csv(Format):
    """Comma-separated values with a line of names, or `names` for a file without one."""

    name = "csv"
    suffixes = (".csv", ".tsv")
    options = (
        Option(
            "delimiter", (str,), "what stands between values; a tab for .tsv", None, "a character"
        ),
        Option("names", (list, tuple), "names of the columns of a file that has no line of them"),
    )

    def batches(self, path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with opened(path) as stream:
            try:
                yield from self._read(stream, path, columns)
            except pa.ArrowInvalid as problem:
                raise SampleError(str(path), f"is no CSV: {problem}") from None

    def _read(
        self, stream: IO[bytes], path: Path, columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import csv

        delimiter = self.chosen["delimiter"] or ("\t" if ".tsv" in path.suffixes else ",")
        head = b"" if self.chosen["names"] else stream.readline(1 << 20)
        names = list(self.chosen["names"] or ()) or _names(head, delimiter)
        if not names:
            raise SampleError(str(path), "is empty", "a line of names, then rows")
        kept = wanted(names, columns, path)
        reader = csv.open_csv(
            pa.PythonFile(stream, mode="r"),
            read_options=csv.ReadOptions(column_names=names, block_size=1 << 22),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(kept, pa.string()),
                include_columns=kept,
                strings_can_be_null=False,
            ),
        )
        yield from reader


def _names(head: bytes, delimiter: str) -> list[str]:
    import csv

    text = head.decode("utf-8-sig", "backslashreplace")
    return [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]
