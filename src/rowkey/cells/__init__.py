"""What HBase stores: the bytes of a cell, the attributes of a family, and what it refuses."""

from rowkey.cells.cell import LATEST, Cell, CellBlock, Kind, RowCells, in_order
from rowkey.cells.families import ATTRIBUTES, Attribute, Family, bind_family, check_family
from rowkey.cells.footprint import OVERHEAD, block_bytes, cell_bytes, vlong_bytes
from rowkey.cells.limits import (
    CELL_BYTES_MOST,
    FAMILY_BYTES_MOST,
    FOREVER_S,
    READ_ROW_BYTES_MOST,
    ROW_BYTES_MOST,
)
from rowkey.cells.names import check_family_name, check_table, longest_split

__all__ = [
    "ATTRIBUTES",
    "CELL_BYTES_MOST",
    "FAMILY_BYTES_MOST",
    "FOREVER_S",
    "LATEST",
    "OVERHEAD",
    "READ_ROW_BYTES_MOST",
    "ROW_BYTES_MOST",
    "Attribute",
    "Cell",
    "CellBlock",
    "Family",
    "Kind",
    "RowCells",
    "bind_family",
    "block_bytes",
    "cell_bytes",
    "check_family",
    "check_family_name",
    "check_table",
    "in_order",
    "longest_split",
    "vlong_bytes",
]
