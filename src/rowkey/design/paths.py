"""Paths in a design file, such as `reads[0].name`: formatting, quoting and sorting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from rowkey.errors import Mistake
from rowkey.messages import shorten_text

KeyPath = tuple[str | int, ...]
"""The names and indexes that lead to a value of a design file."""
BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")
"""A TOML key that needs no quotes."""
BOM = "\ufeff"
_NUMBERS = re.compile(r"\[(\d{1,9})\]")
_STEPS = re.compile(r'"(?:[^"\\]|\\.)*"|[.\[]')


def format_path(path: KeyPath) -> str:
    """Return the path of an option as text, with names quoted where TOML needs it.

    >>> format_path(("reads", 0, "name")), format_path(("fields", "a.b", "of"))
    ('reads[0].name', 'fields."a.b".of')
    >>> format_path(("fields", "用户"))
    'fields."用户"'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{format_toml_name(step)}" if text else format_toml_name(step)
    return text


def needs_quotes(name: str) -> bool:
    """Return whether a name is not a bare key of TOML."""
    return not BARE_NAME.fullmatch(name)


@lru_cache(maxsize=1024)  # a file of thousands of entries has few different names
def format_toml_name(name: str) -> str:
    """Return a name as a TOML key, quoted where needed."""
    return format_basic_string(name) if needs_quotes(name) else name


def format_basic_string(text: str) -> str:
    r"""Return a text as a TOML string on one line, with unprintable characters escaped.

    >>> print(format_basic_string("a\x9b\n"))
    "a\u009b\n"
    """
    return "".join(map(_escape_character, json.dumps(text, ensure_ascii=False)))


def _escape_character(character: str) -> str:
    """Return a character as a TOML escape sequence."""
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def requote_paths(mistakes: Iterable[Mistake], path: tuple[str, ...]) -> Iterator[Mistake]:
    """Replace the unquoted path that mistakes of other packages start with by its quoted form.

    Args:
        mistakes: what they noted; those elsewhere are left as they are.
        path: the path as steps.
    """
    plain, printed = shorten_text(".".join(path)), format_path(path)
    for one in mistakes:
        rest = one.path.removeprefix(plain)
        is_below = one.path.startswith(plain) and (not rest or rest[0] in ".[")
        yield replace(one, path=printed + rest) if is_below else one


def iter_path_prefixes(path: str) -> Iterator[str]:
    """Yield the path of an option and then its parents, nearest first.

    >>> list(iter_path_prefixes("reads[0].name")), list(iter_path_prefixes('fields."a.b".of'))
    (['reads[0].name', 'reads[0]', 'reads'], ['fields."a.b".of', 'fields."a.b"', 'fields'])
    """
    yield path
    for match in reversed(list(_STEPS.finditer(path))):
        if match[0][0] != '"':
            yield path[: match.start()]


def build_path_sort_key(path: str) -> tuple[str | int, ...]:
    """Return a sort key that puts `key[2]` before `key[10]`.

    >>> sorted(["key[10].n", "key[2].n"], key=build_path_sort_key)
    ['key[2].n', 'key[10].n']
    """
    pieces = _NUMBERS.split(path)
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces))
