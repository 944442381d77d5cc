"""What the engine of a real cluster is made of."""

from rowkey.engines.hbase.store import HBaseStore

__all__ = ["HBaseStore"]
