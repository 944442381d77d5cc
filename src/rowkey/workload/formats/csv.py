"""The format `csv`."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from rowkey.errors import Refused, SampleError
from rowkey.workload.contract import Format, Option
from rowkey.workload.files import LONGEST_LINE, VisibleText, opened, wanted
from rowkey.workload.records import Misfits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Any

    import pyarrow as pa

    from rowkey.workload.records import LeftOut

SPACE = 0x20
_BETWEEN = b"\t\r\n"
"""Control characters that a line of names may hold."""


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

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        delimiter = self.chosen["delimiter"]
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise Refused("delimiter", f"{delimiter!r} cannot stand between values", "a character")

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with opened(path) as stream:
            try:
                yield from self._read(stream, path, columns, left_out)
            except pa.ArrowInvalid as problem:
                raise _no_csv(path, str(problem)) from None

    def _read(
        self, stream: IO[bytes], path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        suffixes = [suffix.lower() for suffix in path.suffixes]
        delimiter = self.chosen["delimiter"] or ("\t" if ".tsv" in suffixes else ",")
        names = list(self.chosen["names"] or ())
        before = 0 if names else 1
        names = names or _names(stream, delimiter, path)
        kept = wanted(names, columns, path)
        misfits = Misfits(path, f"{len(names)} values a line", left_out)

        def skip(row: Any) -> str:
            misfits.add(row.number + before, row.text)
            return "skip"

        reader = arrow.open_csv(
            pa.PythonFile(VisibleText(stream), mode="r"),
            read_options=arrow.ReadOptions(
                column_names=names, block_size=LONGEST_LINE, use_threads=False
            ),
            parse_options=arrow.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(kept, pa.string()),
                include_columns=kept,
                strings_can_be_null=False,
            ),
        )
        count = 0
        for batch in reader:
            count += batch.num_rows
            yield batch
        misfits.check(count + misfits.count)


def _names(stream: IO[bytes], delimiter: str, path: Path) -> list[str]:
    """The names of the columns: the first record of a file, which may hold quoted line ends."""
    head = b""
    while line := stream.readline(LONGEST_LINE + 1):
        head += line
        if head.count(b'"') % 2 == 0 or len(head) > LONGEST_LINE:
            break
    if len(head) > LONGEST_LINE:
        raise SampleError(f"{path}:1", "the line is longer than 1 MiB", "a line of names")
    strange = [byte for byte in head if byte < SPACE and byte not in _BETWEEN]
    if strange:
        what = f"is no line of names: it holds the byte {strange[0]:02x}, which no text has"
        raise SampleError(f"{path}:1", what, "text")
    try:
        found = next(
            csv.reader([head.decode("utf-8-sig", "backslashreplace")], delimiter=delimiter), []
        )
    except csv.Error as problem:
        raise SampleError(f"{path}:1", f"is no line of names: {problem}", "names") from None
    if not found:
        raise SampleError(str(path), "is empty", "a line of names, then rows")
    return [name.strip() for name in found]


def _no_csv(path: Path, problem: str) -> SampleError:
    """What Arrow said of a file, in our words where they are clearer."""
    if problem.startswith("Empty CSV file"):
        return SampleError(str(path), "holds no events", "one event or more")
    if "straddl" in problem:
        return SampleError(str(path), "a line is longer than 1 MiB", "records, one a line")
    return SampleError(str(path), f"is no CSV: {problem}")
