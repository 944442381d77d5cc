"""The format `csv`."""

from __future__ import annotations

import csv
import io
import json
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument, SampleError
from rowkey.messages import Message, pluralize, shorten_text
from rowkey.workload.contract import (
    ENCODING_OPTION,
    NULLS_OPTION,
    SKIP_LINES_OPTION,
    PluginOption,
    SampleFormat,
    read_null_texts,
)
from rowkey.workload.header_names import (
    check_comments,
    check_names,
    looks_like_value,
    suggest_more_names,
)
from rowkey.workload.records import MalformedLines, SkippedRows, build_text_batch
from rowkey.workload.sample_streams import (
    INVALID_BYTE_MARK,
    MARK_INVALID_BYTES,
    MAX_LINE_BYTES,
    MarkedUtf8Stream,
    format_marked_text,
    open_uncompressed,
    resolve_columns,
)

MAX_NAME_CHARACTERS = 1 << 17
"""Characters of the name of a column."""
FIRST_PRINTABLE = 0x20
_ALLOWED_CONTROLS = b"\t\r\n"
"""Control characters that a header line may hold."""
_COMMON_DELIMITERS = (",", ";", "\t", "|", ":", " ")
"""Delimiters to suggest if the declared one does not fit."""
_DETECTABLE_DELIMITERS = _COMMON_DELIMITERS[:4]
"""Delimiters that are detected if none is declared; names and times often contain the others."""
_UNUSUAL_DELIMITERS = (":", "^", "#", "~", "!", "&", "\x01", "\x1f")
"""Delimiters to suggest for a file that would have one column."""
_DETECTION_BYTES, _DETECTION_RECORDS = 1 << 16, 20
_END_MARK = f"{INVALID_BYTE_MARK}$"
"""Begins the line after the last one of a file, which only a quote that is not closed hides."""
_MAX_EXAMINED = 1_000
"""Values of a batch and column whose lines are compared with rows; a swallowed row is among few."""
_MAX_REPEATS = 1_000
"""Repetitions that a regular expression of RE2 may have."""
_MIN_EQUAL_SHARE = 0.5
"""Minimum share of the first records that a delimiter divides into equally many values."""


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
            "delimiter",
            (str,),
            "the character between values; if absent, a tab for .tsv, else detected in the first "
            "lines: a comma, a semicolon, a tab or |",
            None,
            "a character",
        ),
        PluginOption(
            "names", (list, tuple), "names of the columns of a file without a header line"
        ),
        NULLS_OPTION,
        ENCODING_OPTION,
        SKIP_LINES_OPTION,
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self.null_texts = read_null_texts(self.option_values)
        self._detected_delimiter: str | None = None
        self._is_padded: bool | None = None
        """Whether a space follows each delimiter of the header line; None before it is read."""
        self._is_searched = False
        """Whether a complete pass has looked for values in which a quote may have joined rows."""
        # Nothing and a null that is written look alike to Arrow: neither is then an empty text.
        self.has_empty_nulls = not self.null_texts
        delimiter = self.option_values["delimiter"]
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise InvalidArgument(
                "delimiter", f"{delimiter!r} cannot separate values", "one character, such as ','"
            )

    def detect_options(self, path: Path) -> None:
        """Detect the delimiter, if nothing says it."""
        self._find_delimiter(path)

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        with self._open_text(path, is_watched=True) as stream:
            try:
                yield from self._read_stream(stream, path, columns, skipped_rows)
            except pa.ArrowInvalid as problem:
                raise self._build_csv_error(path, str(problem)) from None

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        """Return the names in the header line of a CSV file, or the declared ones."""
        # The first batch would have them too, but Arrow reads 12 MB ahead of it.
        with self._open_text(path) as stream:
            names = self._read_names(stream, path, None, self._find_delimiter(path))
        return resolve_columns(names, None, path)

    def find_lines(self, path: Path, rows: Collection[int]) -> dict[int, int]:
        lines: dict[int, int] = {}
        row, width = 0, len(self.option_values["names"] or ())
        for line, record in self._read_records(path):
            if not width:
                width = len(record)
                continue
            row += len(record) == width
            if len(record) == width and row in rows:
                lines[row] = line
            if len(lines) == len(rows):
                break
        return lines

    def _read_records(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        """Yield the records of a CSV file, that of the names included, with their first lines.

        Raises:
            SampleError: one is longer than a line may be.
        """
        line = 1 + self.option_values["skip_lines"]
        with self._open_text(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            csv.field_size_limit(MAX_LINE_BYTES)
            reader = csv.reader(text, delimiter=self._find_delimiter(path))
            try:
                for record in reader:
                    yield line, record
                    line = 1 + self.option_values["skip_lines"] + reader.line_num
            except csv.Error:
                raise _build_length_error(path, line) from None

    def _number_records(self, path: Path) -> Iterator[tuple[int, int]]:
        """Yield the number of each record after the names, from 1, and its first line."""
        numbers = count(int(bool(self.option_values["names"])))
        return ((next(numbers), line) for line, record in self._read_records(path) if record)

    def _find_line(self, path: Path, number: int, records: Iterator[tuple[int, int]]) -> int:
        """Return the line of a record that does not follow the format; looked for once.

        Empty lines are no records, and records with line ends in quotes have several lines.

        Args:
            number: the number of the record after the names, from 1.
            records: the records that were not looked at before.
        """
        if -number not in self.known_lines:  # those of rows are positive
            self.known_lines[-number] = next((line for n, line in records if n == number), 0)
        return self.known_lines[-number]

    def _refuse_open_quote(self, path: Path) -> None:
        """Raise an error about the last value of a file, whose quote is not closed.

        Raises:
            SampleError: always; it names the line of the quote.
        """
        line, record = 1, [""]
        for line, record in self._read_records(path):  # noqa: B007 - the last one
            pass
        line += sum(len(re.findall(r"\r\n?|\n", value)) for value in record[:-1])
        raise SampleError(
            f"{path}:{line}",
            "a quote is not closed before the end of the file",
            "a quote at both ends of a quoted value",
            'Close it, or write a quote that belongs to a value as "" in a quoted value: """a".',
        )

    def _build_csv_error(self, path: Path, problem: str) -> SampleError:
        """Return an error for what Arrow reports, in clearer words where there are some."""
        if "straddl" in problem:
            records = self._read_records(path)
            line, _ = max(records, key=lambda numbered: sum(map(len, numbered[1])))
            return _build_length_error(path, line)
        remedy = "Correct the file, or declare its format: [sample] format."
        return SampleError(str(path), f"the file is not valid CSV: {problem}", remedy=remedy)

    def _note_joined_rows(
        self, batch: pa.RecordBatch, first_row: int, names: Sequence[str], path: Path
    ) -> int:
        """Note the first value in which a quote may have joined rows; the search then ends.

        Args:
            first_row: the number of the first of them.
            names: all columns of the file.

        Returns:
            How many line ends the values have.
        """
        line_end_count, found = find_joined_rows(batch, names, self._find_delimiter(path))
        if found is None:
            return line_end_count
        place, column, count = found
        row = first_row + place
        self._is_searched = True
        self.note_assumption(
            Message(
                "sample.joined_rows",
                "a quoted value of {column} contains lines like the rows of {file}, {count:,} in "
                "all: if they are rows, a quote is not closed in the row that begins on line "
                "{line}",
                column=column,
                count=count,
                file=shorten_text(path.name),
                line=self.find_lines(path, {row}).get(row, 0),
            )
        )
        return line_end_count

    def _search_all_columns(self, path: Path) -> None:
        """Look for joined rows in the columns that are not read too, in a pass of its own."""
        progress = self.progress.prefetched_bytes, self.progress.delivered_bytes
        with self._open_text(path) as stream:
            for _ in self._read_stream(stream, path, None, SkippedRows()):
                if self._is_searched:
                    break
        self.progress.prefetched_bytes, self.progress.delivered_bytes = progress

    def check_header(self, path: Path) -> None:
        """Raise if the first line of a file without declared names does not look like names.

        Raises:
            SampleError: it looks like values, or like several names with another delimiter.
        """
        if self.option_values["names"]:
            return
        with self._open_text(path) as stream:
            head = self._read_head(stream, path)
        check_comments(path, self._read_first_lines(path), self)
        self._check_separator_line(path, head)
        names = _parse_names(head, self._find_delimiter(path), None, path)
        check_names(path, names, self)
        if len(names) == 1 and self.option_values["delimiter"] is None:
            self._check_single_column(path, names[0])

    def _check_separator_line(self, path: Path, head: str) -> None:
        """Raise if the first line declares the delimiter, as spreadsheets write it: `sep=;`.

        Raises:
            SampleError: it does.
        """
        if declared := re.fullmatch(r"(?i)sep=(.)[\r\n]*", head):
            skipped = self.option_values["skip_lines"] + 1
            option = self.suggest_options(delimiter=declared[1], skip_lines=skipped)
            raise SampleError(
                f"{path}:{skipped}",
                f"the line {head.rstrip()!r} declares a delimiter to spreadsheets",
                "the names of the columns",
                f"Skip it: {option}.",
            )

    def _check_single_column(self, path: Path, name: str) -> None:
        """Raise if the only column name contains a character that may separate values.

        Raises:
            SampleError: it does.
        """
        rows = list(filter(None, self._read_first_lines(path)[1:_DETECTION_RECORDS]))
        is_tabbed = self._find_delimiter(path) == "\t"
        expected = "a tab" if is_tabbed else "a comma, a semicolon, a tab or |"
        for one in (*_DETECTABLE_DELIMITERS, *_UNUSUAL_DELIMITERS, " "):
            count = name.strip().count(one)
            if count and all(row.count(one) >= count for row in rows):
                raise SampleError(
                    f"{path}:1",
                    f"the file has one column, {shorten_text(name)!r}",
                    f"values separated by {expected}",
                    f"Declare the delimiter: {self.suggest_options(delimiter=one)}.",
                )

    def _read_first_lines(self, path: Path) -> list[str]:
        """Return the first lines of a file, the last of which may be cut."""
        with self._open_text(path) as stream:
            return stream.read(_DETECTION_BYTES).decode("utf-8-sig", "replace").splitlines()

    def _refuse_padded_quotes(self, path: Path, delimiter: str) -> None:
        """Raise if a quote follows a delimiter and spaces: it does not begin a quoted value.

        Raises:
            SampleError: in one of the first lines.
        """
        with self._open_text(path) as stream:
            text = stream.read(_DETECTION_BYTES).decode("utf-8", "replace")
        if re.search(rf'{re.escape(delimiter)} +"', text):
            raise SampleError(
                str(path),
                "a quote follows a space, so that it does not begin a quoted value",
                "quotes directly after the delimiter",
                "Remove the spaces between delimiters and quotes.",
            )

    def _read_head(self, stream: IO[bytes], path: Path) -> str:
        """Return the first record of a file as marked text; UTF-16 is refused with the option."""
        try:
            head = _read_head(stream, path)
        except SampleError as problem:
            with open_uncompressed(path) as plain:
                start = plain.read(4)
            if start in (BOM_UTF32_LE, BOM_UTF32_BE):
                remedy = "Convert it: iconv -f UTF-32 -t UTF-8 FILE."
                what = "the file is in UTF-32, which is not read"
                raise SampleError(str(path), what, "a text file in UTF-8", remedy) from None
            has_mark = start.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
            if not has_mark or self.option_values["encoding"] != "utf-8":
                raise
            mistake = problem.mistake
            option = self.suggest_options(encoding="utf-16")
            remedy = f"The file is in UTF-16. Declare it: {option}."
            raise SampleError(mistake.path, mistake.problem, mistake.expected, remedy) from None
        if head and not head.strip():
            self._refuse_empty_lines(stream, path)
        return head

    def _refuse_empty_lines(self, stream: IO[bytes], path: Path) -> None:
        """Raise an error about empty lines in front of the names, if anything follows them.

        Raises:
            SampleError: something does; it names the option that skips the empty lines.
        """
        skipped = self.option_values["skip_lines"] + 1
        while line := stream.readline(MAX_LINE_BYTES):
            if line.strip():
                raise SampleError(
                    f"{path}:1",
                    "the file begins with empty lines",
                    "the names of the columns",
                    f"Skip them: {self.suggest_options(skip_lines=skipped)}.",
                )
            skipped += 1

    @contextmanager
    def _open_text(self, path: Path, *, is_watched: bool = False) -> Iterator[IO[bytes]]:
        """Return the text of a file in UTF-8, after the lines that are skipped."""
        progress = self.progress if is_watched else None
        with open_uncompressed(path, progress, self.option_values["encoding"]) as stream:
            for _ in range(self.option_values["skip_lines"]):
                stream.readline(MAX_LINE_BYTES)
            yield stream

    def _find_delimiter(self, path: Path) -> str:
        """Return the delimiter: declared, implied by the file's name, or detected in its lines."""
        declared = self.option_values["delimiter"]
        if declared is not None:
            return str(declared)
        if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
            return "\t"
        if self._detected_delimiter is None:
            with self._open_text(path) as stream:
                detected = self._detected_delimiter = _detect_delimiter(stream)
            if detected == ",":
                return detected
            message = Message(
                "sample.delimiter",
                "the values of {file} are separated by {delimiter}, as in its first lines",
                file=shorten_text(path.name),
                delimiter="a tab" if detected == "\t" else detected,
            )
            self.note_option("delimiter", detected, message)
        return self._detected_delimiter

    def _read_names(
        self, stream: IO[bytes], path: Path, columns: Sequence[str] | None, delimiter: str
    ) -> list[str]:
        """Return the declared names of the columns, or those of the header line, read from it.

        Raises:
            SampleError: the header line has none, or another delimiter divides it.
        """
        if self.option_values["names"]:
            return list(self.option_values["names"])
        head = format_marked_text(self._read_head(stream, path))
        names = _parse_names(head, delimiter, columns, path)
        _check_delimiter(head, names, columns or (), path)
        if self._is_padded is None:
            _, *others = _split_record(head, delimiter) or [""]
            self._is_padded = bool(others) and all(name.startswith(" ") for name in others)
            if self._is_padded:
                self._refuse_padded_quotes(path, delimiter)
                self.note_assumption(
                    Message(
                        "sample.padding",
                        "spaces at the start of values of {file} are dropped, as a space follows "
                        "each delimiter of its header line",
                        file=shorten_text(path.name),
                    )
                )
        return names

    def _read_stream(
        self,
        stream: IO[bytes],
        path: Path,
        columns: Sequence[str] | None,
        skipped_rows: SkippedRows,
    ) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv as arrow

        delimiter = self._find_delimiter(path)
        names = self._read_names(stream, path, columns, delimiter)
        column_names = resolve_columns(names, columns, path)
        width = len(names)
        misfits = MalformedLines(
            path,
            f"{pluralize(width, 'value')} on each line",
            skipped_rows,
            suggest=lambda n: suggest_more_names(names, width, n, self, misfits.first_number),
        )

        is_closed, record_lines = False, self._number_records(path)

        def skip(row: Any) -> str:
            """Note a malformed line, or the line after the last one, and tell Arrow to skip it."""
            nonlocal is_closed
            if row.text.startswith(_END_MARK):
                is_closed = True
            else:
                is_named = skipped_rows.can_keep_more or not misfits.count
                line = self._find_line(path, row.number, record_lines) if is_named else 0
                misfits.add(line, row.text, row.actual_columns)
            return "skip"

        # Arrow strips a byte order mark from its input, even one that is part of the first value.
        # The header line had the file's own mark, so the input after it gets another one to strip.
        mark = b"" if self.option_values["names"] else BOM_UTF8
        end = f"\n{_END_MARK}{delimiter * len(names)}".encode()
        marked = MarkedUtf8Stream(stream, mark, self.progress, end)
        read_options = arrow.ReadOptions(
            column_names=names, block_size=MAX_LINE_BYTES, use_threads=False
        )
        parse_options = arrow.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip
        )
        convert_options = self._build_convert_options(column_names)
        file = pa.PythonFile(marked, mode="r")
        reader = arrow.open_csv(file, read_options, parse_options, convert_options)
        row_count, line_end_count, last_batch = 0, 1, None
        for batch in reader:
            if last_batch is not None:
                yield last_batch
            if not self._is_searched:
                line_end_count += self._note_joined_rows(batch, row_count + 1, names, path)
            row_count += batch.num_rows
            self.progress.delivered_bytes += MAX_LINE_BYTES
            last_batch = _drop_padding(batch, self.null_texts) if self._is_padded else batch
        misfits.check_count(row_count + misfits.count)
        # A quote that is not closed is known when everything is read, before its row is delivered.
        if not is_closed:
            self._refuse_open_quote(path)
        # Line ends that neither rows nor values that are read have are in other columns.
        is_complete = marked.line_end_count <= row_count + misfits.count + line_end_count
        if not (self._is_searched or is_complete or columns is None or len(names) == 1):
            self._search_all_columns(path)
        self._is_searched = True
        yield build_text_batch([], column_names) if last_batch is None else last_batch

    def _build_convert_options(self, column_names: Sequence[str]) -> Any:
        """Return how Arrow converts some columns: to texts, or null where nothing is written."""
        from pyarrow import csv as arrow

        return arrow.ConvertOptions(
            column_types=dict.fromkeys(column_names, pa.string()),
            include_columns=column_names,
            null_values=["", *self.null_texts],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )


def _drop_padding(batch: pa.RecordBatch, null_texts: Sequence[str]) -> pa.RecordBatch:
    """Return text columns without the spaces at the start of their values.

    A value of spaces alone, or of spaces and a text that stands for null, is null.
    """
    columns = []
    for padded in batch.columns:
        column = pc.ascii_ltrim(padded, " ")
        is_null = pc.is_in(column, pa.array(["", *null_texts], pa.string()))
        is_changed = pc.not_equal(column, padded)
        columns.append(
            pc.if_else(pc.and_(is_null, is_changed), pa.scalar(None, pa.string()), column)
        )
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def find_joined_rows(
    batch: pa.RecordBatch, names: Sequence[str], delimiter: str
) -> tuple[int, tuple[int, str, int] | None]:
    """Return the first value whose further lines all look like rows; None if there is none.

    A line looks like a row if it has as many values, and numbers, times and addresses among them
    where the row has them. The line in which the value ends is complete in the last column only.

    Args:
        names: all columns of the file.
        delimiter: the character between values.

    Returns:
        How many line ends the values have; and the place of its row in the batch, its column, and
        the number of its lines.
    """
    width = len(names)
    if not 1 < width <= _MAX_REPEATS:
        return 0, None
    text = f"[^{re.escape(delimiter)}\n]*"
    row = rf"^[^\n]*\n(?:{text}{re.escape(delimiter)}){{{width - 1}}}{text}(?:\n|$)"
    line_end_count = 0
    places = [names.index(name) for name in batch.schema.names]
    for name, number, column in zip(batch.schema.names, places, batch.columns, strict=True):
        data = column.buffers()[2]
        count = 0 if data is None else int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
        line_end_count += count
        if not count:
            continue
        is_likely = pc.match_substring_regex(column, row).fill_null(False)
        for place in pc.indices_nonzero(is_likely)[:_MAX_EXAMINED].to_pylist():
            lines = [line.removesuffix("\r") for line in column[place].as_py().split("\n")[1:]]
            if number < width - 1 or not lines[-1]:
                lines.pop()
            records = [line.split(delimiter) for line in lines]
            if not records or any(len(record) != width for record in records):
                continue
            values = [(other[place].as_py() or "").partition("\n")[0] for other in batch.columns]
            forms = list(map(looks_like_value, values))
            if any(forms) and all(
                forms == [looks_like_value(record[n]) for n in places] for record in records
            ):
                return line_end_count, (place, name, len(records))
    return line_end_count, None


def _detect_delimiter(stream: IO[bytes]) -> str:
    """Return the delimiter that divides the first records of a text best; a comma if none does.

    Best is the one that divides most records into as many values as the first one, then the one
    that divides them into most values. A delimiter that is not in the first record is none.
    """
    data = stream.read(_DETECTION_BYTES)
    text = data.decode("utf-8-sig", "replace")
    if len(data) == _DETECTION_BYTES:  # the last line may be cut off
        text = text[: text.rfind("\n") + 1] or text
    scores = {}
    for delimiter in _DETECTABLE_DELIMITERS:
        widths = _measure_records(text, delimiter)
        if widths and widths[0] > 1:
            equal_share = Counter(widths)[widths[0]] / len(widths)
            if equal_share > _MIN_EQUAL_SHARE:
                scores[delimiter] = equal_share, widths[0]
    return max(scores, key=lambda one: scores[one], default=",")


def _measure_records(text: str, delimiter: str) -> list[int]:
    """Return the numbers of values of the first records of a text, without empty lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [len(record) for record in islice(reader, _DETECTION_RECORDS) if record]
    except csv.Error:
        return []


def _read_head(stream: IO[bytes], path: Path) -> str:
    """Return the first record of a file, which may contain quoted line ends, as marked text.

    Raises:
        SampleError: the record is no text or too long, or lines end with a carriage return alone.
    """
    head = b""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        head += line
        if head.count(b'"') % 2 == 0 or len(head) > MAX_LINE_BYTES:
            break
    strange = [byte for byte in head if byte < FIRST_PRINTABLE and byte not in _ALLOWED_CONTROLS]
    if strange:
        what = f"the header line contains the byte 0x{strange[0]:02x}, so the file is not text"
        raise SampleError(f"{path}:1", what, "a text file")
    if b"\r" in re.sub(rb'"[^"]*("|$)', b"", head).rstrip(b"\r\n"):  # a quoted name may hold one
        raise SampleError(
            str(path),
            "the lines end with a carriage return alone",
            "lines that end with a line feed",
            r"Convert it: tr '\r' '\n' < FILE.",
        )
    if len(head) > MAX_LINE_BYTES:
        raise SampleError(f"{path}:1", "the line is longer than 1 MiB", "a header line")
    return head.decode("utf-8-sig", MARK_INVALID_BYTES)


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
        names = next(csv.reader([head], delimiter=delimiter), [])
    except csv.Error:
        return None
    return names if all(len(name) <= MAX_NAME_CHARACTERS for name in names) else None


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


def _build_length_error(path: Path, line: int) -> SampleError:
    """Return an error about a record that is too long, which begins on a line."""
    return SampleError(
        f"{path}:{line}",
        "the record that begins here is longer than 1 MiB",
        "one record on each line",
        "Look in it for a quote that is not closed: it joins lines.",
    )
