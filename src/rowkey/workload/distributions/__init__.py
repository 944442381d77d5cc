"""The distributions of values, each a class."""

from rowkey.plugins import find_plugins
from rowkey.workload.contract import Distribution

DISTRIBUTIONS = find_plugins(Distribution, __name__, __path__)
