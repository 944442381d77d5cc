"""Rows: how the fields of an event are stored in a row key and cells, and read back."""

from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.column_codec import ColumnCodec
from rowkey.rows.layout import DEFAULT_FAMILY, Layout, build_layout
from rowkey.rows.pack_formats import PACK_FORMATS, parse_pack_label
from rowkey.rows.placement_interface import (
    CellAction,
    CellEstimate,
    CellSlot,
    PackFormat,
    Placement,
)
from rowkey.rows.placements import PLACEMENTS as PLACEMENTS
from rowkey.rows.qualifier_notation import format_qualifier, parse_qualifier
from rowkey.rows.qualifier_prefix import QualifierPrefix, find_next_prefix
from rowkey.rows.undeclared_cells import (
    UNDECLARED_NAME,
    CellSample,
    RowWithUndeclared,
    UndeclaredCell,
    UndeclaredCells,
    check_undeclared_name,
    format_column,
)
from rowkey.rows.value_sizes import estimate_mean_bytes

__all__ = [
    "DEFAULT_FAMILY",
    "PACK_FORMATS",
    "PLACEMENTS",
    "UNDECLARED_NAME",
    "CellAction",
    "CellEstimate",
    "CellSample",
    "CellSlot",
    "CellTimestamp",
    "ColumnCodec",
    "Layout",
    "PackFormat",
    "Placement",
    "QualifierPrefix",
    "RowWithUndeclared",
    "UndeclaredCell",
    "UndeclaredCells",
    "build_layout",
    "check_undeclared_name",
    "estimate_mean_bytes",
    "find_next_prefix",
    "format_column",
    "format_qualifier",
    "parse_pack_label",
    "parse_qualifier",
]
