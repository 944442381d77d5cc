"""A table in use: opened, written, read in order and changed, in values."""

from rowkey.table.batch import Batch
from rowkey.table.generations.changing import Changed
from rowkey.table.generations.counting import Buckets, CountedPart
from rowkey.table.loading import Loaded, load_file, load_salts
from rowkey.table.made import spec_of
from rowkey.table.opening import create_table, drop_table, open_table
from rowkey.table.repair import (
    Lapse,
    repair_catalog,
    repair_tables,
    save_tables,
    verify_tables,
)
from rowkey.table.scans import Scan
from rowkey.table.scans.merge import merged
from rowkey.table.table import Table

__all__ = [
    "Batch",
    "Buckets",
    "Changed",
    "CountedPart",
    "Lapse",
    "Loaded",
    "Scan",
    "Table",
    "create_table",
    "drop_table",
    "load_file",
    "load_salts",
    "merged",
    "open_table",
    "repair_catalog",
    "repair_tables",
    "save_tables",
    "spec_of",
    "verify_tables",
]
