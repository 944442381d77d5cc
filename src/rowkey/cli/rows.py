"""Rows from standard input or a file, as the values their design declares."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from rowkey.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys import Field


@contextmanager
def opened(name: str) -> Iterator[IO[str]]:
    """A text file, or standard input for `-`.

    Raises:
        RowError: the file cannot be read.
    """
    if name == "-":
        yield sys.stdin
        return
    try:
        with open(name, encoding="utf-8", newline="") as stream:  # noqa: PTH123 - a name or -
            yield stream
    except OSError as problem:
        raise RowError(name, f"cannot be read: {problem.strerror}") from None


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


def _csv_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(stream)
    for row in reader:
        yield reader.line_num, {name: value for name, value in row.items() if name}


def _json_rows(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
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
            mistake = problem.mistake
            where = f"line {number}: {mistake.path}"
            raise RowError(where, mistake.what, mistake.allowed, mistake.remedy) from None
    return row


def _value(field: Field, value: Any) -> Any:
    if value is None or (value == "" and field.nullable):
        return None
    if isinstance(value, str):
        return field.parse(value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        try:
            return field.normal(value)
        except RowError:
            return field.parse(repr(value))
    return field.normal(value)
