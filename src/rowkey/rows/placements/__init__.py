"""The ways to store a field's value in a row, each a class."""

from rowkey.plugins import find_plugins
from rowkey.rows.placement_interface import Placement

PLACEMENTS = find_plugins(Placement, __name__, __path__)
