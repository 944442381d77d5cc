r"""Keys and splits as 8-byte words: a tree of the splits, in which all keys are searched at once.

Key and split are read as big-endian words, padded with 00. At each level of the tree a key either
falls between two words, and its region is known, or its word is the word of some splits, and the
next level decides among those. Padding makes `a` and `a\0` equal words; their lengths tell them
apart (`ended`). A leading word 0 in every node stands for the region before the node's first split.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Indexes = npt.NDArray[np.intp]
    Words = npt.NDArray[np.uint64]
    Regions = npt.NDArray[np.int32]

WORD = 8
"""Bytes of a word: the largest unsigned integer that numpy compares at once."""

_TABLE_BITS = 14
"""A table has up to 2^14 entries, 128 KB: it stays in a core's own cache beside the block."""

_MOST_COMPARED = 4
"""Words of one table entry that are compared one by one; beyond, a binary search is faster."""


@dataclass(frozen=True, slots=True)
class Level:
    """All nodes of one depth, one after the other.

    Args:
        words: the distinct words of each node, ascending, with a leading 0 each.
        first: per node, where its words begin.
        count: per node, how many words follow the leading one.
        above: per word, the region of keys whose word is greater and that meet no further word.
        tied: per word, the region before the first split that begins with it.
        ended: per word and key length 0..8, splits that end within the word and are not longer.
        child: per word, the node of the splits that go on; -1 if all end.
        steps: the powers of two, descending, that a binary search in any node takes.
        goes_on: whether any word has a child.
    """

    words: Words
    first: Indexes
    count: Indexes
    above: Regions
    tied: Regions
    ended: Regions
    child: Indexes
    steps: tuple[int, ...]
    goes_on: bool


def build_levels(splits: Sequence[bytes]) -> list[Level]:
    """The levels of the tree, from the first word of the keys on.

    Args:
        splits: ascending, distinct, not empty.

    Cost: O(bytes of the splits), once per table.
    """
    levels: list[Level] = []
    nodes = [(0, len(splits))] if splits else []
    while nodes:
        draft = _Draft(splits, WORD * len(levels))
        for start, stop in nodes:
            draft.add_node(start, stop)
        levels.append(draft.level())
        nodes = draft.children
    return levels


class _Draft:
    """The lists a level is built in."""

    def __init__(self, splits: Sequence[bytes], offset: int) -> None:
        self.splits, self.offset = splits, offset
        self.children: list[tuple[int, int]] = []
        self.first: list[int] = []
        self.words: list[int] = []
        self.above: list[int] = []
        self.tied: list[int] = []
        self.ended: list[list[int]] = []
        self.child: list[int] = []

    def add_node(self, start: int, stop: int) -> None:
        """Add the splits from start to stop, all longer than the level's offset."""
        self.first.append(len(self.words))
        self._add_word(0, start, start)
        while start < stop:
            word, after = self._word(start), start + 1
            while after < stop and self._word(after) == word:
                after += 1
            self._add_word(word, start, after)
            start = after

    def _word(self, index: int) -> int:
        piece = self.splits[index][self.offset : self.offset + WORD]
        return int.from_bytes(piece.ljust(WORD, b"\0"), "big")

    def _add_word(self, word: int, start: int, stop: int) -> None:
        lengths = [len(split) - self.offset for split in self.splits[start:stop]]
        ending = [length for length in lengths if length <= WORD]
        self.words.append(word)
        self.above.append(stop)
        self.tied.append(start)
        self.ended.append([sum(length <= key for length in ending) for key in range(WORD + 1)])
        self.child.append(len(self.children) if len(ending) < len(lengths) else -1)
        if len(ending) < len(lengths):
            self.children.append((start + len(ending), stop))

    def level(self) -> Level:
        """The lists as arrays."""
        import numpy as np

        bounds = np.array([*self.first, len(self.words)], np.intp)
        count = np.diff(bounds) - 1
        bits = int(count.max()).bit_length()
        return Level(
            words=np.array(self.words, np.uint64),
            first=bounds[:-1],
            count=count,
            above=np.array(self.above, np.int32),
            tied=np.array(self.tied, np.int32),
            ended=np.array(self.ended, np.int32).ravel(),
            child=np.array(self.child, np.intp),
            steps=tuple(2**bit for bit in reversed(range(bits))),
            goes_on=bool(self.children),
        )


