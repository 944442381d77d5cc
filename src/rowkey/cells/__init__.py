"""What HBase stores: the bytes of a cell, the attributes of a family, and what it refuses."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.cells.arithmetic import (
        COUNTER_BYTES,
        appended,
        check_amount,
        check_comparison,
        holds,
        incremented,
    )
    from rowkey.cells.cell import LATEST, Cell, CellBlock, Kind, RowCells, in_order
    from rowkey.cells.compaction import survivors
    from rowkey.cells.families import ATTRIBUTES, Attribute, Family, bind_family, check_family
    from rowkey.cells.footprint import OVERHEAD, block_bytes, cell_bytes, vlong_bytes
    from rowkey.cells.limits import (
        CELL_BYTES_MOST,
        FAMILY_BYTES_MOST,
        FOREVER_S,
        READ_ROW_BYTES_MOST,
        ROW_BYTES_MOST,
    )
    from rowkey.cells.mutations import (
        TTL_MS_MOST,
        check_families,
        check_mutation,
        check_row,
        check_timestamp,
        stamped,
    )
    from rowkey.cells.names import check_family_name, check_table, longest_split
    from rowkey.cells.visibility import View, oldest_living
else:
    __getattr__ = lazily(
        __name__,
        {
            "arithmetic": "COUNTER_BYTES appended check_amount check_comparison holds incremented",
            "cell": "LATEST Cell CellBlock Kind RowCells in_order",
            "compaction": "survivors",
            "families": "ATTRIBUTES Attribute Family bind_family check_family",
            "footprint": "OVERHEAD block_bytes cell_bytes vlong_bytes",
            "limits": (
                "CELL_BYTES_MOST FAMILY_BYTES_MOST FOREVER_S READ_ROW_BYTES_MOST ROW_BYTES_MOST"
            ),
            "mutations": (
                "TTL_MS_MOST check_families check_mutation check_row check_timestamp stamped"
            ),
            "names": "check_family_name check_table longest_split",
            "visibility": "View oldest_living",
        },
    )

__all__ = [
    "ATTRIBUTES",
    "CELL_BYTES_MOST",
    "COUNTER_BYTES",
    "FAMILY_BYTES_MOST",
    "FOREVER_S",
    "LATEST",
    "OVERHEAD",
    "READ_ROW_BYTES_MOST",
    "ROW_BYTES_MOST",
    "TTL_MS_MOST",
    "Attribute",
    "Cell",
    "CellBlock",
    "Family",
    "Kind",
    "RowCells",
    "View",
    "appended",
    "bind_family",
    "block_bytes",
    "cell_bytes",
    "check_amount",
    "check_comparison",
    "check_families",
    "check_family",
    "check_family_name",
    "check_mutation",
    "check_row",
    "check_table",
    "check_timestamp",
    "holds",
    "in_order",
    "incremented",
    "longest_split",
    "oldest_living",
    "stamped",
    "survivors",
    "vlong_bytes",
]
