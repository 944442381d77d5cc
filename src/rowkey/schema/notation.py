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
from rowkey.schema.remedies import arithmetic
from rowkey.schema.terms import (
    Call,
    Constant,
    FieldRef,
    Scalar,
    Term,
    is_name_character,
    is_plain_name,
    name_mistake,
)

MOST_CHARACTERS = 20_000
MOST_PARTS = 64
MOST_ARGUMENTS = 64
MOST_CALLS = 64
DEEPEST = 16

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")
_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_UNITS = sorted(NANOSECONDS, key=len, reverse=True)
_SHOWN = 40
_ARGUMENTS = "fields first, then numbers, then name="
_WHOLE = f"whole digits, or a length of time in {', '.join(NANOSECONDS)}"
_QUOTE = 'Quote a name that is not letters, digits and _: ["log-event"].'
_TOKEN_END = re.compile(r"[\s\[\](),=:'\"]")


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
    return _Reader(text).key()


def parse_call(text: str) -> Call | FieldRef:
    """One call or word outside a key, such as `per(host)` or `zipf(99)`.

    Raises:
        Refused: the text is not one call or name.

    >>> print(parse_call(" per( host )"))
    per(host)
    """
    reader = _Reader(text)
    term = reader.term(0)
    reader.expect_end()
    if isinstance(term, Constant):
        raise Refused("", f"{term} is a constant", "a word, or a call such as per(host)")
    return term


