"""A design file's text as a tree, with the line of every word."""

from __future__ import annotations

import re
import stat
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.design.dump import toml_name
from rowkey.design.paths import in_order, path_text, prefixes
from rowkey.design.scanner import MOST_BYTES, Spot, Spots, scan, spans_of, spot_of, too_large
from rowkey.errors import DeclarationError, Mistake, printable
from rowkey.open_file_limit import raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BOM = "\ufeff"
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")
_NAME = re.compile(r"[\w-]+")
_HALF = re.compile("[\ud800-\udfff]")
"""Of a pair that stands for one character in UTF-16; how Python reads bytes that are not UTF-8."""
_CUT = 80
"""Characters to which other rooms cut a name in a path."""
_SYNTAX = (
    ("Cannot overwrite a value", "a word is given twice", "each word once"),
    ("Duplicate inline table key", "a word is given twice", "each word once"),
    ("Cannot declare", "a table is declared twice", "each table once"),
    ("Cannot mutate immutable namespace", "a table is declared twice", "each table once"),
    (
        "Invalid value",
        "a value is none of TOML's",
        "text in quotes, a number, true, false, a list or a table",
    ),
    ("Cannot redefine namespace", "a table is declared twice", "each table once"),
    ("Unescaped '\\' in a string", "a backslash escapes nothing", "an escape of TOML"),
)


class Places:
    """Finds where mistakes stand."""

    def __init__(self, spots: Spots) -> None:
        self.found: dict[str, tuple[int, Spot]] = {}
        self.firsts: dict[int, str] = {}
        for index, (path, spot) in enumerate(spots.items()):
            short = tuple(s[:_CUT] if isinstance(s, str) else s for s in path)
            for text in {path_text(path), path_text(short)}:
                self.found.setdefault(printable(text), (index, spot))
            self.firsts.setdefault(spot[0], printable(path_text(path)))

    def placed(self, mistakes: Iterable[Mistake]) -> list[Mistake]:
        """The mistakes in the order of the file, each with its line and column.

        A mistake of a word that is not there has those of the nearest word above it, or none.
        """
        spots = [(self._spot(mistake.path), mistake) for mistake in mistakes]
        spots.sort(key=lambda spot: (spot[0], in_order(spot[1].path) if spot[0][1][0] else ()))
        return [replace(one, line=line, column=column) for (_, (line, column)), one in spots]

    def line_of(self, path: str) -> int:
        """The line of a word, or of the nearest word above it that is there; 0 if there is none."""
        return self._spot(path)[1][0]

    def path_at(self, line: int) -> str:
        """The first word on a line; empty if none begins there."""
        return self.firsts.get(line, "")

    def _spot(self, path: str) -> tuple[int, Spot]:
        """Number in the file, and place, of a path or of the nearest word it lies below."""
        known = (self.found[text] for text in prefixes(path) if text in self.found)
        return next(known, (-1, (0, 0)))


@dataclass(frozen=True, slots=True)
class Written:
    """A design as its file has it.

    Args:
        source: the file's name, or an empty string.
        text: what stands in it.
        places: finds the line of a word.
    """

    source: str
    text: str
    places: Places

    def stretches(self) -> dict[str, Stretch]:
        """Where each word stands with its value, and each header, by the path as it is printed.

        Cost: one pass over the text.
        """
        text = self.text.removeprefix(BOM)
        spans = spans_of(text)
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        stops = {**spans.tables, **{path: stop for path, (_, stop) in spans.values.items()}}
        found = {}
        for path, stop in stops.items():
            (line, column), (last, end) = (_spot(at, starts) for at in (spans.starts[path], stop))
            found[printable(path_text(path))] = Stretch(line, column, last, end)
        return found


def _spot(at: int, starts: list[int]) -> tuple[int, int]:
    """Line and column of a character, of lines that begin there."""
    line = bisect_right(starts, at)
    return line, at - starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text, lines and columns counted from 1 and columns in characters.

    Args:
        line: of its first character.
        column: of its first character.
        last_line: of its last character.
        end: the column behind its last character.
    """

    line: int
    column: int
    last_line: int
    end: int


def text_of(path: Path) -> str:
    """The text of a design file.

    Raises:
        DeclarationError: the file cannot be read, is no regular file, is too large or not UTF-8.
    """
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
        data = _beginning(path) if is_file else b""
    except (OSError, ValueError) as problem:
        raise_shortage(problem, path)
        what = f"the file cannot be read: {getattr(problem, 'strerror', None) or problem}"
        raise DeclarationError([Mistake("", what)], str(path)) from None
    if not is_file:
        mistake = Mistake("", "it is not a regular file", "a design file")
        raise DeclarationError([mistake], str(path))
    if len(data) > MOST_BYTES:
        raise _of(too_large(f"{path.stat().st_size:,} bytes"), str(path))
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode()
        line, column = spot_of(before, len(before))
        what = f"byte {problem.start:,} is not UTF-8"
        mistake = Mistake("", what, "TOML, which is UTF-8", line=line, column=column)
        raise DeclarationError([mistake], str(path)) from None


def _beginning(path: Path) -> bytes:
    """A file, or as much of it as tells that it is too large."""
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES + 1)


def parsed(text: str, source: str) -> tuple[dict[str, Any], Places]:
    """The tree of a text and where its words stand.

    Raises:
        DeclarationError: the text is too large, too deep, or no TOML.

    Cost: 1 s a megabyte; more than 256 KiB is refused before.
    """
    text = text.removeprefix(BOM)
    half = _HALF.search(text)
    if half is not None:
        what = f"{half[0]!r} is half a character"
        line, column = spot_of(text, half.start())
        raise DeclarationError([Mistake("", what, "Unicode", line=line, column=column)], source)
    try:
        spots = scan(text)
        return tomllib.loads(text), Places(spots)
    except DeclarationError as problem:
        raise _of(problem, source) from None
    except tomllib.TOMLDecodeError as problem:
        raise DeclarationError([_syntax(text, str(problem))], source) from None
    except (ValueError, RecursionError) as problem:
        what = f"the file is no TOML: {str(problem)[:120]}"
        raise DeclarationError([Mistake("", what)], source) from None


def _of(problem: DeclarationError, source: str) -> DeclarationError:
    return DeclarationError(problem.mistakes, source)


def _syntax(text: str, problem: str) -> Mistake:
    """A syntax error with its place, and the remedy where a key's escapes or a name caused it."""
    match = _WHERE.search(problem)
    number, column = spot_of(text, len(text))
    if match and match[1]:
        number, column = int(match[1]), int(match[2])
    lines = text.split("\n")
    line = lines[number - 1].strip() if number <= len(lines) else ""
    shown = f": {line[:60]!r}" if line else ""
    remedy = ""
    if line.startswith("key") and ("\\" in line or line.count('"') > 2):
        remedy = "Write a key with escapes or quoted names between ''' and '''."
    if match and match[2] and (name := _unquoted(lines[number - 1], int(match[2]) - 1)):
        remedy = f"Quote it: {toml_name(name)}."
    for beginning, what, allowed in _SYNTAX:
        if problem.startswith(beginning):
            return Mistake("", f"{what}{shown}", allowed, remedy, number, column)
    what = _WHERE.sub("", problem).rstrip(".")
    return Mistake("", f"the file is no TOML: {what}{shown}", "", remedy, number, column)


def _unquoted(line: str, at: int) -> str:
    """The name around a place of a line that is no bare key for its letters alone; else empty."""
    for found in _NAME.finditer(line):
        if found.start() <= at < found.end() and not found[0].isascii():
            return found[0]
    return ""
