"""What a key may compute from fields: one file each."""

from rowkey.keys.contract import Transform
from rowkey.kinds import gather

KINDS = gather(Transform, __name__, __path__)
