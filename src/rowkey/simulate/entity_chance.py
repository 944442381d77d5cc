"""How uneven the load of a sample of some entities is by chance alone, because they are few.

All events of one user in a hundred fall on few servers at a time if the key keeps the events of a
user together. The table has a hundred times as many users, so its load is more even.
"""

from __future__ import annotations

from typing import Any

from rowkey.array_libraries import np


class EntityChance:
    """How many independent draws the events of a window are, in a sample and in its table.

    Args:
        entities: for each event of a uniform sample, in the order of arrival, the index of its
            entity.
        servers: for each of these events, the index of its server.
        share: the share of all entities of the table that the sample has.
    """

    def __init__(
        self, entities: np.ndarray[Any, Any], servers: np.ndarray[Any, Any], share: float
    ) -> None:
        self._entities = entities
        self._servers = servers
        self._share = share

    def count_draws(self, events: float, windows: int) -> tuple[float, float]:
        """Return how many independent draws a mean window is worth, in sample and table.

        Args:
            events: events of all windows.
            windows: how many windows there are, one after the other.

        Returns:
            The number in the sample, and in as long a window of the table.

        Source: the design effect of clusters; Kish, Survey Sampling (1965), section 5.4.
        """
        places = np.arange(len(self._entities)) * windows // len(self._entities)
        entities, servers = self._entities, self._servers
        pairs = max(_count_pairs(places), 1.0)
        same_entity = _count_pairs(places, entities)
        same_both = _count_pairs(places, entities, servers)
        same_server = _count_pairs(places, servers) / pairs
        # Events of one entity that meet on a server no more often than others are drawn one by one.
        excess = same_both - same_entity * same_server
        same = max(excess, 0.0) / (pairs * max(1 - same_server, 1e-9))
        mean = events / windows
        draws = mean / (1 + max(mean - 1, 0.0) * min(same, 1.0))
        return draws, draws / self._share


def _count_pairs(*groups: np.ndarray[Any, Any]) -> float:
    """Return how many ordered pairs of events share a group in every one of the groupings."""
    _, counts = np.unique(np.stack(groups), axis=1, return_counts=True)
    return float((counts * (counts - 1.0)).sum())
