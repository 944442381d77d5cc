"""Where designs are remembered: declaration, generations and codes, for everyone who opens them."""

from rowkey.catalog.codes import CatalogDictionary, Known
from rowkey.catalog.contract import CATALOG_TABLE, Catalog
from rowkey.catalog.drift import Difference, compare, differences, standing
from rowkey.catalog.entry import BORN, COUNTS, GENERATION, Entry, Generation, counts_of
from rowkey.catalog.remembering import evolved, open_catalog, remember
from rowkey.catalog.restoring import is_first, lapse, restored
from rowkey.catalog.stores import KINDS as CATALOGS

__all__ = [
    "BORN",
    "CATALOGS",
    "CATALOG_TABLE",
    "COUNTS",
    "GENERATION",
    "Catalog",
    "CatalogDictionary",
    "Difference",
    "Entry",
    "Generation",
    "Known",
    "compare",
    "counts_of",
    "differences",
    "evolved",
    "is_first",
    "lapse",
    "open_catalog",
    "remember",
    "restored",
    "standing",
]
