"""Row keys in one buffer, as they are decoded together."""

from __future__ import annotations

from functools import cached_property

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteBuffer, IntArray, SlicedByteColumn


class EncodedKeys:
    """Many keys in one buffer.

    Args:
        spans: the keys as slices of the buffer.
    """

    def __init__(self, spans: SlicedByteColumn) -> None:
        self.data: ByteBuffer = spans.data
        self.starts = spans.starts
        self.ends = spans.starts + spans.inner_lengths

    def __len__(self) -> int:
        return len(self.starts)

    def find_after(self, terminator: bytes, at: IntArray) -> IntArray:
        """Return the position after the first terminator from `at` on in each key.

        Raises:
            InvalidArgument: a key has no terminator there.
        """
        positions = (
            self._terminator_positions[terminator]
            if terminator in self._terminator_positions
            else self._find_terminators(terminator)
        )
        indexes = np.searchsorted(positions, at)
        if len(indexes) and int(indexes.max()) >= len(positions):
            raise InvalidArgument("keys", "a key ends within a part of the design's key")
        return self.check_ends(positions.take(indexes) + len(terminator))

    @cached_property
    def _terminator_positions(self) -> dict[bytes, IntArray]:
        """The positions of each terminator in the buffer, as a cache."""
        return {}

    def _find_terminators(self, terminator: bytes) -> IntArray:
        """Return the positions of a terminator in the buffer, ascending."""
        last = len(self.data) - len(terminator) + 1
        hits = self.data[: max(last, 0)] == terminator[0]
        for offset, byte in enumerate(terminator[1:], 1):
            hits = hits & (self.data[offset : last + offset] == byte)
        self._terminator_positions[terminator] = np.flatnonzero(hits)
        return self._terminator_positions[terminator]

    def check_ends(self, ends: IntArray) -> IntArray:
        """Return the ends if none is after the end of its key.

        Raises:
            InvalidArgument: an end is after the end of its key.
        """
        if bool((ends > self.ends).any()):
            raise InvalidArgument("keys", "a key ends within a part of the design's key")
        return ends
