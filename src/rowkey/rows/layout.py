"""The layout of rows: where each field is stored, and the size of an event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rowkey.cells import LATEST, Cell, RowCells, compute_cell_bytes
from rowkey.errors import RowError
from rowkey.keys import Field, Key, TimeRemainder
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.event_reader import EventReader
from rowkey.rows.event_writer import EventWriter
from rowkey.rows.placement_interface import CellEstimate, CellSlot, Placement, ValueSize
from rowkey.rows.placements import PLACEMENTS
from rowkey.rows.qualifier_prefix import QualifierPrefix, find_time_slices
from rowkey.rows.undeclared_cells import UndeclaredCells
from rowkey.rows.value_sizes import estimate_mean_bytes
from rowkey.schema import Bounds, FieldFacts

DEFAULT_FAMILY = "d"


@dataclass(frozen=True)
class Layout:
    """Where the fields of an event are stored, with methods to encode and decode it.

    Args:
        key: the bound row key.
        family: the first family.
        placed_fields: names of the fields in each placement, by the placement's name.
        lossy_key_fields: fields of the key that are also stored elsewhere, mostly as columns,
            because the key has only a part of their values.
        time_remainders: the remainders of time slices, which the qualifier holds.
        fields: every declared field.
    """

    key: Key
    family: str
    placed_fields: Mapping[str, tuple[str, ...]]
    lossy_key_fields: tuple[str, ...]
    time_remainders: tuple[TimeRemainder, ...]
    fields: Mapping[str, Field] = field(repr=False)

    @property
    def has_shared_rows(self) -> bool:
        """Whether a row may hold several events, told apart by their qualifiers."""
        return self.qualifier_prefix is not None

    @cached_property
    def key_fields_in_columns(self) -> tuple[str, ...]:
        """Fields of the key whose values only a column has whole.

        What the key loses of a field may also be in the qualifier or in the timestamp of cells.

        >>> from rowkey.design import Design
        >>> for ts in ("timestamp_ms", {"type": "timestamp_ms", "at": "qualifier"}):
        ...     fields = {"host": "text", "ts": ts}
        ...     layout = Design("t", "[digest(host, 4)][time_bucket(ts, 1h)]", fields=fields).layout
        ...     print(layout.lossy_key_fields, layout.key_fields_in_columns)
        ('host', 'ts') ('host', 'ts')
        ('host', 'ts') ('host',)
        """
        stored = {name for slot in self.slots for name in slot.field_names}
        return tuple(name for name in self.lossy_key_fields if name in stored)

    @cached_property
    def families(self) -> frozenset[str]:
        """The families in which the cells of an event lie."""
        return frozenset(slot.family for slot in self.slots)

    @property
    def has_one_family(self) -> bool:
        """Whether all cells of an event lie in one family."""
        return len(self.families) == 1

    @cached_property
    def slots(self) -> tuple[CellSlot, ...]:
        """The cells that an event may have, in their order in a row."""
        slots: list[CellSlot] = []
        for placement, fields in self._iterate_placements():
            slots += placement.build_slots(fields, self.family)
        if all(slot.optional for slot in slots):
            slots += PLACEMENTS["marker"].build_slots((), self.family)
        return tuple(sorted(slots, key=lambda slot: (slot.family, slot.qualifier)))

    @cached_property
    def qualifier_prefix(self) -> QualifierPrefix | None:
        """The codec of the fields at the start of each qualifier; None if a row holds one event."""
        fields = [
            field
            for placement, placed_fields in self._iterate_placements()
            for field in placement.select_qualifier_fields(placed_fields)
        ]
        slices = find_time_slices(self.key)
        return QualifierPrefix(slices, fields) if slices or fields else None

    @cached_property
    def cell_timestamp(self) -> CellTimestamp | None:
        """The codec of the field in the timestamps; None if they hold the time of writing."""
        timestamps = (
            timestamp
            for placement, fields in self._iterate_placements()
            for timestamp in placement.build_timestamps(fields)
        )
        return next(timestamps, None)

    @cached_property
    def identity_fields(self) -> tuple[str, ...]:
        """The fields that identify an event: those of the key, then those of the qualifier."""
        fields = self.qualifier_prefix.fields if self.qualifier_prefix is not None else ()
        return tuple(dict.fromkeys((*self.key.fields, *(field.name for field in fields))))

    @cached_property
    def event_writer(self) -> EventWriter:
        """The encoder of events, compiled once."""
        return EventWriter(
            self.key,
            self.fields,
            self.slots,
            self.qualifier_prefix,
            self.cell_timestamp,
            self.identity_fields,
        )

    @cached_property
    def event_reader(self) -> EventReader:
        """The decoder of events, compiled once."""
        return EventReader(
            self.key,
            self.fields,
            self.lossy_key_fields,
            self.slots,
            self.qualifier_prefix,
            self.cell_timestamp,
        )

    def encode_event(
        self, row: Mapping[str, Any], *, timestamp: int = LATEST, salt: int | None = None
    ) -> RowCells:
        """Return the row key and cells of one event.

        A value is written, None deletes the field's cell, and the cell of an absent field is left
        alone. A packed cell is always written with all its fields, and a marker is always written.

        Args:
            row: values by field; those of the key and the qualifier must be there.
            timestamp: of every cell, in milliseconds, unless a field is the timestamp.
            salt: the value of the key's random salt; needed if the key has one.

        Returns:
            Its cells in their order within a row.

        Raises:
            RowError: a field is unknown, one is missing, or its type does not allow its value.

        Cost: about 2 µs with three parts and three columns.
        """
        return self.event_writer.encode_event(row, timestamp, salt)

    def encode_delete(
        self, row: Mapping[str, Any], *, timestamp: int = LATEST, salt: int | None = None
    ) -> RowCells:
        """Return the deletes of one event.

        If the row holds one event, its families are deleted; if it holds several, every cell that
        the event may have. If a field is stored in the timestamps, its value in `row` limits the
        deletes to cells of that time; without a value, the whole history is deleted.

        Args:
            row: values by field; those of the key and the qualifier must be there.
            timestamp: of every delete, in milliseconds; it hides cells that are not newer.
            salt: the value of the key's random salt; needed if the key has one.

        Raises:
            RowError: a field is unknown, one is missing, or its type does not allow its value.
        """
        return self.event_writer.encode_delete(row, timestamp, salt)

    def encode_column_deletes(
        self, row: Mapping[str, Any], timestamp: int, *, salt: int | None = None
    ) -> RowCells:
        """Return deletes of each cell that an event may have, of no undeclared cell.

        Args:
            row: values by field; those of the key and the qualifier must be there.
            timestamp: of every delete, in milliseconds, also if a field is stored in the
                timestamps; it hides cells that are not newer.
            salt: the value of the key's random salt; needed if the key has one.

        Raises:
            RowError: a field is missing, or its type does not allow its value.
        """
        return self.event_writer.encode_column_deletes(row, timestamp, salt)

    def decode_events(self, row_key: bytes, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Return the events in one row.

        Args:
            cells: its puts, in their order; of several versions the newest counts, and undeclared
                cells are left out.

        Returns:
            Each event with all fields, absent ones None, in the order of the qualifiers; an empty
            list if the row has no cell of the design.

        Raises:
            RowError: the key, a cell, or the bytes of a value do not fit the design.
            DesignRefused: a part before the last has no end, so that no key can be decoded.

        Cost: about 4 µs with three parts and three columns.
        """
        return self.event_reader.decode_events(row_key, cells)

    def count_undeclared_cells(self, rows: Iterable[RowCells]) -> UndeclaredCells:
        """Return a summary of the undeclared cells of some rows.

        Args:
            rows: their keys and cells, each row once; deletes are ignored.

        Raises:
            RowError: a key has a time slice that cannot be decoded.
        """
        summary = UndeclaredCells()
        for row_key, cells in rows:
            event_prefixes, undeclared = self.event_reader.split_cells(row_key, cells)
            if undeclared:
                summary.add_row(row_key, undeclared, event_prefixes)
        return summary

    def find_qualifier_range(self, bounds: Bounds) -> tuple[bytes, bytes]:
        """Return the range of qualifiers of all events whose fields are within some bounds.

        Args:
            bounds: the bound of each field, in normalized values.

        Returns:
            Start, inclusive, and stop, exclusive; b"" for an open end. A range of a sliced time
            narrows the range only if it lies within one slice.
        """
        return (
            (b"", b"")
            if self.qualifier_prefix is None
            else self.qualifier_prefix.find_range(bounds)
        )

    def find_column(self, name: str, row: Mapping[str, Any]) -> tuple[str, bytes]:
        """Return the family and full qualifier of the cell that stores one field alone.

        Args:
            row: the event; fields in the qualifier must be there.

        Raises:
            RowError: the field has no such cell, or the row lacks a field of the qualifier.
        """
        for slot in self.slots:
            if slot.field_names == (name,):
                prefix = b"" if self.qualifier_prefix is None else self.qualifier_prefix.encode(row)
                return slot.family, prefix + slot.qualifier
        what = "the field has no cell of its own"
        remedy = "Declare it as a column: without `pack` and `at`, and not only in the key."
        raise RowError(f"field {name}", what, "a field in a column", remedy)

    def estimate_cells(
        self, facts: Mapping[str, FieldFacts] | None = None
    ) -> tuple[CellEstimate, ...]:
        """Return the expected cells of an event, columns first.

        Args:
            facts: statistics of the fields.
        """
        value_sizes = self._estimate_value_sizes(facts or {})
        cells: list[CellEstimate] = []
        for placement, fields in self._iterate_placements():
            cells += placement.estimate_cells(fields, self.family, value_sizes)
        if all(cell.optional for cell in cells):
            cells += PLACEMENTS["marker"].estimate_cells((), self.family, value_sizes)
        return tuple(cells)

    def estimate_qualifier_bytes(self, facts: Mapping[str, FieldFacts] | None = None) -> float:
        """Return the mean bytes of the fields at the start of each qualifier."""
        value_sizes = self._estimate_value_sizes(facts or {})
        remainder_bytes = sum(remainder.width for remainder in self.time_remainders)
        return remainder_bytes + sum(
            placement.estimate_qualifier_bytes(fields, value_sizes)
            for placement, fields in self._iterate_placements()
        )

    def _iterate_placements(self) -> Iterator[tuple[type[Placement], list[Field]]]:
        for name, placement in PLACEMENTS.items():
            if names := self.placed_fields.get(name, ()):
                yield placement, [self.fields[field] for field in names]

    def _estimate_value_sizes(self, facts: Mapping[str, FieldFacts]) -> dict[str, ValueSize]:
        shares = {
            name: 1 - facts[name].null_share if name in facts else 1.0 for name in self.fields
        }
        return {
            name: ValueSize(estimate_mean_bytes(declared, facts.get(name)), shares[name])
            for name, declared in self.fields.items()
        }

    def estimate_event_bytes(
        self, key_bytes: float, facts: Mapping[str, FieldFacts] | None = None
    ) -> float:
        """Return the mean bytes of one event in a store, before encoding and compression.

        Args:
            key_bytes: mean bytes of the row key, which every cell repeats.
            facts: statistics of the fields: their sizes and shares of nulls.
        """
        return sum(self.estimate_family_bytes(key_bytes, facts).values())

    def estimate_family_bytes(
        self, key_bytes: float, facts: Mapping[str, FieldFacts] | None = None
    ) -> dict[str, float]:
        """Return the mean bytes of one event in each family; see `estimate_event_bytes`.

        Source: KeyValue.java; 20 bytes of overhead, the key, the family and the qualifier a cell.
        """
        overhead = compute_cell_bytes(0, 0, 0, 0) + key_bytes + self.estimate_qualifier_bytes(facts)
        family_bytes: dict[str, float] = {}
        for cell in self.estimate_cells(facts):
            name_bytes = len(cell.family.encode()) + len(cell.qualifier)
            cell_bytes = overhead + name_bytes + cell.mean_value_bytes
            previous = family_bytes.get(cell.family, 0.0)
            family_bytes[cell.family] = previous + cell_bytes * cell.event_share
        return family_bytes


