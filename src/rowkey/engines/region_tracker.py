"""Regions of the embedded engines: their boundaries, counts and splits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from threading import Lock
from typing import Any, NamedTuple, Self

from rowkey.array_libraries import np
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


class RegionOutline:
    """Where the bytes of a region lie, in bounded memory however many rows it has.

    Rows are marked with the bytes since the row that was marked before. Where there are too many,
    every other mark is left out, so that the middle is found to 1 of 16,384 parts or better.

    >>> outline = RegionOutline()
    >>> for row in (b"a", b"b", b"c"):
    ...     outline.add(row, 1)
    >>> find_middle_row(*outline.finish())
    b'b'
    """

    MAX_MARKS = 32_768

    def __init__(self) -> None:
        self._rows: list[bytes] = []
        self._sizes: list[int] = []
        self._row, self._size, self._step = b"", 0, 0

    def add(self, row: bytes, size: int) -> None:
        """Add the bytes of the next row."""
        self._row, self._size = row, self._size + size
        if self._size >= self._step:
            self._add_mark()
            if len(self._rows) == self.MAX_MARKS:
                self._rows = self._rows[1::2]
                self._sizes = [*map(add, self._sizes[::2], self._sizes[1::2])]
                self._step = sum(self._sizes) // len(self._sizes)

    def _add_mark(self) -> None:
        self._rows.append(self._row)
        self._sizes.append(self._size)
        self._size = 0

    def finish(self) -> tuple[list[bytes], list[int]]:
        """Return the marked rows, ascending, and the bytes since the mark before each of them."""
        if self._size:
            self._add_mark()
        return self._rows, self._sizes


def find_middle_row(rows: Sequence[bytes], sizes: Iterable[int]) -> bytes | None:
    """Return the row at the middle of a region's bytes; None if that is its first row.

    >>> find_middle_row([b"a", b"b", b"c"], [1, 1, 1])
    b'b'
    """
    sums = list(accumulate(sizes))
    index = bisect_left(sums, sums[-1] / 2) if sums else 0
    return rows[index] if index else None


@dataclass(frozen=True, slots=True)
class RegionRequestCounts:
    """The read and write requests of one region since the table was created.

    On a cluster: since its server opened the region.

    Args:
        start: its first row key, inclusive.
        stop: the first row key after it; empty for the last region.
        writes: mutations of a row: a put of many cells is one; so are an increment, an append and a
            check-and-mutate that was applied.
        reads: rows returned by gets and scans; a get that finds nothing counts as well.

    Source: HRegion.writeRequestsCount and readRequestsCount.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int


class RegionAvailability(NamedTuple):
    """How many regions of a table are open.

    Args:
        open: regions that a server has open and answers for.
        total: all regions.
    """

    open: int
    total: int


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """A region on its server, with its request counts since the server opened it.

    Args:
        start: its first row key, inclusive.
        stop: the first row key after it; empty for the last region.
        writes: as in `RegionRequestCounts`.
        reads: as in `RegionRequestCounts`.
        server: the name of its server; empty on an embedded engine.
        opening_id: identifies this opening of the region: counts only grow while it is the same.
    """

    start: bytes
    stop: bytes
    writes: int
    reads: int
    server: str
    opening_id: Hashable

    @classmethod
    def from_counts(cls, counts: RegionRequestCounts) -> OpenRegion:
        """Return the open region of an embedded engine, identified by its bounds."""
        bounds = (counts.start, counts.stop)
        return cls(*bounds, counts.writes, counts.reads, "", bounds)


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
            what = f"{format_value(class_name)} is a split policy that rowkey does not know"
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
    """Return the number of bytes that a table attribute sets, or a default.

    Raises:
        InvalidArgument: its value is not a number of bytes.
    """
    text = attributes.get(attribute)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**63)):
        problem = f"{format_value(text[:40])} is not a number of bytes"
        raise InvalidArgument(attribute, problem, f"digits only, as in {default}")
    return int(text)
