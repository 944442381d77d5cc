"""Reading a design file: its text as a tree, with the line of every key."""

from __future__ import annotations

import errno
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rowkey.design.paths import (
    BOM,
    build_path_sort_key,
    format_path,
    format_toml_name,
    iter_path_prefixes,
)
from rowkey.design.toml_scanner import (
    MAX_DESIGN_BYTES,
    Position,
    Positions,
    build_size_error,
    compute_position,
    find_spans,
    scan_positions,
)
from rowkey.durable_files import read_regular_file
from rowkey.errors import InvalidDesign, Mistake
from rowkey.messages import shorten_text
from rowkey.open_file_limit import raise_shortage

_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")
_WORD = re.compile(r"[\w-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Of a pair that stands for one character in UTF-16; how Python reads bytes that are not UTF-8."""
_MAX_NAME_LENGTH = 80
"""Characters to which other packages shorten a name in a path."""
_SYNTAX_MESSAGES = (
    ("Cannot overwrite a value", "a key is given twice", "each key once in a table"),
    ("Duplicate inline table key", "a key is given twice", "each key once in a table"),
    ("Cannot declare", "a table is declared twice", "each table once"),
    ("Cannot mutate immutable namespace", "a table is declared twice", "each table once"),
    (
        "Invalid value",
        "a value is not valid TOML",
        "text in quotes, a number, true, false, a list or a table",
    ),
    ("Cannot redefine namespace", "a table is declared twice", "each table once"),
    (
        "Unescaped '\\' in a string",
        "a backslash does not start a TOML escape",
        "\\\\ for a backslash",
    ),
)


class SourceMap:
    """Finds the line of a path, for mistakes and findings."""

    def __init__(self, positions: Positions) -> None:
        self.positions: dict[str, tuple[int, Position]] = {}
        self.first_paths: dict[int, str] = {}
        for index, (path, spot) in enumerate(positions.items()):
            short = tuple(s[:_MAX_NAME_LENGTH] if isinstance(s, str) else s for s in path)
            for text in {format_path(path), format_path(short)}:
                self.positions.setdefault(shorten_text(text), (index, spot))
            self.first_paths.setdefault(spot[0], shorten_text(format_path(path)))

    def locate_mistakes(self, mistakes: Iterable[Mistake]) -> list[Mistake]:
        """Return mistakes in the order of the file, each with its line and column.

        A mistake of a word that is not there has those of the nearest word above it, or none.
        """
        spots = [(self._find_position(mistake.path), mistake) for mistake in mistakes]
        spots.sort(
            key=lambda spot: (spot[0], build_path_sort_key(spot[1].path) if spot[0][1][0] else ())
        )
        return [replace(one, line=line, column=column) for (_, (line, column)), one in spots]

    def find_line(self, path: str) -> int:
        """Return the line of a path, or of its nearest parent; 0 if there is none."""
        return self._find_position(path)[1][0]

    def find_path_at(self, line: int) -> str:
        """Return the path of the first key on a line, or an empty string."""
        return self.first_paths.get(line, "")

    def _find_position(self, path: str) -> tuple[int, Position]:
        """Return the index and position of a path, or of its nearest parent."""
        positions = (
            self.positions[text] for text in iter_path_prefixes(path) if text in self.positions
        )
        return next(positions, (-1, (0, 0)))


@dataclass(frozen=True, slots=True)
class DesignSource:
    """The text of a design file.

    Args:
        name: the file's name, or an empty string.
        text: what stands in it.
        source_map: finds the line of a word.
    """

    name: str
    text: str
    source_map: SourceMap

    def build_text_ranges(self) -> dict[str, TextRange]:
        """Return the text range of each key with its value, and of each header, by path.

        Cost: one pass over the text.
        """
        text = self.text.removeprefix(BOM)
        spans = find_spans(text)
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        stops = {
            **spans.header_stops,
            **{path: stop for path, (_, stop) in spans.value_spans.items()},
        }
        text_ranges = {}
        for path, stop in stops.items():
            (line, column), (last, end) = (
                _find_position(at, starts) for at in (spans.starts[path], stop)
            )
            text_ranges[shorten_text(format_path(path))] = TextRange(line, column, last, end)
        return text_ranges


def _find_position(offset: int, line_starts: list[int]) -> tuple[int, int]:
    """Return the line and column of a character."""
    line = bisect_right(line_starts, offset)
    return line, offset - line_starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class TextRange:
    """A range of a text, with lines and columns counted from 1 and columns in characters.

    Args:
        line: of its first character.
        column: of its first character.
        last_line: of its last character.
        end_column: the column after its last character.
    """

    line: int
    column: int
    last_line: int
    end_column: int


EVENT_SUFFIXES = frozenset(
    {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".log"}
    | {".gz", ".xz", ".zst", ".bz2", ".zip"}
)
"""Suffixes of files that users give in place of a design."""


def read_design_text(path: Path) -> str:
    """Return the text of a design file.

    Raises:
        InvalidDesign: the file cannot be read, is no regular file, is too large or not UTF-8.
    """
    data = None
    try:
        data = read_regular_file(path, MAX_DESIGN_BYTES)
    except (OSError, ValueError) as problem:
        raise_shortage(problem, path)
        number = getattr(problem, "errno", None)
        what = f"the file cannot be read: {getattr(problem, 'strerror', None) or problem}"
        mistake = Mistake("", what, remedy="Check the path and its permissions.")
        if number in (errno.EINVAL, errno.ENXIO):
            mistake = Mistake("", "the path is not a regular file", "a TOML file with a design")
        if number != errno.EFBIG:
            raise InvalidDesign([mistake], str(path), is_unreadable=True) from None
    if path.suffix.lower() in EVENT_SUFFIXES:
        what = f"a file named {path.suffix} holds events, not a design"
        remedy = f"Draft a design from it: rowkey init {path} -o {path.stem}.toml"
        mistake = Mistake("", what, "a TOML file with a design", remedy)
        raise InvalidDesign([mistake], str(path), is_unreadable=True)
    if data is None:
        raise _attach_source(build_size_error(f"{path.stat().st_size:,} bytes"), str(path))
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode()
        line, column = compute_position(before, len(before))
        what = f"the byte {data[problem.start]:02x} at offset {problem.start:,} is not UTF-8"
        remedy = "Save the file as UTF-8."
        mistake = Mistake("", what, "TOML in UTF-8", remedy, line, column)
        raise InvalidDesign([mistake], str(path), is_unreadable=True) from None


def parse_toml(text: str, source: str) -> tuple[dict[str, Any], SourceMap]:
    """Return a text as a tree, and the positions of its keys.

    Raises:
        InvalidDesign: the text is too large, too deep, or not valid TOML.

    Cost: 1 s a megabyte; more than 256 KiB is refused before.
    """
    text = text.removeprefix(BOM)
    half = _SURROGATE.search(text)
    if half is not None:
        what = f"the text contains the lone surrogate {half[0]!r}"
        line, column = compute_position(text, half.start())
        raise InvalidDesign(
            [Mistake("", what, "text that UTF-8 can encode", line=line, column=column)], source
        )
    try:
        spots = scan_positions(text)
        return tomllib.loads(text), SourceMap(spots)
    except InvalidDesign as problem:
        raise _attach_source(problem, source) from None
    except tomllib.TOMLDecodeError as problem:
        raise InvalidDesign([_build_syntax_mistake(text, str(problem))], source) from None
    except (ValueError, RecursionError) as problem:
        what = f"the file is not valid TOML: {str(problem)[:120]}"
        raise InvalidDesign([Mistake("", what)], source) from None


def _attach_source(problem: InvalidDesign, source: str) -> InvalidDesign:
    """Return an error with the name of the file it is about."""
    return InvalidDesign(problem.mistakes, source)


def _build_syntax_mistake(text: str, problem: str) -> Mistake:
    """Return a syntax error with its position and, where the cause is known, a fix."""
    match = _POSITION.search(problem)
    number, column = compute_position(text, len(text))
    if match and match[1]:
        number, column = int(match[1]), int(match[2])
    lines = text.split("\n")
    line = lines[number - 1].strip() if number <= len(lines) else ""
    excerpt = f": {line[:60]!r}" if line else ""
    remedy = ""
    if line.startswith("key") and ("\\" in line or line.count('"') > 2):
        remedy = "Write a key with escapes or quoted names between ''' and '''."
    if match and match[2] and (name := _find_unquoted_name(lines[number - 1], int(match[2]) - 1)):
        remedy = f"Quote it: {format_toml_name(name)}."
    for beginning, what, allowed in _SYNTAX_MESSAGES:
        if problem.startswith(beginning):
            return Mistake("", f"{what}{excerpt}", allowed, remedy, number, column)
    what = _POSITION.sub("", problem).rstrip(".")
    return Mistake("", f"the file is not valid TOML: {what}{excerpt}", "", remedy, number, column)


def _find_unquoted_name(line: str, offset: int) -> str:
    """Return the name at an offset that needs quotes because of its letters, or ""."""
    for found in _WORD.finditer(line):
        if found.start() <= offset < found.end() and not found[0].isascii():
            return found[0]
    return ""
