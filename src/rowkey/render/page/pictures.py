"""Heat maps as pictures: a PNG with a palette, small enough to stand in a notebook."""

from __future__ import annotations

import base64
import zlib
from functools import cache
from itertools import pairwise
from math import log2
from struct import pack
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    Counts = np.ndarray[Any, Any]

DARKEST, OCTAVES, LEVELS = 1 / 32, 9, 254
"""The scale of the maps in a report, see browser/map.js: the load of level 1, and how often it
doubles."""
STOPS = (
    (1 / 32, 0x1A, 0x25, 0x49), (1 / 8, 0x24, 0x40, 0x70), (1 / 2, 0x3A, 0x68, 0x8C),
    (1, 0x6D, 0x8C, 0x8F), (2, 0xCF, 0x8E, 0x3C), (4, 0xF2, 0xAE, 0x3E),
    (8, 0xFF, 0xD6, 0x72), (16, 0xFF, 0xF8, 0xDC),
)  # fmt: skip
"""Loads with their colours; the darker and the brighter of any two are told apart without hue."""
NOTHING = (0x0C, 0x10, 0x1D)
MOST_COLUMNS, MOST_ROWS = 480, 64
"""Cells of a picture; of cells that share one, the hottest shows."""


@cache
def palette() -> bytes:
    """The colours of the levels, three bytes each: no load, then from the darkest to 16."""
    colours: list[tuple[int, ...]] = [NOTHING]
    colours += [_colour(DARKEST * 2 ** (n * OCTAVES / LEVELS)) for n in range(LEVELS + 1)]
    return bytes(value for colour in colours for value in colour)


def _colour(load: float) -> tuple[int, ...]:
    for low, high in pairwise(STOPS):
        if load <= high[0]:
            part = log2(load / low[0]) / log2(high[0] / low[0])
            return tuple(round(a + part * (b - a)) for a, b in zip(low[1:], high[1:], strict=True))
    return STOPS[-1][1:]


def levels_of(counts: Counts, servers: int) -> Counts:
    """The level of each cell: 0 for nothing, else by the logarithm of its load.

    Args:
        counts: operations by column and row.
        servers: region servers; one's fair share of a column is 1.
    """
    import numpy as np

    totals = counts.sum(axis=1, keepdims=True)
    loads = counts * servers / np.maximum(totals, 1)
    steps = np.log2(np.maximum(loads, DARKEST) / DARKEST) * (LEVELS / OCTAVES)
    return np.where(counts > 0, 1 + np.rint(np.clip(steps, 0, LEVELS)), 0).astype(np.uint8)


def heat_png(counts: Counts, servers: int) -> bytes:
    """A heat map as a PNG, time from left to right.

    Args:
        counts: operations by column and row; one or more of each.
        servers: region servers.

    Source: PNG specification, 3rd edition: color type 3, filter 0.
    """
    import numpy as np

    levels = levels_of(counts, servers)
    for axis, most in ((0, MOST_COLUMNS), (1, MOST_ROWS)):
        size = levels.shape[axis]
        cells = min(size, most)
        levels = np.maximum.reduceat(levels, np.arange(cells) * size // cells, axis=axis)
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(levels.T))
    width, height = levels.shape
    chunks = (
        (b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette()),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunks(chunks))


def _chunks(chunks: tuple[tuple[bytes, bytes], ...]) -> Iterator[bytes]:
    for name, held in chunks:
        yield pack(">I", len(held)) + name + held + pack(">I", zlib.crc32(name + held))


def as_address(png: bytes) -> str:
    """A picture as an address that holds it whole."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
