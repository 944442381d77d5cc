"""Where regions may lie: as created, with other numbers of servers, and after a balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.regions import balanced_placements, round_robin

if TYPE_CHECKING:
    import numpy as np

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
        self._orders = [np.argsort(table, kind="stable") for table in self.tables]
        self._starts = [
            np.flatnonzero(np.diff(table[order], prepend=-1))
            for table, order in zip(self.tables, self._orders, strict=True)
        ]

    def fullest(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The load of the fullest server in each window, under each placement.

        Args:
            counts: a row for each window, a column for each region.

        Returns:
            A row for each placement, a column for each window.

        Cost: one pass over the counts for each of 35 placements.
        """
        import numpy as np

        return np.array(
            [
                np.add.reduceat(counts[:, order], starts, axis=1).max(axis=1)
                for order, starts in zip(self._orders, self._starts, strict=True)
            ]
        )

    def by_server(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Loads by server as created, from loads by region in the last axis."""
        import numpy as np

        loads = np.zeros((*counts.shape[:-1], self.servers), counts.dtype)
        for region, server in enumerate(self.tables[0].tolist()):
            loads[..., server] += counts[..., region]
        return loads
