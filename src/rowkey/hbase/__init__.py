"""How a real cluster is spoken to: a native client of HBase, useful on its own.

It needs neither numpy nor pyarrow but for Arrow columns, no protobuf package and no gateway.
"""

from rowkey.hbase.admin import Admin, TableDescriptor, build_table_schema
from rowkey.hbase.client import Client, connect
from rowkey.hbase.errors import HBaseError, InvalidRequest
from rowkey.hbase.filters import BinaryComparator, ColumnRangeFilter, Filter, QualifierFilter
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.registry import parse_url
from rowkey.hbase.requests.row_writes import DeleteRow
from rowkey.hbase.scanning import ScanBlock, Scanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.table import HBaseTable
from rowkey.hbase.wire.arrow_columns import to_columns

__all__ = [
    "Admin",
    "BinaryComparator",
    "Client",
    "ColumnRangeFilter",
    "Deadline",
    "DeleteRow",
    "FamilySchema",
    "Filter",
    "HBaseError",
    "HBaseTable",
    "InvalidRequest",
    "QualifierFilter",
    "ReadSpec",
    "RegionLocation",
    "ScanBlock",
    "ScanSpec",
    "Scanner",
    "Settings",
    "TableDescriptor",
    "TableSchema",
    "build_table_schema",
    "connect",
    "parse_url",
    "to_columns",
]
