"""Paths of mistakes, `reads[0].name`: how they are written, shortened and put in order."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rowkey.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rowkey.errors import Mistake

_NUMBERS = re.compile(r"\[(\d{1,9})\]")
_STEPS = re.compile(r'"(?:[^"\\]|\\.)*"|[.\[]')
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as it is printed: names as TOML takes them, so bare or in quotes.

    >>> path_text(("reads", 0, "name")), path_text(("fields", "a.b", "of"))
    ('reads[0].name', 'fields."a.b".of')
    >>> path_text(("fields", "用户"))
    'fields."用户"'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{_step(step)}" if text else _step(step)
    return text


def needs_quotes(name: str) -> bool:
    """Whether a name is no bare key of TOML."""
    return not _BARE.fullmatch(name)


@lru_cache(maxsize=1024)  # a file of thousands of entries has few words
def _step(name: str) -> str:
    """A name as TOML takes it; what does not print is escaped as TOML does it."""
    return basic_string(name) if needs_quotes(name) else name


def basic_string(text: str) -> str:
    r"""A text as a TOML string on one line: JSON's escapes, and TOML's of what does not print.

    >>> print(basic_string("a\x9b\n"))
    "a\u009b\n"
    """
    return "".join(map(_printed, json.dumps(text, ensure_ascii=False)))


def _printed(character: str) -> str:
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def requoted(mistakes: Iterable[Mistake], path: tuple[str, ...]) -> Iterator[Mistake]:
    """Mistakes of other rooms, whose paths begin with names as they are, as paths are printed.

    Args:
        mistakes: what they noted; those elsewhere are left as they are.
        path: the path as steps.
    """
    plain, printed = printable(".".join(path)), path_text(path)
    for one in mistakes:
        rest = one.path.removeprefix(plain)
        is_below = one.path.startswith(plain) and (not rest or rest[0] in ".[")
        yield replace(one, path=printed + rest) if is_below else one


def prefixes(path: str) -> Iterator[str]:
    """A printed path, then what it lies below, from near to far.

    >>> list(prefixes("reads[0].name")), list(prefixes('fields."a.b".of'))
    (['reads[0].name', 'reads[0]', 'reads'], ['fields."a.b".of', 'fields."a.b"', 'fields'])
    """
    yield path
    for match in reversed(list(_STEPS.finditer(path))):
        if match[0][0] != '"':
            yield path[: match.start()]


def in_order(path: str) -> tuple[str | int, ...]:
    """What puts paths below one word in order: `key[2]` before `key[10]`.

    >>> sorted(["key[10].n", "key[2].n"], key=in_order)
    ['key[2].n', 'key[10].n']
    """
    pieces = _NUMBERS.split(path)
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces))
