"""Which region server holds each region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy.typing as npt


def place_round_robin(regions: int, servers: int, first_server: int = 0) -> npt.NDArray[np.intp]:
    """Return the server of each region of a new table, assigned round robin.

    Args:
        regions: how many, in the order of their keys; neighbours lie on different servers.
        servers: how many.
        first_server: the server of the first region; HBase draws it.

    Raises:
        InvalidArgument: there is no server, or fewer than no regions.

    Source: BaseLoadBalancer.roundRobinAssignment.

    >>> place_round_robin(5, 3, first_server=1).tolist()
    [1, 2, 0, 1, 2]
    """
    _check_counts(regions, servers)
    return (np.arange(regions, dtype=np.intp) + first_server) % servers


def draw_balanced_placements(
    regions: int, servers: int, count: int, seed: int
) -> npt.NDArray[np.intp]:
    """Draw random placements with equal region counts, as a balancer leaves them.

    After the first balance the order of creation is gone: any region may be anywhere, as long as
    every server holds as many as any other, or one more.

    Args:
        regions: how many.
        servers: how many.
        count: how many placements.
        seed: the same seed gives the same placements.

    Returns:
        `count` rows of `regions` servers.

    Raises:
        InvalidArgument: there is no server, or fewer than no regions or placements.

    Cost: O(count · regions) time and memory.

    Source: StochasticLoadBalancer: the cost of uneven region counts outweighs that of load.
    """
    _check_counts(regions, servers)
    if count < 0:
        raise InvalidArgument("count", f"{count} placements cannot be drawn", "0 or more")
    generator = np.random.default_rng(seed)
    # Which servers hold one more is drawn as well: the order of servers of each placement.
    order = generator.permuted(np.tile(np.arange(servers, dtype=np.intp), (count, 1)), axis=1)
    placed = order[:, np.arange(regions) % servers]
    return generator.permuted(placed, axis=1)


def compute_server_imbalance(regions: int, servers: int) -> float:
    """Return the busiest server's load over the mean, if all regions are equally busy.

    Args:
        regions: evenly loaded regions, or buckets.
        servers: how many.

    Returns:
        1 where the servers divide the regions, else above it.

    Raises:
        InvalidArgument: there is no server or no region.

    Source: ceil(k / S) · S / k, the pigeonhole principle.

    >>> compute_server_imbalance(10, 8), compute_server_imbalance(16, 8)
    (1.6, 1.0)
    >>> compute_server_imbalance(100, 30)
    1.2
    """
    _check_counts(regions, servers, min_regions=1)
    return -(-regions // servers) * servers / regions


def _check_counts(regions: int, servers: int, min_regions: int = 0) -> None:
    if servers < 1:
        raise InvalidArgument("servers", f"{servers} is not a valid number of servers", "1 or more")
    if regions < min_regions:
        raise InvalidArgument(
            "regions", f"{regions} is not a valid number of regions", f"{min_regions} or more"
        )
