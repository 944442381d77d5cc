r"""Keys and splits as 8-byte words: a tree of the splits, in which all keys are searched at once.

Keys and splits are read as big-endian words, padded with 00. At each level of the tree a key either
lies between two words, and its region is known, or its word equals that of some splits, and the
next level decides among these. Padding makes `a` and `a\0` equal words; their lengths distinguish
them (`ended_split_counts`). A leading word 0 in every node is the region before its first split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np

if TYPE_CHECKING:
    import numpy.typing as npt

    ByteArray = npt.NDArray[np.uint8]
    IndexArray = npt.NDArray[np.intp]
    WordArray = npt.NDArray[np.uint64]
    RegionArray = npt.NDArray[np.int32]

WORD_BYTES = 8
"""Bytes of a word: the largest unsigned integer that numpy compares at once."""

_MAX_TABLE_BITS = 14
"""A table has up to 2^14 entries, 128 KB: it stays in a core's own cache beside the block."""

_MAX_COMPARED_WORDS = 4
"""Words of one table entry that are compared one by one; beyond, a binary search is faster."""


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """All nodes of one depth of the split tree, in arrays.

    Args:
        words: the distinct words of each node, ascending, with a leading 0 each.
        node_starts: per node, where its words begin.
        word_counts: per node, how many words follow the leading one.
        regions_above: per word, the region of keys whose word is greater and that meet no further
            word.
        regions_tied: per word, the region before the first split that begins with it.
        ended_split_counts: per word and key length 0..8, splits that end within the word and are
            not longer.
        child_nodes: per word, the node of the splits that go on; -1 if all end.
        steps: the powers of two, descending, that a binary search in any node takes.
        has_children: whether any word has a child.
    """

    words: WordArray
    node_starts: IndexArray
    word_counts: IndexArray
    regions_above: RegionArray
    regions_tied: RegionArray
    ended_split_counts: RegionArray
    child_nodes: IndexArray
    steps: tuple[int, ...]
    has_children: bool


def build_levels(splits: Sequence[bytes]) -> list[TreeLevel]:
    """Build the levels of the split tree, beginning with the first 8 bytes of the keys.

    Args:
        splits: ascending, distinct, not empty.

    Cost: O(bytes of the splits), once per table.
    """
    levels: list[TreeLevel] = []
    nodes = [(0, len(splits))] if splits else []
    while nodes:
        draft = _LevelBuilder(splits, WORD_BYTES * len(levels))
        for start, stop in nodes:
            draft.add_node(start, stop)
        levels.append(draft.build_level())
        nodes = draft.children
    return levels


class _LevelBuilder:
    """Collects the nodes of one level of the split tree."""

    def __init__(self, splits: Sequence[bytes], offset: int) -> None:
        self.splits, self.offset = splits, offset
        self.children: list[tuple[int, int]] = []
        self.node_starts: list[int] = []
        self.words: list[int] = []
        self.regions_above: list[int] = []
        self.regions_tied: list[int] = []
        self.ended_split_counts: list[list[int]] = []
        self.child_nodes: list[int] = []

    def add_node(self, start: int, stop: int) -> None:
        """Add the splits from index start to stop as one node."""
        self.node_starts.append(len(self.words))
        self._add_word(0, start, start)
        while start < stop:
            word, next_start = self._read_word(start), start + 1
            while next_start < stop and self._read_word(next_start) == word:
                next_start += 1
            self._add_word(word, start, next_start)
            start = next_start

    def _read_word(self, index: int) -> int:
        """Return the 8 bytes of a split at this level's offset as a number."""
        piece = self.splits[index][self.offset : self.offset + WORD_BYTES]
        return int.from_bytes(piece.ljust(WORD_BYTES, b"\0"), "big")

    def _add_word(self, word: int, start: int, stop: int) -> None:
        """Add one word of a node: the splits from index start to stop that share it."""
        lengths = [len(split) - self.offset for split in self.splits[start:stop]]
        ending = [length for length in lengths if length <= WORD_BYTES]
        self.words.append(word)
        self.regions_above.append(stop)
        self.regions_tied.append(start)
        self.ended_split_counts.append(
            [sum(length <= key for length in ending) for key in range(WORD_BYTES + 1)]
        )
        self.child_nodes.append(len(self.children) if len(ending) < len(lengths) else -1)
        if len(ending) < len(lengths):
            self.children.append((start + len(ending), stop))

    def build_level(self) -> TreeLevel:
        bounds = np.array([*self.node_starts, len(self.words)], np.intp)
        count = np.diff(bounds) - 1
        bits = int(count.max()).bit_length()
        return TreeLevel(
            words=np.array(self.words, np.uint64),
            node_starts=bounds[:-1],
            word_counts=count,
            regions_above=np.array(self.regions_above, np.int32),
            regions_tied=np.array(self.regions_tied, np.int32),
            ended_split_counts=np.array(self.ended_split_counts, np.int32).ravel(),
            child_nodes=np.array(self.child_nodes, np.intp),
            steps=tuple(2**bit for bit in reversed(range(bits))),
            has_children=bool(self.children),
        )