class _Reader:
    """A cursor over the text; each method reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise Refused(
                "", f"{len(text):,} characters are too long", f"at most {MOST_CHARACTERS:,}"
            )
        self.text = text
        self.at = 0
        self.part = 0
        self.calls = 0

    def key(self) -> tuple[Term, ...]:
        parts: list[Term] = []
        self.skip_space()
        while self.at < len(self.text):
            self.part = self.at
            if len(parts) == MOST_PARTS:
                self.fail("a part too many", f"at most {MOST_PARTS}")
            self.expect("[", "a part between [ and ]")
            parts.append(self.term(0))
            self.expect("]", "one field, call or constant between brackets")
        if not parts:
            self.fail("the key is empty", "one part or more, such as [host][ts]")
        return tuple(parts)

    def term(self, depth: int) -> Term:
        self.skip_space()
        if depth > DEEPEST:
            self.fail("a call is nested too deep", f"at most {DEEPEST} calls in each other")
        if self.peek() == "'":
            return Constant(self.quoted_bytes())
        if self.peek() == '"':
            return self.field(self.quoted_name())
        start = self.at
        word = self.name()
        if self.peek() == "(":
            if not _WORD.fullmatch(word):
                what = f"{_short(word)} is not the name of a kind"
                self.fail(what, "ASCII letters, digits and _", at=start)
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
                self.check_count(len(arguments))
                arguments.append(self.scalar())
            self.expect(")", "a comma or )")
        return FieldRef(name, encoding, tuple(arguments))

    def call(self, kind: str, depth: int) -> Call:
        terms: list[Term] = []
        scalars: list[Scalar] = []
        options: dict[str, Scalar | str | Constant] = {}
        if self.calls == MOST_CALLS:
            self.fail("a call too many", f"at most {MOST_CALLS} in one key")
        self.calls += 1
        self.expect("(")
        while self.peek() != ")":
            self.check_count(len(terms) + len(scalars) + len(options))
            self.argument(depth, terms, scalars, options)
            if self.peek() != ")":
                self.expect(",", "a comma or )")
                if self.peek() == ")":
                    self.fail("an argument is missing after the comma", "an argument, or no comma")
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
        start = self.at
        if (name := self.option_name()) is not None:
            if name in options:
                self.fail(f"{name}= stands twice", "each option once", at=start)
            options[name] = self.option_value()
        elif self.begins_number():
            if options:
                self.fail("a number stands after a named option", _ARGUMENTS)
            scalars.append(self.scalar())
        else:
            if scalars or options:
                self.fail("a field stands after a number or a named option", _ARGUMENTS)
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
        if self.begins_number():
            return self.scalar()
        return self.word()

    def check_count(self, count: int) -> None:
        """Fail before one argument too many."""
        if count == MOST_ARGUMENTS:
            self.fail("an argument too many", f"at most {MOST_ARGUMENTS}")

    def begins_number(self) -> bool:
        """Whether a number comes next, well written or not."""
        return self.peek().isdigit() or self.peek() in "+-−."

    def scalar(self) -> Scalar:
        """A number of at most 18 digits, with a unit of time or without."""
        self.skip_space()
        match = _DIGITS.match(self.text, self.at)
        digits = match[0] if match else ""
        self.check_number(digits)
        after = self.at + len(digits)
        for unit in _UNITS:
            end = after + len(unit)
            if self.text.startswith(unit, after) and not _continues_word(self.text, end):
                self.at = end
                return Duration(int(digits), unit)
        if _continues_word(self.text, after) or self.text[after : after + 1] == ".":
            self.fail_number()
        self.at = after
        return int(digits)

    def check_number(self, digits: str) -> None:
        """Fail where digits are none, too many, or begin with 0."""
        if not digits:
            self.fail_number()
        if len(digits) > MOST_DIGITS:
            self.fail(f"a number has {len(digits):,} digits", f"at most {MOST_DIGITS} digits")
        if len(digits) > 1 and digits[0] == "0":
            plain = digits.lstrip("0") or "0"
            self.fail(f"the number {digits} begins with 0", _WHOLE, f"Write {plain}.")

    def fail_number(self) -> NoReturn:
        """Fail at something that is nearly a number, with the number that may have been meant."""
        token = self.token()
        shown, place = self.lookahead(), f"(character {self.at + 1})"
        sign = re.fullmatch(r"[+−-]([0-9]{1,18})", token)
        power = re.fullmatch(r"([1-9])[eE]\+?([0-9]{1,2})", token)
        if sign:
            raise Refused("", f"{shown} has a sign {place}", _WHOLE, f"Write {sign[1]}.")
        if power and int(power[2]) < MOST_DIGITS:
            plain = power[1] + "0" * int(power[2])
            raise Refused("", f"{shown} has an exponent {place}", _WHOLE, f"Write {plain}.")
        if re.fullmatch(r"[0-9]*\.[0-9]*[a-z]*", token):
            remedy = "Take a smaller unit: 90s for 1.5m." if token[-1].isalpha() else ""
            raise Refused("", f"{shown} has a point {place}", _WHOLE, remedy)
        raise Refused("", f"{shown} is not a number {place}", _WHOLE)

    def name(self) -> str:
        """An unquoted name; what cannot begin one gets an error that names the cure."""
        self.skip_space()
        end = self.at
        while _continues_word(self.text, end) or unicodedata.combining(
            self.text[end : end + 1] or "a"
        ):
            end += 1
        name = unicodedata.normalize("NFC", self.text[self.at : end])
        if not is_plain_name(name):
            self.fail_name()
        self.at = end
        return name

    def fail_name(self) -> NoReturn:
        """Fail at something that is no term."""
        allowed = "a field, a call such as bucket(host, 16), or 'bytes'"
        if self.peek() in "]),\0":
            self.fail(f"nothing stands before {self.lookahead()}", allowed)
        what = f"{self.lookahead()} is not a name, a call or a constant"
        self.fail(what, allowed, _QUOTE if self.token() else "")

    def word(self) -> str:
        self.skip_space()
        match = _WORD.match(self.text, self.at)
        if match is None:
            self.fail(f"{self.lookahead()} is not a word", "ASCII letters, digits and _")
        self.at = match.end()
        return match[0]

    def quoted_name(self) -> str:
        end = self.text.find('"', self.at + 1)
        if end < 0:
            self.fail("a quoted name has no end", 'a closing "')
        name = unicodedata.normalize("NFC", self.text[self.at + 1 : end])
        if mistake := name_mistake(name):
            self.fail(mistake.what, mistake.allowed, mistake.remedy)
        self.at = end + 1
        return name

    def quoted_bytes(self) -> bytes:
        value = bytearray()
        start = self.at
        self.at += 1
        while (character := self.text[self.at : self.at + 1]) != "'":
            if not character:
                self.fail("a constant has no end", "a closing '", at=start)
            if character == "\\":
                value += self.escape()
            elif unicodedata.category(character)[0] == "C":
                what = f"a constant holds {character!r}, which does not print"
                self.fail(what, "characters that print, or \\xHH", _spelled(character))
            else:
                value += character.encode()
                self.at += 1
        self.at += 1
        if not value:
            self.fail("a constant is empty", "one byte or more", at=start)
        return bytes(value)

    def escape(self) -> bytes:
        if self.text[self.at + 1 : self.at + 2] in ("'", "\\"):
            self.at += 2
            return self.text[self.at - 1].encode()
        match = _ESCAPE.match(self.text, self.at)
        if match is None:
            shown = self.text[self.at : self.at + 4]
            self.fail(f"{shown} is no escape", "\\xHH, \\' or \\\\")
        self.at = match.end()
        return bytes.fromhex(match[1])

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.at : self.at + 1] or "\0"

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def expect(self, character: str, allowed: str = "") -> None:
        if self.peek() != character:
            self.fail(f"{self.lookahead()} stands where {character} should", allowed or character)
        self.at += 1
        self.skip_space()

    def expect_end(self) -> None:
        if self.peek() != "\0" or self.at < len(self.text):
            self.fail(f"{self.lookahead()} stands after the end", "nothing more")

    def token(self) -> str:
        """What stands here up to the next bracket, comma, quote or space."""
        end = _TOKEN_END.search(self.text, self.at)
        return self.text[self.at : end.start() if end else len(self.text)]

    def lookahead(self) -> str:
        """What stands here, quoted, or that nothing does."""
        token = self.token() or self.text[self.at : self.at + 1]
        return _short(token) if token else "the end"

    def fail(
        self, what: str, allowed: str = "", remedy: str = "", *, at: int | None = None
    ) -> NoReturn:
        place = self.at if at is None else at
        if known := arithmetic(self.text, self.part, place):
            raise known
        raise Refused("", f"{what} (character {place + 1})", allowed, remedy)


def _continues_word(text: str, at: int) -> bool:
    return at < len(text) and is_name_character(text[at])


def _spelled(character: str) -> str:
    """How a character that does not print is written, if it has bytes of its own."""
    if unicodedata.category(character) == "Cs":
        return "It is half a character and has no bytes: write those that are meant."
    escapes = (f"\\x{byte:02x}" for byte in character.encode())
    return f"Write {''.join(escapes)}."


def _short(token: str) -> str:
    return repr(token) if len(token) <= _SHOWN else f"{token[:_SHOWN]!r}…"
