"""The regions of a table on an embedded engine: ranges of keys that count what happens in them.

No bytes lie here. An engine tells it which rows were written and read, so that what a simulation
predicts can be counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from rowkey.engines.counts import RegionCount
from rowkey.errors import Refused, shown
from rowkey.regions import (
    DEFAULT_POLICY,
    FLUSH_SIZE,
    MAX_FILE_SIZE,
    Boundaries,
    SplitPolicy,
    locate_array,
    threshold,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_LEAST = 2 << 20
"""Bytes below which no region splits by itself. Source: `threshold` refuses smaller limits."""


class Territory:
    """The regions of one table with their counters; safe to be used by several threads.

    Args:
        splits: the row keys regions begin with, ascending; none makes one region.

    Raises:
        DeclarationError: with every split that is out of order, repeated, empty or too long.

    >>> land = Territory([b"m"])
    >>> land.count_writes([b"a", b"m", b"z"])
    >>> [(count.start, count.writes) for count in land.regions()]
    [(b'', 1), (b'm', 2)]
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        self._boundaries = Boundaries(splits)
        self._writes = [0] * len(self._boundaries)
        self._reads = [0] * len(self._boundaries)
        self._sizes = [0] * len(self._boundaries)
        self._unsplit: dict[bytes, int] = {}
        self._lock = Lock()

    @property
    def splits(self) -> tuple[bytes, ...]:
        """The row keys at which regions begin, the first region's excepted, ascending."""
        return self._boundaries.splits

    def __len__(self) -> int:
        """The number of regions."""
        return len(self._boundaries)

    def locate(self, row: bytes) -> int:
        """The index of the region that holds a row.

        Cost: O(log regions).
        """
        return self._boundaries.locate_one(row)

    def count_writes(
        self, rows: Sequence[bytes], sizes: Sequence[int] | None = None, *, ascending: bool = False
    ) -> None:
        """Count one write of each row.

        Args:
            rows: row keys, each as often as it was written.
            sizes: bytes written to each, for splits by size; None leaves the regions' sizes.
            ascending: whether the rows are in order, so that few of them are looked at.

        Cost: O(rows log regions); O(regions log rows) if ascending and without sizes.
        """
        with self._lock:
            if sizes is None:
                self._count(self._writes, rows, ascending=ascending)
                return
            for row, size in zip(rows, sizes, strict=True):
                region = self.locate(row)
                self._writes[region] += 1
                self._sizes[region] += size

    def count_reads(self, rows: Sequence[bytes], *, ascending: bool = False) -> None:
        """Count one read of each row; as `count_writes`."""
        with self._lock:
            self._count(self._reads, rows, ascending=ascending)

    def _count(self, counts: list[int], rows: Sequence[bytes], *, ascending: bool) -> None:
        splits = self._boundaries.splits
        if not splits:
            counts[0] += len(rows)
        elif ascending and len(rows) > 1:
            place = 0
            for region in range(self.locate(rows[0]), self.locate(rows[-1])):
                behind = bisect_left(rows, splits[region], place)
                counts[region] += behind - place
                place = behind
            counts[self.locate(rows[-1])] += len(rows) - place
        else:
            for row in rows:
                counts[bisect_right(splits, row)] += 1

    def count_writes_array(self, rows: Any, bytes_each: float = 0) -> None:
        """Count one write of each row of an Arrow binary array, in any order.

        Args:
            rows: a `pyarrow.Array` without nulls.
            bytes_each: mean bytes written to a row, for splits by size.

        Cost: some 10..100 ns a row.
        """
        with self._lock:
            self._count_array(self._writes, rows, bytes_each)

    def count_reads_array(self, rows: Any) -> None:
        """Count one read of each row of an Arrow binary array, in any order."""
        with self._lock:
            self._count_array(self._reads, rows, 0)

    def _count_array(self, counts: list[int], rows: Any, bytes_each: float) -> None:
        if len(self) == 1:
            found = [len(rows)]
        else:
            import numpy as np

            located = locate_array(self._boundaries, rows)
            found = np.bincount(located, minlength=len(self)).tolist()
        for region, more in enumerate(found):
            counts[region] += more
            self._sizes[region] += round(more * bytes_each)

    def regions(self) -> list[RegionCount]:
        """The regions in the order of their keys, with what they have counted."""
        with self._lock:
            bounds = self._boundaries.regions
            counts = zip(bounds, self._writes, self._reads, strict=True)
            return [RegionCount(*bound, writes, reads) for bound, writes, reads in counts]

    def split(self, at: bytes) -> None:
        """Divide the region that holds a row key before that key.

        Each half is taken to have had half of what the whole counted: which rows they were is not
        kept.

        Raises:
            Refused: a region begins there already, or the key is none.
            DeclarationError: the key is too long.
        """
        with self._lock:
            region = self.locate(at)
            if at in (b"", *self.splits):
                what = f"a region begins at {shown(at)} already"
                raise Refused("at", what, "a key within a region")
            splits = self.splits
            self._boundaries = Boundaries((*splits[:region], at, *splits[region:]))
            for counts in (self._writes, self._reads, self._sizes):
                counts[region : region + 1] = [counts[region] // 2, (counts[region] + 1) // 2]

    def size(self, region: int) -> int:
        """Bytes written to a region, as they were counted, halved by each split."""
        return self._sizes[region]

    def resize(self, sizes: Sequence[int]) -> None:
        """Replace the bytes of all regions, where an engine has measured them anew."""
        with self._lock:
            self._sizes[:] = [int(size) for _, size in zip(self._sizes, sizes, strict=True)]

    def overfull(self, attributes: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        """Start, inclusive, and stop, exclusive, of the regions that would split by themselves.

        Args:
            attributes: the table's, as `SplitLimits.read` takes them.

        Cost: nothing while all regions are below the least that a table can ask for.
        """
        if max(self._sizes) <= _LEAST:
            return []
        most = SplitLimits.read(attributes).most(len(self))
        if most is None:
            return []
        with self._lock:
            bounds = zip(self._boundaries.regions, self._sizes, strict=True)
            return [
                bound for bound, size in bounds if size > max(most, self._unsplit.get(bound[0], 0))
            ]

    def postpone(self, start: bytes) -> None:
        """Let a region be that no key can divide, until it has grown to twice its bytes."""
        with self._lock:
            self._unsplit[start] = 2 * self._sizes[self.locate(start)]

    def dump(self) -> dict[str, Any]:
        """Everything it knows, as JSON can keep it; row keys are in hex."""
        with self._lock:
            return {
                "splits": [split.hex() for split in self.splits],
                "writes": list(self._writes),
                "reads": list(self._reads),
                "sizes": list(self._sizes),
            }

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> Self:
        """The territory that was dumped.

        >>> land = Territory([b"m"])
        >>> land.count_reads([b"x"])
        >>> Territory.load(land.dump()).regions() == land.regions()
        True
        """
        land = cls(bytes.fromhex(split) for split in dumped["splits"])
        for counts, kept in (
            (land._writes, dumped["writes"]),
            (land._reads, dumped["reads"]),
            (land._sizes, dumped["sizes"]),
        ):
            counts[:] = [int(count) for _, count in zip(counts, kept, strict=True)]
        return land


class SplitLimits:
    """When the regions of a table split by themselves, from the words kept with it.

    Args:
        policy: the table's policy.
        max_file_size: bytes.
        flush_size: bytes.
    """

    def __init__(self, policy: SplitPolicy, max_file_size: int, flush_size: int) -> None:
        self.policy, self.max_file_size, self.flush_size = policy, max_file_size, flush_size
        self.most(1)

    @classmethod
    def read(cls, attributes: Mapping[str, str]) -> Self:
        """The limits a table's attributes set; what they leave out is as HBase has it.

        Args:
            attributes: MAX_FILESIZE and MEMSTORE_FLUSHSIZE in bytes, SPLIT_POLICY as the name of
                the policy's class, with or without its package.

        Raises:
            Refused: a number is none or too small, or the policy is unknown.

        >>> SplitLimits.read({"MAX_FILESIZE": "4194304"}).most(2)
        4194304
        """
        given = attributes.get("SPLIT_POLICY") or DEFAULT_POLICY.value
        name = given.rpartition(".")[2]
        known = {policy.value: policy for policy in SplitPolicy}
        if name not in known:
            raise Refused("SPLIT_POLICY", f"{shown(given)} is unknown", ", ".join(known))
        return cls(
            known[name],
            _bytes_of(attributes, "MAX_FILESIZE", MAX_FILE_SIZE),
            _bytes_of(attributes, "MEMSTORE_FLUSHSIZE", FLUSH_SIZE),
        )

    def most(self, regions: int) -> int | None:
        """Bytes above which a region splits, all regions being on one server; None if never."""
        return threshold(self.policy, regions, self.max_file_size, self.flush_size)


def _bytes_of(attributes: Mapping[str, str], word: str, default: int) -> int:
    """A number of bytes among a table's attributes."""
    given = attributes.get(word)
    if given is None:
        return default
    if not given.isascii() or not given.isdigit() or len(given) > len(str(2**63)):
        raise Refused(word, f"{shown(given[:40])} is no number of bytes", "digits")
    return int(given)
