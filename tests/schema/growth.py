"""Measure whether work grows with the length of a text or with its square."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

SHORTER = 8
"""How many times shorter the text is that the whole is compared with."""
_TRIES = 5
_NOISE_S = 0.0005
"""Processor time below which nothing is compared: a few times what a cold start costs."""


def measure_growth(work: Callable[[str], object], before: str, run: str, length: int) -> float:
    """Return how many times longer a text takes than one of an eighth of its length.

    The factor is 8 for a single pass, and 64 for quadratic work. What exceeds 16 is tried again,
    since other processes only slow a try down.

    Args:
        work: the function of a text.
        before: the beginning of both texts.
        run: the text that follows repeatedly.
        length: characters of the longer text.
    """
    long_s = short_s = float("inf")
    for _ in range(_TRIES):
        long_s = min(long_s, _measure_s(work, _repeat(before, run, length)))
        short_s = min(short_s, _measure_s(work, _repeat(before, run, length // SHORTER)))
        if long_s < 2 * SHORTER * max(short_s, _NOISE_S):
            break
    return long_s / max(short_s, _NOISE_S)


def _repeat(before: str, run: str, length: int) -> str:
    return before + run * ((length - len(before)) // len(run))


def _measure_s(work: Callable[[str], object], text: str) -> float:
    """Return the processor seconds of work on a text."""
    start = process_time()
    work(text)
    return process_time() - start
