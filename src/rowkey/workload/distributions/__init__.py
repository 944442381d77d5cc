"""The distributions of values, one plugin a file."""

from rowkey.plugins import find_plugins
from rowkey.workload.contract import Distribution

DISTRIBUTIONS = find_plugins(Distribution, __name__, __path__)
