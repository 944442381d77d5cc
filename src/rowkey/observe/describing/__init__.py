"""A live table as a design file: what it is exactly, what its rows show, and what nobody knows."""

from rowkey.observe.describing.table import Description, describe

__all__ = ["Description", "describe"]
