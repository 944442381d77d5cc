"""The format `excel`."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rowkey.array_libraries import pa
from rowkey.errors import SampleError, Unavailable
from rowkey.messages import Message, join_names, shorten_text, suggest_name
from rowkey.workload.contract import SKIP_LINES_OPTION, PluginOption, SampleFormat
from rowkey.workload.header_names import check_names
from rowkey.workload.records import MAX_BATCH_RECORDS, SkippedRows
from rowkey.workload.sample_streams import (
    MAX_FREE_UNPACKED_BYTES,
    MAX_UNPACKED_RATIO,
    open_stored,
    resolve_columns,
)

if TYPE_CHECKING:
    Row = Sequence[Any]

_OLD_FILE = b"\xd0\xcf\x11\xe0"
"""First bytes of a file of Excel 97, and of one with a password."""
_ERRORS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})
"""What a cell shows whose formula has no value."""
_INT64_RANGE = range(-(1 << 63), 1 << 63)
_CSV_REMEDY = "Save the sheet as CSV, and use that file."
_DAMAGE_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, OSError, SyntaxError, TypeError,
    ValueError, zipfile.BadZipFile,
)  # fmt: skip
"""What openpyxl raises about damaged files; errors of the XML parser are syntax errors."""


class ExcelFormat(SampleFormat):
    """A sheet of an Excel workbook (.xlsx), whose first row has the names of the columns.

    Dates, numbers and booleans keep their types where all values of a column have one; a column of
    several is text. Needs `pip install rowkey[excel]`.
    """

    name = "excel"
    suffixes = (".xlsx", ".xlsm")
    is_archive = True
    options = (
        PluginOption("sheet", (str,), "the name of the sheet; the first visible one if none"),
        PluginOption("names", (list, tuple), "names of the columns of a sheet without them"),
        SKIP_LINES_OPTION,
    )

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a sheet in order, in batches of bounded size.

        The types of the columns are known at the end of the sheet, so its values are kept until
        then, as many as `MAX_UNPACKED_RATIO` allows.
        """
        with self._open_sheet(path) as (names, rows):
            chosen = resolve_columns(names, columns, path)
            places = {name: names.index(name) for name in chosen}
            sheet_columns = {name: SheetColumn() for name in chosen}
            size_limit = _compute_size_limit(path)
            while some := list(islice(rows, MAX_BATCH_RECORDS)):
                for name, at in places.items():
                    values = [row[at] if at < len(row) else None for row in some]
                    size_limit -= sum(len(one) if type(one) is str else 8 for one in values)
                    if size_limit < 0:
                        what = "the values of the sheet are absurdly many for the size of the file"
                        raise SampleError(str(path), what, remedy=_CSV_REMEDY)
                    sheet_columns[name].add(values)
        for name, column in sheet_columns.items():
            self._note_types(name, column.kinds)
        arrays = zip(*(column.collect() for column in sheet_columns.values()), strict=True)
        batch = None
        for batch in arrays:
            yield pa.RecordBatch.from_arrays(list(batch), names=chosen)
        if batch is None:
            yield pa.RecordBatch.from_arrays([pa.nulls(0, pa.string())] * len(chosen), names=chosen)

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        with self._open_sheet(path) as (names, _):
            return names or None

    def check_header(self, path: Path) -> None:
        """Raise if the first row of the sheet does not look like names."""
        if self.option_values["names"]:
            return
        with self._open_sheet(path) as (names, rows):
            filled = [name for name in names if name]
            width = max((len(row) for row in islice(rows, 10)), default=0)
            if len(filled) == 1 and width > 1:
                skipped = self.option_values["skip_lines"] + 1
                raise SampleError(
                    f"{path}:1",
                    f"the first row has one value, {shorten_text(filled[0])!r}, and others more",
                    "the names of the columns",
                    f"If it is a title, skip it: {self.suggest_options(skip_lines=skipped)}.",
                )
            check_names(path, names, self)

    def _note_types(self, name: str, kinds: set[str]) -> None:
        """Note that a column holds values of several types, which are read as text."""
        if len(kinds) > 1 and _unite_kinds(kinds) == "texts":
            note = Message(
                "sample.mixed_types",
                "the column {column} of the sheet holds values of several types, and is read as "
                "text",
                column=shorten_text(name),
            )
            self.note_assumption(note)

    @contextmanager
    def _open_sheet(self, path: Path) -> Iterator[tuple[list[str], Iterator[Row]]]:
        """Return the column names of the sheet, and its further rows that hold a value.

        Raises:
            SampleError: the file is no workbook, is damaged, or lacks the sheet.
            Unavailable: openpyxl is not installed.
        """
        try:
            from openpyxl import load_workbook
        except ImportError:
            remedy = "Install it: pip install rowkey[excel]. Or save the sheet as CSV."
            raise Unavailable("openpyxl", "the package is not installed", remedy=remedy) from None
        with open_stored(path) as stored, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and rules that are no values
            _check_archive(stored, path)
            try:
                workbook = load_workbook(stored, read_only=True, data_only=True, keep_links=False)
                sheet = self._find_sheet(workbook, path)
                sheet.reset_dimensions()  # which a file may declare wrongly
                cells = sheet.iter_rows(
                    min_row=self.option_values["skip_lines"] + 1, values_only=True
                )
                rows = _read_filled_rows(cells)
                names = list(map(str, self.option_values["names"] or ()))
                if not names:
                    names = [_format_name(value) for value in next(rows, ())]
                yield names, rows
            except _DAMAGE_ERRORS as problem:
                what = f"the file is damaged, or is not an Excel workbook: {problem}"
                remedy = "Save it again as .xlsx, or save the sheet as CSV."
                raise SampleError(str(path), what, remedy=remedy) from None

    def _find_sheet(self, workbook: Any, path: Path) -> Any:
        """Return the declared sheet of a workbook, or its first visible one.

        Raises:
            SampleError: there is none.
        """
        sheets = {one.title: one for one in workbook.worksheets}
        visible = [name for name, one in sheets.items() if one.sheet_state == "visible"]
        wanted = self.option_values["sheet"]
        if wanted is None and visible:
            wanted = visible[0]
            if len(visible) > 1:
                note = Message(
                    "sample.first_sheet",
                    "the sheet {sheet} of {file} is read, the first of {count}; to read another, "
                    'declare format = {{ kind = "excel", sheet = "NAME" }}',
                    sheet=shorten_text(wanted),
                    file=shorten_text(path.name),
                    count=len(visible),
                )
                self.note_assumption(note)
        if wanted not in sheets:
            what = "the workbook has no visible sheet"
            if wanted is not None:
                what = f"the workbook has no sheet {shorten_text(wanted)!r}"
            listed = join_names([repr(shorten_text(name)) for name in islice(sheets, 20)])
            near = suggest_name(wanted or "", sheets)
            raise SampleError(str(path), what, f"one of {listed}" if sheets else "", near)
        return sheets[wanted]


