"""The format `csv`."""

from __future__ import annotations

import csv
import json
from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from rowkey.errors import Refused, SampleError
from rowkey.workload.contract import NULLS, Format, Option, nulls_of
from rowkey.workload.files import LONGEST_LINE, VISIBLE, MarkedText, opened, wanted
from rowkey.workload.records import Misfits, text_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Any

    import pyarrow as pa

    from rowkey.workload.records import LeftOut

SPACE = 0x20
_BETWEEN = b"\t\r\n"
"""Control characters that a line of names may hold."""
_DELIMITERS = (",", ";", "\t", "|", ":", " ")
"""What often stands between values."""


class Csv(Format):
    """Comma-separated values with a line of names, or `names` for a file without one.

    Nothing between two delimiters is a null, and two quotes are an empty text; of a text that
    cannot be null both are empty, unless `nulls` says how the file writes nulls.
    """

    name = "csv"
    suffixes = (".csv", ".tsv")
    nulls_may_be_empty = True
    options = (
        Option(
            "delimiter", (str,), "what stands between values; a tab for .tsv", None, "a character"
        ),
        Option("names", (list, tuple), "names of the columns of a file that has no line of them"),
        NULLS,
    )

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.nulls = nulls_of(self.chosen)
        # Nothing and a null that is written look alike to Arrow: neither is then an empty text.
        self.nulls_may_be_empty = not self.nulls
        delimiter = self.chosen["delimiter"]
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise Refused("delimiter", f"{delimiter!r} cannot stand between values", "a character")

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with opened(path, self.meter) as stream:
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
        if not names:
            head = _head(stream, path)
            names = _names(head, delimiter, columns, path)
            _check_delimiter(head, names, columns or (), path)
        kept = wanted(names, columns, path)
        misfits = Misfits(path, f"{len(names)} values a line", left_out)

        def skip(row: Any) -> str:
            misfits.add(row.number + before, row.text)
            return "skip"

        # Arrow takes a byte order mark for none of the first value: behind a line of names, which
        # had the file's own, it gets one to take.
        before_it = b"" if self.chosen["names"] else BOM_UTF8
        marked = MarkedText(stream, before_it, self.meter)
        reader = _reader(
            marked,
            kept,
            read_options=arrow.ReadOptions(
                column_names=names, block_size=LONGEST_LINE, use_threads=False
            ),
            parse_options=arrow.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(kept, pa.string()),
                include_columns=kept,
                null_values=["", *self.nulls],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        count = 0
        for batch in reader:
            count += batch.num_rows
            self.meter.given += LONGEST_LINE
            yield batch
        misfits.check(count + misfits.count)


def _reader(stream: MarkedText, columns: Sequence[str], **options: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a stream; a batch without any where there are none."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    try:
        return iter(arrow.open_csv(pa.PythonFile(stream, mode="r"), **options))
    except pa.ArrowInvalid as problem:
        if not str(problem).startswith("Empty CSV file"):
            raise
        return iter([text_batch([], columns)])


def _head(stream: IO[bytes], path: Path) -> str:
    """The first record of a file, which may hold quoted line ends."""
    head = b""
    while line := stream.readline(LONGEST_LINE + 1):
        head += line
        if head.count(b'"') % 2 == 0 or len(head) > LONGEST_LINE:
            break
    strange = [byte for byte in head if byte < SPACE and byte not in _BETWEEN]
    if strange:
        what = f"is no line of names: it holds the byte {strange[0]:02x}, which no text has"
        raise SampleError(f"{path}:1", what, "text")
    if b"\r" in head.rstrip(b"\r\n") and b'"' not in head:
        raise SampleError(
            str(path),
            "its lines end with a carriage return alone, as on old Macintoshes",
            "lines that end with a line feed",
            r"Convert it: tr '\r' '\n' < FILE.",
        )
    if len(head) > LONGEST_LINE:
        raise SampleError(f"{path}:1", "the line is longer than 1 MiB", "a line of names")
    return head.decode("utf-8-sig", VISIBLE)


def _names(head: str, delimiter: str, columns: Sequence[str] | None, path: Path) -> list[str]:
    """The names of the columns in the first record.

    Where some are asked for, spaces around a name are none of it, unless it is asked for so.

    Raises:
        SampleError: there are none.
    """
    found = _cut(head, delimiter)
    if found is None:
        what = "is no line of names: a line ends within a name, or a name is longer than 128 KiB"
        raise SampleError(f"{path}:1", what, "names")
    if not found:
        raise SampleError(str(path), "is empty", "a line of names, then rows")
    if columns is None:
        return found
    return [name if name in columns else name.strip() for name in found]


def _cut(head: str, delimiter: str) -> list[str] | None:
    """A record cut at a delimiter; None if it is no record."""
    try:
        return next(csv.reader([head], delimiter=delimiter), [])
    except csv.Error:
        return None


def _check_delimiter(head: str, names: list[str], columns: Sequence[str], path: Path) -> None:
    """Raise if the line of names is one name that another delimiter cuts into those wanted.

    Raises:
        SampleError: the delimiter is another one.
    """
    if len(names) > 1 or set(names) & set(columns):
        return
    found = {
        one: {name.strip() for name in _cut(head, one) or ()} & set(columns) for one in _DELIMITERS
    }
    likely = max(found, key=lambda one: len(found[one]))
    if found[likely]:
        raise SampleError(
            str(path),
            f"has one column, {names[0]!r}",
            ", ".join(columns),
            f"Declare what stands between values: [sample] format = "
            f'{{ kind = "csv", delimiter = {json.dumps(likely)} }}.',
        )


def _no_csv(path: Path, problem: str) -> SampleError:
    """What Arrow said of a file, in our words where they are clearer."""
    if "straddl" in problem:
        return SampleError(str(path), "a line is longer than 1 MiB", "records, one a line")
    return SampleError(str(path), f"is no CSV: {problem}")
