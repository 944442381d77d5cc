"""The causes of hot spots, each a class."""

from rowkey.hotspots.contract import Cause
from rowkey.plugins import find_plugins

CAUSES = find_plugins(Cause, __name__, __path__)
