"""The words a key is declared in, before any of them is bound to bytes."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.errors import Mistake
from rowkey.schema.quantities import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_NAME = 200
"""Characters of a field's name: ours, for messages and columns that people read."""

Scalar = int | Duration
"""What stands as a number in a key: a count, or a length of time."""


@dataclass(frozen=True, slots=True)
class Constant:
    """Bytes written as they are, between quotes in the notation.

    >>> str(Constant(b"~\\x00"))
    "'~\\\\x00'"
    """

    value: bytes

    def __str__(self) -> str:
        return f"'{_quoted(self.value)}'"


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field in one of its encodings.

    >>> str(FieldRef("host", "fixed", (16,)))
    'host:fixed(16)'
    """

    name: str
    encoding: str = ""
    arguments: tuple[Scalar, ...] = ()

    def __str__(self) -> str:
        text = print_name(self.name)
        if self.encoding:
            text += f":{self.encoding}"
        if self.arguments:
            text += f"({', '.join(map(str, self.arguments))})"
        return text


@dataclass(frozen=True, slots=True)
class Call:
    """A transform over other terms: terms first, then scalars, then named options.

    >>> str(Call("bucket", (FieldRef("host"),), (16,), {"hash": "crc32"}))
    'bucket(host, 16, hash=crc32)'
    """

    kind: str
    terms: tuple[Term, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    options: dict[str, Scalar | str | Constant] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.kind, self.terms, self.scalars, frozenset(self.options.items())))

    def __str__(self) -> str:
        named = (f"{name}={value}" for name, value in self.options.items())
        return f"{self.kind}({', '.join([*map(str, (*self.terms, *self.scalars)), *named])})"


Term = Constant | FieldRef | Call


def is_plain_name(name: str) -> bool:
    """Whether a name needs no quotes: a letter, then letters, digits and underscores.

    >>> is_plain_name("straße_1"), is_plain_name("log-event")
    (True, False)
    """
    return bool(name) and name[0].isalpha() and all(is_name_character(c) for c in name)


def is_name_character(character: str) -> bool:
    """Whether a character may stand in an unquoted name after the first."""
    return character == "_" or character.isalpha() or character.isdecimal()


def print_name(name: str) -> str:
    """A field's name as it stands in a key, between quotes where it needs them."""
    return name if is_plain_name(name) else f'"{name}"'


def name_mistake(name: str) -> Mistake | None:
    r"""What is wrong with the name of a field, if anything is.

    Args:
        name: the name, without the quotes it may need in a key.

    >>> name_mistake("log-event") is None
    True
    >>> print(name_mistake("a\\b"))
    'a\\b' cannot be named in a key; expected characters that print, without \ and ".
    """
    allowed = 'characters that print, without \\ and "'
    if not name:
        return Mistake("", "a field's name is empty", "one character or more")
    if len(name) > LONGEST_NAME:
        what = f"{name[:20]!r}… has {len(name):,} characters"
        return Mistake("", what, f"at most {LONGEST_NAME}")
    if any(c in '\\"' or unicodedata.category(c)[0] == "C" for c in name):
        return Mistake("", f"{name!r} cannot be named in a key", allowed)
    composed = unicodedata.normalize("NFC", name)
    if composed != name:
        what = f"{name!r} is not in Unicode's composed form, in which keys are read"
        return Mistake("", what, "NFC", f"Write {composed}.")
    return None


def print_key(terms: tuple[Term, ...]) -> str:
    """The key in bracket notation; `notation.parse` gives the same terms back.

    >>> print_key((Call("bucket", (FieldRef("host"),), (16,)), FieldRef("host")))
    '[bucket(host, 16)][host]'
    """
    return "".join(f"[{term}]" for term in terms)


def fields_of(term: Term) -> Iterator[FieldRef]:
    """Every field a term reads, in order, repeats included."""
    if isinstance(term, FieldRef):
        yield term
    elif isinstance(term, Call):
        for inner in term.terms:
            yield from fields_of(inner)


def _quoted(value: bytes) -> str:
    """Bytes as the characters between the quotes: text where it is text, `\\xHH` elsewhere."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text and "'" not in text and "\\" not in text:
        return text
    return "".join(_quoted_byte(byte) for byte in value)


def _quoted_byte(byte: int) -> str:
    if byte in b"'\\":
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
