"""The engines: one a file."""

from rowkey.engines.contract import Engine
from rowkey.kinds import gather

KINDS = gather(Engine, __name__, __path__)
