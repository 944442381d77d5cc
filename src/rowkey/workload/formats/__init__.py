"""The sample formats, each a class."""

from rowkey.plugins import find_plugins
from rowkey.workload.contract import SampleFormat

FORMATS = find_plugins(SampleFormat, __name__, __path__)
