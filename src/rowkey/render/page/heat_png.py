"""Heat maps as PNG pictures with a palette, small enough for a notebook."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import log2
from struct import pack
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    Counts = np.ndarray[Any, Any]

MIN_LOAD, LOAD_OCTAVES, COLOUR_LEVELS = 1 / 32, 9, 254
"""The scale of the maps in a report at its usual brightness, see browser/map/colours.js: the load
of level 1, and how often it doubles."""
COLOUR_STOPS = (
    (1 / 32, 0x1A, 0x25, 0x49), (1 / 8, 0x24, 0x40, 0x70), (1 / 2, 0x3A, 0x68, 0x8C),
    (1, 0x2E, 0xA8, 0x84), (2, 0xCF, 0x8E, 0x3C), (4, 0xF2, 0xAE, 0x3E),
    (8, 0xFF, 0xD6, 0x72), (16, 0xFF, 0xF8, 0xDC),
)  # fmt: skip
"""Loads with their colours; the darker and the brighter of any two are told apart without hue."""
NO_LOAD_COLOUR = (0x0C, 0x10, 0x1D)
MAX_COLUMNS, MAX_ROWS = 480, 64
"""Cells of a picture; of cells that share one, the hottest shows."""


@cache
def build_palette() -> bytes:
    """Return the PNG palette: three bytes per colour, from no load to highest load."""
    colours: list[tuple[int, ...]] = [NO_LOAD_COLOUR]
    colours += [
        _find_colour(MIN_LOAD * 2 ** (n * LOAD_OCTAVES / COLOUR_LEVELS))
        for n in range(COLOUR_LEVELS + 1)
    ]
    return bytes(value for colour in colours for value in colour)


def _find_colour(load: float) -> tuple[int, ...]:
    """Return the RGB colour of a load."""
    for low, high in pairwise(COLOUR_STOPS):
        if load <= high[0]:
            part = log2(load / low[0]) / log2(high[0] / low[0])
            return tuple(round(a + part * (b - a)) for a, b in zip(low[1:], high[1:], strict=True))
    return COLOUR_STOPS[-1][1:]


def compute_levels(counts: Counts, servers: int) -> Counts:
    """Return the palette index of each cell of a heat map.

    Args:
        counts: operations by column and row.
        servers: region servers; one's fair share of a column is 1.
    """
    totals = counts.sum(axis=1, keepdims=True)
    loads = counts * servers / np.maximum(totals, 1)
    steps = np.log2(np.maximum(loads, MIN_LOAD) / MIN_LOAD) * (COLOUR_LEVELS / LOAD_OCTAVES)
    return np.where(counts > 0, 1 + np.rint(np.clip(steps, 0, COLOUR_LEVELS)), 0).astype(np.uint8)


def draw_heat_png(counts: Counts, servers: int) -> bytes:
    """Return a heat map as a PNG image, with time from left to right.

    Args:
        counts: operations by column and row; one or more of each.
        servers: region servers.

    Source: PNG specification, 3rd edition: color type 3, filter 0.
    """
    levels = compute_levels(counts, servers)
    for axis, most in ((0, MAX_COLUMNS), (1, MAX_ROWS)):
        size = levels.shape[axis]
        cells = min(size, most)
        levels = np.maximum.reduceat(levels, np.arange(cells) * size // cells, axis=axis)
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(levels.T))
    width, height = levels.shape
    chunks = (
        (b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", build_palette()),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_chunks(chunks))


def _encode_chunks(chunks: tuple[tuple[bytes, bytes], ...]) -> Iterator[bytes]:
    """Yield PNG chunks with their lengths and checksums."""
    for name, data in chunks:
        yield pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))


def to_data_uri(png: bytes) -> str:
    """Return a PNG image as a data URI."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
