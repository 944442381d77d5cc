"""Where regions may lie: as created, with other numbers of servers, and after a balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.regions import balanced_placements, round_robin

if TYPE_CHECKING:
    import numpy as np

    from rowkey.heat.region_counts import RegionCounts

OTHERS = 32
"""Other placements that are looked at."""


class Placements:
    """The placements that a heat is judged under.

    The first is as the regions stand, or round robin, as HBase creates a table; then round robin
    over one server more, and over twice the servers; then placements at random that balance the
    number of regions, which is what the balancer keeps.

    Args:
        regions: how many regions.
        servers: how many region servers.
        seed: where the random placements begin.
        standing: the server of each region, from 0; round robin if None.
    """

    def __init__(
        self,
        regions: int,
        servers: int,
        seed: int = 0,
        standing: np.ndarray[Any, Any] | None = None,
    ) -> None:
        import numpy as np

        self.regions = regions
        self.servers = servers
        wider = [round_robin(regions, servers + 1), round_robin(regions, 2 * servers)]
        others = balanced_placements(regions, servers, OTHERS, seed)
        first = round_robin(regions, servers) if standing is None else standing
        self.tables = [first, *wider, *others]
        self.counts = np.array([servers, servers + 1, 2 * servers, *[servers] * len(others)])
        self.others = slice(3, None)

    def fullest(self, counts: RegionCounts) -> np.ndarray[Any, Any]:
        """Return the load of the fullest server in each window, under each placement.

        Args:
            counts: operations by window and region.

        Returns:
            A row for each placement, a column for each window.

        Cost: one pass over the entries for each of 35 placements.
        """
        import numpy as np

        rows, weights = np.repeat(np.arange(len(counts)), counts.sizes), counts.counts.astype(float)
        loads = []
        for table, servers in zip(self.tables, self.counts.tolist(), strict=True):
            places = table.take(counts.regions)
            places += rows * servers
            # Sums of weights are floating-point numbers, exact up to 2^53 operations.
            summed = np.bincount(places, weights=weights, minlength=len(counts) * servers)
            loads.append(summed.reshape(-1, servers).max(axis=1).astype(np.int64))
        return np.array(loads)

    def by_server(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Loads by server as created, from loads by region in the last axis."""
        import numpy as np

        loads = np.zeros((*counts.shape[:-1], self.servers), counts.dtype)
        for region, server in enumerate(self.tables[0].tolist()):
            loads[..., server] += counts[..., region]
        return loads
