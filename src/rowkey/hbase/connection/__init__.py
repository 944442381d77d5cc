"""Sockets to servers: many calls in flight on each, and a deadline on everything."""

from rowkey.hbase.connection.calls import Call
from rowkey.hbase.connection.connection import Connection
from rowkey.hbase.connection.servers import Servers

__all__ = ["Call", "Connection", "Servers"]
