"""Will it run hot: a workload on a design gives a heat."""

from rowkey.simulate.reads import ReadResult
from rowkey.simulate.run import simulate
from rowkey.simulate.simulation import Region, Scaled, Simulation
from rowkey.simulate.source import Source
from rowkey.simulate.verdict import Verdict

__all__ = ["ReadResult", "Region", "Scaled", "Simulation", "Source", "Verdict", "simulate"]
