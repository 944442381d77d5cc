"""The format `columns`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import SampleError
from rowkey.workload.contract import (
    ENCODING_OPTION,
    NULLS_OPTION,
    SKIP_LINES_OPTION,
    PluginOption,
    SampleFormat,
    read_null_texts,
)
from rowkey.workload.header_names import check_comments, check_names, suggest_more_names
from rowkey.workload.records import MalformedLines, SkippedRows, build_batches
from rowkey.workload.sample_streams import (
    ESCAPE_INVALID_BYTES,
    MARK_INVALID_BYTES,
    read_lines,
    resolve_columns,
)

_MAX_COMMENT_LINES = 100
"""First lines that may be comments."""


class ColumnsFormat(SampleFormat):
    """Columns separated by white space, with a header line, or `names` for a file without one."""

    name = "columns"
    suffixes = (".txt", ".dat")
    options = (
        PluginOption(
            "names", (list, tuple), "names of the columns of a file without a header line"
        ),
        NULLS_OPTION,
        ENCODING_OPTION,
        SKIP_LINES_OPTION,
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self.null_texts = frozenset(read_null_texts(self.option_values))

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        names = list(self.option_values["names"] or ())
        header_lines = self.option_values["skip_lines"] + (not names)
        names = names or self._read_header(path)
        if not names:
            raise SampleError(str(path), "the file is empty", "a header line and rows")
        column_names = resolve_columns(names, columns, path)
        order = [names.index(name) for name in column_names]
        rows = self._read_rows(path, len(names), header_lines, skipped_rows)
        yield from build_batches(([row[i] for i in order] for row in rows), column_names)

    def check_header(self, path: Path) -> None:
        """Raise if the first line of a file without declared names does not look like names.

        Raises:
            SampleError: it looks like values, or has a name twice.
        """
        if self.option_values["names"]:
            return
        lines = read_lines(path, encoding=self.option_values["encoding"])
        skipped = self.option_values["skip_lines"]
        check_comments(path, list(islice(lines, skipped, skipped + _MAX_COMMENT_LINES)), self)
        names = self._read_header(path, MARK_INVALID_BYTES)
        if "|" in names[1:-1] and names[0] != "|":
            option = self.suggest_options(kind="csv", delimiter="|")
            raise SampleError(
                f"{path}:{skipped + 1}",
                "the names are separated by |",
                "names separated by white space",
                f"Declare the delimiter: {option}.",
            )
        check_names(path, names, self)

    def _read_header(self, path: Path, errors: str = ESCAPE_INVALID_BYTES) -> list[str]:
        """Return the words of the first line that is not skipped.

        Args:
            errors: what becomes of bytes that are not UTF-8, as `read_lines` has it.
        """
        lines = read_lines(path, errors=errors, encoding=self.option_values["encoding"])
        skipped = self.option_values["skip_lines"]
        return next(islice(lines, skipped, None), "").split()

    def _read_rows(
        self, path: Path, width: int, header_lines: int, skipped_rows: SkippedRows
    ) -> Iterator[list[str | None]]:
        """Return the values of each line that has as many as there are columns."""
        misfits = MalformedLines(
            path,
            f"{width} values on each line",
            skipped_rows,
            suggest=lambda count: suggest_more_names([], width, count, self),
        )
        number = 0
        for number, line in enumerate(
            read_lines(
                path,
                self.progress,
                errors=MARK_INVALID_BYTES,
                encoding=self.option_values["encoding"],
            ),
            1,
        ):
            values = line.split()
            if number <= header_lines or not values:
                continue
            if len(values) == width:
                yield [None if value in self.null_texts else value for value in values]
            else:
                misfits.add(number, line, len(values))
        misfits.check_count(number)
