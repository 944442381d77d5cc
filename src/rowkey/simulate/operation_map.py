"""Operations a second of writes and of reads, by time and by region or server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rowkey.array_libraries import np

MapLoad = Literal["writes", "reads", "both"]
MAP_LOADS: tuple[MapLoad, ...] = ("writes", "reads", "both")
"""What a heat map can show: writes, reads, or the operations of both together."""


@dataclass(frozen=True, eq=False)
class OperationMap:
    """Operations a second by time and by place: regions, groups of regions, or servers.

    Writes have the times of the replayed events. A read has one rate, so reads are constant over
    time.

    Args:
        start_s: the start of the first column of time, in seconds since 1970.
        width_s: seconds of a column.
        events: replayed events by column and place.
        event_rate: operations a second that one event adds to its column.
        reads: operations a second of all reads by place; None if no declared read can be run.
    """

    start_s: int
    width_s: int
    events: np.ndarray[Any, Any]
    event_rate: float
    reads: np.ndarray[Any, Any] | None

    @property
    def loads(self) -> tuple[MapLoad, ...]:
        """Return what the map can show: only writes, if no declared read can be run."""
        return MAP_LOADS if self.reads is not None else MAP_LOADS[:1]

    def compute_rates(self, load: MapLoad, columns_each: int = 1) -> np.ndarray[Any, Any]:
        """Return the operations a second by column and place.

        Args:
            load: one of `loads`.
            columns_each: neighbouring columns of which the mean is taken as one.
        """
        starts = np.arange(0, len(self.events), columns_each)
        sizes = np.diff(np.append(starts, len(self.events)))
        rates = np.zeros((len(starts), self.events.shape[1]))
        if load != "reads":
            sums = np.add.reduceat(self.events, starts, axis=0)
            rates += sums * (self.event_rate / sizes[:, np.newaxis])
        if load != "writes":
            assert self.reads is not None
            rates += self.reads
        return rates

    def compute_shares(self, load: MapLoad) -> np.ndarray[Any, Any]:
        """Return the share of all operations that falls on each place; 0 without operations.

        Args:
            load: one of `loads`.
        """
        sums = self.compute_rates(load, max(len(self.events), 1)).sum(axis=0)
        shares: np.ndarray[Any, Any] = sums / (float(sums.sum()) or 1.0)
        return shares
