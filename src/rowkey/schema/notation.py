"""The bracket notation of keys, `[bucket(host, 16)][host][desc(ts)]`, read by its grammar.

```
key      = part { part } ;
part     = "[" term "]" ;
term     = constant | call | field ;
field    = name [ ":" word [ "(" scalar { "," scalar } ")" ] ] ;
call     = word "(" [ arg { "," arg } ] ")" ;
arg      = word "=" ( scalar | word | constant ) | scalar | term ;
scalar   = duration | number ;
```
"""

from __future__ import annotations

import re
import unicodedata
from typing import NoReturn

from rowkey.errors import Refused
from rowkey.schema.quantities import MOST_DIGITS, NANOSECONDS, Duration
from rowkey.schema.terms import (
    Call,
    Constant,
    FieldRef,
    Scalar,
    Term,
    is_name_character,
    is_plain_name,
)

MOST_CHARACTERS = 20_000
MOST_PARTS = 64
MOST_ARGUMENTS = 64
DEEPEST = 16

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_ARITHMETIC = (
    (re.compile(r"\[\s*(\w+)\s*%\s*(\d{1,6})\s*\]"), "Write [mod({0}, {1})]."),
    (
        re.compile(
            r"\[\s*(?:MAX|MAX_VALUE|MAX_LONG|Long\.MAX(?:_VALUE)?)\s*[-–−]\s*(\w+)\s*\]",
            re.IGNORECASE,
        ),
        "Write [desc({0})].",
    ),
    (re.compile(r"\[\s*(?:hash\()?(\w+)\)?\s*%\s*(\w+)"), "Write [bucket({0}, n)]."),
)


def parse(text: str) -> tuple[Term, ...]:
    """The terms of a key, one for each pair of brackets.

    Args:
        text: the notation; white space between tokens is free.

    Raises:
        Refused: the text does not follow the grammar; says where and what stands there.

    Cost: one pass over at most 20,000 characters.

    >>> parse("[bucket(host, 16)]['~'][ts:u32]")[2]
    FieldRef(name='ts', encoding='u32', arguments=())
    """
    if len(text) > MOST_CHARACTERS:
        raise Refused(
            "", f"the key is {len(text):,} characters long", f"at most {MOST_CHARACTERS:,}"
        )
    return _Reader(unicodedata.normalize("NFC", text)).key()


def parse_call(text: str) -> Call | FieldRef:
    """One call or word outside a key, such as `per(host)` or `zipf(99)`.

    Raises:
        Refused: the text is not one call or name.

    >>> print(parse_call(" per( host )"))
    per(host)
    """
    if len(text) > MOST_CHARACTERS:
        raise Refused(
            "", f"the text is {len(text):,} characters long", f"at most {MOST_CHARACTERS:,}"
        )
    reader = _Reader(unicodedata.normalize("NFC", text))
    term = reader.term(0)
    reader.expect_end()
    assert not isinstance(term, Constant)
    return term


