"""The ways to choose split keys, each a class."""

from rowkey.plugins import find_plugins
from rowkey.regions.split_algorithm import SplitAlgorithm

SPLIT_ALGORITHMS = find_plugins(SplitAlgorithm, __name__, __path__)
