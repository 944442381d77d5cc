"""What the engine of a real cluster is made of."""

from rowkey.engines.hbase.row_clock import SHARED_CLOCKS
from rowkey.engines.hbase.store import HBaseStore

__all__ = ["SHARED_CLOCKS", "HBaseStore"]
