"""How an event becomes a row's cells: which fields live where, and how many bytes that takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, cell_bytes
from rowkey.errors import RowError
from rowkey.rows.contract import Width
from rowkey.rows.opening import Opening, slices_of
from rowkey.rows.places import KINDS
from rowkey.rows.reading import Reading
from rowkey.rows.widths import mean_bytes
from rowkey.rows.writing import EventWriting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.cells import Cell, CellBlock, RowCells
    from rowkey.errors import Mistake
    from rowkey.keys import Field, Key, Rest
    from rowkey.rows.contract import CellShape, Place, Slot
    from rowkey.rows.stamp import Stamp
    from rowkey.schema import Bounds, Facts

DEFAULT_FAMILY = "d"


@dataclass(frozen=True)
class Layout:
    """Where the fields of an event live, and how it is written and read there.

    Args:
        key: the bound row key.
        family: the first family.
        stored: names of the fields in each place, by the place's name.
        kept: fields of the key that are stored as columns because the key does not hold them whole.
        rests: what time slices leave to the qualifier.
        fields: every declared field.
    """

    key: Key
    family: str
    stored: Mapping[str, tuple[str, ...]]
    kept: tuple[str, ...]
    rests: tuple[Rest, ...]
    fields: Mapping[str, Field] = field(repr=False)

    @property
    def shares_rows(self) -> bool:
        """Whether several events may live in one row, apart by their qualifiers."""
        return self.opening is not None

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The cells that an event may have, in their order in a row."""
        found: list[Slot] = []
        for kind, placed in self._placed():
            found += kind.slots(placed, self.family)
        if all(slot.optional for slot in found):
            found += KINDS["marker"].slots((), self.family)
        return tuple(sorted(found, key=lambda slot: (slot.family, slot.qualifier)))

    @cached_property
    def opening(self) -> Opening | None:
        """What opens the qualifiers of an event's cells; None where a row holds one event."""
        fields = [field for kind, placed in self._placed() for field in kind.opening(placed)]
        slices = slices_of(self.key)
        return Opening(slices, fields) if slices or fields else None

    @cached_property
    def stamp(self) -> Stamp | None:
        """What the timestamps of an event's cells are taken from; None for the time of writing."""
        found = (stamp for kind, placed in self._placed() for stamp in kind.stamps(placed))
        return next(found, None)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The fields that say which event a row is: those of the key, then of the qualifier."""
        opened = self.opening.fields if self.opening is not None else ()
        return tuple(dict.fromkeys((*self.key.fields, *(field.name for field in opened))))

    @cached_property
    def writing(self) -> EventWriting:
        """What writes events, compiled."""
        return EventWriting(self)

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self)

    def write(
        self, row: Mapping[str, Any], *, timestamp: int = LATEST, salt: int | None = None
    ) -> RowCells:
        """The row key and cells of one event.

        A value is put, None deletes its cell, and of a field that is not given nothing is said;
        but a packed cell is written whole, and a marker always.

        Args:
            row: values by field; those of the key and the qualifier must be there.
            timestamp: of every cell, in milliseconds, unless a field is the timestamp.
            salt: the number a random salt takes; drawn if absent.

        Returns:
            Its cells in their order within a row.

        Raises:
            RowError: a field is unknown, a needed one is missing, or a value is none of its type.

        Cost: about 2 µs with three parts and three columns.
        """
        return self.writing.write(row, timestamp, salt)

    def erase(
        self, row: Mapping[str, Any], *, timestamp: int = LATEST, salt: int | None = None
    ) -> RowCells:
        """The deletes of one event.

        A row of one event loses its families whole; of a row that many share, every cell that the
        event may have is deleted. Where a field is the timestamp, giving it deletes the cells of
        that very time, and leaving it out the whole history.

        Args:
            row: values by field; those of the key and the qualifier must be there.
            timestamp: of every delete, in milliseconds: it hides what is not newer.
            salt: the number a random salt takes; drawn if absent.

        Raises:
            RowError: a field is unknown, a needed one is missing, or a value is none of its type.
        """
        return self.writing.erase(row, timestamp, salt)

    def clears(self, row: Mapping[str, Any], *, timestamp: int = LATEST) -> list[Cell]:
        """The deletes of the cells of an event that `write` would leave alone.

        Together with what `write` gives they replace the event.

        Raises:
            RowError: as `write`.
        """
        return self.writing.clears(row, timestamp)

    def events(
        self, row_key: bytes, cells: Sequence[Cell], *, strict: bool = False
    ) -> list[dict[str, Any]]:
        """The events in one physical row.

        Args:
            row_key: its key.
            cells: its puts, in their order; of several versions the newest counts.
            strict: whether a cell that the design does not have is refused; else it is passed over.

        Returns:
            All fields of each event, absent ones None, in the order of their qualifiers; none where
            the row has no cell of the design.

        Raises:
            RowError: the key, a cell, or the bytes of a value are none of the design.
            DesignRefused: a part before the last has no end, so that no key can be taken apart.

        Cost: about 4 µs with three parts and three columns.
        """
        return self._reading.events(row_key, cells, strict=strict)

    def event(
        self, row: Mapping[str, Any], row_key: bytes, cells: Sequence[Cell]
    ) -> dict[str, Any] | None:
        """The event of a row whose key was made from these values; None where it has no cell.

        What the key holds is taken from the values, so that it need not be taken apart. Only where
        a row holds one event.

        Args:
            row: the fields of the key; others are not looked at.
            row_key: the key that was made of them.
            cells: the puts found under it.

        Raises:
            RowError: the bytes of a value are none of its field.
        """
        return self._reading.event(row, row_key, cells)

    def rows(
        self, row_keys: Sequence[bytes], cells: Sequence[Sequence[Cell]]
    ) -> Iterator[list[dict[str, Any]]]:
        """The events in each of many physical rows: the same as `events` gives of each.

        Args:
            row_keys: their keys.
            cells: the puts of each, in their order.

        Raises:
            RowError: as `events`, for the first row.

        Cost: about 2 µs a row with three parts and three columns, where they are many.
        """
        return self._reading.rows(row_keys, cells)

    def blocks(
        self,
        batch: pa.RecordBatch,
        *,
        timestamp: int = LATEST,
        salts: np.ndarray[Any, Any] | None = None,
    ) -> list[CellBlock]:
        """The cells of many events, a block for each cell that an event may have.

        They are the puts that `write` gives of each row; a null writes nothing and deletes nothing.

        Args:
            batch: columns named as the fields.
            timestamp: of every cell, in milliseconds, unless a field is the timestamp.
            salts: the number a random salt takes, one a row; drawn if absent.

        Raises:
            RowError: as `write`, for some row.

        Cost: 20 to 100 ns a cell; packed cells 1 µs.
        """
        from rowkey.rows.batches.blocks import blocks_of

        return blocks_of(self, batch, timestamp, salts)

    def batch(self, cells: pa.RecordBatch, fields: Sequence[str] | None = None) -> pa.RecordBatch:
        """The events of many rows' cells, as Arrow columns.

        Args:
            cells: columns `row`, `family`, `qualifier`, `timestamp`, `value`: the puts of whole
                rows, one after the other, each in the order of its cells.
            fields: the fields wanted, in their order; all if None. The cells of others are not
                looked into.

        Returns:
            The same events as `events` gives of each row, one after the other.

        Raises:
            RowError: as `events`, for the first row; or there is no such field.

        Cost: 50 to 200 ns a cell where a row holds one event.
        """
        from rowkey.rows.batches.pivot import columns_of

        return columns_of(self, cells, fields)

    def qualifiers(self, bounds: Bounds) -> tuple[bytes, bytes]:
        """The stretch of qualifiers that holds every event within the bounds.

        Args:
            bounds: what is asked of each field, in normal values.

        Returns:
            The first qualifier, inclusive, and the first behind the last; b"" where nothing bounds
            a side. A range of a sliced time narrows only if it lies within one slice.
        """
        return (b"", b"") if self.opening is None else self.opening.stretch(bounds)

    def column(self, name: str, row: Mapping[str, Any]) -> tuple[str, bytes]:
        """The family and whole qualifier of the cell that a field has to itself.

        Args:
            name: the field.
            row: the event; fields in the qualifier must be there.

        Raises:
            RowError: the field has no such cell, or the row lacks what opens the qualifier.
        """
        for slot in self.slots:
            if slot.names == (name,):
                before = b"" if self.opening is None else self.opening.write(row)
                return slot.family, before + slot.qualifier
        raise RowError(name, "it has no cell to itself", "a field in a column")

    def columns(self, fields: Collection[str]) -> dict[str, tuple[bytes, ...]] | None:
        """The cells that a read of some fields needs: qualifiers by family.

        Beside those of the fields it names one that every event has, so that none is missed.

        Returns:
            None where every cell is needed, as in rows that many events share.
        """
        if self.opening is not None or self.stamp is not None:
            return None
        needed = [slot for slot in self.slots if not set(fields).isdisjoint(slot.names)]
        if all(slot.optional for slot in needed):
            needed.append(next(slot for slot in self.slots if not slot.optional))
        found: dict[str, tuple[bytes, ...]] = {}
        for slot in needed:
            found[slot.family] = (*found.get(slot.family, ()), slot.qualifier)
        return found

    def evolves(self, new: Layout) -> list[Mistake]:
        """What keeps the rows of this layout from being read and written by another.

        Safe are columns added that may be null, values added at the end of a pack, choices added at
        the end of their list, and what the types call wider.

        Args:
            new: the layout to come.

        Returns:
            Nothing if it is safe.
        """
        from rowkey.rows.evolution import mistakes_between

        return mistakes_between(self, new)

    def cells(self, facts: Mapping[str, Facts] | None = None) -> tuple[CellShape, ...]:
        """The cells that an event writes, columns first.

        Args:
            facts: what is known of the fields' widths.
        """
        widths = self._widths(facts or {})
        cells: list[CellShape] = []
        for kind, placed in self._placed():
            cells += kind.cells(placed, self.family, widths)
        if all(cell.optional for cell in cells):
            cells += KINDS["marker"].cells((), self.family, widths)
        return tuple(cells)

    def qualifier_bytes(self, facts: Mapping[str, Facts] | None = None) -> float:
        """Mean bytes that stand before the qualifier of every cell."""
        widths = self._widths(facts or {})
        opened = sum(rest.width for rest in self.rests)
        return opened + sum(kind.qualifier_bytes(f, widths) for kind, f in self._placed())

    def _placed(self) -> Iterator[tuple[type[Place], list[Field]]]:
        """Each place that is used, with the fields that live there."""
        for name, kind in KINDS.items():
            if names := self.stored.get(name, ()):
                yield kind, [self.fields[field] for field in names]

    def _widths(self, facts: Mapping[str, Facts]) -> dict[str, Width]:
        shares = {name: 1 - facts[name].nulls if name in facts else 1.0 for name in self.fields}
        return {
            name: Width(mean_bytes(declared, facts.get(name)), shares[name])
            for name, declared in self.fields.items()
        }

    def event_bytes(self, key_bytes: float, facts: Mapping[str, Facts] | None = None) -> float:
        """Bytes that one event adds to a store before encoding and compression.

        Args:
            key_bytes: mean bytes of the row key, which every cell repeats.
            facts: what is known of the fields' widths, and how often they are absent.
        """
        return sum(self.family_bytes(key_bytes, facts).values())

    def family_bytes(
        self, key_bytes: float, facts: Mapping[str, Facts] | None = None
    ) -> dict[str, float]:
        """What one event adds to each family, as `event_bytes` tells of all.

        Source: KeyValue.java; 20 bytes of overhead, the key, the family and the qualifier a cell.
        """
        besides = cell_bytes(0, 0, 0, 0) + key_bytes + self.qualifier_bytes(facts)
        found: dict[str, float] = {}
        for cell in self.cells(facts):
            each = besides + len(cell.family.encode()) + len(cell.qualifier) + cell.value_bytes
            found[cell.family] = found.get(cell.family, 0.0) + each * cell.share
        return found


def lay_out(key: Key, fields: Mapping[str, Field], family: str = DEFAULT_FAMILY) -> Layout:
    """Where each field lives: in the key, or in the place its words ask for.

    A field that the key holds only in part, as a digest, truncated or as whole seconds, is stored
    as a column too, unless what is lost stands in the qualifier.

    Args:
        key: the bound row key.
        fields: every declared field.
        family: the family of fields that name none.
    """
    slices = slices_of(key)
    rests = tuple(one.rest for one in slices)
    sliced = {one.rest.field for one in slices if one.is_whole}
    whole = {name for name in key.fields if key.body.residue(name).nothing} | sliced
    kept = tuple(name for name in key.fields if name not in whole)
    stored: dict[str, list[str]] = {}
    for name, declared in fields.items():
        asked = declared.words
        is_placed = any((asked.at, asked.pack, asked.qualifier is not None, asked.family))
        if name in whole and not is_placed:
            continue
        place = next(kind.name for kind in KINDS.values() if kind.claims(asked))
        stored.setdefault(place, []).append(name)
    frozen = {place: tuple(names) for place, names in stored.items()}
    return Layout(key, family, frozen, kept, rests, fields)
