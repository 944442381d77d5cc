"""Which rows of a family can be read, where some of its blocks cannot.

RocksDB stops at a damaged block and does not say where the next one begins. So keys after it are
tried until one can be read, and from there the readable stretch is followed to both of its ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.engines.damage import Gap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocksdict import RdictIter

PROBES = 64
"""Keys that are tried evenly over each unreadable stretch."""
_PROBE_BYTES = 8
_REPORTED = 8_192
"""Cells after which progress is reported."""


def find_gaps(
    iterator: RdictIter, last_key: bytes, progress: Callable[[int], None] = lambda _: None
) -> list[Gap]:
    """Read a whole column family, and return the stretches that cannot be read, in their order.

    Args:
        iterator: over the family.
        last_key: a key that none of the family's is above.
        progress: told how many more cells were read.

    Cost: a read of every block, about 0.3 µs a cell; for each gap some hundred searches.
    """
    scan, top = _Scan(iterator, progress), last_key + b"\xff"
    iterator.seek_to_first()
    after = scan.follow(top) or b""
    if scan.problem is None:
        return []
    before, problem = top, scan.problem
    iterator.seek_to_last()
    if iterator.valid():
        last = iterator.key()
        progress(1)
        before = scan.follow_back(last, after)
    return [
        Gap(start or None, None if stop == top else stop, what)
        for start, stop, what in _split_gap(scan, after, before, problem)
    ]


def _split_gap(
    scan: _Scan, after: bytes, before: bytes, problem: str
) -> Iterator[tuple[bytes, bytes, str]]:
    """Yield what cannot be read between two keys that can; the stretch after the first cannot."""
    for probe in _probes(after, before):
        scan.iterator.seek(probe)
        found = scan.iterator.key()
        if found is None or found >= before:  # damaged as well, or nothing is left up to the end
            continue
        begin = scan.follow_back(found, after)
        if begin > after:
            yield from _split_gap(scan, after, begin, problem)
        scan.iterator.seek(found)
        end = scan.follow(before)
        if scan.problem is not None and end is not None:
            yield from _split_gap(scan, end, before, scan.problem)
        return
    yield after, before, problem


def _probes(after: bytes, before: bytes) -> Iterator[bytes]:
    """Yield keys between two others: near the first, and evenly spread up to the second."""
    shared = 0
    while shared < min(len(after), len(before)) and after[shared] == before[shared]:
        shared += 1
    near = range(len(after), shared, -1)
    for length in near[:: max(1, len(near) // PROBES)]:
        if after[length - 1] < 0xFF:
            yield after[: length - 1] + bytes([after[length - 1] + 1])
    low, high = (
        int.from_bytes(key[shared : shared + _PROBE_BYTES].ljust(_PROBE_BYTES, b"\0"), "big")
        for key in (after, before)
    )
    step = max(1, (high - low) // (PROBES + 1))
    for value in range(low + step, high, step):
        yield after[:shared] + value.to_bytes(_PROBE_BYTES, "big")


class _Scan:
    """Follows readable stretches.

    Args:
        iterator: over the family.
        progress: told how many more cells were read.
    """

    def __init__(self, iterator: RdictIter, progress: Callable[[int], None]) -> None:
        self.iterator, self.progress = iterator, progress
        self.problem: str | None = None
        """What has ended the stretch that was followed last; None if it was the end."""

    def read_problem(self) -> str | None:
        """Return what stopped the iterator, if something did."""
        try:
            self.iterator.status()
        except Exception as problem:  # noqa: BLE001 - RocksDB has no other
            return str(problem)
        return None

    def follow(self, stop: bytes) -> bytes | None:
        """Read on from where the iterator stands; return the last key that could be read."""
        iterator, last, count = self.iterator, None, 0
        while iterator.valid():
            key = iterator.key()
            if key >= stop:
                self.progress(count)
                self.problem = None
                return last
            iterator.value()
            last, count = key, count + 1
            if count == _REPORTED:
                self.progress(count)
                count = 0
            iterator.next()
        self.progress(count)
        self.problem = self.read_problem()
        return last

    def follow_back(self, found: bytes, stop: bytes) -> bytes:
        """Read back from a key that can be read, to another one; return the first key read."""
        iterator, first, count = self.iterator, found, 0
        iterator.seek_for_prev(found)
        iterator.prev()
        while iterator.valid() and first > stop:
            first, count = iterator.key(), count + 1
            iterator.prev()
        self.progress(count)
        return first
