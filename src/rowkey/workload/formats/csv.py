"""The format `csv`."""

from __future__ import annotations

import csv
import io
import json
from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument, SampleError
from rowkey.workload.contract import NULLS_OPTION, PluginOption, SampleFormat, read_null_texts
from rowkey.workload.records import MalformedLines, build_text_batch
from rowkey.workload.sample_streams import (
    ESCAPE_INVALID_BYTES,
    MAX_LINE_BYTES,
    MarkedUtf8Stream,
    open_uncompressed,
    resolve_columns,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Any

    import pyarrow as pa

    from rowkey.workload.records import SkippedRows

FIRST_PRINTABLE = 0x20
_ALLOWED_CONTROLS = b"\t\r\n"
"""Control characters that a header line may hold."""
_COMMON_DELIMITERS = (",", ";", "\t", "|", ":", " ")
"""Delimiters to suggest if the declared one does not fit."""


class CsvFormat(SampleFormat):
    """Comma-separated values with a header line, or `names` for a file without one.

    An empty value is null, and two quotes are an empty text. For a text field that cannot be null
    both are an empty text, unless `nulls` declares how the file writes nulls.
    """

    name = "csv"
    suffixes = (".csv", ".tsv")
    has_empty_nulls = True
    options = (
        PluginOption(
            "delimiter", (str,), "the character between values; a tab for .tsv", None, "a character"
        ),
        PluginOption(
            "names", (list, tuple), "names of the columns of a file without a header line"
        ),
        NULLS_OPTION,
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self.null_texts = read_null_texts(self.option_values)
        # Nothing and a null that is written look alike to Arrow: neither is then an empty text.
        self.has_empty_nulls = not self.null_texts
        delimiter = self.option_values["delimiter"]
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise InvalidArgument(
                "delimiter", f"{delimiter!r} cannot separate values", "one character, such as ','"
            )

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a CSV file in order, in batches of bounded size."""
        import pyarrow as pa

        with open_uncompressed(path, self.progress) as stream:
            try:
                yield from self._read_stream(stream, path, columns, skipped_rows)
            except pa.ArrowInvalid as problem:
                raise _build_csv_error(path, str(problem)) from None

    def find_lines(self, path: Path, rows: Collection[int]) -> dict[int, int]:
        """Return the line on which each of the given rows of a CSV file begins."""
        lines: dict[int, int] = {}
        with open_uncompressed(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            reader = csv.reader(text, delimiter=self._find_delimiter(path))
            names = self.option_values["names"] or next(reader, [])
            row, line = 0, reader.line_num + 1
            for record in reader:
                row += len(record) == len(names) and bool(record)
                if len(record) == len(names) and row in rows:
                    lines[row] = line
                if len(lines) == len(rows):
                    break
                line = reader.line_num + 1
        return lines

    def _find_delimiter(self, path: Path) -> str:
        """Return the declared delimiter, or the one that the file's name implies."""
        suffixes = [suffix.lower() for suffix in path.suffixes]
        return str(self.option_values["delimiter"] or ("\t" if ".tsv" in suffixes else ","))

    def _read_stream(
        self,
        stream: IO[bytes],
        path: Path,
        columns: Sequence[str] | None,
        skipped_rows: SkippedRows,
    ) -> Iterator[pa.RecordBatch]:
        """Return the batches of an open file."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        delimiter = self._find_delimiter(path)
        names = list(self.option_values["names"] or ())
        header_lines = 0 if names else 1
        if not names:
            head = _read_head(stream, path)
            names = _parse_names(head, delimiter, columns, path)
            _check_delimiter(head, names, columns or (), path)
        column_names = resolve_columns(names, columns, path)
        misfits = MalformedLines(path, f"{len(names)} values on each line", skipped_rows)

        def skip(row: Any) -> str:
            """Note a malformed line and tell Arrow to skip it."""
            misfits.add(row.number + header_lines, row.text)
            return "skip"

        # Arrow strips a byte order mark from its input, even one that is part of the first value.
        # The header line had the file's own mark, so the input after it gets another one to strip.
        mark = b"" if self.option_values["names"] else BOM_UTF8
        marked = MarkedUtf8Stream(stream, mark, self.progress)
        reader = _open_reader(
            marked,
            column_names,
            read_options=arrow.ReadOptions(
                column_names=names, block_size=MAX_LINE_BYTES, use_threads=False
            ),
            parse_options=arrow.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(column_names, pa.string()),
                include_columns=column_names,
                null_values=["", *self.null_texts],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        count = 0
        for batch in reader:
            count += batch.num_rows
            self.progress.delivered_bytes += MAX_LINE_BYTES
            yield batch
        misfits.check_count(count + misfits.count)


def _open_reader(
    stream: MarkedUtf8Stream, columns: Sequence[str], **options: Any
) -> Iterator[pa.RecordBatch]:
    """Return the batches of a stream; one empty batch if it has no rows."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    try:
        return iter(arrow.open_csv(pa.PythonFile(stream, mode="r"), **options))
    except pa.ArrowInvalid as problem:
        if not str(problem).startswith("Empty CSV file"):
            raise
        return iter([build_text_batch([], columns)])


def _read_head(stream: IO[bytes], path: Path) -> str:
    """Return the first record of a file, which may contain quoted line ends."""
    head = b""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        head += line
        if head.count(b'"') % 2 == 0 or len(head) > MAX_LINE_BYTES:
            break
    strange = [byte for byte in head if byte < FIRST_PRINTABLE and byte not in _ALLOWED_CONTROLS]
    if strange:
        what = f"the header line contains the byte {strange[0]:02x}, so the file is not text"
        raise SampleError(f"{path}:1", what, "text")
    if b"\r" in head.rstrip(b"\r\n") and b'"' not in head:
        raise SampleError(
            str(path),
            "the lines end with a carriage return alone",
            "lines that end with a line feed",
            r"Convert it: tr '\r' '\n' < FILE.",
        )
    if len(head) > MAX_LINE_BYTES:
        raise SampleError(f"{path}:1", "the line is longer than 1 MiB", "a header line")
    return head.decode("utf-8-sig", ESCAPE_INVALID_BYTES)


def _parse_names(head: str, delimiter: str, columns: Sequence[str] | None, path: Path) -> list[str]:
    """Return the column names of the first record.

    If columns are requested, spaces around a name are removed unless the request has them.

    Raises:
        SampleError: the file is empty, or its header line is malformed.
    """
    names = _split_record(head, delimiter)
    if names is None:
        what = "the header line has an unclosed quote, or a name of more than 128 KiB"
        raise SampleError(f"{path}:1", what, "the names of the columns")
    if not names:
        raise SampleError(str(path), "the file is empty", "a header line and rows")
    if columns is None:
        return names
    return [name if name in columns else name.strip() for name in names]


def _split_record(head: str, delimiter: str) -> list[str] | None:
    """Return a record split at a delimiter; None if it is not a record."""
    try:
        return next(csv.reader([head], delimiter=delimiter), [])
    except csv.Error:
        return None


def _check_delimiter(head: str, names: list[str], columns: Sequence[str], path: Path) -> None:
    """Raise if the header is one name that another delimiter splits into the requested ones.

    Raises:
        SampleError: the delimiter is another one.
    """
    if len(names) > 1 or set(names) & set(columns):
        return
    matches = {
        one: {name.strip() for name in _split_record(head, one) or ()} & set(columns)
        for one in _COMMON_DELIMITERS
    }
    likely = max(matches, key=lambda one: len(matches[one]))
    if matches[likely]:
        raise SampleError(
            str(path),
            f"the file has one column, {names[0]!r}",
            f"the columns {', '.join(columns)}",
            f"Declare the delimiter: [sample] format = "
            f'{{ kind = "csv", delimiter = {json.dumps(likely)} }}.',
        )


def _build_csv_error(path: Path, problem: str) -> SampleError:
    """Return an error for what Arrow reports, in clearer words where there are some."""
    if "straddl" in problem:
        remedy = "Look for a quote that is not closed: it joins lines."
        return SampleError(
            str(path), "a line is longer than 1 MiB", "one record on each line", remedy
        )
    remedy = "Correct the file, or declare its format: [sample] format."
    return SampleError(str(path), f"the file is not valid CSV: {problem}", remedy=remedy)
