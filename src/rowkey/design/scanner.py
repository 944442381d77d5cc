"""Where each word of a TOML file stands, and whether the file is small enough to be read at all.

`tomllib` tells what a file says but not on which line; and it reads whatever it is given. This
scanner goes over the text once, before it: it notes the line of every key and list entry, and
refuses what no design needs. It does not judge syntax: where it is lost, it stops.
"""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field

from rowkey.errors import DeclarationError, Mistake

MOST_BYTES = 256 * 1024
"""Bytes of the longest design file; `tomllib` reads about a megabyte a second."""
DEEPEST = 32
MOST_KEYS = 20_000
MOST_STEPS = 16
LONGEST_NUMBER = 40

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9:.]+[^\s,\]}#]*)?")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL),
    re.compile(r"'''.*?'''", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


Spot = tuple[int, int]
"""A line, and a character of it, both from 1."""
Spots = dict[Path, Spot]
"""Where each key and list entry of a file begins, in the order of the file."""


@dataclass(slots=True)
class Spans:
    """Where words and their values stand in a file, counted in characters.

    Args:
        values: of each word, the first character of its value and the one behind its last.
        starts: of each word and each header, where it begins itself.
        owners: of each word that stands on a line of its own, the table it stands under.
        tables: of each header, the character behind it.
    """

    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    starts: dict[Path, int] = field(default_factory=dict)
    owners: dict[Path, Path] = field(default_factory=dict)
    tables: dict[Path, int] = field(default_factory=dict)


class _Lost(Exception):
    """The text is not TOML here; the parser will say so better."""


def scan(text: str) -> Spots:
    """Where a file's words begin.

    Raises:
        DeclarationError: the file is too large, too deep or holds too much; names the place.

    Cost: one pass, about 5 MB a second.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise too_large(f"{size:,} bytes")
    scanner = _Scanner(text)
    with suppress(_Lost):
        scanner.file()
    return scanner.spots


def spans_of(text: str) -> Spans:
    """Where the words of a file stand.

    Args:
        text: the file, which is TOML.

    >>> spans_of("[a]\\nb = 1 # c").values
    {('a', 'b'): (8, 9)}
    """
    scanner = _Scanner(text)
    with suppress(_Lost):
        scanner.file()
    return scanner.spans


def too_large(size: str) -> DeclarationError:
    """The refusal of a file larger than any design."""
    return DeclarationError([Mistake("", f"the file has {size}", f"at most {MOST_BYTES:,}")])


class _Scanner:
    """A cursor over the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.spots: Spots = {}
        self.spans = Spans()
        self.table: Path = ()
        self.entries: dict[Path, int] = {}
        self._counted_to, self._line, self._begins = 0, 1, 0

    def file(self) -> None:
        while self.skip(_GAP) < len(self.text):
            if self.text.startswith("[", self.at):
                self.header()
            else:
                self.pair(self.table, 0)

    def header(self) -> None:
        start = self.at
        is_list = self.text.startswith("[[", self.at)
        self.at += 2 if is_list else 1
        path: Path = ()
        for step in self.key():
            path = (*path, step)
            self.note(path, start)
            if path in self.entries:
                path = (*path, self.entries[path])
        if is_list:
            listed = path[:-1] if path and isinstance(path[-1], int) else path
            self.entries[listed] = self.entries.get(listed, -1) + 1
            path = (*listed, self.entries[listed])
        self.table = path
        self.note(path, start)
        self.expect("]]" if is_list else "]")
        self.spans.tables[path] = self.at
        self.spans.starts[path] = start

    def pair(self, table: Path, depth: int) -> None:
        path = table
        start = self.at
        for step in self.key():
            path = (*path, step)
            self.note(path, start)
        self.skip(_SPACE)
        self.expect("=")
        self.skip(_SPACE)
        first = self.at
        self.value(path, depth)
        self.spans.values[path] = (first, self.at)
        self.spans.starts[path] = start
        if not depth:
            self.spans.owners[path] = table

    def key(self) -> list[str]:
        steps = []
        while True:
            self.skip(_SPACE)
            if self.text[self.at : self.at + 1] in ("'", '"'):
                steps.append(self.quoted())
            else:
                match = _BARE.match(self.text, self.at)
                if match is None:
                    raise _Lost
                self.at = match.end()
                steps.append(match[0])
            if len(steps) > MOST_STEPS:
                self.fail("a word has too many steps", f"at most {MOST_STEPS}")
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return steps
            self.at += 1

    def value(self, path: Path, depth: int) -> None:
        if depth > DEEPEST:
            self.fail("lists and tables are nested too deep", f"at most {DEEPEST} in each other")
        opening = self.text[self.at : self.at + 1]
        if opening == "[":
            self.listed(path, depth)
        elif opening == "{":
            self.inline(path, depth)
        elif opening in ("'", '"'):
            self.string()
        else:
            self.scalar()

    def listed(self, path: Path, depth: int) -> None:
        self.at += 1
        index = 0
        while self.skip(_GAP) < len(self.text):
            if self.text[self.at] == "]":
                self.at += 1
                return
            self.note((*path, index))
            self.value((*path, index), depth + 1)
            index += 1
            self.skip(_GAP)
            if self.text.startswith(",", self.at):
                self.at += 1
        raise _Lost

    def inline(self, path: Path, depth: int) -> None:
        self.at += 1
        while self.skip(_GAP) < len(self.text):
            if self.text[self.at] == "}":
                self.at += 1
                return
            self.pair(path, depth + 1)
            self.skip(_GAP)
            if self.text.startswith(",", self.at):
                self.at += 1
        raise _Lost

    def string(self) -> str:
        for form in _STRINGS:
            match = form.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return match[0]
        raise _Lost

    def quoted(self) -> str:
        """A string that is a step of a key, its escapes read."""
        text = self.string()
        if "\\" not in text or text[0] == "'":
            return text[1:-1]
        try:
            return str(tomllib.loads(f"step = {text}")["step"])
        except tomllib.TOMLDecodeError:
            raise _Lost from None

    def scalar(self) -> None:
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise _Lost
        if len(match[0]) > LONGEST_NUMBER:
            what = f"a value of {len(match[0]):,} characters without quotes"
            self.fail(what, f"at most {LONGEST_NUMBER}")
        self.at = match.end()

    def skip(self, form: re.Pattern[str]) -> int:
        match = form.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def expect(self, token: str) -> None:
        self.skip(_SPACE)
        if not self.text.startswith(token, self.at):
            raise _Lost
        self.at += len(token)

    def note(self, path: Path, at: int | None = None) -> None:
        self.spots.setdefault(path, self.spot(self.at if at is None else at))
        if len(self.spots) > MOST_KEYS:
            self.fail("the file has too many words and entries", f"at most {MOST_KEYS:,}")

    def spot(self, at: int) -> Spot:
        """Line and character of a position, counted on from the last one asked for."""
        if at < self._counted_to:
            return spot_of(self.text, at)
        newest = self.text.rfind("\n", self._counted_to, at)
        if newest >= 0:
            self._line += self.text.count("\n", self._counted_to, at)
            self._begins = newest + 1
        self._counted_to = at
        return self._line, at - self._begins + 1

    def fail(self, what: str, allowed: str) -> None:
        line, column = self.spot(self.at)
        raise DeclarationError([Mistake("", what, allowed, line=line, column=column)])


def spot_of(text: str, at: int) -> Spot:
    """Line and character of a position of a text.

    >>> spot_of("a\\nbc", 3)
    (2, 2)
    """
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
