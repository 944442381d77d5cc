"""The types of catalogs, one file each."""

from rowkey.catalog.contract import Catalog
from rowkey.plugins import find_plugins

CATALOGS = find_plugins(Catalog, __name__, __path__)
