"""Reads rows from standard input or a file, and converts their values to the design's types."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import rowkey
from rowkey import workload
from rowkey.errors import RowError, SampleError
from rowkey.json_objects import RepeatedName, build_object
from rowkey.messages import pluralize, shorten_text, suggest_name
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from rowkey.keys import Field

_MAX_LINE_LENGTH = 1 << 20
"""Characters at which a line of keys or rows is refused; no row of HBase is nearly as long."""


@contextmanager
def open_input(name: str) -> Iterator[IO[str]]:
    """Open a UTF-8 text file, with or without a byte order mark; `-` is standard input.

    Raises:
        RowError: the file cannot be opened.
    """
    if name == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict", newline="")
        with _name_input_in_errors("standard input"):
            yield sys.stdin
        return
    try:
        stream = open(name, encoding="utf-8-sig", newline="")  # noqa: PTH123, SIM115 - or -
    except (OSError, ValueError) as problem:
        raise_shortage(problem, name)
        why = getattr(problem, "strerror", None) or str(problem)
        raise RowError(name, f"the file cannot be read: {why}", remedy="Check the path.") from None
    with stream, _name_input_in_errors(name):
        yield stream


class ArrayItems(io.TextIOWrapper):
    """The items of a JSON array as lines of text."""


@contextmanager
def open_rows(name: str) -> Iterator[IO[str]]:
    """Open a text file of rows as `open_input` does; the items of a JSON array are its lines.

    Raises:
        RowError: the file cannot be opened.
    """
    with open_input(name) as text:
        stored = getattr(text, "buffer", io.BytesIO())
        buffer = stored if isinstance(stored, io.BufferedReader) else io.BufferedReader(stored)
        if workload.is_array_of_objects(buffer.peek(workload.HEAD_BYTES)):
            items = io.BufferedReader(workload.ArrayLines(buffer, Path(name)))
            yield ArrayItems(items, "utf-8", newline="")
        else:
            yield text if stored is buffer else io.TextIOWrapper(buffer, "utf-8-sig", newline="")


def format_place(stream: IO[str], number: int) -> str:
    """Return what a line of rows is called in messages."""
    return f"{'item' if isinstance(stream, ArrayItems) else 'line'} {number}"


@contextmanager
def _name_input_in_errors(name: str) -> Iterator[None]:
    """Put the name of the input in front of the lines that its errors name."""
    try:
        yield
    except RowError as problem:
        raise problem.prefix_path(name) from None


def read_lines(stream: IO[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text stream with their line ends, each with its number from 1.

    Raises:
        RowError: a line is longer than a megabyte, or not UTF-8.
    """
    number = 0
    while line := _read_line(stream, number + 1):
        number += 1
        if len(line) == _MAX_LINE_LENGTH:
            what, allowed = "the line is too long", f"at most {_MAX_LINE_LENGTH - 1:,} characters"
            raise RowError(format_place(stream, number), what, allowed)
        yield number, line


def _read_line(stream: IO[str], number: int) -> str:
    """Return the next line of a text stream; raise if its bytes are not UTF-8."""
    try:
        return stream.readline(_MAX_LINE_LENGTH)
    except UnicodeDecodeError as problem:
        what = f"the byte {problem.object[problem.start]:02x} is not UTF-8"
        remedy = "Convert the file to UTF-8, for example by iconv."
        raise RowError(f"line {number} or later", what, "text in UTF-8", remedy) from None
    except SampleError as problem:  # a JSON array is broken
        raise RowError(f"item {number}", problem.mistake.problem) from None


