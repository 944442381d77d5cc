"""The boundaries of regions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from operator import lt

from rowkey.errors import Mistakes

MAX_SPLIT_BYTES = 32_767
"""Longest start key of a region, as of any row. Source: HConstants.MAX_ROW_LENGTH."""


class Boundaries:
    """The split keys of a table, which divide all row keys into regions.

    Region i holds the keys from `splits[i - 1]`, inclusive, to `splits[i]`, exclusive; the first
    region starts before every key and the last one ends after every key.

    Args:
        splits: keys in ascending order, distinct, none empty; no keys make one region.

    Raises:
        InvalidDesign: with every key that is out of order, repeated, empty or too long.

    Cost: O(splits).

    >>> Boundaries([b"g", b"p"]).regions
    [(b'', b'g'), (b'g', b'p'), (b'p', b'')]
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        self.splits = tuple(splits)
        _check_splits(self.splits)

    @property
    def regions(self) -> list[tuple[bytes, bytes]]:
        """Return start, inclusive, and stop, exclusive, of each region; b"" is an open end."""
        return list(zip((b"", *self.splits), (*self.splits, b""), strict=True))

    @cached_property
    def longest_split_bytes(self) -> int:
        """Return the length of the longest split key in bytes."""
        return max(map(len, self.splits), default=0)

    def locate_key(self, key: bytes) -> int:
        """Return the index of the region that holds a key.

        Cost: O(log regions).

        >>> Boundaries([b"g", b"p"]).locate_key(b"g")
        1
        """
        return bisect_right(self.splits, key)

    def find_regions(self, start: bytes, stop: bytes) -> range:
        """Return the regions that hold the keys from `start`, inclusive, to `stop`, exclusive.

        Args:
            start: the first key; b"" is before every key.
            stop: the first key after them; b"" means the end of the table.

        Cost: O(log regions).

        >>> Boundaries([b"g", b"p"]).find_regions(b"g", b"p")
        range(1, 2)
        """
        end = bisect_left(self.splits, stop) if stop else len(self.splits)
        return range(self.locate_key(start), end + 1)

    def __len__(self) -> int:
        """Return the number of regions."""
        return len(self.splits) + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Boundaries) and self.splits == other.splits

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Return the hash of the split keys, computed once."""
        return hash(self.splits)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.splits[:4]))
        return f"Boundaries([{shown}{', …' if len(self.splits) > 4 else ''}])"


def _check_splits(splits: Sequence[bytes]) -> None:
    """Raise an error with everything that is wrong with the split keys."""
    # Nearly all lists are right, and may be long.
    rises = all(map(lt, splits, islice(splits, 1, None)))
    if not splits or (rises and splits[0] and max(map(len, splits)) <= MAX_SPLIT_BYTES):
        return
    mistakes = Mistakes()
    previous_split = b""
    for index, split in enumerate(splits):
        path, quoted_split = f"splits[{index}]", f"{split[:40]!r}{'…' if len(split) > 40 else ''}"
        if not split:
            what = "the split key is empty"
            mistakes.add(
                path,
                what,
                "1 byte or more",
                "Remove it: the first region starts at the empty key by itself.",
            )
        elif len(split) > MAX_SPLIT_BYTES:
            what = f"the split key {quoted_split} is {len(split):,} bytes long"
            mistakes.add(path, what, f"1 to {MAX_SPLIT_BYTES:,} bytes", "Shorten it.")
        elif split == previous_split:
            mistakes.add(
                path,
                f"the split key {quoted_split} is repeated",
                "each split key once",
                "Remove it.",
            )
        elif split < previous_split:
            what = f"the split key {quoted_split} sorts before the previous split key"
            mistakes.add(
                path, what, "split keys in ascending order", "Sort the split keys by their bytes."
            )
        previous_split = split or previous_split
    mistakes.raise_any()


def compute_prefix_stop(prefix: bytes) -> bytes | None:
    r"""Return the first key after all keys that start with a prefix.

    Returns:
        The exclusive stop of the prefix's range; None for an open end: an empty prefix, or FF only.

    Source: ClientUtil.calculateTheClosestNextRowKeyForPrefix: trailing FF dropped, last byte + 1.

    >>> compute_prefix_stop(b"uid1~"), compute_prefix_stop(b"")
    (b'uid1\x7f', None)
    >>> compute_prefix_stop(bytes.fromhex("01ff")).hex()
    '02'
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
