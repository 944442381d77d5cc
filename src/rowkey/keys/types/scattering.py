"""Values that are made by chance, such as UUIDs and digests: where they lie, each by its number.

A number always gives the same bytes, different numbers give different ones, and together they lie
over their whole range as if they had been drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

WORD = 64
"""Bits that are mixed together; what lies behind them tells no two values apart."""
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Odd factors whose bits are about half ones.

Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA (2014).
"""


def mixed(numbers: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Numbers of so many bits renumbered: each to another one, and none to the same as another.

    Multiplying by an odd number and folding the upper bits upon the lower ones can both be undone.

    Args:
        numbers: from 0, below 2^bits.
        bits: 1 to 64.

    >>> import numpy as np
    >>> mixed(np.arange(8), 3).tolist()
    [3, 5, 1, 2, 6, 0, 4, 7]
    """
    import numpy as np

    most, half = np.uint64((1 << bits) - 1), np.uint64(bits - bits // 2)
    found = numbers.astype(np.uint64)
    found ^= np.uint64(_ODD[0]) & most
    for factor in _ODD:
        found *= np.uint64(factor)
        found &= most
        found ^= found >> half
    return found


def scattered_bytes(
    numbers: np.ndarray[Any, Any], bits: int, lead: tuple[int, int] = (0, 0)
) -> np.ndarray[Any, Any]:
    """Bytes that lie anywhere, a row for each number.

    Args:
        numbers: from 0; below 2^64 and below the number of values that there are.
        bits: of a value; what is left of its last byte is zeros.
        lead: bits that all values begin with, as a number, and how many.
    """
    import numpy as np

    began, many = lead
    free = min(bits, WORD) - many
    words = [mixed(numbers, free) << np.uint64(WORD - many - free)]
    words[0] |= np.uint64(began << WORD - many if many else 0)
    while len(words) * WORD < bits:
        words.append(mixed(words[-1], WORD))
    width = -(-bits // 8)
    spelled = np.stack(words, axis=1).astype(">u8").view(np.uint8)
    return np.ascontiguousarray(spelled[:, :width])


def hex_digits(rows: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """The first digits of rows of bytes, in ASCII.

    Args:
        rows: the bytes.
        width: how many digits.
    """
    import numpy as np

    nibbles = np.stack([rows >> 4, rows & 15], axis=2).reshape(len(rows), -1)[:, :width]
    return np.frombuffer(b"0123456789abcdef", np.uint8).take(nibbles)


def column_of(rows: np.ndarray[Any, Any], kind: pa.DataType) -> pa.Array:
    """Rows of bytes as an Arrow column of text or of bytes."""
    import numpy as np
    import pyarrow as pa

    offsets = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.shape[1])
    data = np.ascontiguousarray(rows)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(kind, len(rows), buffers)