class Front:
    """The keys of a block that are not settled yet, read a word at a time.

    Args:
        data: the bytes of all keys, contiguous.
        first: where each key begins.
        length: how long each is; None if none ends before the last level does.
        rows: where each stands in the block; None if it is the whole block.
        nodes: the node of the level that each has come to.
    """

    def __init__(
        self,
        data: Bytes,
        first: Indexes,
        length: npt.NDArray[Any] | None,
        *,
        rows: Indexes | None = None,
        nodes: Indexes | None = None,
    ) -> None:
        import numpy as np

        if len(data) < WORD:
            data = np.concatenate([data, np.zeros(WORD, np.uint8)])
        self.data, self.first, self.length, self.rows, self.nodes = data, first, length, rows, nodes

    def take(self, chosen: Indexes, nodes: Indexes | None = None) -> Front:
        """Some of the keys, by their places in this front, at these nodes."""
        if len(chosen) == len(self.first):
            return Front(self.data, self.first, self.length, rows=self.rows, nodes=nodes)
        length = None if self.length is None else self.length.take(chosen)
        rows = chosen if self.rows is None else self.rows.take(chosen)
        return Front(self.data, self.first.take(chosen), length, rows=rows, nodes=nodes)

    def put(self, regions: Regions, located: Regions) -> None:
        """Write the regions of these keys, for good or until a deeper level knows better."""
        located[slice(None) if self.rows is None else self.rows] = regions

    def words(self, depth: int) -> Words:
        """Bytes 8 · depth to 8 · depth + 8 of each key as a number, as if 00 followed its end."""
        import numpy as np

        # An unaligned view: word i begins at byte i, so words overlap.
        last = len(self.data) - WORD
        at_byte: Words = np.ndarray((last + 1,), ">u8", self.data, 0, (1,))
        place = self.first + WORD * depth if depth else self.first
        beyond = place - last
        if int(beyond.max()) <= 0:
            words = at_byte[place].astype(np.uint64)
        else:
            words = at_byte[np.minimum(place, last)].astype(np.uint64)
            words <<= (np.clip(beyond, 0, WORD - 1) * 8).astype(np.uint64)
        if self.length is not None:
            words &= _masks().take(np.clip(self.length - WORD * depth, 0, WORD))
        return words


def search_of(level: Level) -> TableSearch | NodeSearch:
    """The quickest search in a level."""
    return TableSearch(level) if len(level.first) == 1 else NodeSearch(level)


class TableSearch:
    """The search in a level of one node: a table by the leading bits, then a few comparisons."""

    def __init__(self, level: Level) -> None:
        import numpy as np

        self.words = level.words[1:]
        self.low, self.high = self.words[0], self.words[-1]
        spread = int(self.high) - int(self.low)
        self.shift = np.uint64(max(0, spread.bit_length() - _TABLE_BITS))
        entry = (self.words - self.low) >> self.shift
        entries = int(entry[-1]) + 1
        self.before = np.searchsorted(entry, np.arange(entries, dtype=np.uint64)).astype(np.intp)
        self.compared = int(np.bincount(entry.astype(np.intp)).max())
        self.padded = np.concatenate([self.words, np.full(self.compared, 2**64 - 1, np.uint64)])

    def last_not_above(self, words: Words, _nodes: Indexes | None) -> Indexes:
        """Per key, the last of the level's words that is not above its word."""
        import numpy as np

        if self.compared > _MOST_COMPARED:
            return np.searchsorted(self.words, words, side="right")
        entry = np.clip(words, self.low, self.high)
        entry -= self.low
        entry >>= self.shift
        at = self.before.take(entry.view(np.intp), mode="clip")
        for _ in range(self.compared):
            at += self.padded.take(at, mode="clip") <= words
        # Eight FF are not above the padding either.
        return np.minimum(at, len(self.words), out=at)


class NodeSearch:
    """The search in a level of many nodes: each key in its own, all by halves at once."""

    def __init__(self, level: Level) -> None:
        self.level = level

    def last_not_above(self, words: Words, nodes: Indexes | None) -> Indexes:
        """Per key, the last of its node's words that is not above its word."""
        level = self.level
        assert nodes is not None
        at = level.first.take(nodes)
        end = at + level.count.take(nodes)
        for step in level.steps:
            probe = at + step
            fits = probe <= end
            fits &= level.words.take(probe, mode="clip") <= words
            at[fits] += step
        return at


@lru_cache(maxsize=1)
def _masks() -> Words:
    """Per number of bytes left in a key, 0..8, the bits of a word that they are."""
    import numpy as np

    return np.array([2**64 - 2 ** (64 - 8 * left) for left in range(WORD + 1)], np.uint64)
