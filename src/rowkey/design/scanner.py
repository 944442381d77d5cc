"""Where each word of a TOML file stands, and whether the file is small enough to be read at all.

`tomllib` tells what a file says but not on which line; and it reads whatever it is given. This
scanner goes over the text once, before it: it notes the line of every key and list entry, and
refuses what no design needs. It does not judge syntax: where it is lost, it stops.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field

from rowkey.errors import Refused

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


@dataclass(slots=True)
class Lines:
    """The line of each key and list entry of a file, from 1."""

    of: dict[Path, int] = field(default_factory=dict)

    def nearest(self, path: Path) -> int:
        """The line of a path, or of the nearest word it lies below; 0 if there is none."""
        while path and path not in self.of:
            path = path[:-1]
        return self.of.get(path, 0)


class _Lost(Exception):
    """The text is not TOML here; the parser will say so better."""


def scan(text: str) -> Lines:
    """The lines of a file's words.

    Raises:
        Refused: the file is too large, too deep or holds too much; names the line.

    Cost: one pass, about 5 MB a second.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise Refused("", f"the file has {size:,} bytes", f"at most {MOST_BYTES:,}")
    scanner = _Scanner(text)
    with suppress(_Lost):
        scanner.file()
    return scanner.lines


class _Scanner:
    """A cursor over the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = Lines()
        self.table: Path = ()
        self.entries: dict[Path, int] = {}
        self._counted_to, self._line = 0, 1

    def file(self) -> None:
        while self.skip(_GAP) < len(self.text):
            if self.text.startswith("[", self.at):
                self.header()
            else:
                self.pair(self.table, 0)

    def header(self) -> None:
        is_list = self.text.startswith("[[", self.at)
        self.at += 2 if is_list else 1
        path: Path = ()
        for step in self.key():
            path = (*path, step)
            if path in self.entries:
                path = (*path, self.entries[path])
        if is_list:
            listed = path[:-1] if path and isinstance(path[-1], int) else path
            self.entries[listed] = self.entries.get(listed, -1) + 1
            path = (*listed, self.entries[listed])
        self.table = path
        self.note(path)
        self.expect("]]" if is_list else "]")

    def pair(self, table: Path, depth: int) -> None:
        path = table
        start = self.at
        for step in self.key():
            path = (*path, step)
            self.note(path, start)
        self.skip(_SPACE)
        self.expect("=")
        self.skip(_SPACE)
        self.value(path, depth)

    def key(self) -> list[str]:
        steps = []
        while True:
            self.skip(_SPACE)
            if self.text[self.at : self.at + 1] in ("'", '"'):
                steps.append(self.string()[1:-1])
            else:
                match = _BARE.match(self.text, self.at)
                if match is None:
                    raise _Lost
                self.at = match.end()
                steps.append(match[0])
            if len(steps) > MOST_STEPS:
                self.fail(f"a key has more than {MOST_STEPS} steps")
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return steps
            self.at += 1

    def value(self, path: Path, depth: int) -> None:
        if depth > DEEPEST:
            self.fail(f"lists and tables are nested deeper than {DEEPEST}")
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

    def scalar(self) -> None:
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise _Lost
        if len(match[0]) > LONGEST_NUMBER:
            self.fail(f"a number of {len(match[0]):,} characters")
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
        self.lines.of[path] = self.line(self.at if at is None else at)
        if len(self.lines.of) > MOST_KEYS:
            self.fail(f"the file has more than {MOST_KEYS:,} words")

    def line(self, at: int) -> int:
        """The line of a position, counted on from the last one asked for."""
        if at < self._counted_to:
            return self.text.count("\n", 0, at) + 1
        self._line += self.text.count("\n", self._counted_to, at)
        self._counted_to = at
        return self._line

    def fail(self, what: str) -> None:
        raise Refused("", f"line {self.line(self.at)}: {what}", "a design file of human size")
