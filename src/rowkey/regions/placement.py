"""Which region server holds each region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import Refused

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def round_robin(regions: int, servers: int, start: int = 0) -> npt.NDArray[np.intp]:
    """The server of each region of a new table: region i is on server (start + i) mod servers.

    Args:
        regions: how many, in the order of their keys; neighbours lie on different servers.
        servers: how many.
        start: the server of the first region; HBase draws it.

    Raises:
        Refused: there is no server, or fewer than no regions.

    Source: BaseLoadBalancer.roundRobinAssignment.

    >>> round_robin(5, 3, start=1).tolist()
    [1, 2, 0, 1, 2]
    """
    import numpy as np

    _check(regions, servers)
    return (np.arange(regions, dtype=np.intp) + start) % servers


def balanced_placements(regions: int, servers: int, count: int, seed: int) -> npt.NDArray[np.intp]:
    """Random placements that a balancer of region counts could have left.

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
        Refused: there is no server, or fewer than no regions or placements.

    Cost: O(count · regions) time and memory.

    Source: StochasticLoadBalancer: the cost of uneven region counts outweighs that of load.
    """
    import numpy as np

    _check(regions, servers)
    if count < 0:
        raise Refused("count", f"{count} placements", "0 or more")
    generator = np.random.default_rng(seed)
    # Which servers hold one more is drawn as well: the order of servers of each placement.
    order = generator.permuted(np.tile(np.arange(servers, dtype=np.intp), (count, 1)), axis=1)
    placed = order[:, np.arange(regions) % servers]
    return generator.permuted(placed, axis=1)


def integer_bound(regions: int, servers: int) -> float:
    """How much busier the busiest server is than the mean, however evenly loaded the regions are.

    Args:
        regions: evenly loaded regions, or buckets.
        servers: how many.

    Returns:
        1 where the servers divide the regions, else above it.

    Raises:
        Refused: there is no server or no region.

    Source: ceil(k / S) · S / k, the pigeonhole principle.

    >>> integer_bound(10, 8), integer_bound(16, 8), integer_bound(100, 30)
    (1.6, 1.0, 1.2)
    """
    _check(regions, servers, least=1)
    return -(-regions // servers) * servers / regions


def _check(regions: int, servers: int, least: int = 0) -> None:
    if servers < 1:
        raise Refused("servers", f"{servers} servers", "1 or more")
    if regions < least:
        raise Refused("regions", f"{regions} regions", f"{least} or more")
