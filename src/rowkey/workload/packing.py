"""What packed cells save: the bytes of an event as it is stored, beside a cell for each field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.cells import cell_bytes
from rowkey.rows import Layout, lay_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from rowkey.cells import CellBlock
    from rowkey.workload.sample import Sample

MEASURED = 16_384
"""Events that are measured: those a sample begins with."""
EXAMPLES = 8
"""Keys whose mean length stands for all where nothing is measured."""


@dataclass(frozen=True, slots=True)
class Packing:
    """What packed cells save of each event, before encoding and compression.

    Args:
        cells: the fields of each packed cell, by `family:qualifier`.
        events: events that were measured; 0 where the widths of the fields are guessed.
        packed: mean bytes of an event's cells as they are stored.
        alone: the same with a cell for each field, named as the field.
    """

    cells: Mapping[str, tuple[str, ...]]
    events: int
    packed: float
    alone: float

    @property
    def saved(self) -> float:
        """Share of the bytes that packing saves; negative where it costs some."""
        return 1 - self.packed / self.alone


def packing_of(layout: Layout, sample: Sample | None) -> Packing | None:
    """What the packed cells of a layout save; None where it has none.

    Args:
        layout: where the fields live.
        sample: a recording of all fields, whose first 16,384 events are measured exactly; if None,
            the declared or guessed widths are taken.

    Raises:
        SampleError: the sample cannot be read.
        RowError: an event of it is no row of the layout.

    Cost: 1 to 5 µs an event that is measured.
    """
    from rowkey.regions import to_binary

    packed = [slot for slot in layout.slots if any(f.words.pack for f in slot.fields)]
    if not packed:
        return None
    named = {f"{slot.family}:{to_binary(slot.qualifier)}": slot.names for slot in packed}
    alone = _unpacked(layout)
    if sample is None:
        key = sum(map(len, map(layout.key.encode, layout.key.examples(EXAMPLES)))) / EXAMPLES
        return Packing(named, 0, layout.event_bytes(key), alone.event_bytes(key))
    events, sums = 0, [0, 0]
    for some in sample.events():
        rows = some.rows.slice(0, MEASURED - events)
        events += rows.num_rows
        sums = [
            total + stored_bytes(one, rows)
            for total, one in zip(sums, (layout, alone), strict=True)
        ]
        if events >= MEASURED:
            break
    return Packing(named, events, sums[0] / events, sums[1] / events)


def _unpacked(layout: Layout) -> Layout:
    """The same layout with a column for each field of a packed cell."""
    fields = {
        name: replace(field, words=field.words.model_copy(update={"pack": None}))
        for name, field in layout.fields.items()
    }
    return lay_out(layout.key, fields, layout.family)


def stored_bytes(layout: Layout, rows: pa.RecordBatch) -> int:
    """Bytes of all cells of some events, before encoding and compression.

    Args:
        layout: where the fields live.
        rows: the events, a column for each field that is there.

    Raises:
        RowError: an event is no row of the layout, or nothing of it would be written.

    Cost: 20 to 100 ns a cell; packed cells 1 µs.
    Source: KeyValue; see `rowkey.cells.cell_bytes`.
    """
    return sum(map(_block_bytes, layout.blocks(rows)))


def _block_bytes(block: CellBlock) -> int:
    """Bytes of the cells of one block."""
    import pyarrow.compute as pc

    there = block.values.is_valid()
    count = pc.sum(there).as_py() or 0
    fixed = cell_bytes(0, len(block.family.encode()), 0, 0) * count
    qualifiers = block.qualifiers
    if isinstance(qualifiers, bytes):
        return int(fixed + len(qualifiers) * count + _sum(block.rows, there) + _sum(block.values))
    return int(fixed + _sum(qualifiers, there) + _sum(block.rows, there) + _sum(block.values))


def _sum(strings: Any, there: Any = None) -> int:
    """Bytes of some strings together."""
    import pyarrow.compute as pc

    lengths = pc.binary_length(strings if there is None else strings.filter(there))
    return int(pc.sum(lengths).as_py() or 0)
