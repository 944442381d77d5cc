"""Which pairs of a family can be read, where some of its blocks cannot.

RocksDB stops at a damaged block and does not say where the next one begins. So reading goes on at
the next key at which a block may begin: the indexes of the files have them.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from rowkey.engines.damage import Gap
from rowkey.engines.pairs.layout import END
from rowkey.engines.rocksdb_salvage.table_index import InvalidIndex, read_separators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rocksdict import RdictIter

    from rowkey.engines.pairs.source import Pair
    from rowkey.engines.rocksdb_files.manifest import TableFile

PROBES = 1_024
"""Keys that are tried evenly over a file whose index is not known."""
_PROBE_BYTES = 8
_REPORTED = 8_192
"""Cells after which progress is reported."""


class DamageScan:
    """Reads all pairs of a family that can be read, and notes what cannot.

    Args:
        iterate: returns a new iterator over the family. One that met damage gives its error again
            for sound blocks, so each is used up to its first error.
        find_probes: returns the keys, ascending, at which reading is tried after damage.
    """

    def __init__(
        self, iterate: Callable[[], RdictIter], find_probes: Callable[[], Sequence[bytes]]
    ) -> None:
        self._iterate, self._find_probes = iterate, find_probes
        self.gaps: list[Gap] = []
        """What could not be read so far, ascending."""

    def read(self) -> Iterator[Pair]:
        """Yield each pair that can be read, in their order.

        Cost: about 0.3 µs a pair; for each damaged block one search.
        """
        iterator, last = self._iterate(), None
        iterator.seek_to_first()
        while True:
            while iterator.valid():
                last = iterator.key()
                yield last, iterator.value()
                iterator.next()
            problem = _read_problem(iterator)
            if problem is None:
                return
            found = self._find_next(last)
            self.gaps.append(Gap(last, None if found is None else found.key(), problem))
            if found is None:
                return
            iterator = found

    def _find_next(self, last: bytes | None) -> RdictIter | None:
        """Return an iterator at the first readable pair after damage; None if there is none.

        Args:
            last: the last key before the damage, or None.
        """
        probes = self._find_probes()
        for number in range(0 if last is None else bisect_right(probes, last), len(probes)):
            iterator = self._iterate()
            iterator.seek(probes[number])
            if not iterator.valid() and _read_problem(iterator) is None:  # nothing is above it
                iterator = self._iterate()
                iterator.seek_to_last()
            if iterator.valid() and (last is None or iterator.key() > last):
                return self._follow_back(iterator, last)
        return None

    def _follow_back(self, found: RdictIter, last: bytes | None) -> RdictIter:
        """Return an iterator at the first pair of a readable stretch.

        Args:
            found: an iterator in the stretch.
            last: the last key before the damage, or None.
        """
        first = found.key()
        back = self._iterate()
        back.seek_for_prev(first)
        while back.valid() and (last is None or back.key() > last):
            first = back.key()
            back.prev()
        if first == found.key():
            return found
        iterator = self._iterate()
        iterator.seek(first)
        return iterator if iterator.valid() else found


def find_gaps(scan: DamageScan, progress: Callable[[int], None] = lambda _: None) -> list[Gap]:
    """Read a whole column family, and return the stretches that cannot be read, in their order.

    Args:
        scan: of the family.
        progress: told how many more cells were read.

    Cost: a read of every block, about 0.3 µs a cell; for each damaged block one search.
    """
    count = 0
    for _ in scan.read():
        count += 1
        if count == _REPORTED:
            progress(count)
            count = 0
    progress(count)
    return scan.gaps


def find_block_starts(folder: Path, files: Iterable[TableFile]) -> list[bytes]:
    """Return keys, ascending, at or before the first key of each block, and after the block before.

    Where a file has no readable index, keys are spread over what it holds.

    Args:
        folder: where the files are.
        files: those of a column family.

    Cost: about 2 µs a block.
    """
    found: set[bytes] = set()
    for one in files:
        found |= {one.smallest, one.largest + END}
        try:
            found.update(separator + END for separator in read_separators(folder / one.name))
        except (InvalidIndex, OSError):
            found.update(_spread_keys(one.smallest, one.largest))
    return sorted(found)


def _spread_keys(low: bytes, high: bytes) -> Iterator[bytes]:
    """Yield keys between two others: near the first one, and evenly up to the second."""
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
    step = max(1, (end - begin) // (PROBES + 1))
    for value in range(begin + step, end, step):
        yield low[:shared] + value.to_bytes(_PROBE_BYTES, "big")


def _read_problem(iterator: RdictIter) -> str | None:
    """Return what stopped an iterator, if something did."""
    try:
        iterator.status()
    except Exception as problem:  # noqa: BLE001 - RocksDB has no other
        return str(problem)
    return None
