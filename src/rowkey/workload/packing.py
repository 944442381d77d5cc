"""The bytes that packed cells save in each stored event, compared with a cell for each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.cells import CellBlock, compute_cell_bytes
from rowkey.regions import to_string_binary
from rowkey.rows import Layout, build_cell_blocks, build_layout

if TYPE_CHECKING:
    from rowkey.workload.sample_file import SampleFile

MAX_MEASURED_EVENTS = 16_384
"""Events that are measured: those a sample begins with."""
EXAMPLE_KEYS = 8
"""Keys whose mean length stands for all where nothing is measured."""


@dataclass(frozen=True, slots=True)
class PackingSavings:
    """The bytes that packed cells save in each event, before encoding and compression.

    Args:
        cells: the fields of each packed cell, by `family:qualifier`.
        events: events that were measured; 0 where the widths of the fields are guessed.
        packed_bytes: mean bytes of an event's cells as they are stored.
        unpacked_bytes: the same with a cell for each field, named as the field.
    """

    cells: Mapping[str, tuple[str, ...]]
    events: int
    packed_bytes: float
    unpacked_bytes: float

    @property
    def saved_share(self) -> float:
        """Return the share of the bytes that packing saves; negative where it costs some."""
        return 1 - self.packed_bytes / self.unpacked_bytes


def measure_packing(layout: Layout, sample: SampleFile | None) -> PackingSavings | None:
    """Return the savings of a layout's packed cells; None where it has none.

    Args:
        layout: where the fields live.
        sample: a recording of all fields, whose first 16,384 events are measured exactly; if None,
            the declared or guessed widths are taken.

    Raises:
        SampleError: the sample cannot be read.
        RowError: an event of the sample does not fit the layout.

    Cost: 1 to 5 µs for each measured event.
    """
    packed = [slot for slot in layout.slots if any(f.declaration.pack for f in slot.fields)]
    if not packed:
        return None
    fields_by_cell = {
        f"{slot.family}:{to_string_binary(slot.qualifier)}": slot.field_names for slot in packed
    }
    alone = _unpack_layout(layout)
    if sample is None:
        key = (
            sum(map(len, map(layout.key.encode, layout.key.generate_rows(EXAMPLE_KEYS))))
            / EXAMPLE_KEYS
        )
        return PackingSavings(
            fields_by_cell, 0, layout.estimate_event_bytes(key), alone.estimate_event_bytes(key)
        )
    events, sums = 0, [0, 0]
    for some in sample.read_events():
        rows = some.rows.slice(0, MAX_MEASURED_EVENTS - events)
        events += rows.num_rows
        sums = [
            total + measure_stored_bytes(one, rows)
            for total, one in zip(sums, (layout, alone), strict=True)
        ]
        if events >= MAX_MEASURED_EVENTS:
            break
    return PackingSavings(fields_by_cell, events, sums[0] / events, sums[1] / events)


def _unpack_layout(layout: Layout) -> Layout:
    """Return the layout with a column for each field of a packed cell."""
    fields = {
        name: replace(field, declaration=field.declaration.model_copy(update={"pack": None}))
        for name, field in layout.fields.items()
    }
    return build_layout(layout.key, fields, layout.family)


def measure_stored_bytes(layout: Layout, rows: pa.RecordBatch) -> int:
    """Return the bytes of all cells of some events, before encoding and compression.

    Args:
        layout: where the fields live.
        rows: the events, a column for each field that is there.

    Raises:
        RowError: an event is no row of the layout, or nothing of it would be written.

    Cost: 20 to 100 ns a cell; packed cells 1 µs.
    Source: KeyValue; see `rowkey.cells.compute_cell_bytes`.
    """
    salts = np.zeros(rows.num_rows, np.int64) if layout.key.is_salted else None
    return sum(map(_measure_block, build_cell_blocks(layout, rows, salts=salts)))


def _measure_block(block: CellBlock) -> int:
    """Return the bytes of the cells of one block."""
    is_present = block.values.is_valid()
    count = pc.sum(is_present).as_py() or 0
    fixed = compute_cell_bytes(0, len(block.family.encode()), 0, 0) * count
    qualifiers = block.qualifiers
    if isinstance(qualifiers, bytes):
        return int(
            fixed
            + len(qualifiers) * count
            + _sum_lengths(block.rows, is_present)
            + _sum_lengths(block.values)
        )
    return int(
        fixed
        + _sum_lengths(qualifiers, is_present)
        + _sum_lengths(block.rows, is_present)
        + _sum_lengths(block.values)
    )


def _sum_lengths(strings: Any, is_valid: Any = None) -> int:
    """Return the total bytes of some strings."""
    lengths = pc.binary_length(strings if is_valid is None else strings.filter(is_valid))
    return int(pc.sum(lengths).as_py() or 0)
