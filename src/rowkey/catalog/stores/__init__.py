"""The types of catalogs, each a class."""

from rowkey.catalog.contract import Catalog
from rowkey.plugins import find_plugins

CATALOGS = find_plugins(Catalog, __name__, __path__)
