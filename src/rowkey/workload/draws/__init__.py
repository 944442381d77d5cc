"""How values are drawn: one file each."""

from rowkey.kinds import gather
from rowkey.workload.contract import Draw

KINDS = gather(Draw, __name__, __path__)
