"""The sample formats, one plugin a file."""

from rowkey.plugins import find_plugins
from rowkey.workload.contract import SampleFormat

FORMATS = find_plugins(SampleFormat, __name__, __path__)
