"""The format `log`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument, SampleError
from rowkey.messages import Message, shorten_text, suggest_name
from rowkey.workload.contract import ENCODING_OPTION, PluginOption, SampleFormat
from rowkey.workload.header_names import suggest_comment_options
from rowkey.workload.logs.known_logs import KNOWN_LOGS, build_known_log
from rowkey.workload.logs.line_pattern import LinePattern, LogLayout
from rowkey.workload.records import (
    MAX_BATCH_CHARACTERS,
    MAX_BATCH_RECORDS,
    MalformedLines,
    SkippedRows,
    build_text_batch,
)
from rowkey.workload.sample_streams import read_lines, resolve_columns
from rowkey.workload.values.time_detection import LayoutDetector
from rowkey.workload.values.time_layouts import UNCERTAIN_ZONES

DETECTION_LINES = 200
"""First lines from which a log is recognized."""
MAX_TIME_WORDS = 6
"""Words of a time at the beginning of a line."""
MIN_MATCHING_SHARE = 0.8
"""Share of the first lines that must follow the pattern of a log."""


class LogFormat(SampleFormat):
    """Log lines, split by a pattern: that of a known log, or fixed text with names in braces.

    Known logs are recognized by their first lines: access logs of Apache and nginx, syslog, log4j
    and others. In a pattern such as `{client} - [{time:%d/%b/%Y:%H:%M:%S %z}] {}`, a name takes the
    text up to the following fixed text, and `{}` skips it. After a colon stands the layout of a
    time, or the kind of a value: `word` has no space, `int` is digits, `quoted` may contain quotes
    after a backslash, and `spaces` is one space or more. The time for a line grows with its length
    only, whatever the pattern is.
    """

    name = "log"
    suffixes = (".log",)
    options = (
        PluginOption(
            "pattern",
            (str,),
            f"fixed text and names in braces, or a known log: {', '.join(KNOWN_LOGS)}; if absent, "
            "the log is recognized by its first lines",
            None,
            "text",
        ),
        ENCODING_OPTION,
    )

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        super().__init__(raw_options)
        self._layout: LogLayout | None = None
        pattern = self.option_values["pattern"]
        if pattern is not None:
            self._use_layout(_build_layout(pattern))
            lacking = [one for one in self.time_layouts.values() if not one.has_year]
            if lacking and self.year is None:
                what = f"the time format {lacking[0].text!r} has no year"
                remedy = "Add the year of the first line to the format, such as year = 2024."
                raise InvalidArgument("pattern", what, "%Y", remedy)

    @classmethod
    def is_bound_to_suffixes(cls, raw_options: Mapping[str, Any]) -> bool:
        """Return whether the format is only for files with its suffixes: not with own patterns."""
        return "{" not in str(raw_options.get("pattern", ""))

    def detect_options(self, path: Path) -> None:
        """Recognize the log by its first lines, if its pattern is not declared.

        Raises:
            SampleError: its lines follow no known pattern, or its times lack a year.
        """
        if self._layout is not None:
            return
        lines = [line for _, line in islice(self._read_lines(path), DETECTION_LINES)]
        if not lines:
            return
        name = _recognize_log(lines)
        if not name:
            self._refuse_unknown_log(path, lines)
        message = Message(
            "sample.log_pattern",
            "{file} is read as a log of {pattern}: its first lines are of this form",
            file=shorten_text(path.name),
            pattern=name,
        )
        self.note_option("pattern", name, message)
        self._use_layout(build_known_log(name))
        if self.year is None and any(not one.has_year for one in self.time_layouts.values()):
            year = datetime.fromtimestamp(path.stat().st_mtime, UTC).year
            raise SampleError(
                str(path),
                f"the times of a log of {name} have no year",
                "the year of the first line",
                f"The file was last changed in {year}; if it begins in that year, declare "
                f"{self.suggest_options(year=year)}.",
            )

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        if next(self._read_lines(path), None) is None:
            yield build_text_batch([], columns or build_known_log(KNOWN_LOGS[0]).columns)
            return
        layout = self._find_layout(path)
        names = resolve_columns(layout.columns, columns, path)
        expected = self.option_values["pattern"] or self.detected_options["pattern"]
        misfits = MalformedLines(path, f"lines of the form {expected}", skipped_rows)
        line_count = 0
        for lines in _group_lines(self._read_lines(path, is_watched=True)):
            texts = pa.array([line for _, line in lines], pa.string())
            if not line_count:
                self._check_zones(path, layout, texts, names)
            batch, is_valid = layout.parse_lines(texts)
            for place in (~is_valid).nonzero()[0].tolist():
                misfits.add(*lines[place])
            line_count += len(lines)
            yield batch.select(names)
        misfits.check_count(line_count)

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        if next(self._read_lines(path), None) is None:
            return None
        return list(self._find_layout(path).columns)

    def find_lines(self, path: Path, rows: Collection[int]) -> dict[int, int]:
        layout, first_row = self._find_layout(path), 1
        found: dict[int, int] = {}
        for lines in _group_lines(self._read_lines(path)):
            _, is_valid = layout.parse_lines(pa.array([line for _, line in lines], pa.string()))
            places = is_valid.nonzero()[0].tolist()
            found |= {
                row: lines[places[row - first_row]][0]
                for row in rows
                if first_row <= row < first_row + len(places)
            }
            first_row += len(places)
            if len(found) == len(rows):
                break
        return found

    def _find_layout(self, path: Path) -> LogLayout:
        """Return the layout of the lines, declared or recognized."""
        self.detect_options(path)
        assert self._layout is not None
        return self._layout

    def _check_zones(
        self, path: Path, layout: LogLayout, lines: pa.Array, names: Sequence[str]
    ) -> None:
        """Check that no zone follows the times of the first lines without being read.

        Args:
            lines: the first of them.
            names: the columns that are read.

        Raises:
            SampleError: a known zone does; a name that means several zones is noted.
        """
        column, zone = layout.find_unread_zone(lines) or ("", "")
        if column not in names:
            return
        if zone in UNCERTAIN_ZONES:
            note = Message(
                "sample.uncertain_zone",
                "the times of {column} are read as UTC, though {zone} follows them, which may be "
                "several zones: replace it in the file by its offset, such as +0800, and read that "
                "by %z",
                column=column,
                zone=zone,
            )
            self.note_assumption(note)
            return
        pattern = self.option_values["pattern"] or self.detected_options["pattern"]
        better = (
            _add_zone(pattern, column, zone)
            if "{" in pattern
            else _suggest_pattern(lines[0].as_py())
        )
        option = self.suggest_options(pattern=better)
        raise SampleError(
            str(path),
            f"the zone {zone} follows the times of {column}, and the pattern does not read it, so "
            "that they would be read as UTC",
            "%z in the layout of the times",
            f"Declare it: {option}.",
        )

    def _use_layout(self, layout: LogLayout) -> None:
        """Split lines by a layout; declared layouts of times are used before those of a pattern."""
        self._layout = layout
        self.time_layouts = {**layout.time_layouts, **self.time_layouts}

    def _read_lines(self, path: Path, *, is_watched: bool = False) -> Iterator[tuple[int, str]]:
        """Return the lines that are not empty, with their numbers from 1."""
        progress = self.progress if is_watched else None
        lines = read_lines(path, progress, encoding=self.option_values["encoding"])
        numbered = enumerate(lines, 1)
        return (one for one in numbered if one[1] and not one[1].isspace())

    def _refuse_unknown_log(self, path: Path, lines: list[str]) -> None:
        """Raise an error about a log that is not recognized.

        Raises:
            SampleError: always.
        """
        remedy = suggest_comment_options(lines, self, kind="columns")
        if not remedy:
            example = self.suggest_options(pattern=_suggest_pattern(lines[0]))
            remedy = f"Describe its lines, such as by {example}."
        raise SampleError(
            str(path),
            "the log is not recognized: its first lines follow no known pattern, the first of "
            f"them {shorten_text(lines[0][:80])!r}",
            f"lines of a known log: {', '.join(KNOWN_LOGS)}",
            remedy,
        )


def _build_layout(pattern: str) -> LogLayout:
    """Return the layout of a declared pattern.

    Raises:
        InvalidArgument: it is neither a known log nor a pattern.
    """
    if pattern in KNOWN_LOGS:
        return build_known_log(pattern)
    if "{" not in pattern and (near := suggest_name(pattern, KNOWN_LOGS)):
        raise InvalidArgument(
            "pattern", f"{pattern!r} is not a known log", f"one of {', '.join(KNOWN_LOGS)}", near
        )
    line = LinePattern(pattern)
    return LogLayout((line,), tuple(line.columns))


def _recognize_log(lines: list[str]) -> str:
    """Return the known log that most lines follow; empty if there is none."""
    array = pa.array(lines, pa.string())
    counts = {name: build_known_log(name).count_lines(array) for name in KNOWN_LOGS}
    best = max(counts, key=lambda name: counts[name])
    return best if lines and counts[best] >= MIN_MATCHING_SHARE * len(lines) else ""


def _add_zone(pattern: str, column: str, zone: str) -> str:
    """Return a pattern that reads the zone after the times of a column.

    >>> _add_zone("{ts:%Y-%m-%d %H:%M} CET {host:word}", "ts", "CET")
    '{ts:%Y-%m-%d %H:%M %z} {host:word}'
    >>> _add_zone("{ts:%Y-%m-%d %H:%M} {zone} {text}", "ts", "CET")
    '{ts:%Y-%m-%d %H:%M %z} {text}'
    >>> _add_zone("{ts:%Y-%m-%d %H:%M} {text}", "ts", "CET")
    '{ts:%Y-%m-%d %H:%M %z} {text}'
    """
    before, layout, rest = re.split(rf"(?<=\{{{column}:)([^}}]*)\}}", pattern, maxsplit=1)
    gap = " " if rest.startswith(" ") else ""
    following = re.match(rf" ?(?:{re.escape(zone)}|\{{[^}}]*(?::word)?\}})(?= ?\S)", rest)
    is_last = following is not None and not rest[following.end() :].strip()
    if following is not None and not is_last:
        rest = rest[following.end() :]
    return f"{before}{layout}{gap}%z}}{rest}"


def _suggest_pattern(line: str) -> str:
    """Return a pattern for lines such as one, with the time at its beginning if it has one."""
    words = line.split(" ")
    for count in range(min(len(words) - 1, MAX_TIME_WORDS), 0, -1):
        detector = LayoutDetector(is_time=False)
        detector.add_texts(pa.array([" ".join(words[:count])]))
        if (detected := detector.decide()) is not None and detected.layout.has_year:
            return f"{{time:{detected.layout.text}}} {{message}}"
    return "{message}"


def _group_lines(lines: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield numbered lines in groups of bounded size."""
    group: list[tuple[int, str]] = []
    size = 0
    for numbered in lines:
        group.append(numbered)
        size += len(numbered[1])
        if len(group) >= MAX_BATCH_RECORDS or size >= MAX_BATCH_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group
