"""Rows from standard input or a file, as the values their design declares."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from rowkey.errors import RowError, did_you_mean
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rowkey.keys import Field

_LONGEST_LINE = 1 << 20
"""Bytes of a line of keys or rows; no row of HBase's fits in as many more."""


@contextmanager
def opened(name: str) -> Iterator[IO[str]]:
    """A text file in UTF-8, with a byte order mark or without, or standard input for `-`.

    Raises:
        RowError: the file cannot be opened.
    """
    if name == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict", newline="")
        yield sys.stdin
        return
    try:
        stream = open(name, encoding="utf-8-sig", newline="")  # noqa: PTH123, SIM115 - or -
    except (OSError, ValueError) as problem:
        raise_shortage(problem, name)
        why = getattr(problem, "strerror", None) or str(problem)
        raise RowError(name, f"the file cannot be read: {why}") from None
    with stream:
        yield stream


def lines_of(stream: IO[str]) -> Iterator[tuple[int, str]]:
    """The lines of a stream with their ends, and their numbers from 1.

    Raises:
        RowError: a line is longer than a megabyte, or not UTF-8.
    """
    number = 0
    while line := _line(stream, number + 1):
        number += 1
        if len(line) == _LONGEST_LINE:
            what, allowed = "it is too long", f"at most {_LONGEST_LINE - 1:,} characters"
            raise RowError(f"line {number}", what, allowed)
        yield number, line


def _line(stream: IO[str], number: int) -> str:
    try:
        return stream.readline(_LONGEST_LINE)
    except UnicodeDecodeError as problem:
        what = f"the byte {problem.object[problem.start]:02x} is not UTF-8"
        raise RowError(f"line {number} or later", what, "text in UTF-8") from None


def read_rows(
    stream: IO[str], form: str, fields: Mapping[str, Field]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a stream with their line numbers.

    Args:
        stream: the text.
        form: `jsonl` or `csv`.
        fields: the fields wanted, by name.

    Raises:
        RowError: a line is no row, or a value is none of its field.
    """
    found = _csv_rows(stream) if form == "csv" else _json_rows(stream)
    for number, given in found:
        yield number, _typed(given, fields, number, is_csv=form == "csv")


def at_line(number: int, problem: RowError) -> RowError:
    """An error of one row, with the line it stands on."""
    one = problem.mistake
    return RowError(f"line {number}: {one.path}", one.what, one.allowed, one.remedy)


def _csv_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of CSV; nothing between two commas is None, two quotes are an empty text."""
    raw: list[str] = []

    def lines() -> Iterator[str]:
        for _, line in lines_of(stream):
            raw.append(line)
            yield line

    reader = csv.reader(lines())
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise RowError("line 1", f"the column {twice!r} stands twice", "each column once")
        raw.clear()
        for row in reader:
            record = "".join(raw)
            raw.clear()
            if not row:
                continue
            if len(row) != len(header):
                what = f"{len(row):,} values do not fit"
                raise RowError(f"line {reader.line_num}", what, f"{len(header):,}, as in line 1")
            values = row if all(row) else _told_apart(row, record)
            yield reader.line_num, dict(zip(header, values, strict=True))
    except csv.Error as problem:
        raise RowError(f"line {reader.line_num}", f"it is no CSV: {problem}") from None


_VALUE = re.compile(r'(?:"(?:[^"]|"")*"|[^",\r\n])[^,\r\n]*|')
"""A value as it stands in a record: quoted, not quoted, or nothing."""


def _told_apart(row: list[str], record: str) -> list[str | None]:
    """The values of a record with None for those that are nothing, not even quotes.

    >>> _told_apart(["", "", "a,b", ""], ',"","a,b",\\n')
    [None, '', 'a,b', None]
    """
    at, found = 0, []
    for value in row:
        stands = _VALUE.match(record, at)
        assert stands is not None
        at = stands.end() + 1
        found.append(value or (value if stands[0] else None))
    return found


def _json_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    return ((number, _object(number, line)) for number, line in lines_of(stream) if line.strip())


def _object(number: int, line: str) -> dict[str, Any]:
    """The JSON object of a line.

    Raises:
        RowError: there is none.
    """
    try:
        given = json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise RowError(f"line {number}", f"{line.strip()[:60]!r} is no row", "a JSON object")
    return given


def given_rows(
    stream: IO[str], fields: Mapping[str, Field]
) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """The rows of JSON lines by the numbers of their lines, only with the fields that each gives.

    Null stays null. What is no row, names an unknown field or holds a value that is none of its
    field comes as an error, so that the others can be written.

    Raises:
        RowError: the text itself cannot be read on.
    """
    for number, line in lines_of(stream):
        if not line.strip():
            continue
        try:
            given = _object(number, line)
        except RowError as problem:
            yield number, problem
            continue
        try:
            yield number, {name: _given(name, value, fields) for name, value in given.items()}
        except RowError as problem:
            yield number, at_line(number, problem)


def values_of(pairs: Iterable[str], fields: Mapping[str, Field]) -> dict[str, Any]:
    """The values of `FIELD=VALUE` words; all behind the first = is the value.

    Raises:
        RowError: a word has no =, names an unknown field or one twice, or its value is none of the
            field.
    """
    row: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            raise RowError("", f"{pair!r} is no value", "FIELD=VALUE")
        if name in row:
            raise RowError(name, "it is given twice", "one value")
        row[name] = _given(name, text, fields)
    return row


def _given(name: str, value: Any, fields: Mapping[str, Field]) -> Any:
    """A value that is given, as its field has it."""
    if name not in fields:
        raise RowError(
            name, "there is no such field", ", ".join(fields), did_you_mean(name, fields)
        )
    return None if value is None else _value(fields[name], value)


def _typed(
    given: Mapping[str, Any], fields: Mapping[str, Field], number: int, *, is_csv: bool
) -> dict[str, Any]:
    """The values of a row: text is read as the field's type would."""
    row: dict[str, Any] = {}
    for name, field in fields.items():
        value = given.get(field.words.source or name, given.get(name))
        if value is None and is_csv and field.type.is_sequence and not field.nullable:
            value = ""
        try:
            row[name] = _value(field, value)
        except RowError as problem:
            raise at_line(number, problem) from None
    return row


def _value(field: Field, value: Any) -> Any:
    """A value as its field has it; an empty text is null only where it can be nothing else."""
    if value is None:
        if not field.nullable:
            what = "the row has no value for it"
            raise RowError(field.name, what, f"a {field.type.name}")
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
            return field.normal(value)
        except RowError:
            return field.parse(str(value))
    return field.normal(value)
