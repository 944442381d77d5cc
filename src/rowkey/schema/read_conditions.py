"""Parser of the conditions and the sort order of a read.

```
where    = "" | test { "and" test } ;
test     = name ( "=" | "<" | "<=" | ">" | ">=" ) operand
         | name "in" ( operand | "(" operand { "," operand } ")" )
         | name "between" operand "and" operand
         | name "starts" "with" operand ;
operand  = "?" | ":" word | "'" text "'" | bare ;
order    = "" | name [ "asc" | "desc" ] { "," name [ "asc" | "desc" ] } ;
```

A bare value ends at a space, comma, quote or parenthesis: `host = web-1 and ts >= 2021-01-01`.
It is a number if it is written as one. Anything else needs quotes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name
from rowkey.schema.terms import format_name

MAX_CONDITION_CHARACTERS = 4_000
MAX_CONDITIONS = 64

_TOKEN_PATTERN = re.compile(
    r"""\s*(?:
        (?P<parameter>\?|:[A-Za-z]\w*)
      | (?P<text>'(?:[^']|'')*')
      | (?P<operator><=|>=|<|>|=|\(|\)|,)
      | (?P<quoted>"[^"\\]+")
      | (?P<word>[^\W\d](?:\w|[^\x00-\x7f\s])*)
      | (?P<unknown>\S.{,23})
    )""",
    re.VERBOSE | re.DOTALL,
)
_OPERAND_PATTERN = re.compile(
    r"""\s*(?:
        (?P<parameter>(?:\?|:[A-Za-z]\w*)(?![^\s,)]))
      | (?P<text>'(?:[^']|'')*')
      | (?P<bare>[^\s,()'"<>=?:\[{][^\s,()'"]*)
    )""",
    re.VERBOSE,
)
_NUMBER_PATTERN = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_OPERATOR_NAMES = "one of =, <, <=, >, >=, in, between, starts with"
_NULL_WORDS = frozenset({"null", "none", "nil"})
_KEYWORDS = frozenset({"and", "in", "between", "starts", "with", "asc", "desc"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that is passed when the read runs: `?`, numbered from 0, or `:name`."""

    name: int | str

    def __str__(self) -> str:
        return "?" if isinstance(self.name, int) else f":{self.name}"


Operand = Parameter | str | int | Decimal


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one field; `operator` is one of = < <= > >= in between starts."""

    field: str
    operator: str
    operands: tuple[Operand, ...]

    @property
    def needs_value(self) -> bool:
        """Return whether example values of the condition are taken from rows without null there.

        Not so where `=` and `in` name all their values: nobody asks for null.
        """
        has_parameter = any(isinstance(operand, Parameter) for operand in self.operands)
        return has_parameter or self.operator not in ("=", "in")

    def __str__(self) -> str:
        name = _format_field_name(self.field)
        operand_texts = [_format_operand(operand) for operand in self.operands]
        if self.operator == "between":
            return f"{name} between {operand_texts[0]} and {operand_texts[1]}"
        if self.operator == "starts":
            return f"{name} starts with {operand_texts[0]}"
        if self.operator == "in" and not (len(operand_texts) == 1 and operand_texts[0][0] in "?:"):
            return f"{name} in ({', '.join(operand_texts)})"
        return f"{name} {self.operator} {operand_texts[0]}"


@dataclass(frozen=True, slots=True)
class Ordering:
    """One field of a sort order."""

    field: str
    descending: bool = False

    def __str__(self) -> str:
        name = _format_field_name(self.field)
        return f"{name} desc" if self.descending else name


def parse_where(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a read, joined by `and`; none for an empty text.

    Raises:
        InvalidArgument: the text does not follow the grammar; the message has the position.

    Cost: one pass over at most 4,000 characters.

    >>> [str(test) for test in parse_where("host = ? and ts between :a and :b")]
    ['host = ?', 'ts between :a and :b']
    """
    reader = _ConditionParser(text)
    conditions: list[Condition] = []
    while reader.has_more():
        if conditions:
            reader.expect_word("and")
        if len(conditions) == MAX_CONDITIONS:
            reader.fail("there are too many conditions", f"at most {MAX_CONDITIONS}")
        conditions.append(reader.parse_condition())
    return tuple(conditions)


def parse_order(text: str) -> tuple[Ordering, ...]:
    """Return the sort order of a read, most significant field first.

    Raises:
        InvalidArgument: the text is not a list of fields with `asc` or `desc`.

    >>> parse_order("host, ts desc")
    (Ordering(field='host', descending=False), Ordering(field='ts', descending=True))
    """
    reader = _ConditionParser(text)
    orderings: list[Ordering] = []
    while reader.has_more():
        if orderings:
            reader.expect_word(",")
        orderings.append(Ordering(reader.parse_name(), reader.parse_direction()))
    return tuple(orderings)


class _ConditionParser:
    """A recursive descent parser of conditions and sort orders."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CONDITION_CHARACTERS:
            raise InvalidArgument(
                "",
                f"the text has {len(text):,} characters",
                f"at most {MAX_CONDITION_CHARACTERS:,} characters",
            )
        self.text = text
        self.position = 0
        self.token_start = 0
        self.positional_count = 0
        self.lexeme_type = ""
        self.token = ""
        self.advance()

    def advance(self) -> str:
        """Move to the next token and return the previous one; text that is none is `unknown`."""
        previous = self.token
        match = _TOKEN_PATTERN.match(self.text, self.position)
        self.lexeme_type = (match.lastgroup or "") if match else ""
        self.token = match[self.lexeme_type] if match else ""
        self.token_start = match.start(self.lexeme_type) if match else len(self.text)
        self.position = match.end() if match else len(self.text)
        return previous

    def has_more(self) -> bool:
        return bool(self.lexeme_type)

    def peek(self) -> str:
        """Return the next token without moving, words in lower case."""
        return self.token.lower() if self.lexeme_type == "word" else self.token

    def expect_word(self, word: str) -> None:
        """Move past a keyword or a comma, or fail if another token is next."""
        if self.peek() != word:
            remedy = (
                "Declare one read for each side of the or, or use in."
                if self.peek() == "or"
                else ""
            )
            self.fail(f"found {self.format_lookahead()} instead of {word}", word, remedy)
        self.advance()

    def parse_name(self) -> str:
        """Return the name of a field, in the Unicode form NFC as declared names are."""
        if self.lexeme_type == "quoted":
            return unicodedata.normalize("NFC", self.advance()[1:-1])
        if self.lexeme_type != "word" or self.peek() in _KEYWORDS:
            self.fail(f"{self.format_lookahead()} is not the name of a field", "a field")
        return unicodedata.normalize("NFC", self.advance())

    def parse_direction(self) -> bool:
        """Parse an optional `asc` or `desc` and return whether it is `desc`."""
        word = self.peek()
        if self.lexeme_type == "word" and word not in ("asc", "desc"):
            remedy = suggest_name(word, ("asc", "desc"))
            self.fail(
                f"{self.format_lookahead()} is not a sort direction", "asc, desc or a comma", remedy
            )
        if self.lexeme_type == "word":
            self.advance()
        return word == "desc"

    def parse_condition(self) -> Condition:
        """Return one condition: a field, an operator and its operands."""
        field = self.parse_name()
        operator = self.peek()
        if operator in ("=", "<", "<=", ">", ">="):
            self.advance()
            return Condition(field, operator, (self.parse_operand(),))
        if operator == "in":
            self.advance()
            return Condition(field, "in", self.parse_operands())
        if operator == "between":
            self.advance()
            low = self.parse_operand()
            self.expect_word("and")
            return Condition(field, "between", (low, self.parse_operand()))
        if operator == "starts":
            self.advance()
            self.expect_word("with")
            return Condition(field, "starts", (self.parse_operand(),))
        remedy = f"Write {field} starts with 'x'." if operator == "like" else ""
        if operator == "is":
            remedy = f"Write {field} = ? and pass null as its value."
        return self.fail(f"{self.format_lookahead()} is not an operator", _OPERATOR_NAMES, remedy)

    def parse_operands(self) -> tuple[Operand, ...]:
        """Return the operands of `in`, in parentheses or alone."""
        if self.peek() != "(":
            return (self.parse_operand(),)
        self.advance()
        operands = [self.parse_operand()]
        while self.peek() == ",":
            self.advance()
            operands.append(self.parse_operand())
        self.expect_word(")")
        return tuple(operands)

    def parse_operand(self) -> Operand:
        """Return a parameter, a text or a number."""
        match = _OPERAND_PATTERN.match(self.text, self.token_start)
        lexeme_type = (match.lastgroup or "") if match else ""
        token = match[lexeme_type] if match else self.token
        is_keyword = token.lower() in _KEYWORDS | _NULL_WORDS
        if match is None or (lexeme_type == "bare" and is_keyword):
            remedy = f"Put quotes around it: '{token}'." if is_keyword else ""
            if token.lower() in _NULL_WORDS:
                remedy = "Write ? and pass null as its value."
            if token == "=":  # noqa: S105 - a token of the grammar
                remedy = "Write = once."
            self.fail(
                f"{self.format_lookahead()} is not a value",
                "a word, a number, 'text', ? or :name",
                remedy,
            )
        self.position = match.end()
        self.advance()
        if lexeme_type == "text":
            return token[1:-1].replace("''", "'")
        if lexeme_type == "bare":
            return _parse_bare_value(token)
        if token != "?":  # noqa: S105 - a token of the grammar
            return Parameter(token[1:])
        self.positional_count += 1
        return Parameter(self.positional_count - 1)

    def format_lookahead(self) -> str:
        """Return the next token in quotes, or `the end`, for a message."""
        return repr(self.token[:24]) if self.lexeme_type else "the end"

    def fail(self, problem: str, expected: str, remedy: str = "") -> NoReturn:
        """Raise an error at the current token."""
        if self.lexeme_type == "unknown":
            problem, expected, remedy = _describe_unknown_token(self.token, expected)
        raise InvalidArgument("", f"{problem} (character {self.token_start + 1})", expected, remedy)


def _parse_bare_value(text: str) -> str | int | Decimal:
    """Return a value without quotes: a number where its digits are those that it is printed with.

    >>> _parse_bare_value("-5"), _parse_bare_value("007"), _parse_bare_value("2021-01-01")
    (-5, '007', '2021-01-01')
    """
    if not _NUMBER_PATTERN.fullmatch(text):
        return text
    number = Decimal(text) if "." in text else int(text)
    return number if _format_operand(number) == text else text


def _describe_unknown_token(token: str, expected: str) -> tuple[str, str, str]:
    """Return problem, expectation and remedy for text that does not begin with a token."""
    if token[0] == "'":
        return "a text is not closed", "a closing '", "Write ' inside a text as ''."
    if token[0] == '"':
        return "a quoted name is not closed", 'a closing "', ""
    remedy = ""
    if token[:2] in ("!=", "<>"):
        remedy = "Inequality is not supported: list the wanted values with in."
    if token[0] == "[":
        remedy = "Write in ('a', 'b'), between 1 and 2, or quotes around a value."
    return f"{token!r} is not valid syntax", expected, remedy


def _format_field_name(field: str) -> str:
    """Return a field's name, quoted if it is a keyword or not a plain name."""
    return f'"{field}"' if field.lower() in _KEYWORDS else format_name(field)


def _format_operand(operand: Operand) -> str:
    """Return an operand as it is written in a condition."""
    if isinstance(operand, Decimal):
        return f"{operand:f}"
    return "'" + operand.replace("'", "''") + "'" if isinstance(operand, str) else str(operand)
