"""How an event becomes a row: its key, its cells, and what they cost."""

from rowkey.rows.contract import CellShape, Place
from rowkey.rows.layout import DEFAULT_FAMILY, Layout, lay_out, mean_bytes
from rowkey.rows.places import KINDS as PLACES

__all__ = ["DEFAULT_FAMILY", "PLACES", "CellShape", "Layout", "Place", "lay_out", "mean_bytes"]
