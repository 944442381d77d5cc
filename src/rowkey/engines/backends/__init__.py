"""The storage engines, each a class."""

from rowkey.engines.contract import Engine
from rowkey.plugins import find_plugins

ENGINES = find_plugins(Engine, __name__, __path__)
