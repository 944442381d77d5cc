"""Run code written for happybase on the native client: `from rowkey import happybase`.

No Thrift gateway is needed. Names, arguments, defaults and results are those of happybase 1.x; the
host is a ZooKeeper host. Each class documents where it differs.
"""

from rowkey.happybase.batch import Batch
from rowkey.happybase.connection import DEFAULT_HOST, DEFAULT_PORT, Connection
from rowkey.happybase.filter_parser import parse_filter
from rowkey.happybase.pool import ConnectionPool, NoConnectionsAvailable
from rowkey.happybase.table import Table

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
