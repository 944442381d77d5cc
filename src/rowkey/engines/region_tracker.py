"""The regions of a table on an embedded engine: key ranges with counters of reads and writes.

The tracker holds no cells. The engine reports each row that it reads or writes, so that the load
that a simulation predicts can be measured.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Self

from rowkey.array_libraries import np
from rowkey.engines.region_counts import RegionRequestCounts
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value
from rowkey.regions import (
    DEFAULT_POLICY,
    FLUSH_SIZE,
    MAX_FILE_SIZE,
    Boundaries,
    SplitPolicy,
    compute_split_threshold,
    locate_key_array,
)

_MIN_SPLIT_BYTES = 2 << 20
"""Bytes below which no region splits by itself. Source: `compute_split_threshold` refuses smaller
limits."""


class RegionTracker:
    """The regions of one table with counters of reads, writes and bytes; thread-safe.

    Args:
        splits: the split keys, ascending; without any there is one region.

    Raises:
        InvalidDesign: with every split that is out of order, repeated, empty or too long.

    >>> tracker = RegionTracker([b"m"])
    >>> tracker.count_writes([b"a", b"m", b"z"], [10, 10, 10])
    >>> [(count.start, count.writes) for count in tracker.list_regions()]
    [(b'', 1), (b'm', 2)]
    """

    def __init__(self, splits: Iterable[bytes] = ()) -> None:
        self._boundaries = Boundaries(splits)
        self._writes = [0] * len(self._boundaries)
        self._reads = [0] * len(self._boundaries)
        self._sizes = [0] * len(self._boundaries)
        self._postponed_sizes: dict[bytes, int] = {}
        self._lock = Lock()

    @property
    def splits(self) -> tuple[bytes, ...]:
        """Return the start keys of all regions but the first, ascending."""
        return self._boundaries.splits

    def __len__(self) -> int:
        """Return the number of regions."""
        return len(self._boundaries)

    def locate_row(self, row: bytes) -> int:
        """Return the index of the region that holds a row.

        Cost: O(log regions).
        """
        return self._boundaries.locate_key(row)

    def count_writes(self, rows: Sequence[bytes], sizes: Sequence[int]) -> None:
        """Add one write to the region of each row, with the bytes written.

        Args:
            rows: row keys, each as often as it was written.
            sizes: bytes written to each, for splits by size.

        Cost: O(rows log regions).
        """
        with self._lock:
            splits = self._boundaries.splits
            for row, size in zip(rows, sizes, strict=True):
                region = bisect_right(splits, row)
                self._writes[region] += 1
                self._sizes[region] += size

    def count_reads(self, rows: Sequence[bytes]) -> None:
        """Add one read to the region of each row.

        Cost: O(rows log regions).
        """
        with self._lock:
            splits = self._boundaries.splits
            if not splits:
                self._reads[0] += len(rows)
                return
            for row in rows:
                self._reads[bisect_right(splits, row)] += 1

    def count_array_reads(self, rows: Any) -> None:
        """Add one read to the region of each row of an Arrow array.

        The rows may have any order, but none may be null.

        Cost: 10 to 100 ns a row.
        """
        with self._lock:
            for region, count in self._count_by_region(rows):
                self._reads[region] += count

    def _count_by_region(self, rows: Any) -> list[tuple[int, int]]:
        """Return how many rows of an Arrow array each region holds, by region index."""
        if len(self) == 1:
            return [(0, len(rows))]
        located = locate_key_array(self._boundaries, rows)
        counts = np.bincount(located, minlength=len(self)).tolist()
        return [(region, count) for region, count in enumerate(counts) if count]

    def list_regions(self) -> list[RegionRequestCounts]:
        """Return the regions in key order, with their request counts."""
        with self._lock:
            bounds = self._boundaries.regions
            counts = zip(bounds, self._writes, self._reads, strict=True)
            return [RegionRequestCounts(*bound, writes, reads) for bound, writes, reads in counts]

    def split_region(self, split_key: bytes) -> None:
        """Split the region that holds a row key, so that a region starts at that key.

        Each half gets half of the counts, as it is not known which rows were counted.

        Raises:
            InvalidArgument: a region starts there already, or the key is empty.
            InvalidDesign: the key is too long.
        """
        with self._lock:
            region = self.locate_row(split_key)
            if split_key in (b"", *self.splits):
                what = f"a region starts at {format_value(split_key)} already"
                raise InvalidArgument("split_key", what, "a row key between two region starts")
            splits = self.splits
            self._boundaries = Boundaries((*splits[:region], split_key, *splits[region:]))
            for counts in (self._writes, self._reads, self._sizes):
                counts[region : region + 1] = [counts[region] // 2, (counts[region] + 1) // 2]

    def split_overfull_regions(
        self,
        attributes: Mapping[str, str],
        find_middle: Callable[[bytes, bytes], bytes | None],
    ) -> bool:
        """Split the regions that are larger than the table allows; return whether one was.

        Args:
            attributes: the table's attributes, see `SplitLimits.from_attributes`.
            find_middle: returns the row to split at, from a region's start, inclusive, and stop,
                exclusive; None if the region cannot be split: it is tried again when it has grown
                to twice its bytes.

        Cost: none while all regions are below the smallest possible limit.
        """
        if max(self._sizes) <= _MIN_SPLIT_BYTES:
            return False
        is_split = False
        for start, stop in self._find_overfull_regions(attributes):
            middle = find_middle(start, stop)
            if middle is None:
                with self._lock:
                    self._postponed_sizes[start] = 2 * self._sizes[self.locate_row(start)]
            else:
                self.split_region(middle)
                is_split = True
        return is_split

    def _find_overfull_regions(self, attributes: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        """Return the bounds of the regions that are larger than the table allows."""
        max_bytes = SplitLimits.from_attributes(attributes).compute_max_bytes(len(self))
        if max_bytes is None:
            return []
        with self._lock:
            bounds = zip(self._boundaries.regions, self._sizes, strict=True)
            return [
                bound
                for bound, size in bounds
                if size > max(max_bytes, self._postponed_sizes.get(bound[0], 0))
            ]


class SplitLimits:
    """The sizes at which the regions of a table are split automatically.

    Args:
        policy: the table's policy.
        max_file_size: bytes.
        flush_size: bytes.
    """

    def __init__(self, policy: SplitPolicy, max_file_size: int, flush_size: int) -> None:
        self.policy, self.max_file_size, self.flush_size = policy, max_file_size, flush_size
        self.compute_max_bytes(1)

    @classmethod
    def from_attributes(cls, attributes: Mapping[str, str]) -> Self:
        """Return the limits that table attributes set, with HBase's defaults for the others.

        Args:
            attributes: MAX_FILESIZE and MEMSTORE_FLUSHSIZE in bytes, SPLIT_POLICY as the name of
                the policy's class, with or without its package.

        Raises:
            InvalidArgument: a number is malformed or too small, or the policy is unknown.

        >>> SplitLimits.from_attributes({"MAX_FILESIZE": "4194304"}).compute_max_bytes(2)
        4194304
        """
        class_name = attributes.get("SPLIT_POLICY") or DEFAULT_POLICY.value
        policies = {policy.value: policy for policy in SplitPolicy}
        policy = policies.get(class_name.rpartition(".")[2])
        if policy is None:
            what = f"{format_value(class_name)} is not a split policy of HBase"
            raise InvalidArgument("SPLIT_POLICY", what, f"one of {', '.join(policies)}")
        return cls(
            policy,
            _parse_bytes(attributes, "MAX_FILESIZE", MAX_FILE_SIZE),
            _parse_bytes(attributes, "MEMSTORE_FLUSHSIZE", FLUSH_SIZE),
        )

    def compute_max_bytes(self, regions: int) -> int | None:
        """Return the bytes above which one of `regions` regions is split; None if none ever is."""
        return compute_split_threshold(self.policy, regions, self.max_file_size, self.flush_size)


def _parse_bytes(attributes: Mapping[str, str], attribute: str, default: int) -> int:
    """Return the number of bytes that a table attribute sets, or a default."""
    text = attributes.get(attribute)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**63)):
        problem = f"{format_value(text[:40])} is not a number of bytes"
        raise InvalidArgument(attribute, problem, f"digits only, as in {default}")
    return int(text)
