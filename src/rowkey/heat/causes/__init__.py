"""Why load lies unevenly: one cause a file."""

from rowkey.heat.contract import Cause
from rowkey.kinds import gather

KINDS = gather(Cause, __name__, __path__)
