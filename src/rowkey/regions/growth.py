"""How a table's regions grow and split by themselves as keys arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.regions.split_policy import (
    DEFAULT_POLICY,
    FLUSH_SIZE,
    MAX_FILE_SIZE,
    SplitPolicy,
    compute_split_threshold,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    Ranks = npt.NDArray[np.int64]

MAX_RANKS = 2_000_000
"""Keys one simulation takes: each may stand for many."""

_MAX_CHUNK_KEYS = 8_192
"""Keys counted at once; a chunk is cut short where a region passes its threshold."""

_MIN_CHUNK_KEYS = 64
"""Keys counted at once where a region has just been filled."""


@dataclass(frozen=True, slots=True)
class SimulatedSplit:
    """One simulated split of a region: when, at which key, and at which size."""

    key_count: int
    rank: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RegionGrowth:
    """The regions of a table at the end of a simulated growth.

    Args:
        boundaries: ranks at which regions start, the first region's excepted.
        sizes_bytes: bytes of each region, in the order of the keys.
        splits: every split, in the order of time.
        mean_fill: mean size of a region ÷ max_file_size.
        idle_share: share of regions that got none of the last writes.
    """

    boundaries: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    splits: tuple[SimulatedSplit, ...]
    mean_fill: float
    idle_share: float

    @property
    def region_count(self) -> int:
        """Return the number of regions at the end."""
        return len(self.sizes_bytes)


def simulate_growth(
    ranks: npt.NDArray[np.integer],
    bytes_per_key: int,
    *,
    boundaries: Sequence[int] = (),
    servers: int = 1,
    policy: SplitPolicy = DEFAULT_POLICY,
    max_file_size: int = MAX_FILE_SIZE,
    flush_size: int = FLUSH_SIZE,
    recent_share: float = 0.1,
) -> RegionGrowth:
    """Simulate how the regions of a table split while keys arrive.

    A region splits when its size passes the threshold, at the median of the keys it holds, unless
    these are one key. The balancer is taken to have evened the counts by then: region i of n is on
    server i mod servers. One store per region, no compaction, no deletes; a half is ready to split
    again at once, where HBase waits for a compaction.

    Args:
        ranks: the place of each key among all keys, in the order of arrival; at most 2,000,000.
        bytes_per_key: bytes that each of them stands for.
        boundaries: ranks at which the table was split beforehand, ascending; between equal ones
            lies a region without keys.
        servers: region servers.
        max_file_size: MAX_FILESIZE of the table, bytes.
        flush_size: MEMSTORE_FLUSHSIZE of the table, bytes.
        recent_share: the share of arrivals, at the end, in which a region must be written not to be
            idle.

    Returns:
        The end state and all splits; the same for the same arguments.

    Raises:
        InvalidArgument: more ranks than are taken, or a number out of its range.

    Cost: O(n), and per split O(regions + ranks of the region); 24 bytes a rank.

    Source: RegionSplitPolicy.getSplitPoint: the middle of the largest store; policy.py.
    """
    _check_arguments(len(ranks), bytes_per_key, servers, recent_share)
    limits = _GrowthLimits(policy, servers, max_file_size, flush_size, bytes_per_key)
    table = _GrowingTable(np.asarray(ranks, np.int64), boundaries, limits)
    splits: list[SimulatedSplit] = []
    while table.arrived_count < len(ranks):
        full = table.add_chunk()
        if full is not None:
            splits += table.split_region(full)
    return RegionGrowth(
        boundaries=tuple(table.region_starts.tolist()),
        sizes_bytes=tuple((table.region_keys * bytes_per_key).tolist()),
        splits=tuple(splits),
        mean_fill=float(table.region_keys.mean()) * bytes_per_key / max_file_size,
        idle_share=table.compute_idle_share(max(1, round(len(ranks) * recent_share))),
    )


def _check_arguments(count: int, bytes_per_key: int, servers: int, recent_share: float) -> None:
    """Raise an error if an argument of the simulation is out of range."""
    if count > MAX_RANKS:
        remedy = "Give fewer keys, and raise bytes_per_key accordingly."
        raise InvalidArgument(
            "ranks",
            f"{count:,} keys are too many for one simulation",
            f"at most {MAX_RANKS:,} keys",
            remedy,
        )
    for word, given in (("bytes_per_key", bytes_per_key), ("servers", servers)):
        if given < 1:
            raise InvalidArgument(word, f"{given} is too small", "1 or more")
    if not 0 < recent_share <= 1:
        raise InvalidArgument(
            "recent_share", f"{recent_share} is not a share", "a number above 0 and at most 1"
        )


@dataclass(frozen=True, slots=True)
class _GrowthLimits:
    """The split thresholds of a policy on some servers, counted in keys."""

    policy: SplitPolicy
    servers: int
    max_file_size: int
    flush_size: int
    bytes_per_key: int

    def compute_max_keys(self, regions: int) -> Ranks:
        """Return for each of a number of regions how many keys it may hold before it splits."""
        regions_per_server, fuller_servers = divmod(regions, self.servers)
        fuller_limit = self._compute_key_limit(regions_per_server + 1)
        usual_limit = self._compute_key_limit(regions_per_server)
        if fuller_limit == usual_limit:
            return np.full(regions, usual_limit)
        return np.where(
            np.arange(regions) % self.servers < fuller_servers, fuller_limit, usual_limit
        )

    def _compute_key_limit(self, regions_on_server: int) -> int:
        """Return how many keys a region may hold if its server has so many regions."""
        size = compute_split_threshold(
            self.policy, regions_on_server, self.max_file_size, self.flush_size
        )
        return 2**62 if size is None else size // self.bytes_per_key


class _GrowingTable:
    """The regions of a simulated table while keys arrive."""

    def __init__(self, ranks: Ranks, boundaries: Sequence[int], limits: _GrowthLimits) -> None:
        self.ranks, self.limits, self.arrived_count, self.chunk_keys = (
            ranks,
            limits,
            0,
            _MAX_CHUNK_KEYS,
        )
        self.distinct_ranks, self.rank_indexes = np.unique(ranks, return_inverse=True)
        self.rank_counts: Ranks = np.zeros(len(self.distinct_ranks), np.int64)
        """Keys that have arrived, for each of the distinct ranks."""
        self.first_index, self.last_index = len(self.distinct_ranks), -1
        self.region_starts: Ranks = np.array(boundaries, np.int64)
        if (descends := np.diff(self.region_starts) < 0).any():
            index = int(descends.argmax()) + 1
            raise InvalidArgument(
                "boundaries", f"item {index} is less than item {index - 1}", "ascending boundaries"
            )
        self.region_keys: Ranks = np.zeros(len(self.region_starts) + 1, np.int64)
        self.min_retry_keys: Ranks = np.zeros_like(self.region_keys)
        """Keys below which a region that could not be split is not tried again."""
        self._update_limits()

    def _update_limits(self) -> None:
        """Compute again how many keys each region may hold."""
        self.max_region_keys: Ranks = np.maximum(
            self.limits.compute_max_keys(len(self.region_keys)), self.min_retry_keys
        )

    def _locate_ranks(self, ranks: Ranks) -> npt.NDArray[np.intp]:
        return np.searchsorted(self.region_starts, ranks, side="right")

    def add_chunk(self) -> int | None:
        """Add a chunk of keys, or fewer if they fill a region; return that region, or None."""
        regions = self._locate_ranks(
            self.ranks[self.arrived_count : self.arrived_count + self.chunk_keys]
        )
        first, full = self._count_keys_until_full(regions), None
        if first is None:
            first = len(regions)
            self.chunk_keys = min(2 * self.chunk_keys, _MAX_CHUNK_KEYS)
        else:
            full = int(regions[first - 1])
            # Where regions are many and nearly full, the next one is not far.
            self.chunk_keys = min(max(2 * first, _MIN_CHUNK_KEYS), _MAX_CHUNK_KEYS)
        self.region_keys += np.bincount(regions[:first], minlength=len(self.region_keys))
        arrived_indexes = self.rank_indexes[self.arrived_count : self.arrived_count + first]
        np.add.at(self.rank_counts, arrived_indexes, 1)
        self.first_index, self.last_index = (
            min(self.first_index, int(arrived_indexes.min())),
            max(self.last_index, int(arrived_indexes.max())),
        )
        self.arrived_count += first
        return full

    def _count_keys_until_full(self, regions: npt.NDArray[np.intp]) -> int | None:
        """Return after how many keys a region is full; None if none gets full."""
        counts = np.bincount(regions, minlength=len(self.region_keys))
        places = np.flatnonzero((self.region_keys + counts > self.max_region_keys)[regions])
        if not len(places):
            return None
        ordered = places[np.argsort(regions[places], kind="stable")]
        ordered_regions = regions[ordered]
        begins = np.flatnonzero(np.diff(ordered_regions, prepend=-1))
        preceding_counts = np.arange(len(ordered_regions)) - np.repeat(
            begins, np.diff(begins, append=len(ordered_regions))
        )
        free_counts = np.maximum(
            0, self.max_region_keys[ordered_regions] - self.region_keys[ordered_regions]
        )
        return int(ordered[preceding_counts == free_counts].min()) + 1

    def split_region(self, region: int) -> list[SimulatedSplit]:
        """Split a region at the median of its keys, if that is neither its first nor last key."""
        low, high = self.first_index, self.last_index + 1
        if region:
            low = int(np.searchsorted(self.distinct_ranks, self.region_starts[region - 1]))
        if region < len(self.region_starts):
            high = int(np.searchsorted(self.distinct_ranks, self.region_starts[region]))
        upto = np.cumsum(self.rank_counts[low:high])
        key_count = int(upto[-1])
        place = int(np.searchsorted(upto, key_count // 2, "right"))
        if place in {int(np.searchsorted(upto, 0, "right")), int(np.searchsorted(upto, key_count))}:
            self.min_retry_keys[region] = 2 * key_count
            self._update_limits()
            return []
        middle, lower_count = int(self.distinct_ranks[low + place]), int(upto[place - 1])
        self.region_starts = _insert_value(self.region_starts, region, middle)
        self.region_keys = _insert_value(self.region_keys, region, lower_count)
        self.region_keys[region + 1] = key_count - lower_count
        self.min_retry_keys = _insert_value(self.min_retry_keys, region, 0)
        self.min_retry_keys[region + 1] = 0
        self._update_limits()
        return [SimulatedSplit(self.arrived_count, middle, key_count * self.limits.bytes_per_key)]

    def compute_idle_share(self, recent_count: int) -> float:
        """Return the share of regions that got none of the last keys."""
        written = np.unique(self._locate_ranks(self.ranks[-recent_count:]))
        return 1 - len(written) / len(self.region_keys)


def _insert_value(values: Ranks, index: int, value: int) -> Ranks:
    """Return an array with a value inserted at an index; 4 times as fast as NumPy's insert."""
    return np.concatenate([values[:index], [value], values[index:]])
