"""The transforms that a key can apply to fields, each a class."""

from rowkey.keys.part_interface import Transform
from rowkey.plugins import find_plugins

TRANSFORMS = find_plugins(Transform, __name__, __path__)
