"""How the rows of an Arrow batch become blocks of cells, a block for each cell of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkey.cells import CellBlock
from rowkey.errors import RowError
from rowkey.rows.batches.arrays import column_of

if TYPE_CHECKING:
    import numpy as np

    from rowkey.rows.layout import Layout


def blocks_of(
    layout: Layout, batch: pa.RecordBatch, timestamp: int, salts: np.ndarray[Any, Any] | None
) -> list[CellBlock]:
    """The cells of many events; see `Layout.blocks`."""
    _refuse_unknown(layout, batch)
    layout.writing.check_given(batch.schema.names)
    rows = layout.key.encode_valid_batch(batch, salts=salts)
    timestamps: Any = timestamp
    if layout.stamp is not None:
        name = layout.stamp.field.name
        times = column_of(batch, name)
        if times is None:
            raise RowError(name, "the batch has no such column", str(batch.schema.names))
        timestamps = layout.stamp.of_batch(times)
    before = None if layout.opening is None else layout.opening.write_batch(batch)
    blocks = []
    for slot in layout.slots:
        values = slot.write_batch(batch)
        if values is not None:
            qualifiers = slot.qualifier if before is None else _joined(before, slot.qualifier)
            blocks.append(CellBlock(rows, slot.family, qualifiers, values, timestamps))
    if not blocks:
        stored = [name for slot in layout.slots for name in slot.names]
        what = "no column with a cell of its own is given, so nothing would be written"
        raise RowError("batch", what, f"one of {', '.join(stored[:12])}")
    return blocks


def _joined(before: pa.Array, name: bytes) -> pa.Array:
    """The openings of qualifiers, each with the name of the column behind it."""
    if not name:
        return before
    end, nothing = (pa.scalar(one, before.type) for one in (name, b""))
    return pc.binary_join_element_wise(before, end, nothing)


def _refuse_unknown(layout: Layout, batch: pa.RecordBatch) -> None:
    """Refuse columns that the design does not have.

    Raises:
        RowError: the batch has some.
    """
    names = [name for name in batch.schema.names if name not in layout.fields]
    if names:
        what = f"the design has no such field{'s' * (len(names) > 1)}: {', '.join(names[:12])}"
        raise RowError("batch", what, ", ".join(list(layout.fields)[:12]))