def build_layout(key: Key, fields: Mapping[str, Field], family: str = DEFAULT_FAMILY) -> Layout:
    """Return the layout of a design: each field in the key or in the placement it declares.

    A field of which the key has only a part, such as a digest, a truncated text or whole seconds,
    is also stored as a column, unless the qualifier has the rest.

    Args:
        key: the bound row key.
        fields: every declared field.
        family: the family of fields that declare none.
    """
    slices = find_time_slices(key)
    remainders = tuple(time_slice.remainder for time_slice in slices)
    complete = {time_slice.remainder.field for time_slice in slices if time_slice.is_lossless}
    complete |= {name for name in key.fields if key.part_sequence.residue(name).is_empty}
    lossy = tuple(name for name in key.fields if name not in complete)
    names_by_placement: dict[str, list[str]] = {}
    for name, field_ in fields.items():
        options = field_.declaration
        is_placed = any((options.at, options.pack, options.qualifier is not None, options.family))
        if name in complete and not is_placed:
            continue
        placement = next(p.name for p in PLACEMENTS.values() if p.can_hold(options))
        names_by_placement.setdefault(placement, []).append(name)
    placed_fields = {place: tuple(names) for place, names in names_by_placement.items()}
    return Layout(key, family, placed_fields, lossy, remainders, fields)
