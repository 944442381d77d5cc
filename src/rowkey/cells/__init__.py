"""HBase's data model: cells, families, mutations, visibility, sizes and limits."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.cells.arithmetic import (
        COUNTER_BYTES,
        append_to_cell,
        check_amount,
        check_comparison,
        increment_cell,
        is_comparison_true,
    )
    from rowkey.cells.cell import (
        CELL_OVERHEAD_BYTES,
        COLUMN_DELETES,
        LATEST,
        Cell,
        CellBlock,
        CellType,
        RowCells,
        build_sort_key,
        compute_block_bytes,
        compute_cell_bytes,
        compute_vlong_bytes,
    )
    from rowkey.cells.compaction import (
        PURGE_DELAY_ATTRIBUTE,
        parse_purge_delay_ms,
        select_kept_cells,
    )
    from rowkey.cells.compression_codecs import find_compressor
    from rowkey.cells.data_blocks import BlockCell, encode_block, split_blocks
    from rowkey.cells.families import (
        ATTRIBUTES,
        Family,
        FamilyAttribute,
        bind_family,
        find_family_mistakes,
    )
    from rowkey.cells.limits import (
        FOREVER_S,
        MAX_CELL_BYTES,
        MAX_FAMILY_BYTES,
        MAX_JAVA_INT,
        MAX_READ_ROW_BYTES,
        MAX_ROW_BYTES,
    )
    from rowkey.cells.mutations import (
        MAX_TTL_MS,
        assign_timestamps,
        check_families,
        check_family_name,
        check_mutation,
        check_row,
        check_timestamp,
    )
    from rowkey.cells.names import (
        build_table_name,
        compute_max_split_bytes,
        find_family_name_mistakes,
        find_table_name_mistakes,
    )
    from rowkey.cells.visibility import FamilyView, compute_oldest_live_ms
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "arithmetic": (
                "COUNTER_BYTES append_to_cell check_amount check_comparison is_comparison_true "
                "increment_cell"
            ),
            "cell": (
                "CELL_OVERHEAD_BYTES COLUMN_DELETES LATEST Cell CellBlock CellType RowCells "
                "build_sort_key compute_block_bytes compute_cell_bytes compute_vlong_bytes"
            ),
            "compaction": "PURGE_DELAY_ATTRIBUTE parse_purge_delay_ms select_kept_cells",
            "compression_codecs": "find_compressor",
            "data_blocks": "BlockCell encode_block split_blocks",
            "families": "ATTRIBUTES FamilyAttribute Family bind_family find_family_mistakes",
            "limits": (
                "MAX_CELL_BYTES MAX_FAMILY_BYTES FOREVER_S MAX_JAVA_INT MAX_READ_ROW_BYTES "
                "MAX_ROW_BYTES"
            ),
            "mutations": (
                "MAX_TTL_MS check_families check_family_name check_mutation check_row "
                "check_timestamp assign_timestamps"
            ),
            "names": (
                "build_table_name find_family_name_mistakes find_table_name_mistakes "
                "compute_max_split_bytes"
            ),
            "visibility": "FamilyView compute_oldest_live_ms",
        },
    )

__all__ = [
    "ATTRIBUTES",
    "CELL_OVERHEAD_BYTES",
    "COLUMN_DELETES",
    "COUNTER_BYTES",
    "FOREVER_S",
    "LATEST",
    "MAX_CELL_BYTES",
    "MAX_FAMILY_BYTES",
    "MAX_JAVA_INT",
    "MAX_READ_ROW_BYTES",
    "MAX_ROW_BYTES",
    "MAX_TTL_MS",
    "PURGE_DELAY_ATTRIBUTE",
    "BlockCell",
    "Cell",
    "CellBlock",
    "CellType",
    "Family",
    "FamilyAttribute",
    "FamilyView",
    "RowCells",
    "append_to_cell",
    "assign_timestamps",
    "bind_family",
    "build_sort_key",
    "build_table_name",
    "check_amount",
    "check_comparison",
    "check_families",
    "check_family_name",
    "check_mutation",
    "check_row",
    "check_timestamp",
    "compute_block_bytes",
    "compute_cell_bytes",
    "compute_max_split_bytes",
    "compute_oldest_live_ms",
    "compute_vlong_bytes",
    "encode_block",
    "find_compressor",
    "find_family_mistakes",
    "find_family_name_mistakes",
    "find_table_name_mistakes",
    "increment_cell",
    "is_comparison_true",
    "parse_purge_delay_ms",
    "select_kept_cells",
    "split_blocks",
]
