"""Parse HBase's filter language, the text form of filters for Thrift clients.

```
expression = conjunction { OR conjunction }
conjunction = term { AND term }
term = ( SKIP | WHILE ) term | "(" expression ")" | name "(" { argument } ")"
```

Arguments are separated by commas or blanks. Inside quotes a quote is doubled. Unlike HBase,
`PageFilter(0)` and `MultipleColumnPrefixFilter()` are refused, since they select nothing.

Source: the chapter "Thrift API and Filter Language" of the HBase book; ParseFilter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from rowkey.errors import InvalidArgument
from rowkey.happybase.arguments import to_bytes
from rowkey.happybase.filter_specs import FILTER_SPECS, FilterArgument, format_filter_path
from rowkey.hbase import Filter, filters
from rowkey.messages import format_value, suggest_name

MAX_DEPTH = 50
"""Maximum nesting of parentheses, SKIP and WHILE, so that no text can exhaust the stack."""

_BLANKS = re.compile(rb"[ \t\r\n]*")
_SEPARATORS = re.compile(rb"[ \t\r\n,]*")
_WORD = re.compile(rb"[^ \t\r\n,()']+")
_EXCERPT_BYTES = 24

_WRAPPERS: dict[bytes, Callable[[Filter], Filter]] = {
    b"SKIP": filters.SkipFilter,
    b"WHILE": filters.WhileMatchFilter,
}
_JOIN_WORDS = (b"AND", b"OR")
_AFTER_FILTER = "AND, OR or the end of the text"


def parse_filter(text: bytes | str) -> Filter:
    """Parse a text in HBase's filter language to a filter.

    Args:
        text: an expression of the filter language; text is encoded as UTF-8.

    Raises:
        WrongArgumentType: it is neither bytes nor text.
        InvalidArgument: the text is not valid; the path is the byte offset of the mistake.

    Cost: linear in its length.

    >>> parse_filter("PrefixFilter('a') AND KeyOnlyFilter()").join
    'all'
    >>> parse_filter("PrefixFiler('a')")
    Traceback (most recent call last):
    rowkey.errors.InvalidArgument: filter, byte 0: 'PrefixFiler' is not a filter; expected one of...
    """
    return _FilterParser(to_bytes("filter", text)).parse()


class _FilterParser:
    """A recursive descent parser of HBase's filter language."""

    def __init__(self, text: bytes) -> None:
        self._text, self._offset, self._depth = text, 0, 0

    def parse(self) -> Filter:
        parsed = self._parse_expression()
        if self._offset < len(self._text):
            if self._text.startswith(b")", self._offset):
                self._raise_error("')' has no opening parenthesis", _AFTER_FILTER)
            self._raise_error(f"{self._format_excerpt()} follows a filter", _AFTER_FILTER)
        return parsed

    def _parse_expression(self) -> Filter:
        """Parse filters joined by OR, each of which may be joined by AND."""
        return self._parse_joined(
            b"OR", "one", lambda: self._parse_joined(b"AND", "all", self._parse_term)
        )

    def _parse_joined(self, word: bytes, join: str, operand: Callable[[], Filter]) -> Filter:
        """Parse one or more operands that are separated by AND or OR."""
        operands = [operand()]
        while self._peek_word() == word:
            self._offset += len(word)
            operands.append(operand())
        return operands[0] if len(operands) == 1 else filters.FilterList(join, tuple(operands))

    def _parse_term(self) -> Filter:
        """Parse a filter, a filter after SKIP or WHILE, or an expression in parentheses."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._raise_error("the filters are nested too deep", f"at most {MAX_DEPTH} levels")
        word = self._peek_word()
        if word in _WRAPPERS:
            self._offset += len(word)
            parsed = _WRAPPERS[word](self._parse_term())
        elif self._accept_byte(b"("):
            opened_at = self._offset - 1
            parsed = self._parse_expression()
            self._expect_close(opened_at)
        else:
            parsed = self._parse_named_filter(word)
        self._depth -= 1
        self._skip_blanks()
        return parsed

    def _parse_named_filter(self, name_bytes: bytes) -> Filter:
        """Parse a filter's name and its arguments in parentheses.

        Raises:
            InvalidArgument: there is no filter of this name, or its arguments are wrong.
        """
        name_offset = self._offset
        name = name_bytes.decode(errors="replace")
        if not name_bytes or name_bytes in _JOIN_WORDS:
            what = (
                f"{self._format_excerpt()} is not a filter"
                if self._has_rest
                else "the text ends without a filter"
            )
            self._raise_error(what, "a filter, as in PrefixFilter('a')")
        if name not in FILTER_SPECS:
            remedy = suggest_name(name, FILTER_SPECS)
            allowed = f"one of {', '.join(sorted(FILTER_SPECS))}"
            raise InvalidArgument(
                format_filter_path(name_offset), f"{name[:40]!r} is not a filter", allowed, remedy
            )
        self._offset += len(name_bytes)
        if not self._accept_byte(b"("):
            self._raise_error(f"{name} has no parenthesis after it", f"{name}(…)")
        opened_at = self._offset - 1
        return FILTER_SPECS[name].build_filter(name, name_offset, self._parse_arguments(opened_at))

    def _parse_arguments(self, opened_at: int) -> list[FilterArgument]:
        """Parse the arguments of a filter and its closing parenthesis."""
        arguments: list[FilterArgument] = []
        while True:
            self._offset = _find_end(_SEPARATORS, self._text, self._offset)
            start = self._offset
            if self._text.startswith(b"'", start):
                arguments.append(FilterArgument(start, self._parse_quoted(), is_quoted=True))
                continue
            match = _WORD.match(self._text, start)
            if match is None:
                self._expect_close(opened_at)
                return arguments
            self._offset = match.end()
            arguments.append(FilterArgument(start, match[0], is_quoted=False))

    def _parse_quoted(self) -> bytes:
        """Parse an argument in quotes, and return it without the quotes."""
        start = stop = self._offset
        while True:
            stop = self._text.find(b"'", stop + 1)
            if stop < 0:
                remedy = "Write '' for a quote inside the argument."
                self._raise_error("the quote is not closed", "' after the argument", remedy)
            if not self._text.startswith(b"'", stop + 1):
                self._offset = stop + 1
                return self._text[start + 1 : stop].replace(b"''", b"'")
            stop += 1

    def _expect_close(self, opened_at: int) -> None:
        """Consume a closing parenthesis; raise InvalidArgument if there is none."""
        if self._accept_byte(b")"):
            return
        end = f"before {self._format_excerpt()}" if self._has_rest else "at the end of the text"
        self._raise_error(f"the parenthesis at byte {opened_at} is not closed {end}", "')'")

    def _accept_byte(self, byte: bytes) -> bool:
        """Consume a byte if it is the next one that is not blank; return whether it was."""
        self._skip_blanks()
        if not self._text.startswith(byte, self._offset):
            return False
        self._offset += 1
        return True

    def _peek_word(self) -> bytes:
        """Return the next word without consuming it; empty if there is none."""
        self._skip_blanks()
        match = _WORD.match(self._text, self._offset)
        return b"" if match is None else match[0]

    @property
    def _has_rest(self) -> bool:
        return self._offset < len(self._text)

    def _format_excerpt(self) -> str:
        """Return the next characters of the text for a message."""
        rest = self._text[self._offset : self._offset + _EXCERPT_BYTES + 1]
        return format_value(rest.decode(errors="replace")[:_EXCERPT_BYTES])

    def _raise_error(self, what: str, allowed: str, remedy: str = "") -> NoReturn:
        """Raise InvalidArgument with the byte offset of the parser."""
        raise InvalidArgument(format_filter_path(self._offset), what, allowed, remedy)

    def _skip_blanks(self) -> None:
        self._offset = _find_end(_BLANKS, self._text, self._offset)


def _find_end(pattern: re.Pattern[bytes], text: bytes, offset: int) -> int:
    """Return the offset at which a match of a pattern ends; the given offset if none matches."""
    match = pattern.match(text, offset)
    return offset if match is None else match.end()