class _Reader:
    """A cursor over the text; each method reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def key(self) -> tuple[Term, ...]:
        parts: list[Term] = []
        self.skip_space()
        while self.at < len(self.text):
            self.expect("[")
            parts.append(self.term(0))
            self.expect("]")
            if len(parts) > MOST_PARTS:
                self.fail(f"the key has more than {MOST_PARTS} parts")
        if not parts:
            self.fail("the key is empty", "one part or more, such as [host][ts]")
        return tuple(parts)

    def term(self, depth: int) -> Term:
        self.skip_space()
        if depth > DEEPEST:
            self.fail(f"calls are nested deeper than {DEEPEST}")
        if self.peek() == "'":
            return Constant(self.quoted_bytes())
        if self.peek() == '"':
            return self.field(self.quoted_name())
        word = self.name()
        if self.peek() == "(":
            if not _WORD.fullmatch(word):
                self.fail(f"{word!r} is not the name of a kind", "ASCII letters, digits and _")
            return self.call(word, depth)
        return self.field(word)

    def field(self, name: str) -> FieldRef:
        if self.peek() != ":":
            return FieldRef(name)
        self.expect(":")
        encoding, arguments = self.word(), []
        if self.peek() == "(":
            self.expect("(")
            arguments.append(self.scalar())
            while self.peek() == ",":
                self.expect(",")
                arguments.append(self.scalar())
                if len(arguments) > MOST_ARGUMENTS:
                    self.fail(f"more than {MOST_ARGUMENTS} arguments")
            self.expect(")")
        return FieldRef(name, encoding, tuple(arguments))

    def call(self, kind: str, depth: int) -> Call:
        terms: list[Term] = []
        scalars: list[Scalar] = []
        options: dict[str, Scalar | str | Constant] = {}
        self.expect("(")
        while self.peek() != ")":
            self.argument(depth, terms, scalars, options)
            if len(terms) + len(scalars) + len(options) > MOST_ARGUMENTS:
                self.fail(f"more than {MOST_ARGUMENTS} arguments")
            if self.peek() != ")":
                self.expect(",")
                if self.peek() == ")":
                    self.fail("an argument is missing after the comma")
        self.expect(")")
        return Call(kind, tuple(terms), tuple(scalars), options)

    def argument(
        self,
        depth: int,
        terms: list[Term],
        scalars: list[Scalar],
        options: dict[str, Scalar | str | Constant],
    ) -> None:
        """One argument: terms first, then scalars, then named options."""
        if (name := self.option_name()) is not None:
            if name in options:
                self.fail(f"{name}= stands twice")
            options[name] = self.option_value()
        elif self.peek().isdigit() or self.peek() in "+-−.":
            if options:
                self.fail("a number stands after a named option", "terms, then numbers, then name=")
            scalars.append(self.scalar())
        else:
            if scalars or options:
                self.fail(
                    "a field stands after a number or a named option",
                    "terms, then numbers, then name=",
                )
            terms.append(self.term(depth + 1))

    def option_name(self) -> str | None:
        """The word before a `=`, if that is what comes next."""
        self.skip_space()
        match = _WORD.match(self.text, self.at)
        if match is None:
            return None
        start, self.at = self.at, match.end()
        if self.peek() == "=":
            self.expect("=")
            return match[0]
        self.at = start
        return None

    def option_value(self) -> Scalar | str | Constant:
        if self.peek() == "'":
            return Constant(self.quoted_bytes())
        if self.peek().isdigit() or self.peek() in "+-.":
            return self.scalar()
        return self.word()

    def scalar(self) -> Scalar:
        """A number of at most 18 digits, with a unit of time or without."""
        self.skip_space()
        start = self.at
        while self.at < len(self.text) and "0" <= self.text[self.at] <= "9":
            self.at += 1
        digits = self.text[start : self.at]
        self._check_number(start, digits)
        number = int(digits)
        for unit in ("ns", "us", "ms", "s", "m", "h", "d"):
            after = self.at + len(unit)
            if self.text.startswith(unit, self.at) and not _continues_word(self.text, after):
                self.at = after
                return Duration(number, unit)
        if _continues_word(self.text, self.at) or self.text[self.at : self.at + 1] == ".":
            self.at = start
            self.fail(
                f"{self.lookahead()!r} is not a number",
                f"whole digits, or a length of time in {' '.join(NANOSECONDS)}",
            )
        return number

    def _check_number(self, start: int, digits: str) -> None:
        if not digits:
            sign = self.peek() in tuple("+-−")
            what = "has a sign" if sign else "is not a number"
            self.fail(f"{self.lookahead()!r} {what}", "whole digits without a sign")
        if len(digits) > MOST_DIGITS:
            self.fail(f"a number of {len(digits)} digits", f"at most {MOST_DIGITS} digits")
        if len(digits) > 1 and digits[0] == "0":
            self.at = start
            self.fail(f"the number {digits} begins with 0", f"{int(digits)}")

    def name(self) -> str:
        """An unquoted name; what cannot begin one gets an error that names the cure."""
        self.skip_space()
        start = self.at
        while self.at < len(self.text) and is_name_character(self.text[self.at]):
            self.at += 1
        name = self.text[start : self.at]
        if not is_plain_name(name):
            self.at = start
            self.fail(
                f"{self.lookahead()!r} is not a name, a call or a quoted constant",
                "a field, a call such as bucket(host, 16), or 'bytes'",
                'Quote a name that is not letters, digits and _: ["log-event"].',
            )
        return name

    def word(self) -> str:
        self.skip_space()
        match = _WORD.match(self.text, self.at)
        if match is None:
            self.fail(f"{self.lookahead()!r} is not a word", "ASCII letters, digits and _")
        self.at = match.end()
        return match[0]

    def quoted_name(self) -> str:
        end = self.text.find('"', self.at + 1)
        name = self.text[self.at + 1 : end]
        if end < 0:
            self.fail("a quoted name has no end", 'a closing "')
        if not name or "\\" in name or any(unicodedata.category(c)[0] == "C" for c in name):
            self.fail(f"{name!r} cannot be a name", "characters without \\ and controls")
        self.at = end + 1
        return name

    def quoted_bytes(self) -> bytes:
        value = bytearray()
        self.at += 1
        while (character := self.text[self.at : self.at + 1]) != "'":
            if not character:
                self.fail("a constant has no end", "a closing '")
            if character == "\\":
                value += self.escape()
            elif unicodedata.category(character)[0] == "C":
                self.fail(f"a constant holds the control character {character!r}", "\\xHH")
            else:
                value += character.encode()
                self.at += 1
        self.at += 1
        if not value:
            self.fail("a constant is empty", "one byte or more")
        return bytes(value)

    def escape(self) -> bytes:
        if self.text[self.at + 1 : self.at + 2] in ("'", "\\"):
            self.at += 2
            return self.text[self.at - 1].encode()
        match = _ESCAPE.match(self.text, self.at)
        if match is None:
            self.fail(f"{self.text[self.at : self.at + 4]!r} is no escape", "\\xHH, \\' or \\\\")
        self.at = match.end()
        return bytes.fromhex(match[1])

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.at : self.at + 1] or "\0"

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def expect(self, character: str) -> None:
        if self.peek() != character:
            self.fail(f"{self.lookahead()!r} stands where {character!r} should", repr(character))
        self.at += 1
        self.skip_space()

    def expect_end(self) -> None:
        if self.peek() != "\0" or self.at < len(self.text):
            self.fail(f"{self.lookahead()!r} stands after the end", "nothing more")

    def lookahead(self) -> str:
        return self.text[self.at : self.at + 24] or "the end"

    def fail(self, what: str, allowed: str = "", remedy: str = "") -> NoReturn:
        for pattern, cure in _ARITHMETIC:
            if match := pattern.search(self.text[:MOST_CHARACTERS]):
                what, allowed, remedy = (
                    f"{match[0]!r} is arithmetic",
                    "a call",
                    cure.format(*match.groups()),
                )
                break
        raise Refused("", f"{what} (character {self.at + 1})", allowed, remedy)


def _continues_word(text: str, at: int) -> bool:
    return at < len(text) and is_name_character(text[at])
