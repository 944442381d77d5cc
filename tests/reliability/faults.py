"""Faults of files at rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

    Fault = Callable[[Path], None]


def draw_flips(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """Yield faults that flip one bit."""
    size = path.stat().st_size
    for _ in range(count if size else 0):
        at, bit = random.randrange(size), random.randrange(8)

        def flip(target: Path, at: int = at, bit: int = bit) -> None:
            content = bytearray(target.read_bytes())
            content[at] ^= 1 << bit
            target.write_bytes(content)

        yield flip


def draw_truncations(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """Yield faults that cut off the end."""
    size = path.stat().st_size
    for _ in range(count if size else 0):
        length = random.randrange(size)

        def truncate(target: Path, length: int = length) -> None:
            os.truncate(target, length)

        yield truncate


def draw_zeros(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """Yield faults that zero up to a page, or the whole end."""
    size = path.stat().st_size
    for number in range(count if size else 0):
        begin = random.randrange(size)
        end = size if number % 4 == 0 else min(size, begin + random.randint(1, 4_096))

        def zero(target: Path, begin: int = begin, end: int = end) -> None:
            content = target.read_bytes()
            target.write_bytes(content[:begin] + bytes(end - begin) + content[end:])

        yield zero


def draw_deletion(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """Yield one fault that deletes the file."""
    del path, random
    for _ in range(min(count, 1)):
        yield lambda target: target.unlink()


AT_REST = {
    "flip": draw_flips,
    "truncation": draw_truncations,
    "zeros": draw_zeros,
    "deletion": draw_deletion,
}
"""Each gives so many faults of a file, as functions of the file that they damage."""
