"""Rows from standard input or a file, as the values their design declares."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from rowkey.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        yield number, _typed(given, fields, number)


def at_line(number: int, problem: RowError) -> RowError:
    """An error of one row, with the line it stands on."""
    one = problem.mistake
    return RowError(f"line {number}: {one.path}", one.what, one.allowed, one.remedy)


def _csv_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(line for _, line in lines_of(stream))
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise RowError("line 1", f"the column {twice!r} stands twice", "each column once")
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                what = f"{len(row):,} values do not fit"
                raise RowError(f"line {reader.line_num}", what, f"{len(header):,}, as in line 1")
            yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as problem:
        raise RowError(f"line {reader.line_num}", f"it is no CSV: {problem}") from None


def _json_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines_of(stream):
        if not line.strip():
            continue
        try:
            given = json.loads(line, parse_float=Decimal)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise RowError(f"line {number}", f"{line.strip()[:60]!r} is no row", "a JSON object")
        yield number, given


def _typed(given: Mapping[str, Any], fields: Mapping[str, Field], number: int) -> dict[str, Any]:
    """The values of a row: text is read as the field's type would."""
    row: dict[str, Any] = {}
    for name, field in fields.items():
        value = given.get(field.words.source or name, given.get(name))
        try:
            row[name] = _value(field, value)
        except RowError as problem:
            raise at_line(number, problem) from None
    return row


def _value(field: Field, value: Any) -> Any:
    if value is None and not field.nullable:
        raise RowError(field.name, "the row has no value for it", f"a {field.type.name}")
    if value is None or (value == "" and field.nullable):
        return None
    if isinstance(value, str):
        return field.parse(value)
    if isinstance(value, float | int | Decimal) and not isinstance(value, bool):
        try:
            return field.normal(value)
        except RowError:
            return field.parse(str(value))
    return field.normal(value)
