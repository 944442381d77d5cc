"""Code written for happybase runs on the native client: `from rowkey.hbase import happybase`.

No Thrift gateway stands between: names, arguments, defaults and what is returned are those of
happybase 1.x, and the host is one of ZooKeeper. Where the two differ each class says so.
"""

from rowkey.hbase.happybase.batch import Batch
from rowkey.hbase.happybase.connection import DEFAULT_HOST, DEFAULT_PORT, Connection
from rowkey.hbase.happybase.filter_language import parse_filter
from rowkey.hbase.happybase.pool import ConnectionPool, NoConnectionsAvailable
from rowkey.hbase.happybase.table import Table

__all__ = [
    "DEFAULT_HOST",
    "DEFAULT_PORT",
    "Batch",
    "Connection",
    "ConnectionPool",
    "NoConnectionsAvailable",
    "Table",
    "parse_filter",
]
