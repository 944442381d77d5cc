"""Administration of a cluster: tables, regions, snapshots, namespaces and region counters."""

from rowkey.hbase.admin.admin import Admin
from rowkey.hbase.admin.counters import HBaseRegionCounts
from rowkey.hbase.admin.descriptors import TableDescriptor, build_table_schema

__all__ = ["Admin", "HBaseRegionCounts", "TableDescriptor", "build_table_schema"]
