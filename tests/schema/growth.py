"""Whether work grows with the length of a text, not with its square: no clock's speed matters."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTER = 8
"""How many times shorter the text is that the whole is compared with."""
_TRIES = 5
_NOISE_S = 0.0005
"""Processor time below which nothing is compared: a few times what a cold start costs."""


def growth(work: Callable[[str], object], before: str, run: str, length: int) -> float:
    """How many times longer a text takes than one of an eighth of its length.

    Eight if the work is one pass, 64 if it goes back over what it has seen.

    Args:
        work: what is done with a text.
        before: how both texts begin.
        run: what they repeat from there on.
        length: characters of the longer text.
    """
    long = _least(work, _repeated(before, run, length))
    return long / max(_least(work, _repeated(before, run, length // SHORTER)), _NOISE_S)


def _repeated(before: str, run: str, length: int) -> str:
    return before + run * ((length - len(before)) // len(run))


def _least(work: Callable[[str], object], text: str) -> float:
    """Seconds of the processor, in the quickest of a few tries."""
    found = []
    for _ in range(_TRIES):
        start = process_time()
        work(text)
        found.append(process_time() - start)
    return min(found)
