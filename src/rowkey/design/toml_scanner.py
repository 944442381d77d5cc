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

from rowkey.design.paths import BARE_NAME, KeyPath
from rowkey.errors import InvalidDesign, Mistake

MAX_DESIGN_BYTES = 256 * 1024
"""Bytes of the longest design file; `tomllib` reads about a megabyte a second."""
MAX_DEPTH = 32
MAX_KEYS = 20_000
MAX_KEY_STEPS = 16
MAX_SCALAR_LENGTH = 40

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9:.]+[^\s,\]}#]*)?")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL),
    re.compile(r"'''.*?'''", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


Position = tuple[int, int]
"""A line, and a character of it, both from 1."""
Positions = dict[KeyPath, Position]
"""Where each key and list entry of a file begins, in the order of the file."""


@dataclass(slots=True)
class TomlSpans:
    """The positions of keys, values and headers in a file, as character offsets.

    Args:
        value_spans: of each word, the first character of its value and the one after its last.
        starts: of each word and each header, where it begins itself.
        owner_tables: of each word that stands on a line of its own, the table it stands under.
        header_stops: of each header, the character after it.
    """

    value_spans: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    starts: dict[KeyPath, int] = field(default_factory=dict)
    owner_tables: dict[KeyPath, KeyPath] = field(default_factory=dict)
    header_stops: dict[KeyPath, int] = field(default_factory=dict)


class _ScanStopped(Exception):
    """The text is not TOML at this position; the TOML parser will report it."""


def scan_positions(text: str) -> Positions:
    """Return the position of every key and list entry of a file.

    Raises:
        InvalidDesign: the file is too large, too deep or holds too much; names the place.

    Cost: one pass, about 5 MB a second.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_DESIGN_BYTES:
        raise build_size_error(f"{size:,} bytes")
    scanner = _Scanner(text)
    with suppress(_ScanStopped):
        scanner.scan_file()
    return scanner.positions


def find_spans(text: str) -> TomlSpans:
    """Return the offsets of the keys, values and headers of a file.

    Args:
        text: the file, which is TOML.

    >>> find_spans("[a]\\nb = 1 # c").value_spans
    {('a', 'b'): (8, 9)}
    """
    scanner = _Scanner(text)
    with suppress(_ScanStopped):
        scanner.scan_file()
    return scanner.spans


def build_size_error(size: str) -> InvalidDesign:
    """Return the error for a file that is too large."""
    allowed, remedy = f"at most {MAX_DESIGN_BYTES:,} bytes", "Give the file of one design."
    return InvalidDesign([Mistake("", f"the design file has {size}", allowed, remedy)])


class _Scanner:
    """A cursor that walks over the tokens of a TOML text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.positions: Positions = {}
        self.spans = TomlSpans()
        self.table: KeyPath = ()
        self.entry_counts: dict[KeyPath, int] = {}
        self._counted_offset, self._line_number, self._line_start = 0, 1, 0

    def scan_file(self) -> None:
        while self.skip_pattern(_GAP) < len(self.text):
            if self.text.startswith("[", self.offset):
                self.scan_header()
            else:
                self.scan_pair(self.table, 0)

    def scan_header(self) -> None:
        """Scan a `[table]` or `[[list]]` header."""
        start = self.offset
        is_list = self.text.startswith("[[", self.offset)
        self.offset += 2 if is_list else 1
        path: KeyPath = ()
        for step in self.scan_key():
            path = (*path, step)
            self.note_position(path, start)
            if path in self.entry_counts:
                path = (*path, self.entry_counts[path])
        if is_list:
            listed = path[:-1] if path and isinstance(path[-1], int) else path
            self.entry_counts[listed] = self.entry_counts.get(listed, -1) + 1
            path = (*listed, self.entry_counts[listed])
        self.table = path
        self.note_position(path, start)
        self.expect_token("]]" if is_list else "]")
        self.spans.header_stops[path] = self.offset
        self.spans.starts[path] = start

    def scan_pair(self, table: KeyPath, depth: int) -> None:
        path = table
        start = self.offset
        for step in self.scan_key():
            path = (*path, step)
            self.note_position(path, start)
        self.skip_pattern(_SPACE)
        self.expect_token("=")
        self.skip_pattern(_SPACE)
        first = self.offset
        self.scan_value(path, depth)
        self.spans.value_spans[path] = (first, self.offset)
        self.spans.starts[path] = start
        if not depth:
            self.spans.owner_tables[path] = table

    def scan_key(self) -> list[str]:
        """Scan a dotted key and return its steps."""
        steps = []
        while True:
            self.skip_pattern(_SPACE)
            if self.text[self.offset : self.offset + 1] in ("'", '"'):
                steps.append(self.scan_quoted_step())
            else:
                match = BARE_NAME.match(self.text, self.offset)
                if match is None:
                    raise _ScanStopped
                self.offset = match.end()
                steps.append(match[0])
            if len(steps) > MAX_KEY_STEPS:
                self.raise_mistake("a key has too many dots", f"at most {MAX_KEY_STEPS} names")
            self.skip_pattern(_SPACE)
            if not self.text.startswith(".", self.offset):
                return steps
            self.offset += 1

    def scan_value(self, path: KeyPath, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.raise_mistake(
                "lists and tables are nested too deeply", f"at most {MAX_DEPTH} levels"
            )
        opening = self.text[self.offset : self.offset + 1]
        if opening == "[":
            self.scan_list(path, depth)
        elif opening == "{":
            self.scan_inline_table(path, depth)
        elif opening in ("'", '"'):
            self.scan_string()
        else:
            self.scan_scalar()

    def scan_list(self, path: KeyPath, depth: int) -> None:
        """Scan a list and note the position of each entry."""
        self.offset += 1
        index = 0
        while self.skip_pattern(_GAP) < len(self.text):
            if self.text[self.offset] == "]":
                self.offset += 1
                return
            self.note_position((*path, index))
            self.scan_value((*path, index), depth + 1)
            index += 1
            self.skip_pattern(_GAP)
            if self.text.startswith(",", self.offset):
                self.offset += 1
        raise _ScanStopped

    def scan_inline_table(self, path: KeyPath, depth: int) -> None:
        self.offset += 1
        while self.skip_pattern(_GAP) < len(self.text):
            if self.text[self.offset] == "}":
                self.offset += 1
                return
            self.scan_pair(path, depth + 1)
            self.skip_pattern(_GAP)
            if self.text.startswith(",", self.offset):
                self.offset += 1
        raise _ScanStopped

    def scan_string(self) -> str:
        """Scan a string and return it with its quotes."""
        for form in _STRINGS:
            match = form.match(self.text, self.offset)
            if match is not None:
                self.offset = match.end()
                return match[0]
        raise _ScanStopped

    def scan_quoted_step(self) -> str:
        """Scan a quoted step of a key and return it unescaped."""
        text = self.scan_string()
        if "\\" not in text or text[0] == "'":
            return text[1:-1]
        try:
            return str(tomllib.loads(f"step = {text}")["step"])
        except tomllib.TOMLDecodeError:
            raise _ScanStopped from None

    def scan_scalar(self) -> None:
        """Scan a value without quotes."""
        match = _SCALAR.match(self.text, self.offset)
        if match is None:
            raise _ScanStopped
        if len(match[0]) > MAX_SCALAR_LENGTH:
            what = f"a value without quotes has {len(match[0]):,} characters"
            remedy = "Put a text in quotes."
            self.raise_mistake(what, f"at most {MAX_SCALAR_LENGTH} characters", remedy)
        self.offset = match.end()

    def skip_pattern(self, pattern: re.Pattern[str]) -> int:
        """Skip what a pattern matches and return the new offset."""
        match = pattern.match(self.text, self.offset)
        self.offset = match.end() if match else self.offset
        return self.offset

    def expect_token(self, token: str) -> None:
        """Skip a token, or stop the scan if it is not there."""
        self.skip_pattern(_SPACE)
        if not self.text.startswith(token, self.offset):
            raise _ScanStopped
        self.offset += len(token)

    def note_position(self, path: KeyPath, offset: int | None = None) -> None:
        """Record where a path begins, unless it is known; raise if there are too many."""
        self.positions.setdefault(
            path, self.find_position(self.offset if offset is None else offset)
        )
        if len(self.positions) > MAX_KEYS:
            self.raise_mistake(
                "the file has too many keys and list entries", f"at most {MAX_KEYS:,}"
            )

    def find_position(self, offset: int) -> Position:
        """Return the line and column of an offset, counting on from the previous call."""
        if offset < self._counted_offset:
            return compute_position(self.text, offset)
        newest = self.text.rfind("\n", self._counted_offset, offset)
        if newest >= 0:
            self._line_number += self.text.count("\n", self._counted_offset, offset)
            self._line_start = newest + 1
        self._counted_offset = offset
        return self._line_number, offset - self._line_start + 1

    def raise_mistake(self, what: str, allowed: str, remedy: str = "") -> None:
        """Raise an error at the current position."""
        line, column = self.find_position(self.offset)
        raise InvalidDesign([Mistake("", what, allowed, remedy, line, column)])


def compute_position(text: str, offset: int) -> Position:
    """Return the line and column of an offset in a text.

    >>> compute_position("a\\nbc", 3)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
