"""How a real cluster is spoken to: a native client of HBase, useful on its own.

It needs neither numpy nor pyarrow but for Arrow columns, no protobuf package and no gateway.
"""

from rowkey.hbase.admin import Admin, Described, table_schema
from rowkey.hbase.client import Client, connect
from rowkey.hbase.errors import AskedWrongly, HBaseError
from rowkey.hbase.filters import ColumnRangeFilter
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.reading import Read, Scan
from rowkey.hbase.registry import parse_url
from rowkey.hbase.scanning import Scanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.table import Table
from rowkey.hbase.wire.columns import to_columns

__all__ = [
    "Admin",
    "AskedWrongly",
    "Client",
    "ColumnRangeFilter",
    "Deadline",
    "Described",
    "FamilySchema",
    "HBaseError",
    "Read",
    "Scan",
    "Scanner",
    "Settings",
    "Table",
    "TableSchema",
    "connect",
    "parse_url",
    "table_schema",
    "to_columns",
]