def _check_archive(stored: IO[bytes], path: Path) -> None:
    """Raise if a file is no workbook of today's Excel, or unpacks to absurdly many bytes.

    Raises:
        SampleError: it is such a file.
    """
    head = stored.read(len(_OLD_FILE))
    stored.seek(0)
    if head == _OLD_FILE:
        what = "the file has a password, or is one of Excel 97 (.xls)"
        remedy = "Save it as .xlsx without a password, or save the sheet as CSV."
        raise SampleError(str(path), what, "an Excel workbook (.xlsx)", remedy)
    try:
        with zipfile.ZipFile(stored) as archive:
            total = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError) as problem:
        what = f"the file is not an Excel workbook: {problem}"
        raise SampleError(str(path), what, "an Excel workbook (.xlsx)") from None
    stored.seek(0)
    if total > _compute_size_limit(path):
        what = f"the file unpacks to {total:,} bytes"
        allowed = f"at most {MAX_UNPACKED_RATIO} times as many, or {MAX_FREE_UNPACKED_BYTES:,}"
        raise SampleError(str(path), what, allowed, _CSV_REMEDY)


def _compute_size_limit(path: Path) -> int:
    """Return how many bytes the values of a file may have."""
    return max(MAX_FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size)


def _read_filled_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Return the rows with a value, each up to its last one; errors of formulas are none."""
    for row in rows:
        values = [None if one == "" or one in _ERRORS else one for one in row]
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _format_name(value: Any) -> str:
    return (_format_cell(value) or "").strip()


def _format_cell(value: Any) -> str | None:
    """Return a value as text: numbers as Python writes them, times with date and time of day."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value)


_KINDS: dict[type, str] = {
    bool: "booleans", int: "whole numbers", float: "numbers", str: "texts",
}  # fmt: skip
_NUMBER_KINDS = {"whole numbers", "numbers"}
_DATE_KINDS = {"dates", "times"}


def _find_kind(value: Any) -> str:
    if isinstance(value, datetime):
        return "dates" if value.time() == time() else "times"
    if isinstance(value, int) and value not in _INT64_RANGE:
        return "texts"
    return _KINDS.get(type(value), "texts")


def _unite_kinds(kinds: Collection[str]) -> str:
    """Return the kind of a column with values of some kinds."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds and _NUMBER_KINDS.issuperset(kinds):
        return "numbers"
    return "times" if kinds and _DATE_KINDS.issuperset(kinds) else "texts"


class SheetColumn:
    """The values of one column, kept until the type of all of them is known."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self._parts: list[tuple[str, pa.Array]] = []

    def add(self, values: Sequence[Any]) -> None:
        """Add the next values."""
        kinds = {_find_kind(value) for value in values if value is not None}
        self.kinds |= kinds
        kind = _unite_kinds(kinds)
        self._parts.append((kind, _convert_values(values, kind)))

    def collect(self) -> Iterator[pa.Array]:
        """Yield the values of each call of `add`, all of one type."""
        united = _unite_kinds(self.kinds)
        for kind, array in self._parts:
            if kind == united:
                yield array
            elif united == "texts" or array.null_count == len(array):
                yield _convert_values(array.to_pylist(), united)
            else:
                yield array.cast(_build_arrow_type(united))


def _convert_values(values: Sequence[Any], kind: str) -> pa.Array:
    if kind == "texts":
        values = [_format_cell(value) for value in values]
    return pa.array(values, _build_arrow_type(kind))


def _build_arrow_type(kind: str) -> pa.DataType:
    return {
        "booleans": pa.bool_(), "whole numbers": pa.int64(), "numbers": pa.float64(),
        "dates": pa.date32(), "times": pa.timestamp("us"), "texts": pa.string(),
    }[kind]  # fmt: skip
