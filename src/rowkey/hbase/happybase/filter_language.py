"""HBase's filter language: the text by which Thrift's callers say a filter, read into filters.

```
expression = conjunction { OR conjunction }
conjunction = term { AND term }
term = ( SKIP | WHILE ) term | "(" expression ")" | name "(" { argument } ")"
```

Arguments are parted by commas or blanks. In quotes, a quote is written twice. Stricter than HBase,
`PageFilter(0)` and `MultipleColumnPrefixFilter()` are refused: they ask for nothing.

Source: the chapter "Thrift API and Filter Language" of the HBase book; ParseFilter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from rowkey.errors import Refused, did_you_mean, shown
from rowkey.hbase.filters import Filter, FilterList, SkipFilter, WhileMatchFilter
from rowkey.hbase.happybase.arguments import as_bytes
from rowkey.hbase.happybase.filter_forms import FORMS, Given

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH_MOST = 50
"""Most parentheses, SKIP and WHILE around a filter: a hostile text must not exhaust the stack."""

_BLANKS = re.compile(rb"[ \t\r\n]*")
_SEPARATORS = re.compile(rb"[ \t\r\n,]*")
_WORD = re.compile(rb"[^ \t\r\n,()']+")
_EXCERPT = 24

_WRAPPERS: dict[bytes, Callable[[Filter], Filter]] = {
    b"SKIP": SkipFilter,
    b"WHILE": WhileMatchFilter,
}
_JOINING = (b"AND", b"OR")


def parse_filter(text: bytes | str) -> Filter:
    """The filter that a text says.

    Args:
        text: of the filter language; text stands for its UTF-8.

    Raises:
        WrongType: it is neither bytes nor text.
        Refused: it says none; the path is the byte at which it goes wrong, from 0.

    Cost: linear in its length.

    >>> parse_filter("PrefixFilter('a') AND KeyOnlyFilter()").join
    'all'
    >>> parse_filter("PrefixFiler('a')")
    Traceback (most recent call last):
    rowkey.errors.Refused: filter[0]: 'PrefixFiler' is no filter; expected one of ColumnCountG...
    """
    return _Parser(as_bytes("filter", text)).parse()


class _Parser:
    """Reads a text from left to right, each byte once."""

    def __init__(self, text: bytes) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def parse(self) -> Filter:
        """The filter that the whole text says."""
        found = self._expression()
        if self._at < len(self._text):
            if self._text.startswith(b")", self._at):
                self._refuse("it closes no parenthesis", "AND, OR or the end")
            self._refuse(f"{self._excerpt()} stands behind a filter", "AND, OR or the end")
        return found

    def _expression(self) -> Filter:
        return self._joined(b"OR", "one", lambda: self._joined(b"AND", "all", self._term))

    def _joined(self, word: bytes, join: str, operand: Callable[[], Filter]) -> Filter:
        """One or more operands with a word between them."""
        operands = [operand()]
        while self._peek() == word:
            self._at += len(word)
            operands.append(operand())
        return operands[0] if len(operands) == 1 else FilterList(join, tuple(operands))

    def _term(self) -> Filter:
        self._depth += 1
        if self._depth > DEPTH_MOST:
            self._refuse("filters are nested too deep", f"at most {DEPTH_MOST} levels")
        word = self._peek()
        if word in _WRAPPERS:
            self._at += len(word)
            found = _WRAPPERS[word](self._term())
        elif self._takes(b"("):
            opened = self._at - 1
            found = self._expression()
            self._close(opened)
        else:
            found = self._simple(word)
        self._depth -= 1
        self._skip()
        return found

    def _simple(self, word: bytes) -> Filter:
        """A filter by its name, and its arguments."""
        named_at = self._at
        name = word.decode(errors="replace")
        if not word or word in _JOINING:
            what = f"{self._excerpt()} is no filter" if self._rest else "the text ends"
            self._refuse(what, "a filter, as in PrefixFilter('a')")
        if name not in FORMS:
            remedy = did_you_mean(name, FORMS)
            allowed = f"one of {', '.join(sorted(FORMS))}"
            raise Refused(_path(named_at), f"{name[:40]!r} is no filter", allowed, remedy)
        self._at += len(word)
        if not self._takes(b"("):
            self._refuse(f"{name} has no parenthesis behind it", f"{name}(…)")
        opened = self._at - 1
        return FORMS[name].filter(named_at, self._arguments(opened))

    def _arguments(self, opened: int) -> list[Given]:
        """All up to the closing parenthesis, and that."""
        found: list[Given] = []
        while True:
            self._at = _end(_SEPARATORS, self._text, self._at)
            start = self._at
            if self._text.startswith(b"'", start):
                found.append(Given(start, self._quoted(), quoted=True))
                continue
            match = _WORD.match(self._text, start)
            if match is None:
                self._close(opened)
                return found
            self._at = match.end()
            found.append(Given(start, match[0], quoted=False))

    def _quoted(self) -> bytes:
        """What stands in quotes that open here."""
        start = stop = self._at
        while True:
            stop = self._text.find(b"'", stop + 1)
            if stop < 0:
                self._refuse("a quote is not closed", "' behind the argument", "Write '' for one.")
            if not self._text.startswith(b"'", stop + 1):
                self._at = stop + 1
                return self._text[start + 1 : stop].replace(b"''", b"'")
            stop += 1

    def _close(self, opened: int) -> None:
        """Take the parenthesis that closes one."""
        if self._takes(b")"):
            return
        what = f"{self._excerpt()} stands" if self._rest else "the text ends"
        self._refuse(f"{what} where the parenthesis at {opened} is to be closed", ")")

    def _takes(self, byte: bytes) -> bool:
        self._skip()
        if not self._text.startswith(byte, self._at):
            return False
        self._at += 1
        return True

    def _peek(self) -> bytes:
        """The word that comes next, without taking it."""
        self._skip()
        match = _WORD.match(self._text, self._at)
        return b"" if match is None else match[0]

    @property
    def _rest(self) -> bool:
        return self._at < len(self._text)

    def _excerpt(self) -> str:
        rest = self._text[self._at : self._at + _EXCERPT + 1]
        return shown(rest.decode(errors="replace")[:_EXCERPT])

    def _refuse(self, what: str, allowed: str, remedy: str = "") -> NoReturn:
        raise Refused(_path(self._at), what, allowed, remedy)

    def _skip(self) -> None:
        """Go on to what is no blank."""
        self._at = _end(_BLANKS, self._text, self._at)


def _path(at: int) -> str:
    return f"filter[{at}]"


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()
