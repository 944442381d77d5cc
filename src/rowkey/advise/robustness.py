"""How the busiest server of a design fares if the load or the cluster changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from rowkey.advise.verdict import estimate_utilization
from rowkey.array_libraries import np
from rowkey.hotspots import assign_row_codes
from rowkey.regions import MAX_FILE_SIZE, place_round_robin
from rowkey.workload import estimate_table_bytes

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

RATE_FACTOR = 5
"""How many times as many writes and reads a design should bear."""
HEAVIEST_FACTOR = 10
"""How many times as busy the busiest value becomes."""
ADDED_ZIPF = 0.2
"""What is added to the exponent of the distribution of values."""
YEAR_S = 365 * 86_400

Change = Literal["rate", "one_more_server", "double_servers", "heaviest_value", "zipf", "year"]
Unit = Literal["fair share", "utilization", "regions"]


@dataclass(frozen=True, slots=True)
class ChangedLoad:
    """The load of the busiest server after one change, while everything else stays.

    Args:
        change: what changes.
        subject: what it changes to, such as a number of servers or a value.
        value: the load.
        unit: its unit: multiples of a server's fair share of the writes, the share of its capacity,
            or its regions of 10 GiB.
    """

    change: Change
    subject: str
    value: float
    unit: Unit


def measure_robustness(simulation: Simulation) -> tuple[ChangedLoad, ...]:
    """Return how busy the busiest server is after each change that can be judged.

    The rows of the simulation's sample are counted again with other weights, or on other servers,
    so the figures are estimates. Rates change only where they are declared, and values only where
    the key has one that is more frequent than others.

    Args:
        simulation: a replay of a design's events.

    Cost: 10 ms, for at most 131,072 sampled rows.
    """
    if simulation.is_thin:
        return ()
    return tuple(_measure_changes(simulation))


def _measure_changes(simulation: Simulation) -> Iterator[ChangedLoad]:
    """Yield how busy the busiest server is after each change of the load or the cluster."""
    design, servers = simulation.design, simulation.design.cluster.servers
    sampled = _SampledLoad(simulation)
    if utilization := estimate_utilization(simulation):
        yield ChangedLoad("rate", str(RATE_FACTOR), RATE_FACTOR * utilization, "utilization")
    more_servers: dict[Change, int] = {
        "one_more_server": servers + 1,
        "double_servers": 2 * servers,
    }
    for change, count in more_servers.items():
        skew = sampled.estimate_skew(sampled.ones, count)
        yield ChangedLoad(change, str(count), skew, "fair share")
    if (heaviest := sampled.find_heaviest_value()) is not None:
        name, codes, text = heaviest
        counts = np.bincount(codes)
        weights = sampled.ones + (HEAVIEST_FACTOR - 1) * (codes == counts.argmax())
        yield ChangedLoad(
            "heaviest_value",
            f"{name} {text}",
            sampled.estimate_skew(weights, servers),
            "fair share",
        )
        weights = _add_to_exponent(counts)[codes]
        yield ChangedLoad("zipf", name, sampled.estimate_skew(weights, servers), "fair share")
    families = {
        name: replace(family, ttl_s=min(family.ttl_s, YEAR_S))
        for name, family in design.families.items()
    }
    sizes, is_measured = design.estimate_stored_bytes(
        simulation.facts, simulation.source.measure_family_sizes(design)
    )
    if not is_measured:
        sizes = design.layout.estimate_family_bytes(simulation.key_bytes, simulation.facts)
    size = estimate_table_bytes(
        design.layout, families, design.writes, sizes, simulation.source.row_counts
    )
    if size is not None:
        yield ChangedLoad("year", "", size / MAX_FILE_SIZE / servers, "regions")


class _SampledLoad:
    """The sampled events of a simulation, which can be counted with other weights and servers.

    Args:
        simulation: the simulation.
    """

    def __init__(self, simulation: Simulation) -> None:
        result = simulation.load_result
        self._design, self._rows = simulation.design, result.rows
        self._regions, self._windows = result.regions, result.windows
        self._placements = result.placements
        self._measured = simulation.verdict.skew
        self.ones = np.ones(len(self._regions))

    def estimate_skew(self, weights: np.ndarray[Any, Any], servers: int) -> float:
        """Return the skew over some servers if each row counts with a weight.

        It is the measured skew, changed as much as the same weights change that of the sample.
        """
        own = self._compute_skew(self.ones, self._placements.servers)
        skew = self._measured * self._compute_skew(weights, servers) / own
        return min(max(skew, 1.0), float(servers))

    def _compute_skew(self, weights: np.ndarray[Any, Any], servers: int) -> float:
        """Return the mean share of the fullest server in a window, over a fair share."""
        placement = self._placements.assignments[0]
        if servers != self._placements.servers:
            placement = place_round_robin(self._placements.regions, servers)
        windows = int(self._windows.max(initial=0)) + 1
        places = self._windows * servers + placement[self._regions]
        loads = np.bincount(places, weights, windows * servers).reshape(windows, servers)
        return float(loads.max(axis=1).sum() / loads.sum() * servers)

    def find_heaviest_value(self) -> tuple[str, np.ndarray[Any, Any], str] | None:
        """Return the field of the key with the most frequent value.

        Returns:
            Its name, for each row an integer code of its value (equal values have equal codes), and
            the value as text; None if no value of a field that is no time occurs twice as often as
            the mean value.
        """
        found: tuple[float, str, np.ndarray[Any, Any]] | None = None
        for name in self._design.key.fields:
            if self._design.fields[name].type.unit_ns is not None:
                continue
            codes = assign_row_codes(self._rows, [name])
            counts = np.bincount(codes)
            most = float(counts.max())
            if len(counts) > 1 and most >= 2 * counts.mean() and (not found or most > found[0]):
                found = most, name, codes
        if found is None:
            return None
        _, name, codes = found
        place = int((codes == np.bincount(codes).argmax()).argmax())
        value = self._rows.column(name)[place].as_py()
        return name, codes, self._design.fields[name].type.format_value(value)


def _add_to_exponent(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the weight of each value that raises the exponent of their distribution.

    >>> import numpy as np
    >>> _add_to_exponent(np.array([10, 40, 20])).round(2).tolist()
    [0.8, 1.0, 0.87]
    """
    ranks = np.empty(len(counts))
    ranks[np.argsort(-counts, kind="stable")] = np.arange(1, len(counts) + 1)
    weights: np.ndarray[Any, Any] = ranks**-ADDED_ZIPF
    return weights
