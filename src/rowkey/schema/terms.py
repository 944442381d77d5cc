"""The terms of a row key: constants, fields and function calls, as they are parsed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from rowkey.errors import Mistake
from rowkey.schema.quantities import Duration

MAX_NAME_CHARACTERS = 200
"""Maximum length of a field's name: our own limit, so that messages stay readable."""

Scalar = int | Duration
"""A number in a key: a whole number or a duration."""


@dataclass(frozen=True, slots=True)
class Constant:
    """Constant bytes in a key, written between quotes in the notation.

    >>> str(Constant(b"~\\x00"))
    "'~\\\\x00'"
    """

    value: bytes

    def __str__(self) -> str:
        return f"'{_format_constant(self.value)}'"


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of the row in one of its encodings.

    >>> str(FieldRef("host", "fixed", (16,)))
    'host:fixed(16)'
    """

    name: str
    encoding: str = ""
    arguments: tuple[Scalar, ...] = ()

    def __str__(self) -> str:
        text = format_name(self.name)
        if self.encoding:
            text += f":{self.encoding}"
        if self.arguments:
            text += f"({', '.join(map(str, self.arguments))})"
        return text


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a transform: first terms, then numbers, then named options.

    >>> str(FunctionCall("bucket", (FieldRef("host"),), (16,), {"hash": "crc32"}))
    'bucket(host, 16, hash=crc32)'
    """

    name: str
    terms: tuple[Term, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    options: dict[str, Scalar | str | Constant] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, self.terms, self.scalars, frozenset(self.options.items())))

    def __str__(self) -> str:
        named = (f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}({', '.join([*map(str, (*self.terms, *self.scalars)), *named])})"


Term = Constant | FieldRef | FunctionCall


def is_plain_name(name: str) -> bool:
    """Return whether a name needs no quotes: a letter, then letters, digits and underscores.

    >>> is_plain_name("straße_1"), is_plain_name("log-event")
    (True, False)
    """
    is_plain_ascii = name.isascii() and name.isidentifier()
    return name[:1].isalpha() and (is_plain_ascii or all(map(is_name_character, name)))


def is_name_character(character: str) -> bool:
    """Return whether an unquoted name may contain a character after its first."""
    return character == "_" or character.isalpha() or character.isdecimal()


def format_name(name: str) -> str:
    """Return a field's name as it is written in a key, quoted if that is needed."""
    return name if is_plain_name(name) else f'"{name}"'


def find_name_mistake(name: str) -> Mistake | None:
    r"""Return the mistake in a field's name; None if the name is valid.

    Args:
        name: the name, without the quotes it may need in a key.

    >>> find_name_mistake("log-event") is None
    True
    >>> print(find_name_mistake("a\\b"))
    'a\\b' cannot be written in a key; expected printable characters except \ and ".
    """
    allowed = 'printable characters except \\ and "'
    if not name:
        return Mistake("", "the name of a field is empty", "at least one character")
    if len(name) > MAX_NAME_CHARACTERS:
        problem = f"{name[:20]!r}… has {len(name):,} characters"
        return Mistake("", problem, f"at most {MAX_NAME_CHARACTERS} characters")
    if any(c in '\\"' or unicodedata.category(c)[0] == "C" for c in name):
        return Mistake("", f"{name!r} cannot be written in a key", allowed)
    composed = unicodedata.normalize("NFC", name)
    if composed != name:
        problem = f"{name!r} is not in the Unicode form NFC"
        return Mistake("", problem, "composed characters", f"Write {composed}.")
    return None


def format_key(terms: tuple[Term, ...]) -> str:
    """Return a key in bracket notation; `key_notation.parse_key` returns the same terms again.

    >>> format_key((FunctionCall("bucket", (FieldRef("host"),), (16,)), FieldRef("host")))
    '[bucket(host, 16)][host]'
    """
    return "".join(f"[{term}]" for term in terms)


def find_field_refs(term: Term) -> Iterator[FieldRef]:
    """Yield every field that a term reads, in order, with repetitions."""
    if isinstance(term, FieldRef):
        yield term
    elif isinstance(term, FunctionCall):
        for inner in term.terms:
            yield from find_field_refs(inner)


def _format_constant(value: bytes) -> str:
    """Return constant bytes as they are written between quotes, unprintable ones as `\\xHH`."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text and "'" not in text and "\\" not in text:
        return text
    return "".join(_format_constant_byte(byte) for byte in value)


def _format_constant_byte(byte: int) -> str:
    """Return a byte of a constant as it is written between quotes."""
    if byte in b"'\\":
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
