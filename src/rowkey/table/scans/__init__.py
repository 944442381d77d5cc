"""Reads of many rows: ranges opened, merged, filtered, returned as rows or as Arrow columns."""

from rowkey.table.scans.cell_scan import read_cell_blocks
from rowkey.table.scans.scan import Scan, check_limit

__all__ = ["Scan", "check_limit", "read_cell_blocks"]
