"""Placements of regions on servers: as created, with more servers, and after balancing."""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np
from rowkey.hotspots.region_counts import RegionCounts
from rowkey.regions import draw_balanced_placements, place_round_robin

BALANCED_PLACEMENT_COUNT = 32
"""Number of random balanced placements."""


class Placements:
    """The placements of regions on servers under which load is judged.

    The first is the present assignment, or round robin, as HBase creates a table. Two more are
    round robin over one server more and over twice the servers. The others are random placements
    with balanced numbers of regions, as the balancer may produce them.

    Args:
        regions: how many regions.
        servers: how many region servers.
        seed: where the random placements begin.
        assignment: the server of each region, from 0; round robin if None.
    """

    def __init__(
        self,
        regions: int,
        servers: int,
        seed: int = 0,
        assignment: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.regions = regions
        self.servers = servers
        wider = [place_round_robin(regions, servers + 1), place_round_robin(regions, 2 * servers)]
        balanced_placements = draw_balanced_placements(
            regions, servers, BALANCED_PLACEMENT_COUNT, seed
        )
        first = place_round_robin(regions, servers) if assignment is None else assignment
        self.assignments = [first, *wider, *balanced_placements]
        self.server_counts = np.array(
            [servers, servers + 1, 2 * servers, *[servers] * len(balanced_placements)]
        )
        self.balanced_slice = slice(3, None)

    def compute_fullest_loads(
        self, counts: RegionCounts, placement_count: int | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the load of the busiest server in each window, for each placement.

        Args:
            counts: operations by window and region.
            placement_count: how many placements, the first ones; None for all.

        Returns:
            A row for each placement, a column for each window.

        Cost: one pass over the entries for each of 35 placements.
        """
        rows, weights = (
            np.repeat(np.arange(len(counts)), counts.entry_counts),
            counts.counts.astype(float),
        )
        loads = []
        chosen = slice(placement_count)
        for table, servers in zip(
            self.assignments[chosen], self.server_counts[chosen].tolist(), strict=True
        ):
            places = table.take(counts.regions)
            places += rows * servers
            # Sums of weights are floating-point numbers, exact up to 2^53 operations.
            summed = np.bincount(places, weights=weights, minlength=len(counts) * servers)
            loads.append(summed.reshape(-1, servers).max(axis=1).astype(np.int64))
        return np.array(loads)

    def sum_by_server(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Sum loads by region into loads by server, for the placement as created."""
        loads = np.zeros((*counts.shape[:-1], self.servers), counts.dtype)
        for region, server in enumerate(self.assignments[0].tolist()):
            loads[..., server] += counts[..., region]
        return loads
