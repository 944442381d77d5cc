"""Faults of files at rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

    Fault = Callable[[Path], None]


def flips(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """One bit turned over."""
    size = path.stat().st_size
    for _ in range(count if size else 0):
        at, bit = random.randrange(size), random.randrange(8)

        def flip(target: Path, at: int = at, bit: int = bit) -> None:
            content = bytearray(target.read_bytes())
            content[at] ^= 1 << bit
            target.write_bytes(content)

        yield flip


def truncations(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """The end cut off."""
    size = path.stat().st_size
    for _ in range(count if size else 0):
        length = random.randrange(size)

        def truncate(target: Path, length: int = length) -> None:
            os.truncate(target, length)

        yield truncate


def zeroed(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """A stretch of zeros, of up to a page, or up to the end."""
    size = path.stat().st_size
    for number in range(count if size else 0):
        begin = random.randrange(size)
        end = size if number % 4 == 0 else min(size, begin + random.randint(1, 4_096))

        def zero(target: Path, begin: int = begin, end: int = end) -> None:
            content = target.read_bytes()
            target.write_bytes(content[:begin] + bytes(end - begin) + content[end:])

        yield zero


def deletion(path: Path, count: int, random: Random) -> Iterator[Fault]:
    """The file gone."""
    del path, random
    for _ in range(min(count, 1)):
        yield lambda target: target.unlink()


AT_REST = {"flip": flips, "truncation": truncations, "zeros": zeroed, "deletion": deletion}
"""Each gives so many faults of a file, as functions of the file that they damage."""
