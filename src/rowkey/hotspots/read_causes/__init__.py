"""The causes of read hot spots, each a class."""

from rowkey.hotspots.read_contract import ReadCause
from rowkey.plugins import find_plugins

READ_CAUSES = find_plugins(ReadCause, __name__, __path__)
