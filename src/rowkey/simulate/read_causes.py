"""The measured load of each read of a simulation, for the search of its causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.array_libraries import np
from rowkey.hotspots import ReadLoadResult
from rowkey.plan import DeclaredRead

if TYPE_CHECKING:
    from rowkey.simulate.read_cost import ReadCost
    from rowkey.simulate.read_load import ReadLoad
    from rowkey.simulate.simulation import Simulation


def build_read_load_result(
    simulation: Simulation,
    read: DeclaredRead,
    cost: ReadCost,
    load: ReadLoad,
) -> ReadLoadResult:
    """Return the measured load of a read as its causes are recognised in it.

    Args:
        simulation: a replay of the design's events.
        read: the read.
        cost: the cost of its answers, which could be run.
        load: where it falls at its rate.
    """
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
    )
