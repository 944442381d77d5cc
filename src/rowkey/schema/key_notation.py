"""Parser of the bracket notation of keys, such as `[bucket(host, 16)][host][desc(ts)]`.

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

from rowkey.errors import InvalidArgument
from rowkey.schema.notation_remedies import find_arithmetic_mistake
from rowkey.schema.quantities import MAX_DIGITS, NANOSECONDS, Duration
from rowkey.schema.terms import (
    Constant,
    FieldRef,
    FunctionCall,
    Scalar,
    Term,
    find_name_mistake,
    is_name_character,
    is_plain_name,
)

MAX_KEY_CHARACTERS = 20_000
MAX_PARTS = 64
MAX_ARGUMENTS = 64
MAX_CALLS = 64
MAX_CALL_DEPTH = 16

_WORD_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DIGITS_PATTERN = re.compile(r"[0-9]+")
_ESCAPE_PATTERN = re.compile(r"\\x([0-9A-Fa-f]{2})")
_UNITS = sorted(NANOSECONDS, key=len, reverse=True)
_MAX_SHOWN_CHARACTERS = 40
_ARGUMENT_ORDER = "fields first, then numbers, then options such as width=2"
_NUMBER_SYNTAX = f"a whole number, or a duration in {', '.join(NANOSECONDS)}"
_QUOTE_REMEDY = 'Quote a name that is not letters, digits and _: ["log-event"].'
_TOKEN_END_PATTERN = re.compile(r"[\s\[\](),=:'\"]")


def parse_key(text: str) -> tuple[Term, ...]:
    """Return the terms of a key, one for each pair of brackets.

    Args:
        text: the key in bracket notation; white space between tokens is ignored.

    Raises:
        InvalidArgument: the text does not follow the grammar; the message has the position.

    Cost: one pass over at most 20,000 characters.

    >>> parse_key("[bucket(host, 16)]['~'][ts:u32]")[2]
    FieldRef(name='ts', encoding='u32', arguments=())
    """
    return _KeyParser(text).parse_key()


def parse_call(text: str) -> FunctionCall | FieldRef:
    """Return one call or name that is written outside a key, such as `per(host)` or `zipf(99)`.

    Raises:
        InvalidArgument: the text is not one call or name.

    >>> print(parse_call(" per( host )"))
    per(host)
    """
    reader = _KeyParser(text)
    term = reader.parse_term(0)
    reader.expect_end()
    if isinstance(term, Constant):
        raise InvalidArgument(
            "", f"{term} is a constant, not a name", "a name, or a call such as per(host)"
        )
    return term


class _KeyParser:
    """A recursive descent parser: each `parse_…` method parses one rule of the grammar."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_KEY_CHARACTERS:
            raise InvalidArgument(
                "",
                f"the text has {len(text):,} characters",
                f"at most {MAX_KEY_CHARACTERS:,} characters",
            )
        self.text = text
        self.position = 0
        self.part_start = 0
        self.call_count = 0

    def parse_key(self) -> tuple[Term, ...]:
        """Return the terms of the whole key, one for each pair of brackets."""
        parts: list[Term] = []
        self.skip_space()
        while self.position < len(self.text):
            self.part_start = self.position
            if len(parts) == MAX_PARTS:
                self.fail("the key has too many parts", f"at most {MAX_PARTS}")
            self.expect("[", "a part such as [host]")
            parts.append(self.parse_term(0))
            self.expect("]", "one field, call or constant between brackets")
        if not parts:
            self.fail("the key is empty", "at least one part, such as [host][ts]")
        return tuple(parts)

    def parse_term(self, depth: int) -> Term:
        """Return a constant, a field reference or a function call."""
        self.skip_space()
        if depth > MAX_CALL_DEPTH:
            self.fail("calls are nested too deeply", f"at most {MAX_CALL_DEPTH} levels")
        if self.peek() == "'":
            return Constant(self.parse_constant())
        if self.peek() == '"':
            return self.parse_field(self.parse_quoted_name())
        start = self.position
        word = self.parse_name()
        if self.peek() == "(":
            if not _WORD_PATTERN.fullmatch(word):
                problem = f"{_format_token(word)} is not the name of a function"
                self.fail(problem, "ASCII letters, digits and _", at=start)
            return self.parse_call(word, depth)
        return self.parse_field(word)

    def parse_field(self, name: str) -> FieldRef:
        """Return the reference of a field with its encoding, such as `host:fixed(8)`."""
        if self.peek() != ":":
            return FieldRef(name)
        self.expect(":")
        encoding, arguments = self.parse_word(), []
        if self.peek() == "(":
            self.expect("(")
            arguments.append(self.parse_scalar())
            while self.peek() == ",":
                self.expect(",")
                self.check_argument_count(len(arguments))
                arguments.append(self.parse_scalar())
            self.expect(")", "a comma or )")
        return FieldRef(name, encoding, tuple(arguments))

    def parse_call(self, name: str, depth: int) -> FunctionCall:
        """Return the call of a function with its arguments, such as `bucket(host, 16)`."""
        terms: list[Term] = []
        scalars: list[Scalar] = []
        options: dict[str, Scalar | str | Constant] = {}
        if self.call_count == MAX_CALLS:
            self.fail("the key has too many calls", f"at most {MAX_CALLS}")
        self.call_count += 1
        self.expect("(")
        while self.peek() != ")":
            self.check_argument_count(len(terms) + len(scalars) + len(options))
            self.parse_argument(depth, terms, scalars, options)
            if self.peek() != ")":
                self.expect(",", "a comma or )")
                if self.peek() == ")":
                    self.fail("an argument is missing after the comma", "an argument, or no comma")
        self.expect(")")
        return FunctionCall(name, tuple(terms), tuple(scalars), options)

    def parse_argument(
        self,
        depth: int,
        terms: list[Term],
        scalars: list[Scalar],
        options: dict[str, Scalar | str | Constant],
    ) -> None:
        """Parse one argument and add it to the terms, the numbers or the named options."""
        start = self.position
        if (name := self.parse_option_name()) is not None:
            if name in options:
                self.fail(f"{name}= is given twice", "each option once", at=start)
            options[name] = self.parse_option_value()
        elif self.is_at_number():
            if options:
                self.fail("a number follows a named option", _ARGUMENT_ORDER)
            scalars.append(self.parse_scalar())
        else:
            if scalars or options:
                self.fail("a field follows a number or a named option", _ARGUMENT_ORDER)
            terms.append(self.parse_term(depth + 1))

    def parse_option_name(self) -> str | None:
        """Return the name of a named option `name=` and move past the `=`; None if none is next."""
        self.skip_space()
        match = _WORD_PATTERN.match(self.text, self.position)
        if match is None:
            return None
        start, self.position = self.position, match.end()
        if self.peek() == "=":
            self.expect("=")
            return match[0]
        self.position = start
        return None

    def parse_option_value(self) -> Scalar | str | Constant:
        """Return the number, the name or the constant after `name=`."""
        if self.peek() == "'":
            return Constant(self.parse_constant())
        if self.is_at_number():
            return self.parse_scalar()
        return self.parse_word()

    def check_argument_count(self, count: int) -> None:
        """Fail if a call that has `count` arguments may have no more."""
        if count == MAX_ARGUMENTS:
            self.fail("a call has too many arguments", f"at most {MAX_ARGUMENTS}")

    def is_at_number(self) -> bool:
        """Return whether the next token looks like a number, whether valid or not."""
        return self.peek().isdigit() or self.peek() in "+-−."

    def parse_scalar(self) -> Scalar:
        """Return a number of at most 18 digits, or a duration if a unit of time follows it."""
        self.skip_space()
        match = _DIGITS_PATTERN.match(self.text, self.position)
        digits = match[0] if match else ""
        self.check_digits(digits)
        digits_end = self.position + len(digits)
        for unit in _UNITS:
            end = digits_end + len(unit)
            if self.text.startswith(unit, digits_end) and not _is_name_character_at(self.text, end):
                self.position = end
                return Duration(int(digits), unit)
        if _is_name_character_at(self.text, digits_end) or self.text.startswith(".", digits_end):
            self.fail_number()
        self.position = digits_end
        return int(digits)

    def check_digits(self, digits: str) -> None:
        """Fail if the digits of a number are missing, too many, or begin with 0."""
        if not digits:
            self.fail_number()
        if len(digits) > MAX_DIGITS:
            self.fail(f"a number has {len(digits):,} digits", f"at most {MAX_DIGITS} digits")
        if len(digits) > 1 and digits[0] == "0":
            plain = digits.lstrip("0") or "0"
            self.fail(f"the number {digits} begins with 0", _NUMBER_SYNTAX, f"Write {plain}.")

    def fail_number(self) -> NoReturn:
        """Fail at a malformed number; the message suggests the number that is probably meant."""
        token = self.peek_token()
        lookahead, location = self.format_lookahead(), f"(character {self.position + 1})"
        sign = re.fullmatch(r"[+−-]([0-9]{1,18})", token)
        power = re.fullmatch(r"([1-9])[eE]\+?([0-9]{1,2})", token)
        if sign:
            raise InvalidArgument(
                "", f"{lookahead} has a sign {location}", _NUMBER_SYNTAX, f"Write {sign[1]}."
            )
        if power and int(power[2]) < MAX_DIGITS:
            plain = power[1] + "0" * int(power[2])
            raise InvalidArgument(
                "", f"{lookahead} has an exponent {location}", _NUMBER_SYNTAX, f"Write {plain}."
            )
        if re.fullmatch(r"[0-9]*\.[0-9]*[a-z]*", token):
            remedy = "Use a smaller unit: 90s for 1.5m." if token[-1].isalpha() else ""
            raise InvalidArgument(
                "", f"{lookahead} has a decimal point {location}", _NUMBER_SYNTAX, remedy
            )
        raise InvalidArgument("", f"{lookahead} is not a number {location}", _NUMBER_SYNTAX)

    def parse_name(self) -> str:
        """Return an unquoted name in Unicode's composed form."""
        self.skip_space()
        end = self.position
        while _is_name_character_at(self.text, end) or unicodedata.combining(
            self.text[end : end + 1] or "a"
        ):
            end += 1
        name = unicodedata.normalize("NFC", self.text[self.position : end])
        if not is_plain_name(name):
            self.fail_name()
        self.position = end
        return name

    def fail_name(self) -> NoReturn:
        """Fail at text that is not a term."""
        allowed = "a field, a call such as bucket(host, 16), or 'bytes'"
        if self.peek() in "]),\0":
            self.fail(f"a part is missing before {self.format_lookahead()}", allowed)
        problem = f"{self.format_lookahead()} is not a name, a call or a constant"
        self.fail(problem, allowed, _QUOTE_REMEDY if self.peek_token() else "")

    def parse_word(self) -> str:
        """Return a name of ASCII letters, digits and underscores."""
        self.skip_space()
        match = _WORD_PATTERN.match(self.text, self.position)
        if match is None:
            self.fail(f"{self.format_lookahead()} is not a name", "ASCII letters, digits and _")
        self.position = match.end()
        return match[0]

    def parse_quoted_name(self) -> str:
        """Return the field name between double quotes."""
        end = self.text.find('"', self.position + 1)
        if end < 0:
            self.fail("a quoted name is not closed", 'a closing "')
        name = unicodedata.normalize("NFC", self.text[self.position + 1 : end])
        if mistake := find_name_mistake(name):
            self.fail(mistake.problem, mistake.expected, mistake.remedy)
        self.position = end + 1
        return name

    def parse_constant(self) -> bytes:
        """Return the bytes of the constant between single quotes."""
        value = bytearray()
        start = self.position
        self.position += 1
        while (character := self.text[self.position : self.position + 1]) != "'":
            if not character:
                self.fail("a constant is not closed", "a closing '", at=start)
            if character == "\\":
                value += self.parse_escape()
            elif unicodedata.category(character)[0] == "C":
                problem = f"a constant contains the unprintable character {character!r}"
                remedy = _format_escape_remedy(character)
                self.fail(problem, "printable characters, or \\xHH", remedy)
            else:
                value += character.encode()
                self.position += 1
        self.position += 1
        if not value:
            self.fail("a constant is empty", "at least one byte", at=start)
        return bytes(value)

    def parse_escape(self) -> bytes:
        r"""Return the byte of an escape sequence such as `\x00`."""
        if self.text[self.position + 1 : self.position + 2] in ("'", "\\"):
            self.position += 2
            return self.text[self.position - 1].encode()
        match = _ESCAPE_PATTERN.match(self.text, self.position)
        if match is None:
            shown = self.text[self.position : self.position + 4]
            self.fail(f"{shown} is not an escape sequence", "\\xHH, \\' or \\\\")
        self.position = match.end()
        return bytes.fromhex(match[1])

    def peek(self) -> str:
        """Skip white space and return the next character without taking it; NUL at the end."""
        self.skip_space()
        return self.text[self.position : self.position + 1] or "\0"

    def skip_space(self) -> None:
        while self.position < len(self.text) and self.text[self.position] in " \t\r\n":
            self.position += 1

    def expect(self, character: str, allowed: str = "") -> None:
        """Move past a character, or fail if another one is next."""
        if self.peek() != character:
            self.fail(
                f"found {self.format_lookahead()} instead of {character}", allowed or character
            )
        self.position += 1
        self.skip_space()

    def expect_end(self) -> None:
        if self.peek() != "\0" or self.position < len(self.text):
            self.fail(f"{self.format_lookahead()} follows the call", "nothing after its )")

    def peek_token(self) -> str:
        """Return the text from here to the next bracket, comma, quote or space."""
        end = _TOKEN_END_PATTERN.search(self.text, self.position)
        return self.text[self.position : end.start() if end else len(self.text)]

    def format_lookahead(self) -> str:
        """Return the next token in quotes, or `the end`, for a message."""
        token = self.peek_token() or self.text[self.position : self.position + 1]
        return _format_token(token) if token else "the end"

    def fail(
        self, problem: str, expected: str = "", remedy: str = "", *, at: int | None = None
    ) -> NoReturn:
        """Raise an error at a position, by default the current one."""
        position = self.position if at is None else at
        if error := find_arithmetic_mistake(self.text, self.part_start, position):
            raise error
        raise InvalidArgument("", f"{problem} (character {position + 1})", expected, remedy)


def _is_name_character_at(text: str, at: int) -> bool:
    return at < len(text) and is_name_character(text[at])


def _format_escape_remedy(character: str) -> str:
    """Return the sentence that shows how to write an unprintable character with escapes."""
    if unicodedata.category(character) == "Cs":
        return "A lone surrogate has no UTF-8 bytes: write the bytes with \\xHH."
    escapes = (f"\\x{byte:02x}" for byte in character.encode())
    return f"Write {''.join(escapes)}."


def _format_token(token: str) -> str:
    """Return a token in quotes for a message, shortened if it is long."""
    return (
        repr(token)
        if len(token) <= _MAX_SHOWN_CHARACTERS
        else f"{token[:_MAX_SHOWN_CHARACTERS]!r}…"
    )
