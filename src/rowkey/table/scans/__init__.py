"""Reads of many rows: ranges opened, merged, filtered, returned as rows or as Arrow columns."""

from rowkey.table.scans.cell_scan import read_cell_blocks
from rowkey.table.scans.scan import Scan
from rowkey.table.scans.scan_state import RowLookup, check_limit
from rowkey.table.scans.undecodable_rows import UndecodableRow, UndecodableRows

__all__ = [
    "RowLookup",
    "Scan",
    "UndecodableRow",
    "UndecodableRows",
    "check_limit",
    "read_cell_blocks",
]
