"""The format `tokens`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument
from rowkey.workload.contract import PluginOption, SampleFormat
from rowkey.workload.records import MalformedLines, build_batches
from rowkey.workload.sample_streams import read_lines, resolve_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from rowkey.workload.records import SkippedRows

_TOKEN = re.compile(r"\{([^{}]*)\}")
_COLUMN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_TOKENS = 64
MAX_PATTERN_CHARACTERS = 4_096
_TIME_DIRECTIVES = "aAbBdfHIjmMpSyYz"
"""Parts of a time that mean the same on every machine; a zone's name, %Z, does not."""
_YEAR_DIRECTIVES = "yY"
_EXTRA_CHARACTERS = {"Y": 3, "y": 1}
"""Characters above 1 that the shortest text of a part has."""
_TIME_DIRECTIVE = re.compile("%.", re.DOTALL)
_SPACES = re.compile(r"\s+")
MAX_EXTRA_TIME_CHARACTERS = 64
"""Characters by which a time may be longer than its shortest: a September, a zone, two digits."""


class TokensFormat(SampleFormat):
    """Lines split at fixed texts: `{client} - [{time}] {}`.

    A name in braces takes the text up to the next fixed text, and `{}` skips it. A time may have a
    format, `{time:%Y-%m-%d %H:%M:%S,%f}`; it then extends as far as the format does, even over
    fixed text. `year` is the year of times without one, such as those of syslog. No pattern is
    slow: each part of a line is searched once, and a time is tried at no more than 64 ends.
    """

    name = "tokens"
    options = (
        PluginOption(
            "pattern", (str,), "fixed text and names in braces", None, "text", required=True
        ),
        PluginOption("year", (int,), "the year of times whose format has none", None, "1..9999"),
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        pattern = self.option_values["pattern"]
        pieces = _TOKEN.split(pattern)
        self.head, self.names, self.separators = pieces[0], pieces[1::2], pieces[2::2]
        if not self.names or len(self.names) > MAX_TOKENS or len(pattern) > MAX_PATTERN_CHARACTERS:
            raise InvalidArgument(
                "pattern",
                f"the pattern has {len(self.names)} names in braces, {len(pattern):,} characters",
                f"1..{MAX_TOKENS} names and at most {MAX_PATTERN_CHARACTERS:,} characters",
            )
        if any(not text for text in self.separators[:-1]):
            raise InvalidArgument(
                "pattern",
                "two names follow each other without text between them",
                "fixed text between names, such as {host} {path}",
            )
        self.time_formats = [name.partition(":")[2] for name in self.names]
        self.names = [name.partition(":")[0] for name in self.names]
        for name in filter(None, self.names):
            if not _COLUMN_NAME.fullmatch(name):
                raise InvalidArgument(
                    "pattern", f"{name!r} is not a valid name", "letters, digits and _"
                )
        if "\n" in pattern or "\r" in pattern:
            raise InvalidArgument(
                "pattern", "the pattern contains a line break", "a pattern without line breaks"
            )
        for form in filter(None, self.time_formats):
            _check_time_format(form)
        self.time_parsers = self._build_time_parsers()

    def _build_time_parsers(self) -> list[_TimeParser | None]:
        """Return the parser of each time; None for other values.

        Raises:
            InvalidArgument: a year is missing, or one is given that no form lacks.
        """
        year = self.option_values["year"]
        if year is not None and not 1 <= year <= 9_999:
            raise InvalidArgument("year", f"{year} is out of range", "1..9999")
        lacks = [
            form
            for form in self.time_formats
            if form and not _find_directives(form) & set(_YEAR_DIRECTIVES)
        ]
        if lacks and year is None:
            remedy = "Add the option year, such as year = 2024."
            raise InvalidArgument(
                "pattern", f"the time format {lacks[0]!r} has no year", "%Y", remedy
            )
        if year is not None and not lacks:
            what = "year has no effect, because no time format lacks a year"
            raise InvalidArgument("year", what, remedy="Remove year.")
        return [_TimeParser(form, year if form in lacks else None) if form else None
                for form in self.time_formats]  # fmt: skip

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a log that follows the pattern in order, in batches of bounded size."""
        available = [name for name in self.names if name]
        column_names = resolve_columns(available, columns, path)
        order = [self.names.index(name) for name in column_names]
        yield from build_batches(
            ([row[i] for i in order] for row in self._read_rows(path, skipped_rows)), column_names
        )

    def _read_rows(self, path: Path, skipped_rows: SkippedRows) -> Iterator[list[str]]:
        """Return the values of each line that follows the pattern."""
        misfits = MalformedLines(path, self.option_values["pattern"], skipped_rows)
        number = 0
        for number, line in enumerate(read_lines(path, self.progress), 1):
            values = self.split_line(line)
            if values is None:
                misfits.add(number, line)
            else:
                yield values
        misfits.check_count(number)

    def split_line(self, line: str) -> list[str] | None:
        """Return the values of a line, or None if it does not follow the pattern.

        Cost: one search for each fixed text, and at most 64 readings of each time.
        """
        if not line.startswith(self.head):
            return None
        at, values = len(self.head), []
        for text, time in zip(self.separators, self.time_parsers, strict=True):
            if time is None:
                end = line.find(text, at) if text else len(line)
                value: str | None = line[at:end]
            else:
                end, value = time.parse_time(line, at, text)
            if end < 0 or value is None:
                return None
            values.append(value)
            at = end + len(text)
        return values


class _TimeParser:
    """Parses times of one format.

    Args:
        time_format: its parts.
        year: the year, if the form has none.
    """

    def __init__(self, time_format: str, year: int | None) -> None:
        self.time_format = time_format if year is None else f"%Y {time_format}"
        self.year_prefix = "" if year is None else f"{year:04d} "
        # A run of spaces stands for one space or more, as `Oct  1` beside `Oct 11`.
        self.min_length = len(_SPACES.sub(" ", _TIME_DIRECTIVE.sub("x", time_format)))
        self.min_length += sum(
            _EXTRA_CHARACTERS.get(part, 0) for part in _find_directives(time_format)
        )

    def parse_time(self, line: str, start: int, separator: str) -> tuple[int, str | None]:
        """Return the end of the shortest time that a fixed text follows, and its value.

        Args:
            line: the line.
            start: where the time begins.
            separator: the fixed text; if empty, the time goes to the end of the line.

        Returns:
            The end and the time as ISO 8601; -1 or None if there is none.
        """
        if not separator:
            return len(line), self._parse_instant(line[start:])
        last = start + self.min_length + MAX_EXTRA_TIME_CHARACTERS
        end = line.find(separator, start + self.min_length, last + len(separator))
        while end >= 0:
            if (value := self._parse_instant(line[start:end])) is not None:
                return end, value
            end = line.find(separator, end + 1, last + len(separator))
        return -1, None

    def _parse_instant(self, text: str) -> str | None:
        """Return a time as ISO 8601; None if it is not a time."""
        if len(text) > self.min_length + MAX_EXTRA_TIME_CHARACTERS:
            return None
        try:
            instant = datetime.strptime(self.year_prefix + text, self.time_format)  # noqa: DTZ007 - naive is UTC
        except ValueError:
            return None
        return instant.isoformat()


def _find_directives(time_format: str) -> set[str]:
    """Return the letters of a time format's directives."""
    return {piece[:1] for piece in time_format.replace("%%", "").split("%")[1:]}


def _check_time_format(time_format: str) -> None:
    """Raise if a time format has directives that are unknown or repeated."""
    parts = [piece[:1] for piece in time_format.replace("%%", "").split("%")[1:]]
    for part in parts:
        if part not in _TIME_DIRECTIVES or not part:
            allowed = f"one of {' '.join(f'%{one}' for one in _TIME_DIRECTIVES)}"
            raise InvalidArgument(
                "pattern", f"%{part} in {time_format!r} is not a supported time directive", allowed
            )
        if parts.count(part) > 1:
            raise InvalidArgument(
                "pattern", f"%{part} occurs twice in {time_format!r}", "each directive once"
            )
    if not parts:
        raise InvalidArgument(
            "pattern",
            f"{time_format!r}, after the colon of a placeholder, is not a time format",
            "directives, such as {ts:%Y-%m-%d}",
        )
