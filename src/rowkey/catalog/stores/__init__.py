"""Where entries may be kept: one file each."""

from rowkey.catalog.contract import Catalog
from rowkey.kinds import gather

KINDS = gather(Catalog, __name__, __path__)
