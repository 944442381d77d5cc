"""Copies of one row that a random salt has put in several places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.keys import Source

if TYPE_CHECKING:
    from rowkey.keys import Key


class Copies:
    """How the copies of a row are told to be one, in the ranges of one read.

    Args:
        key: the row key.
        pinned: how many leading parts have constant bytes in each range.
    """

    def __init__(self, key: Key, pinned: int) -> None:
        self.key = key
        chance = [n for n, part in enumerate(key.parts) if part.source is Source.CHANCE]
        self.pinned = bool(chance) and chance[-1] < pinned
        """Whether chance lies in the prefixes alone: then copies meet where ranges are merged."""
        self.scattered = bool(chance) and not self.pinned
        """Whether it does not: then copies are found among all rows of the answer."""
        self._parts = key.parts[:pinned]

    def told(self, prefix: bytes) -> tuple[bytes, bytes]:
        """A prefix as what copies have in common, and what chance has put there.

        >>> from rowkey.keys import bind_key
        >>> key = bind_key("[salt(4)][kind][n]", {"kind": "u8", "n": "u8"})
        >>> Copies(key, 2).told(bytes([3, 7]))
        (b"\\x07", b"\\x03")
        """
        if not self.pinned:
            return prefix, b""
        common: list[bytes] = []
        copy: list[bytes] = []
        at = 0
        for part in self._parts:
            if at == len(prefix):
                break  # what is left is null and was left out
            end = part.measure(prefix, at)
            (copy if part.source is Source.CHANCE else common).append(prefix[at:end])
            at = end
        return b"".join(common), b"".join(copy)

    def identity(self, row: bytes) -> bytes:
        """What copies of a row have in common, of a whole row key."""
        pieces = zip(self.key.parts, self.key.cut(row), strict=True)
        return b"".join(piece for part, piece in pieces if part.source is not Source.CHANCE)
