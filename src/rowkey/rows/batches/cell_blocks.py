"""Encoding of an Arrow batch as one block of cells for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkey.cells import CellBlock
from rowkey.errors import RowError
from rowkey.rows.batches.arrays import find_column

if TYPE_CHECKING:
    import numpy as np

    from rowkey.rows.layout import Layout


def build_cell_blocks(
    layout: Layout, batch: pa.RecordBatch, timestamp: int, salts: np.ndarray[Any, Any] | None
) -> list[CellBlock]:
    """Return the cells of many events; see `Layout.encode_blocks`."""
    _refuse_unknown_columns(layout, batch)
    layout.event_writer.check_packed_cells(batch.schema.names)
    rows = layout.key.encode_valid_batch(batch, salts=salts)
    timestamps: Any = timestamp
    if layout.cell_timestamp is not None:
        name = layout.cell_timestamp.field.name
        times = find_column(batch, name)
        if times is None:
            raise RowError(name, "the batch has no such column", str(batch.schema.names))
        timestamps = layout.cell_timestamp.compute_timestamps(times)
    before = (
        None if layout.qualifier_prefix is None else layout.qualifier_prefix.encode_batch(batch)
    )
    blocks = []
    for slot in layout.slots:
        values = slot.write_batch(batch)
        if values is not None:
            qualifiers = slot.qualifier if before is None else _append_name(before, slot.qualifier)
            blocks.append(CellBlock(rows, slot.family, qualifiers, values, timestamps))
    if not blocks:
        stored = [name for slot in layout.slots for name in slot.field_names]
        problem = "no field with a cell is given, so nothing would be written"
        raise RowError("batch", problem, f"at least one of {', '.join(stored[:12])}")
    return blocks


def _append_name(prefixes: pa.Array, name: bytes) -> pa.Array:
    """Return qualifiers: each prefix followed by the column's name."""
    if not name:
        return prefixes
    end, nothing = (pa.scalar(one, prefixes.type) for one in (name, b""))
    return pc.binary_join_element_wise(prefixes, end, nothing)


def _refuse_unknown_columns(layout: Layout, batch: pa.RecordBatch) -> None:
    """Raise if the batch has columns that the design does not have.

    Raises:
        RowError: the batch has some.
    """
    names = [name for name in batch.schema.names if name not in layout.fields]
    if names:
        what = f"the design has no such field{'s' * (len(names) > 1)}: {', '.join(names[:12])}"
        raise RowError("batch", what, ", ".join(list(layout.fields)[:12]))
