"""How an event becomes a row: its key, its cells, and what they cost; and how it is read back."""

from rowkey.rows.contract import CellShape, Format, Left, Place, Slot
from rowkey.rows.layout import DEFAULT_FAMILY, Layout, lay_out
from rowkey.rows.opening import Opening
from rowkey.rows.packs import FORMATS
from rowkey.rows.places import KINDS as PLACES
from rowkey.rows.stamp import Stamp
from rowkey.rows.widths import mean_bytes

__all__ = [
    "DEFAULT_FAMILY",
    "FORMATS",
    "PLACES",
    "CellShape",
    "Format",
    "Layout",
    "Left",
    "Opening",
    "Place",
    "Slot",
    "Stamp",
    "lay_out",
    "mean_bytes",
]
