"""The middle of a region's bytes, at which it is split, found in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add


class RegionOutline:
    """Where the bytes of a region lie, in bounded memory however many rows it has.

    Rows are marked with the bytes since the row that was marked before. Where there are too many,
    every other mark is left out, so that the middle is found to 1 of 16,384 parts or better.

    >>> outline = RegionOutline()
    >>> for row in (b"a", b"b", b"c"):
    ...     outline.add(row, 1)
    >>> find_middle_row(*outline.finish())
    b'b'
    """

    MAX_MARKS = 32_768

    def __init__(self) -> None:
        self._rows: list[bytes] = []
        self._sizes: list[int] = []
        self._row, self._size, self._step = b"", 0, 0

    def add(self, row: bytes, size: int) -> None:
        """Add the bytes of the next row."""
        self._row, self._size = row, self._size + size
        if self._size >= self._step:
            self._add_mark()
            if len(self._rows) == self.MAX_MARKS:
                self._rows = self._rows[1::2]
                self._sizes = [*map(add, self._sizes[::2], self._sizes[1::2])]
                self._step = sum(self._sizes) // len(self._sizes)

    def _add_mark(self) -> None:
        self._rows.append(self._row)
        self._sizes.append(self._size)
        self._size = 0

    def finish(self) -> tuple[list[bytes], list[int]]:
        """Return the marked rows, ascending, and the bytes since the mark before each of them."""
        if self._size:
            self._add_mark()
        return self._rows, self._sizes


def find_middle_row(rows: Sequence[bytes], sizes: Iterable[int]) -> bytes | None:
    """Return the row at the middle of a region's bytes; None if that is its first row.

    >>> find_middle_row([b"a", b"b", b"c"], [1, 1, 1])
    b'b'
    """
    sums = list(accumulate(sizes))
    index = bisect_left(sums, sums[-1] / 2) if sums else 0
    return rows[index] if index else None
