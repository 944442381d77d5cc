"""How a table's regions grow and split by themselves as keys arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.regions.policy import DEFAULT_POLICY, FLUSH_SIZE, MAX_FILE_SIZE, SplitPolicy, threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Ranks = npt.NDArray[np.int64]

MOST_RANKS = 2_000_000
"""Keys one simulation takes: each may stand for many."""

_CHUNK = 8_192
"""Keys counted at once; a chunk is cut short where a region passes its threshold."""

_LEAST = 64
"""Keys counted at once where a region has just been filled."""


@dataclass(frozen=True, slots=True)
class Split:
    """One split: after how many keys, where, and how large the region had become."""

    after: int
    rank: int
    size: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What became of a table.

    Args:
        boundaries: ranks at which regions start, the first region's excepted.
        sizes: bytes of each region, in the order of the keys.
        splits: every split, in the order of time.
        fill: mean size of a region ÷ max_file_size.
        idle: share of regions that got none of the last writes.
    """

    boundaries: tuple[int, ...]
    sizes: tuple[int, ...]
    splits: tuple[Split, ...]
    fill: float
    idle: float

    @property
    def regions(self) -> int:
        """How many regions there are in the end."""
        return len(self.sizes)


def grow(
    ranks: npt.NDArray[np.integer],
    bytes_each: int,
    *,
    boundaries: Sequence[int] = (),
    servers: int = 1,
    policy: SplitPolicy = DEFAULT_POLICY,
    max_file_size: int = MAX_FILE_SIZE,
    flush_size: int = FLUSH_SIZE,
    last: float = 0.1,
) -> Growth:
    """The regions of a table after keys have arrived, split as the policy splits them.

    A region splits when its size passes the threshold, at the median of the keys it holds, unless
    these are one key. The balancer is taken to have evened the counts by then: region i of n is on
    server i mod servers. One store per region, no compaction, no deletes; a half is ready to split
    again at once, where HBase waits for a compaction.

    Args:
        ranks: the place of each key among all keys, in the order of arrival; at most 2,000,000.
        bytes_each: bytes that each of them stands for.
        boundaries: ranks at which the table was split beforehand, ascending; between equal ones
            lies a region without keys.
        servers: region servers.
        policy: the split policy.
        max_file_size: MAX_FILESIZE of the table, bytes.
        flush_size: MEMSTORE_FLUSHSIZE of the table, bytes.
        last: the share of arrivals, at the end, in which a region must be written not to be idle.

    Returns:
        The end state and all splits; the same for the same arguments.

    Raises:
        Refused: more ranks than are taken, or a number out of its range.

    Cost: O(n), and per split O(regions + ranks of the region); 24 bytes a rank.

    Source: RegionSplitPolicy.getSplitPoint: the middle of the largest store; policy.py.
    """
    import numpy as np

    _check(len(ranks), bytes_each, servers, last)
    limits = _Limits(policy, servers, max_file_size, flush_size, bytes_each)
    table = _Table(np.asarray(ranks, np.int64), boundaries, limits)
    splits: list[Split] = []
    while table.arrived < len(ranks):
        full = table.add_until_full()
        if full is not None:
            splits += table.split(full)
    return Growth(
        boundaries=tuple(table.starts.tolist()),
        sizes=tuple((table.keys * bytes_each).tolist()),
        splits=tuple(splits),
        fill=float(table.keys.mean()) * bytes_each / max_file_size,
        idle=table.idle(max(1, round(len(ranks) * last))),
    )


def _check(count: int, bytes_each: int, servers: int, last: float) -> None:
    """Raise if a number is out of its range."""
    if count > MOST_RANKS:
        remedy = "Let each key stand for more bytes."
        raise Refused("ranks", f"{count:,} keys", f"at most {MOST_RANKS:,}", remedy)
    for word, given in (("bytes_each", bytes_each), ("servers", servers)):
        if given < 1:
            raise Refused(word, f"{given} is too small", "1 or more")
    if not 0 < last <= 1:
        raise Refused("last", f"{last} is no share", "above 0, at most 1")


@dataclass(frozen=True, slots=True)
class _Limits:
    """The policy on these servers, counted in keys."""

    policy: SplitPolicy
    servers: int
    max_file_size: int
    flush_size: int
    bytes_each: int

    def most(self, regions: int) -> Ranks:
        """How many keys each region may hold without splitting, the regions evenly placed."""
        import numpy as np

        fewer, rest = divmod(regions, self.servers)
        more, less = self._keys(fewer + 1), self._keys(fewer)
        if more == less:
            return np.full(regions, less)
        return np.where(np.arange(regions) % self.servers < rest, more, less)

    def _keys(self, here: int) -> int:
        size = threshold(self.policy, here, self.max_file_size, self.flush_size)
        return 2**62 if size is None else size // self.bytes_each


