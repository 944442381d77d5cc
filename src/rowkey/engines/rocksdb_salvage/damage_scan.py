"""Finds the readable pairs of a family that has unreadable blocks.

RocksDB stops at a damaged block and does not say where the next one begins. So reading goes on at
the next key at which a block may begin: the indexes of the files have them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.engines.damage import Gap
from rowkey.engines.pairs.layout import PIECE_END
from rowkey.engines.rocksdb_files.table_index import InvalidIndex, read_separators

if TYPE_CHECKING:
    from rocksdict import RdictIter

    from rowkey.engines.pairs.pair_source import Pair
    from rowkey.engines.rocksdb_files.manifest import TableFile

MAX_PROBES = 1_024
"""Number of keys that are tried in a file whose index cannot be read, evenly spread."""
_PROBE_BYTES = 8
_PROGRESS_CELLS = 8_192
"""Cells after which progress is reported."""


class DamageScan:
    """Reads all readable pairs of a family with damaged blocks, and notes the gaps.

    Args:
        open_iterator: returns a new iterator over the family. An iterator that met damage repeats
            its error for sound blocks, so each is used up to its first error.
        find_probes: returns the keys, ascending, at which reading is tried again after damage.
    """

    def __init__(
        self, open_iterator: Callable[[], RdictIter], find_probes: Callable[[], Sequence[bytes]]
    ) -> None:
        self._open_iterator, self._find_probes = open_iterator, find_probes
        self.gaps: list[Gap] = []
        """The unreadable key ranges so far, ascending."""

    def read_pairs(self) -> Iterator[Pair]:
        """Yield each pair that can be read, in key order.

        Cost: about 0.3 µs a pair; for each damaged block one search.
        """
        iterator, last = self._open_iterator(), None
        iterator.seek_to_first()
        while True:
            while iterator.valid():
                last = iterator.key()
                yield last, iterator.value()
                iterator.next()
            problem = _describe_problem(iterator)
            if problem is None:
                return
            readable_pairs = self._find_next_readable(last)
            self.gaps.append(
                Gap(last, None if readable_pairs is None else readable_pairs.key(), problem)
            )
            if readable_pairs is None:
                return
            iterator = readable_pairs

    def _find_next_readable(self, last_key: bytes | None) -> RdictIter | None:
        """Return an iterator at the first readable pair after damage; None if there is none.

        Args:
            last_key: the last key before the damage, or None.
        """
        probes = self._find_probes()
        for number in range(0 if last_key is None else bisect_right(probes, last_key), len(probes)):
            iterator = self._open_iterator()
            iterator.seek(probes[number])
            if not iterator.valid() and _describe_problem(iterator) is None:  # no key is above it
                iterator = self._open_iterator()
                iterator.seek_to_last()
            if iterator.valid() and (last_key is None or iterator.key() > last_key):
                return self._rewind_to_first(iterator, last_key)
        return None

    def _rewind_to_first(self, readable_pairs: RdictIter, last_key: bytes | None) -> RdictIter:
        """Return an iterator at the first pair of a readable range, given one within it.

        Args:
            last_key: the last key before the damage, or None.
        """
        first = readable_pairs.key()
        back = self._open_iterator()
        back.seek_for_prev(first)
        while back.valid() and (last_key is None or back.key() > last_key):
            first = back.key()
            back.prev()
        if first == readable_pairs.key():
            return readable_pairs
        iterator = self._open_iterator()
        iterator.seek(first)
        return iterator if iterator.valid() else readable_pairs


def find_gaps(scan: DamageScan, progress: Callable[[int], None] = lambda _: None) -> list[Gap]:
    """Read a whole column family, and return the key ranges that cannot be read, ascending.

    Args:
        progress: called with the number of cells read since its last call.

    Cost: a read of every block, about 0.3 µs a cell; for each damaged block one search.
    """
    count = 0
    for _ in scan.read_pairs():
        count += 1
        if count == _PROGRESS_CELLS:
            progress(count)
            count = 0
    progress(count)
    return scan.gaps


def find_block_starts(folder: Path, files: Iterable[TableFile]) -> list[bytes]:
    """Return keys at which the blocks of some files may start, ascending.

    Each is at or before the first key of a block, and after the block before. If the index of a
    file cannot be read, keys are spread over the file.

    Args:
        folder: the folder of the files.
        files: the table files of a column family.

    Cost: about 2 µs a block.
    """
    block_starts: set[bytes] = set()
    for file in files:
        block_starts |= {file.smallest, file.largest + PIECE_END}
        try:
            block_starts.update(
                separator + PIECE_END for separator in read_separators(folder / file.name)
            )
        except (InvalidIndex, OSError):
            block_starts.update(_spread_keys(file.smallest, file.largest))
    return sorted(block_starts)


def _spread_keys(low: bytes, high: bytes) -> Iterator[bytes]:
    """Yield keys between two keys: some just after the first, others evenly spread."""
    shared = 0
    while shared < min(len(low), len(high)) and low[shared] == high[shared]:
        shared += 1
    for length in range(len(low), shared, -1):
        if low[length - 1] < 0xFF:
            yield low[: length - 1] + bytes([low[length - 1] + 1])
    begin, end = (
        int.from_bytes(key[shared : shared + _PROBE_BYTES].ljust(_PROBE_BYTES, b"\0"), "big")
        for key in (low, high)
    )
    step = max(1, (end - begin) // (MAX_PROBES + 1))
    for value in range(begin + step, end, step):
        yield low[:shared] + value.to_bytes(_PROBE_BYTES, "big")


def _describe_problem(iterator: RdictIter) -> str | None:
    """Return the error that stopped an iterator; None if it reached its end."""
    try:
        iterator.status()
    except Exception as problem:  # noqa: BLE001 - RocksDB has no other
        return str(problem)
    return None
