"""Scans: one answer is prefetched, leases are renewed, and an error opens a new scanner."""

from rowkey.hbase.scanning.lease_renewer import LeaseRenewer
from rowkey.hbase.scanning.scan_block import ScanBlock
from rowkey.hbase.scanning.scanner import Scanner

__all__ = ["LeaseRenewer", "ScanBlock", "Scanner"]
