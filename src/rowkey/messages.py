"""Text of messages: plurals, formatted values, and safe output of text from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Self


class Message(str):
    """An English sentence with the key and arguments by which it is translated.

    Args:
        key: names the sentence in the files of other languages, such as `residue.time_within`.
        text: the English sentence, with names of arguments between braces.
        arguments: values by name; a value may be a message itself.

    >>> message = Message("residue.time_within", "the exact time within each {length}", length="1h")
    >>> message, message.key, message.arguments
    ('the exact time within each 1h', 'residue.time_within', {'length': '1h'})
    """

    __slots__ = ("arguments", "key")

    key: str
    arguments: dict[str, Any]

    def __new__(cls, key: str, text: str, /, **arguments: Any) -> Self:
        message = super().__new__(cls, text.format(**arguments))
        message.key = key
        message.arguments = arguments
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.key, self.replace("{", "{{").replace("}", "}}")), self.arguments


MAX_FRAGMENT_CHARS = 400
"""Maximum characters of a part of a message: longer text, as of a hostile file, is cut."""


_FRAGMENT_TAIL_CHARS = 80
"""Characters kept from the end of a longer text, where a message explains a long name."""


def shorten_text(text: str) -> str:
    r"""Return a text on one line, with unprintable characters escaped, shortened if it is long.

    >>> shorten_text("a\nb")
    'a\\nb'
    """
    cut = text
    if len(text) > MAX_FRAGMENT_CHARS:
        cut = f"{text[: MAX_FRAGMENT_CHARS - _FRAGMENT_TAIL_CHARS]}…{text[-_FRAGMENT_TAIL_CHARS:]}"
    return escape_text(cut)


def shorten_texts(value: Any) -> Any:
    """Return a JSON value with every text in it shortened, names of fields among them.

    >>> shorten_texts({"a": ["b\\n", 1]})
    {'a': ['b\\\\n', 1]}
    """
    if isinstance(value, dict):
        return {shorten_text(name): shorten_texts(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shorten_texts(one) for one in value]
    return shorten_text(value) if isinstance(value, str) else value


def escape_text(text: str) -> str:
    r"""Return a text on one line, with unprintable characters escaped.

    >>> escape_text("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isprintable() else "".join(map(_escape_character, text))


def escape_json(text: str) -> str:
    r"""Return a JSON document with unprintable characters escaped, equal when it is parsed.

    >>> print(escape_json('["a\x9b", "用户"]'))
    ["a\u009b", "用户"]
    """
    lines = text.split("\n")  # nearly all of them print, and a character at a time is slow
    return "\n".join(
        line if line.isprintable() else "".join(map(_escape_json_character, line)) for line in lines
    )


def _escape_json_character(character: str) -> str:
    """Return a character as JSON escapes if it is not printable."""
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def _escape_character(character: str) -> str:
    """Return a character as a Python escape if it is not printable."""
    return character if character.isprintable() else repr(character)[1:-1]


def pluralize(count: float, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is one.

    >>> pluralize(1, "row"), pluralize(1_200, "row")
    ('1 row', '1,200 rows')
    >>> pluralize(1.0, "range"), pluralize(1.04, "range")
    ('1 range', '1.0 ranges')
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count:,.0f} {noun}s" if count == int(count) else f"{count:,.1f} {noun}s"


def format_mean(number: float) -> str:
    """Return a mean count, with one decimal below 100 unless it is whole.

    >>> [format_mean(number) for number in (16.0, 6.81, 8_495.53)]
    ['16', '6.8', '8,496']
    """
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"


def format_number(number: float, digits: int = 3) -> str:
    """Return a number of 0 or more with some significant digits, and never with an exponent.

    >>> [format_number(number) for number in (5, 1_228.8, 0.0213, 21.38, 0.000012)]
    ['5', '1,229', '0.0213', '21.4', '0.000012']
    >>> [format_number(number, 2) for number in (1.25, 12_500.0, 0.034)]
    ['1.2', '12,500', '0.034']
    """
    if number >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{Decimal(f'{number:.{digits}g}'):f}"


def format_days(days: float) -> str:
    """Return a time in days, or in hours if it is shorter than two days.

    >>> format_days(30.0), format_days(0.02)
    ('30 days', '0.48 h')
    """
    return f"{format_number(days)} days" if days >= 2 else f"{format_number(24 * days)} h"


def join_names(names: Sequence[str]) -> str:
    """Join names with commas and a final `and`.

    >>> join_names(["a"]), join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def format_value(value: object) -> str:
    """Return a value as messages show it; a very long number is described by its bits.

    >>> format_value("a"), format_value(10**5000)
    ("'a'", 'a number of 16,610 bits')
    """
    if isinstance(value, int) and value.bit_length() > _MAX_NUMBER_BITS:
        return f"a number of {value.bit_length():,} bits"
    try:
        return repr(value)
    except ValueError:  # a list with such a number in it
        return "a value too long to be shown"


_MAX_NUMBER_BITS = 256
"""Bits; no field holds more than 128, and Python writes out no number of many thousands."""


def suggest_name(
    word: str, known_names: Iterable[str], synonyms: Mapping[str, str] | None = None
) -> str:
    """Return "Did you mean …?" with the most similar known name; empty if none is similar.

    Args:
        word: the unknown name.
        known_names: the names that are allowed.
        synonyms: the known name that each name of other systems stands for, in lower case.

    Cost: bounded, whatever a hostile file holds: 64 characters against 1,000 words.

    >>> suggest_name("Tiemstamp_ms", ["text", "timestamp_ms"])
    'Did you mean timestamp_ms?'
    >>> suggest_name("String", ["text", "timestamp_ms"], {"string": "text"})
    'Did you mean text?'
    """
    from difflib import get_close_matches

    if synonym := (synonyms or {}).get(word.lower()):
        return f"Did you mean {synonym}?"
    candidates = {name.lower(): name for name in islice(known_names, 1_000) if len(name) <= 64}
    near = get_close_matches(word[:64].lower(), candidates, n=1, cutoff=_MIN_SIMILARITY)
    return f"Did you mean {candidates[near[0]]}?" if near and near[0] else ""


_MIN_SIMILARITY = 0.7
"""Minimum similarity of a suggestion: `hots` is host, `colour` is not cluster. Tried by hand."""
