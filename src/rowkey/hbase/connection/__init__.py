"""Connections to servers: many calls in flight on each, and a deadline on every call."""

from rowkey.hbase.connection.pending_call import PendingCall
from rowkey.hbase.connection.server_connection import ServerConnection
from rowkey.hbase.connection.server_connections import ServerConnections

__all__ = ["PendingCall", "ServerConnection", "ServerConnections"]
