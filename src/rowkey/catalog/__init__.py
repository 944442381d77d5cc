"""Catalogs: where the designs of tables are kept, with their bucket counts and codes."""

from rowkey.catalog.catalog_entry import (
    CATALOG_ATTRIBUTE,
    COUNTS_ATTRIBUTE,
    DEFAULT_MAX_STALE_S,
    GENERATION_ATTRIBUTE,
    MOVE_ATTRIBUTES,
    TABLE_ID_ATTRIBUTE,
    CatalogEntry,
    Generation,
    GenerationPhase,
    check_max_stale,
    find_part_counts,
    has_synced_attributes,
    sync_attributes,
)
from rowkey.catalog.catalog_url import find_catalog_url
from rowkey.catalog.codes import CatalogDictionary, CodeSnapshot
from rowkey.catalog.contract import CATALOG_TABLE, Catalog, build_contention_error
from rowkey.catalog.drift import Difference, apply_stored_counts, find_differences, find_drift
from rowkey.catalog.entry_restoration import (
    find_mismatch,
    is_first_generation,
    read_generation_number,
    restore_entry,
)
from rowkey.catalog.lease import Lease
from rowkey.catalog.registration import (
    add_companions,
    evolve_entry,
    extend_companions,
    mark_filled,
    open_catalog,
    register_design,
)
from rowkey.catalog.stores import CATALOGS as CATALOGS
from rowkey.catalog.table_move import MovePhase, TableMove, TableRetirement

__all__ = [
    "CATALOGS",
    "CATALOG_ATTRIBUTE",
    "CATALOG_TABLE",
    "COUNTS_ATTRIBUTE",
    "DEFAULT_MAX_STALE_S",
    "GENERATION_ATTRIBUTE",
    "MOVE_ATTRIBUTES",
    "TABLE_ID_ATTRIBUTE",
    "Catalog",
    "CatalogDictionary",
    "CatalogEntry",
    "CodeSnapshot",
    "Difference",
    "Generation",
    "GenerationPhase",
    "Lease",
    "MovePhase",
    "TableMove",
    "TableRetirement",
    "add_companions",
    "apply_stored_counts",
    "build_contention_error",
    "check_max_stale",
    "evolve_entry",
    "extend_companions",
    "find_catalog_url",
    "find_differences",
    "find_drift",
    "find_mismatch",
    "find_part_counts",
    "has_synced_attributes",
    "is_first_generation",
    "mark_filled",
    "open_catalog",
    "read_generation_number",
    "register_design",
    "restore_entry",
    "sync_attributes",
]