def read_rows(
    stream: IO[str], row_format: str, fields: Mapping[str, Field]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a CSV or JSON lines stream, each with its line number.

    Args:
        stream: the text.
        row_format: `json_lines` or `csv`.
        fields: the fields to read, by name.

    Raises:
        RowError: a line is not a row, or a value does not fit its field.
    """
    records = _read_csv_rows(stream) if row_format == "csv" else _read_json_rows(stream)
    for number, values in records:
        place = format_place(stream, number)
        yield number, _convert_row(values, fields, place, is_csv=row_format == "csv")


def _read_csv_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of CSV; an empty value is None without quotes, and empty text with quotes.

    Raises:
        RowError: a line is not valid CSV or has another number of values than the header, or the
            header names a column twice.
    """
    raw: list[str] = []

    def lines() -> Iterator[str]:
        for _, line in read_lines(stream):
            raw.append(line)
            yield line

    reader = csv.reader(lines())
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            what = f"the header names the column {twice!r} twice"
            raise RowError("line 1", what, "different names", "Rename or remove one column.")
        raw.clear()
        for row in reader:
            record = "".join(raw)
            raw.clear()
            if not row:
                continue
            if len(row) != len(header):
                what = f"the line has {pluralize(len(row), 'value')}"
                allowed = f"{len(header):,}, as many as the header has names"
                raise RowError(f"line {reader.line_num}", what, allowed)
            values = row if all(row) else _restore_nulls(row, record)
            yield reader.line_num, dict(zip(header, values, strict=True))
    except csv.Error as problem:
        what, remedy = f"the line is not valid CSV: {problem}", "Correct the quotes of the line."
        raise RowError(f"line {reader.line_num}", what, remedy=remedy) from None


_CSV_VALUE_PATTERN = re.compile(r'(?:"(?:[^"]|"")*"|[^",\r\n])[^,\r\n]*|')
"""A value as written in a record: quoted, not quoted, or nothing."""


def _restore_nulls(row: list[str], record: str) -> list[str | None]:
    """Return the values of a CSV record, with None for those that are empty and unquoted.

    >>> _restore_nulls(["", "", "a,b", ""], ',"","a,b",\\n')
    [None, '', 'a,b', None]
    """
    at, values = 0, []
    for value in row:
        match = _CSV_VALUE_PATTERN.match(record, at)
        assert match is not None
        at = match.end() + 1
        values.append(value or (value if match[0] else None))
    return values


def _read_json_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects of a stream of JSON lines, each with its number."""
    return (
        (number, _parse_json_object(format_place(stream, number), line))
        for number, line in read_lines(stream)
        if line.strip()
    )


def _parse_json_object(place: str, line: str) -> dict[str, Any]:
    """Return the JSON object that a line contains.

    Raises:
        RowError: the text is not one object.
    """
    try:
        values = json.loads(line, parse_float=Decimal, object_pairs_hook=build_object)
    except RepeatedName as repeated:
        what = f"the field {shorten_text(repeated.args[0])!r} is given twice"
        raise RowError(place, what, "one value") from None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise RowError(
            place,
            f"{line.strip()[:60]!r} is not a JSON object",
            'a row, such as {"FIELD": "VALUE"}',
        )
    return values


def read_partial_rows(
    stream: IO[str], fields: Mapping[str, Field]
) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """Yield rows of JSON lines with only the fields that each line names, and line numbers.

    A JSON null stays null. For a line that is no row, names an unknown field or has an invalid
    value, the error is yielded in place of the row, so that the caller can write the other rows.

    Raises:
        RowError: the stream cannot be read any further.
    """
    for number, line in read_lines(stream):
        if not line.strip():
            continue
        place = format_place(stream, number)
        try:
            values = _parse_json_object(place, line)
        except RowError as problem:
            yield number, problem
            continue
        try:
            yield number, _convert_values(values, partial(_convert_named_value, fields=fields))
        except RowError as problem:
            yield number, problem.prefix_path(place)


def parse_values(pairs: Iterable[str], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the field values of `FIELD=VALUE` arguments.

    Raises:
        RowError: an argument has no =, names an unknown field or the same field twice, or its value
            does not fit the field.
    """
    texts: dict[str, str] = {}
    errors: list[RowError] = []
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            problem = f"{pair!r} is not a field with a value"
            errors.append(RowError("arguments", problem, "FIELD=VALUE"))
        elif name in texts:
            errors.append(RowError(f"field {name}", "the field is given twice", "one value"))
        else:
            texts[name] = text
    return _convert_values(texts, partial(_convert_named_value, fields=fields), errors)


def _convert_values(
    values: Mapping[str, Any],
    convert: Callable[[str, Any], Any],
    errors: Sequence[RowError] = (),
) -> dict[str, Any]:
    """Return the values of a row, each converted.

    Args:
        values: the values by field.
        convert: converts the value of a field.
        errors: what is wrong with the row already.

    Raises:
        RowError: with all that is wrong with the row.
    """
    row, found = {}, list(errors)
    for name, value in values.items():
        try:
            row[name] = convert(name, value)
        except RowError as error:
            found.append(error)
    if found:
        raise RowError.join(found)
    return row


def _convert_named_value(name: str, value: Any, fields: Mapping[str, Field]) -> Any:
    """Return a value converted to the type of the field with a given name.

    Raises:
        RowError: the design has no such field, or the field does not allow the value.
    """
    if name not in fields:
        raise RowError(
            f"field {name}",
            "the design has no such field",
            f"one of {', '.join(fields)}",
            suggest_name(name, fields),
        )
    if value is None:
        return None
    field = fields[name]
    converted = _convert_value(field, value)
    if isinstance(value, str) and field.type.unit_ns is not None and converted is not None:
        return value  # a count of another unit is told from a date
    return converted


def _convert_row(
    values: Mapping[str, Any], fields: Mapping[str, Field], place: str, *, is_csv: bool
) -> dict[str, Any]:
    """Return the values of a record, converted to the types of the design's fields."""
    raw_values: dict[str, Any] = {}
    for name, field in fields.items():
        value = values.get(field.declaration.source or name, values.get(name))
        if value is None and is_csv and field.type.is_sequence and not field.nullable:
            value = ""
        raw_values[name] = value
    try:
        return _convert_values(raw_values, lambda name, value: _convert_value(fields[name], value))
    except RowError as problem:
        raise problem.prefix_path(place) from None


def _convert_value(field: Field, value: Any) -> Any:
    """Return a value converted to a field's type; empty text may stand for null.

    Raises:
        RowError: the type does not allow the text, or it is empty and the field cannot be null.
    """
    if value is None:
        if not field.nullable:
            expected = f"a {field.type.name}"
            remedy = rowkey.keys.NULLABLE_REMEDY
            raise RowError(f"field {field.name}", "the row has no value", expected, remedy)
        return None
    if isinstance(value, str):
        try:
            return field.parse(value)
        except RowError:
            if value or not field.nullable:
                raise
            return None
    if isinstance(value, float | int | Decimal) and not isinstance(value, bool):
        try:
            return field.normalize(value)
        except RowError:
            return field.parse(str(value))
    return field.normalize(value)