class PendingKeys:
    """The keys of a block whose regions are not known yet, read 8 bytes at a time.

    Args:
        data: the bytes of all keys, contiguous.
        starts: where each key begins.
        lengths: how long each is; None if none ends before the last level does.
        rows: where each stands in the block; None if it is the whole block.
        nodes: the node of the level that each has come to.
    """

    def __init__(
        self,
        data: ByteArray,
        starts: IndexArray,
        lengths: npt.NDArray[Any] | None,
        *,
        rows: IndexArray | None = None,
        nodes: IndexArray | None = None,
    ) -> None:
        if len(data) < WORD_BYTES:
            data = np.concatenate([data, np.zeros(WORD_BYTES, np.uint8)])
        self.data, self.starts, self.lengths, self.rows, self.nodes = (
            data,
            starts,
            lengths,
            rows,
            nodes,
        )

    def take_keys(self, chosen: IndexArray, nodes: IndexArray | None = None) -> PendingKeys:
        """Return some of the pending keys, selected by index, with their tree nodes."""
        if len(chosen) == len(self.starts):
            return PendingKeys(self.data, self.starts, self.lengths, rows=self.rows, nodes=nodes)
        length = None if self.lengths is None else self.lengths.take(chosen)
        rows = chosen if self.rows is None else self.rows.take(chosen)
        return PendingKeys(self.data, self.starts.take(chosen), length, rows=rows, nodes=nodes)

    def write_regions(self, regions: RegionArray, located: RegionArray) -> None:
        """Write the regions of these keys; a deeper level may overwrite them."""
        located[slice(None) if self.rows is None else self.rows] = regions

    def read_words(self, depth: int) -> WordArray:
        """Return bytes 8 · depth to 8 · depth + 8 of each key as a number."""
        # An unaligned view: word i begins at byte i, so words overlap.
        last = len(self.data) - WORD_BYTES
        at_byte: WordArray = np.ndarray((last + 1,), ">u8", self.data, 0, (1,))
        place = self.starts + WORD_BYTES * depth if depth else self.starts
        beyond = place - last
        if int(beyond.max()) <= 0:
            words = at_byte[place].astype(np.uint64)
        else:
            words = at_byte[np.minimum(place, last)].astype(np.uint64)
            words <<= (np.clip(beyond, 0, WORD_BYTES - 1) * 8).astype(np.uint64)
        if self.lengths is not None:
            words &= _build_masks().take(np.clip(self.lengths - WORD_BYTES * depth, 0, WORD_BYTES))
        return words


def build_search(level: TreeLevel) -> TableSearch | NodeSearch:
    """Return the fastest search for a level of the split tree."""
    return TableSearch(level) if len(level.node_starts) == 1 else NodeSearch(level)


class TableSearch:
    """Search in a level of one node: a lookup table, then a few comparisons."""

    def __init__(self, level: TreeLevel) -> None:
        self.words = level.words[1:]
        self.first_word, self.last_word = self.words[0], self.words[-1]
        spread = int(self.last_word) - int(self.first_word)
        self.shift = np.uint64(max(0, spread.bit_length() - _MAX_TABLE_BITS))
        entry = (self.words - self.first_word) >> self.shift
        entries = int(entry[-1]) + 1
        self.entry_starts = np.searchsorted(entry, np.arange(entries, dtype=np.uint64)).astype(
            np.intp
        )
        self.max_compared = int(np.bincount(entry.astype(np.intp)).max())
        self.padded_words = np.concatenate(
            [self.words, np.full(self.max_compared, 2**64 - 1, np.uint64)]
        )

    def find_last_not_above(self, words: WordArray, _nodes: IndexArray | None) -> IndexArray:
        """Return, for each key, the last word of the level that is not above the key's."""
        if self.max_compared > _MAX_COMPARED_WORDS:
            return np.searchsorted(self.words, words, side="right")
        entry = np.clip(words, self.first_word, self.last_word)
        entry -= self.first_word
        entry >>= self.shift
        at = self.entry_starts.take(entry.view(np.intp), mode="clip")
        for _ in range(self.max_compared):
            at += self.padded_words.take(at, mode="clip") <= words
        # Eight FF are not above the padding either.
        return np.minimum(at, len(self.words), out=at)


class NodeSearch:
    """Search in a level of many nodes: a binary search of all keys at once."""

    def __init__(self, level: TreeLevel) -> None:
        self.level = level

    def find_last_not_above(self, words: WordArray, nodes: IndexArray | None) -> IndexArray:
        """Return, for each key, the last word of its node that is not above the key's."""
        level = self.level
        assert nodes is not None
        at = level.node_starts.take(nodes)
        end = at + level.word_counts.take(nodes)
        for step in level.steps:
            probe = at + step
            fits = probe <= end
            fits &= level.words.take(probe, mode="clip") <= words
            at[fits] += step
        return at


@lru_cache(maxsize=1)
def _build_masks() -> WordArray:
    """Return masks that keep the first 0 to 8 bytes of a word."""
    return np.array([2**64 - 2 ** (64 - 8 * left) for left in range(WORD_BYTES + 1)], np.uint64)
