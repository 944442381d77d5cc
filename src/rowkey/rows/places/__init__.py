"""Where in a row a value may live: one file each."""

from rowkey.kinds import gather
from rowkey.rows.contract import Place

KINDS = gather(Place, __name__, __path__)
