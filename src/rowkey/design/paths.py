"""Paths of mistakes, `reads[0].name`: how they are written, shortened and put in order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = re.compile(r"\[(\d{1,9})\]")
_STEPS = re.compile(r"[.\[]")


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as it is printed.

    >>> path_text(("reads", 0, "name"))
    'reads[0].name'
    """
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def prefixes(path: str) -> Iterator[str]:
    """A printed path, then what it lies below, from near to far.

    >>> list(prefixes("reads[0].name"))
    ['reads[0].name', 'reads[0]', 'reads']
    """
    yield path
    for match in reversed(list(_STEPS.finditer(path))):
        yield path[: match.start()]


def in_order(path: str) -> tuple[str | int, ...]:
    """What puts paths below one word in order: `key[2]` before `key[10]`.

    >>> sorted(["key[10].n", "key[2].n"], key=in_order)
    ['key[2].n', 'key[10].n']
    """
    pieces = _NUMBERS.split(path)
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces))
