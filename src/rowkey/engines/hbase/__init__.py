"""Parts of the engine for HBase clusters."""

from rowkey.engines.hbase.row_clock import SHARED_CLOCKS
from rowkey.engines.hbase.store import HBaseStore

__all__ = ["SHARED_CLOCKS", "HBaseStore"]
