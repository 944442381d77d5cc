"""Replays a workload on a design: where its operations land, and what its reads cost."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.simulate.event_source import EventSource
    from rowkey.simulate.operation_map import MAP_LOADS, MapLoad, OperationMap
    from rowkey.simulate.read_cost import ReadCost
    from rowkey.simulate.read_load import LoadEstimate, ReadLoad
    from rowkey.simulate.read_simulator import ReadSimulator
    from rowkey.simulate.replay import Replay, encode_keys
    from rowkey.simulate.scaled_replay import ScaledRun
    from rowkey.simulate.simulation import SimulatedRegion, Simulation
    from rowkey.simulate.simulator import PartialSimulation, run, run_on_source, start
    from rowkey.simulate.split_report import (
        SplitReport,
        choose_algorithm_splits,
        choose_design_splits,
        choose_source_splits,
        open_generated_source,
        open_source,
        record_design_sample,
    )
    from rowkey.simulate.trial_values import TRIALS_PER_READ
    from rowkey.simulate.verdict import (
        LEVEL_NAMES,
        Verdict,
        classify_skew,
        compute_hot_threshold,
    )
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "event_source": "EventSource",
            "operation_map": "MAP_LOADS MapLoad OperationMap",
            "read_cost": "ReadCost",
            "read_simulator": "ReadSimulator",
            "read_load": "LoadEstimate ReadLoad",
            "replay": "Replay encode_keys",
            "scaled_replay": "ScaledRun",
            "simulation": "SimulatedRegion Simulation",
            "simulator": "PartialSimulation run run_on_source start",
            "split_report": (
                "SplitReport choose_algorithm_splits choose_design_splits "
                "choose_source_splits open_generated_source open_source "
                "record_design_sample"
            ),
            "trial_values": "TRIALS_PER_READ",
            "verdict": "LEVEL_NAMES Verdict classify_skew compute_hot_threshold",
        },
    )

__all__ = [
    "LEVEL_NAMES",
    "MAP_LOADS",
    "TRIALS_PER_READ",
    "EventSource",
    "LoadEstimate",
    "MapLoad",
    "OperationMap",
    "PartialSimulation",
    "ReadCost",
    "ReadLoad",
    "ReadSimulator",
    "Replay",
    "ScaledRun",
    "SimulatedRegion",
    "Simulation",
    "SplitReport",
    "Verdict",
    "choose_algorithm_splits",
    "choose_design_splits",
    "choose_source_splits",
    "classify_skew",
    "compute_hot_threshold",
    "encode_keys",
    "open_generated_source",
    "open_source",
    "record_design_sample",
    "run",
    "run_on_source",
    "start",
]
