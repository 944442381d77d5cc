"""Where designs are remembered: declaration, generations and codes, for everyone who opens them."""

from rowkey.catalog.codes import CatalogDictionary, Known
from rowkey.catalog.contract import CATALOG_TABLE, Catalog
from rowkey.catalog.drift import Difference, compare, differences, standing
from rowkey.catalog.entry import (
    BORN,
    CATALOG_WORD,
    COUNTS,
    GENERATION,
    MAX_STALE_S,
    Entry,
    Generation,
    check_stale,
    counts_of,
    is_told,
    telling,
)
from rowkey.catalog.lease import Lease, awake_or_asleep_s
from rowkey.catalog.remembering import evolved, open_catalog, remember
from rowkey.catalog.restoring import is_first, lapse, last_told, restored
from rowkey.catalog.stores import KINDS as CATALOGS
from rowkey.catalog.trust import find_catalog_url

__all__ = [
    "BORN",
    "CATALOGS",
    "CATALOG_TABLE",
    "CATALOG_WORD",
    "COUNTS",
    "GENERATION",
    "MAX_STALE_S",
    "Catalog",
    "CatalogDictionary",
    "Difference",
    "Entry",
    "Generation",
    "Known",
    "Lease",
    "awake_or_asleep_s",
    "check_stale",
    "compare",
    "counts_of",
    "differences",
    "evolved",
    "find_catalog_url",
    "is_first",
    "is_told",
    "lapse",
    "last_told",
    "open_catalog",
    "remember",
    "restored",
    "standing",
    "telling",
]