class _Table:
    """The regions while keys arrive."""

    def __init__(self, ranks: Ranks, boundaries: Sequence[int], limits: _Limits) -> None:
        import numpy as np

        self.ranks, self.limits, self.arrived, self.chunk = ranks, limits, 0, _CHUNK
        self.distinct, self.places = np.unique(ranks, return_inverse=True)
        self.counts: Ranks = np.zeros(len(self.distinct), np.int64)
        """Keys that have arrived, for each of the distinct ranks."""
        self.first, self.last = len(self.distinct), -1
        self.starts: Ranks = np.array(boundaries, np.int64)
        if (np.diff(self.starts) < 0).any():
            raise Refused("boundaries", "they do not ascend", "ascending ranks")
        self.keys: Ranks = np.zeros(len(self.starts) + 1, np.int64)
        self.retry: Ranks = np.zeros_like(self.keys)
        """Keys below which a region that could not be split is not tried again."""
        self._relimit()

    def _relimit(self) -> None:
        import numpy as np

        self.most: Ranks = np.maximum(self.limits.most(len(self.keys)), self.retry)

    def _regions_of(self, ranks: Ranks) -> npt.NDArray[np.intp]:
        import numpy as np

        return np.searchsorted(self.starts, ranks, side="right")

    def add_until_full(self) -> int | None:
        """Take a chunk of keys, or fewer: up to the one that fills a region, which is returned."""
        import numpy as np

        regions = self._regions_of(self.ranks[self.arrived : self.arrived + self.chunk])
        first, full = self._first_filled(regions), None
        if first is None:
            first = len(regions)
            self.chunk = min(2 * self.chunk, _CHUNK)
        else:
            full = int(regions[first - 1])
            # Where regions are many and nearly full, the next one is not far.
            self.chunk = min(max(2 * first, _LEAST), _CHUNK)
        self.keys += np.bincount(regions[:first], minlength=len(self.keys))
        came = self.places[self.arrived : self.arrived + first]
        np.add.at(self.counts, came, 1)
        self.first, self.last = min(self.first, int(came.min())), max(self.last, int(came.max()))
        self.arrived += first
        return full

    def _first_filled(self, regions: npt.NDArray[np.intp]) -> int | None:
        """How many of some keys come until one region is full; None if none gets full."""
        import numpy as np

        counts = np.bincount(regions, minlength=len(self.keys))
        places = np.flatnonzero((self.keys + counts > self.most)[regions])
        if not len(places):
            return None
        ordered = places[np.argsort(regions[places], kind="stable")]
        held = regions[ordered]
        begins = np.flatnonzero(np.diff(held, prepend=-1))
        before = np.arange(len(held)) - np.repeat(begins, np.diff(begins, append=len(held)))
        room = np.maximum(0, self.most[held] - self.keys[held])
        return int(ordered[before == room].min()) + 1

    def split(self, region: int) -> list[Split]:
        """Split a region at the median of its keys; nothing if that is its first or last key."""
        import numpy as np

        low, high = self.first, self.last + 1
        if region:
            low = int(np.searchsorted(self.distinct, self.starts[region - 1]))
        if region < len(self.starts):
            high = int(np.searchsorted(self.distinct, self.starts[region]))
        upto = np.cumsum(self.counts[low:high])
        held = int(upto[-1])
        place = int(np.searchsorted(upto, held // 2, "right"))
        if place in {int(np.searchsorted(upto, 0, "right")), int(np.searchsorted(upto, held))}:
            self.retry[region] = 2 * held
            self._relimit()
            return []
        middle, left = int(self.distinct[low + place]), int(upto[place - 1])
        self.starts = _insert(self.starts, region, middle)
        self.keys = _insert(self.keys, region, left)
        self.keys[region + 1] = held - left
        self.retry = _insert(self.retry, region, 0)
        self.retry[region + 1] = 0
        self._relimit()
        return [Split(self.arrived, middle, held * self.limits.bytes_each)]

    def idle(self, last: int) -> float:
        """The share of regions that hold none of the last keys."""
        import numpy as np

        written = np.unique(self._regions_of(self.ranks[-last:]))
        return 1 - len(written) / len(self.keys)


def _insert(values: Ranks, place: int, value: int) -> Ranks:
    """Return the values with one more in front of that at a place; 4 times as fast as NumPy's."""
    import numpy as np

    return np.concatenate([values[:place], [value], values[place:]])
