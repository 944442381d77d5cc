"""Administration: tables made, described, compared and changed; regions, snapshots, counters."""

from rowkey.hbase.admin.admin import Admin
from rowkey.hbase.admin.counters import RegionCount
from rowkey.hbase.admin.descriptors import Described, table_schema

__all__ = ["Admin", "Described", "RegionCount", "table_schema"]
