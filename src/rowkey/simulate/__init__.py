"""Will it run hot: a workload on a design gives a heat."""

from rowkey.simulate.cut import (
    CutFound,
    cut_by_algorithm,
    cut_by_source,
    cut_design,
    source_of,
)
from rowkey.simulate.judging import causes_of, run, run_on
from rowkey.simulate.reads import Asked, ReadResult
from rowkey.simulate.replay import Replay, keys_of
from rowkey.simulate.simulation import Region, Scaled, Simulation
from rowkey.simulate.source import Source
from rowkey.simulate.verdict import Verdict, hot_from, word_of

__all__ = [
    "Asked",
    "CutFound",
    "ReadResult",
    "Region",
    "Replay",
    "Scaled",
    "Simulation",
    "Source",
    "Verdict",
    "causes_of",
    "cut_by_algorithm",
    "cut_by_source",
    "cut_design",
    "hot_from",
    "keys_of",
    "run",
    "run_on",
    "source_of",
    "word_of",
]
