"""Checks whether the first line of a file holds names, before a design is drafted from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import SampleError
from rowkey.messages import join_names, shorten_text
from rowkey.workload.sample_streams import CONVERT_REMEDY, find_marked_byte, format_marked_text

if TYPE_CHECKING:
    from rowkey.workload.contract import SampleFormat

_MAX_SHOWN_VALUES = 5
_VALUE = re.compile(
    r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?|\d{4}-\d\d-\d\d.*|\d{1,4}[./]\d{1,2}[./]\d{1,4}.*|"
    r"\d+\.\d+\.\d+\.\d+|\d{1,2}:\d\d(:\d\d.*)?|\[?\d{1,2}[/ -][A-Z][a-z]{2}[/ -]\d{2,4}.*|"
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
"""Numbers, dates, times, addresses and UUIDs, which are values rather than names of columns."""
_YEAR = re.compile(r"(19|20)\d\d")
"""A year, which is often the name of a column."""


def check_names(path: Path, names: Sequence[str], sample_format: SampleFormat) -> None:
    """Raise if the names of the first line are values, not UTF-8, or one stands there twice.

    Args:
        names: what the first line holds, as marked text.
        sample_format: how the file is read.

    Raises:
        SampleError: they are; it names the option that gives names to the columns.
    """
    strange = next(filter(find_marked_byte, names), None)
    if strange is not None:
        option = sample_format.suggest_options(encoding="latin-1")
        raise SampleError(
            f"{path}:1",
            f"the name '{shorten_text(format_marked_text(strange))}' contains the byte "
            f"{find_marked_byte(strange)}, which is not UTF-8",
            "names in UTF-8",
            f"{CONVERT_REMEDY} Or declare its encoding, such as by {option}.",
        )
    numbered = [f"c{number}" for number in range(1, len(names) + 1)]
    values = [name for name in names if looks_like_value(name)]
    if values:
        listed = ", ".join(repr(shorten_text(name)) for name in names[:_MAX_SHOWN_VALUES])
        raise SampleError(
            f"{path}:1",
            f"the first line looks like a row of values: {listed}",
            "the names of the columns",
            "If the file has no such line, name its columns: "
            f"{sample_format.suggest_options(names=numbered)}.",
        )
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        unique = [
            name if name and names.count(name) == 1 else f"{name or 'c'}_{number}"
            for number, name in enumerate(names, 1)
        ]
        skipped = sample_format.option_values.get("skip_lines", 0) + 1
        shown = [repr(shorten_text(name)) for name in repeated[:_MAX_SHOWN_VALUES]]
        raise SampleError(
            f"{path}:1",
            f"several columns have the same name: {join_names(shown)}",
            "distinct names",
            "Skip this line and name the columns: "
            f"{sample_format.suggest_options(names=unique, skip_lines=skipped)}.",
        )


def check_values(
    path: Path, names: Sequence[str], repeated: Sequence[str], sample_format: SampleFormat
) -> None:
    """Raise if columns have their own names among their values: the first line may be a row.

    Args:
        repeated: those that are values of their columns too.
        sample_format: how the file is read.

    Raises:
        SampleError: there are such columns; it names the options that decide.
    """
    if not repeated or sample_format.option_values.get("names", ()):
        return
    if "names" not in sample_format.option_values:
        return
    numbered = [f"c{number}" for number in range(1, len(names) + 1)]
    skipped = sample_format.option_values["skip_lines"] + 1
    raise SampleError(
        f"{path}:1",
        f"the first line may be a row: {shorten_text(repeated[0])!r} is the name of a column and "
        "one of its values",
        "names that are no values",
        f"If it is a row, name the columns: {sample_format.suggest_options(names=numbered)}. If it "
        f"holds the names: {sample_format.suggest_options(names=list(names), skip_lines=skipped)}.",
    )


def check_comments(path: Path, lines: Sequence[str], sample_format: SampleFormat) -> None:
    """Raise if a file begins with comments instead of the names of its columns.

    One line that begins with # may hold the names.

    Args:
        lines: its first lines, without those that are skipped.

    Raises:
        SampleError: it does; it names the options that read the file.
    """
    remedy = suggest_comment_options(lines, sample_format)
    count = len(_find_comments(lines))
    skipped = sample_format.option_values["skip_lines"]
    if not remedy and count > 1:
        remedy = f"Skip the comments: {sample_format.suggest_options(skip_lines=skipped + count)}."
    if remedy:
        raise SampleError(
            f"{path}:{skipped + 1}",
            f"the file begins with a comment, {shorten_text(lines[0][:80])!r}",
            "the names of the columns",
            remedy,
        )


def suggest_more_names(
    names: Sequence[str],
    width: int,
    count: int,
    sample_format: SampleFormat,
    first_line: int = 0,
) -> str:
    """Return how to read lines that have more values than there are names; empty if they do not.

    One name alone is a title above the names.

    Args:
        names: names of the first columns.
        width: how many columns the file is said to have.
        count: how many values the lines have.
        first_line: the first line that has more values; 0 if the file has no names.
    """
    if count <= width or (width == 1 and first_line < 2):
        return ""
    if width == 1:
        option = sample_format.suggest_options(skip_lines=first_line - 1)
        return f"If line {first_line} has the names of the columns, skip those above it: {option}."
    options: dict[str, Any] = {
        "names": [*names, *(f"c{number}" for number in range(len(names) + 1, count + 1))]
    }
    if not sample_format.option_values["names"]:
        options["skip_lines"] = sample_format.option_values["skip_lines"] + 1
    return f"Name {count} columns: {sample_format.suggest_options(**options)}."


def suggest_comment_options(
    lines: Sequence[str], sample_format: SampleFormat, **options: Any
) -> str:
    """Return how to read a file whose first lines are comments of W3C's log format; empty if none.

    Args:
        lines: its first lines, without those that are skipped.
        options: further options that read it.
    """
    comments = _find_comments(lines)
    fields = [line for line in comments if line.startswith("#Fields:")]
    if not fields:
        return ""
    names = fields[-1].split()[1:]
    skipped = sample_format.option_values.get("skip_lines", 0) + len(comments)
    option = sample_format.suggest_options(**options, names=names, skip_lines=skipped)
    return f"Skip the comments and name the columns: {option}."


def _find_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines at the beginning that are comments."""
    return list(takewhile(lambda line: line.startswith("#"), lines))


def looks_like_value(name: str) -> bool:
    """Return whether a text of the first line is a number, a time, an address or an id.

    >>> [looks_like_value(text) for text in ("host", "17.5", "2024-03-01 10:00", "2024")]
    [False, True, True, False]
    """
    stripped = name.strip()
    return bool(_VALUE.fullmatch(stripped)) and not _YEAR.fullmatch(stripped)
