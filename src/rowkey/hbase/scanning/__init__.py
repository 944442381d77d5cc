"""Scans: one answer asked ahead, leases kept, opened anew behind the last row after an error."""

from rowkey.hbase.scanning.answer import Answer
from rowkey.hbase.scanning.keeper import Keeper
from rowkey.hbase.scanning.scanner import Scanner

__all__ = ["Answer", "Keeper", "Scanner"]
