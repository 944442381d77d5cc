"""How samples are read: one file each."""

from rowkey.kinds import gather
from rowkey.workload.contract import Format

KINDS = gather(Format, __name__, __path__)
