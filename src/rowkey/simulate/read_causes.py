"""The measured load of each read of a simulation, for the search of its causes and remedies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidDesign
from rowkey.hotspots import Placements, ReadGain, ReadLoadResult
from rowkey.proposals import apply_proposal
from rowkey.simulate.read_load import ReadLoad
from rowkey.simulate.replay import draw_salts, encode_keys
from rowkey.simulate.split_report import choose_source_splits
from rowkey.workload import build_bit_generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from rowkey.plan import DeclaredRead
    from rowkey.proposals import KeyProposal
    from rowkey.simulate.read_costs import ReadCost
    from rowkey.simulate.simulation import Simulation


class ProposalTrials:
    """Measures all declared reads of a simulation under proposed keys, each key once.

    Args:
        simulation: a replay of the design's events.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._loads: dict[tuple[str, ...], Mapping[str, ReadLoad] | None] = {}

    def measure_gain(self, name: str, proposal: KeyProposal) -> ReadGain | None:
        """Return what the reads of the design save under a proposed key.

        Args:
            name: the read whose cause proposes it.
            proposal: the key.

        Returns:
            None if no design can have the key, or if a read that is narrowed now would scan the
            table under it, or could not be run.

        Cost: as the reads of a simulation, without a replay: 0.1 s for 100,000 sampled events and
        two reads.
        """
        identity = proposal.key, proposal.splits, repr(proposal.heavy_values)
        if identity not in self._loads:
            self._loads[identity] = self._measure_loads(proposal)
        after = self._loads[identity]
        if after is None:
            return None
        before = {load.name: load for load in self._simulation.read_loads}
        now, then = _sum_servers(before.values()), _sum_servers(after.values())
        return ReadGain(
            _divide(before[name].servers.operations.max(), after[name].servers.operations.max()),
            _divide(now.max(), then.max()),
            _divide(now.sum(), then.sum()),
        )

    def _measure_loads(self, proposal: KeyProposal) -> Mapping[str, ReadLoad] | None:
        """Return the load of each read that can be run now, under a proposed key."""
        simulation = self._simulation
        source, seed, rows = simulation.source, simulation.seed, simulation.sampled_rows
        try:
            design = source.assign_codes(apply_proposal(simulation.design, proposal))
            boundaries = choose_source_splits(design, source, seed).boundaries
        except InvalidDesign:
            return None
        salts = draw_salts(design.key, rows.num_rows, build_bit_generator("proposal salt", seed))
        simulator = simulation.build_read_simulator(
            design, boundaries, encode_keys(design, rows, salts)
        )
        placements = Placements(len(boundaries), design.cluster.servers, seed)
        loads: dict[str, ReadLoad] = {}
        # A comparison adds reads to a design, which the changed one does not declare.
        for read, present in zip(simulation.design.reads, simulation.reads, strict=False):
            if present.load is None:
                continue
            cost = simulator.measure_read(read)
            if cost.load is None or cost.is_full_scan > present.is_full_scan:
                return None
            loads[read.name] = ReadLoad.from_answer(cost.load, read, placements)
        return loads


def _sum_servers(loads: Iterable[ReadLoad]) -> np.ndarray[Any, Any]:
    """Return the operations a second of some reads by server."""
    import numpy as np

    summed: np.ndarray[Any, Any] = np.sum([one.servers.operations for one in loads], axis=0)
    return summed


def _divide(before: float, after: float) -> float:
    """Return how many times as many operations there were; 1 if there are none at all."""
    if not after:
        return float("inf") if before else 1.0
    return float(before / after)


def build_read_load_result(
    simulation: Simulation,
    read: DeclaredRead,
    cost: ReadCost,
    load: ReadLoad,
    trials: ProposalTrials,
) -> ReadLoadResult:
    """Return the measured load of a read as its causes are recognised in it.

    Args:
        simulation: a replay of the design's events.
        read: the read.
        cost: the cost of its answers, which could be run.
        load: where it falls at its rate.
        trials: measures the reads of this simulation under proposed keys.
    """
    import numpy as np

    assert cost.load is not None
    placements, writes = simulation.replay.placements, simulation.replay.writes
    region_servers = placements.assignments[0]
    asked = [len(np.unique(region_servers[one.regions])) for one in cost.load.trials]
    used = int((placements.sum_by_server(writes) > 0).sum())
    return ReadLoadResult(
        simulation.design,
        simulation.facts,
        read,
        simulation.sampled_rows,
        simulation.load_result.regions,
        region_servers,
        load.regions.operations / load.rate,
        load.servers.operations / load.rate,
        cost.regions[0],
        float(np.mean(asked)),
        used or placements.servers,
        load.servers.level == "even",
        partial(trials.measure_gain, read.name),
    )
