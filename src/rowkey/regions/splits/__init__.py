"""The ways to choose split keys: one file each."""

from rowkey.kinds import gather
from rowkey.regions.algorithm import SplitAlgorithm

SPLITS = gather(SplitAlgorithm, __name__, __path__)
