"""How a table is asked: conditions over field values, and the order asked for.

```
where    = "" | test { "and" test } ;
test     = name ( "=" | "<" | "<=" | ">" | ">=" ) operand
         | name "in" ( operand | "(" operand { "," operand } ")" )
         | name "between" operand "and" operand
         | name "starts" "with" operand ;
operand  = "?" | ":" word | "'" text "'" | number ;
order    = "" | name [ "asc" | "desc" ] { "," name [ "asc" | "desc" ] } ;
```
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from rowkey.errors import Refused, did_you_mean
from rowkey.schema.terms import print_name

MOST_CHARACTERS = 4_000
MOST_TESTS = 64

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<parameter>\?|:[A-Za-z]\w*)
      | (?P<text>'(?:[^']|'')*')
      | (?P<number>-?[0-9]{1,40}(?:\.[0-9]{1,40})?)
      | (?P<operator><=|>=|<|>|=|\(|\)|,)
      | (?P<quoted>"[^"\\]+")
      | (?P<word>[^\W\d]\w*)
    )""",
    re.VERBOSE,
)
_TESTS = "= < <= > >= in, between, starts with"
_NULLS = frozenset({"null", "none", "nil"})
_KEYWORDS = frozenset({"and", "in", "between", "starts", "with", "asc", "desc"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value given when the read is asked: `?` by position from 0, or `:name`."""

    name: int | str

    def __str__(self) -> str:
        return "?" if isinstance(self.name, int) else f":{self.name}"


Operand = Parameter | str | int | Decimal


@dataclass(frozen=True, slots=True)
class Condition:
    """One test over one field; `operator` is one of = < <= > >= in between starts."""

    field: str
    operator: str
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        name = _print_name(self.field)
        shown = [_print_operand(operand) for operand in self.operands]
        if self.operator == "between":
            return f"{name} between {shown[0]} and {shown[1]}"
        if self.operator == "starts":
            return f"{name} starts with {shown[0]}"
        if self.operator == "in" and not (len(shown) == 1 and shown[0][0] in "?:"):
            return f"{name} in ({', '.join(shown)})"
        return f"{name} {self.operator} {shown[0]}"


@dataclass(frozen=True, slots=True)
class Ordering:
    """One field of the order asked for."""

    field: str
    descending: bool = False

    def __str__(self) -> str:
        name = _print_name(self.field)
        return f"{name} desc" if self.descending else name


def parse_where(text: str) -> tuple[Condition, ...]:
    """The conditions of a read, joined by `and`; none for an empty text.

    Raises:
        Refused: the text does not follow the grammar; says where and what stands there.

    Cost: one pass over at most 4,000 characters.

    >>> [str(test) for test in parse_where("host = ? and ts between :a and :b")]
    ['host = ?', 'ts between :a and :b']
    """
    reader = _Reader(text)
    conditions: list[Condition] = []
    while reader.more():
        if conditions:
            reader.take("and")
        if len(conditions) == MOST_TESTS:
            reader.fail("a condition too many", f"at most {MOST_TESTS}")
        conditions.append(reader.condition())
    return tuple(conditions)


def parse_order(text: str) -> tuple[Ordering, ...]:
    """The order of a read, most significant field first.

    Raises:
        Refused: the text is not a list of fields with `asc` or `desc`.

    >>> parse_order("host, ts desc")
    (Ordering(field='host', descending=False), Ordering(field='ts', descending=True))
    """
    reader = _Reader(text)
    orderings: list[Ordering] = []
    while reader.more():
        if orderings:
            reader.take(",")
        orderings.append(Ordering(reader.name(), reader.descends()))
    return tuple(orderings)


class _Reader:
    """A cursor over the tokens of one condition text."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise Refused(
                "", f"the text is {len(text):,} characters long", f"at most {MOST_CHARACTERS:,}"
            )
        self.text = unicodedata.normalize("NFC", text)
        self.at = 0
        self.start = 0
        self.asked = 0
        self.kind = ""
        self.token = ""
        self.advance()

    def advance(self) -> str:
        """Move to the next token and give the one just left."""
        left = self.token
        match = _TOKEN.match(self.text, self.at)
        if match is None and self.text[self.at :].strip():
            rest = self.text[self.at :].lstrip()
            self.start = len(self.text) - len(rest)
            self.fail(*_not_understood(rest))
        self.kind = (match.lastgroup or "") if match else ""
        self.token = match[self.kind] if match else ""
        self.start = match.start(self.kind) if match else len(self.text)
        self.at = match.end() if match else len(self.text)
        return left

    def more(self) -> bool:
        return bool(self.kind)

    def peek(self) -> str:
        return self.token.lower() if self.kind == "word" else self.token

    def take(self, word: str) -> None:
        if self.peek() != word:
            remedy = "Declare a read for each side of an or." if self.peek() == "or" else ""
            self.fail(f"{self.shown()} stands where {word} should", word, remedy)
        self.advance()

    def name(self) -> str:
        if self.kind == "quoted":
            return self.advance()[1:-1]
        if self.kind != "word" or self.peek() in _KEYWORDS:
            self.fail(f"{self.shown()} is not the name of a field", "a field")
        return self.advance()

    def descends(self) -> bool:
        """Whether `desc` comes next; `asc` and nothing say no."""
        word = self.peek()
        if self.kind == "word" and word not in ("asc", "desc"):
            remedy = did_you_mean(word, ("asc", "desc"))
            self.fail(f"{self.shown()} is not a direction", "asc or desc, or a comma", remedy)
        if self.kind == "word":
            self.advance()
        return word == "desc"

    def condition(self) -> Condition:
        field = self.name()
        operator = self.peek()
        if operator in ("=", "<", "<=", ">", ">="):
            self.advance()
            return Condition(field, operator, (self.operand(),))
        if operator == "in":
            self.advance()
            return Condition(field, "in", self.operands())
        if operator == "between":
            self.advance()
            low = self.operand()
            self.take("and")
            return Condition(field, "between", (low, self.operand()))
        if operator == "starts":
            self.advance()
            self.take("with")
            return Condition(field, "starts", (self.operand(),))
        remedy = f"Write {field} starts with 'x'." if operator == "like" else ""
        if operator == "is":
            remedy = f"Write {field} = ? and give null as its value."
        return self.fail(f"{self.shown()} is not a test", _TESTS, remedy)

    def operands(self) -> tuple[Operand, ...]:
        if self.peek() != "(":
            return (self.operand(),)
        self.advance()
        found = [self.operand()]
        while self.peek() == ",":
            self.advance()
            found.append(self.operand())
        self.take(")")
        return tuple(found)

    def operand(self) -> Operand:
        kind, token = self.kind, self.token
        if kind not in ("parameter", "text", "number"):
            remedy = f"Write '{token}' between quotes." if kind == "word" else ""
            if kind == "word" and token.lower() in _NULLS:
                remedy = "Write ? and give null as its value."
            self.fail(f"{self.shown()} is not a value", "?, :name, 'text' or a number", remedy)
        self.advance()
        if kind == "text":
            return token[1:-1].replace("''", "'")
        if kind == "number":
            return Decimal(token) if "." in token else int(token)
        if token != "?":  # noqa: S105 - a token of the grammar
            return Parameter(token[1:])
        self.asked += 1
        return Parameter(self.asked - 1)

    def shown(self) -> str:
        """What stands here, quoted, or that nothing does."""
        return repr(self.token[:24]) if self.kind else "the end"

    def fail(self, what: str, allowed: str, remedy: str = "") -> NoReturn:
        raise Refused("", f"{what} (character {self.start + 1})", allowed, remedy)


def _not_understood(rest: str) -> tuple[str, str, str]:
    """What is wrong with a text that begins with no token."""
    if rest[0] == "'":
        return "a text has no end", "a closing '", "Write ' inside a text as ''."
    if rest[0] == '"':
        return "a quoted name has no end", 'a closing "', ""
    remedy = "Ask for the others and leave it out." if rest[:2] in ("!=", "<>") else ""
    return f"{rest[:24]!r} is not understood", _TESTS, remedy


def _print_name(field: str) -> str:
    """A field's name, between quotes where it would read as something else."""
    return f'"{field}"' if field.lower() in _KEYWORDS else print_name(field)


def _print_operand(operand: Operand) -> str:
    if isinstance(operand, Decimal):
        return f"{operand:f}"
    return "'" + operand.replace("'", "''") + "'" if isinstance(operand, str) else str(operand)
