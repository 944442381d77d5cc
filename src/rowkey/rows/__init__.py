"""Rows: how the fields of an event are stored in a row key and cells, and read back."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr
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

if TYPE_CHECKING:
    from rowkey.rows.batches.cell_blocks import build_cell_blocks
    from rowkey.rows.batches.field_cells import collect_field_cells
    from rowkey.rows.batches.pivot import decode_event_columns
    from rowkey.rows.batches.undeclared import (
        select_decodable_rows,
        select_undeclared_rows,
        split_undeclared_rows,
    )
    from rowkey.rows.evolution import find_incompatibilities
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "batches.cell_blocks": "build_cell_blocks",
            "batches.field_cells": "collect_field_cells",
            "batches.pivot": "decode_event_columns",
            "batches.undeclared": (
                "select_decodable_rows select_undeclared_rows split_undeclared_rows"
            ),
            "evolution": "find_incompatibilities",
        },
    )

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
    "build_cell_blocks",
    "build_layout",
    "check_undeclared_name",
    "collect_field_cells",
    "decode_event_columns",
    "estimate_mean_bytes",
    "find_incompatibilities",
    "find_next_prefix",
    "format_column",
    "format_qualifier",
    "parse_pack_label",
    "parse_qualifier",
    "select_decodable_rows",
    "select_undeclared_rows",
    "split_undeclared_rows",
]
