"""How the cells of one physical row become the events that were written to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError
from rowkey.keys import FieldType
from rowkey.regions import to_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.keys import Field
    from rowkey.rows.layout import Layout
    from rowkey.rows.opening import Opening
    from rowkey.schema import Value

Event = dict[str, Any]
MANY = 160
"""Rows from which taking keys apart together is faster than one by one. Measured."""


class Reading:
    """Reads events of one layout; compiled when it is made.

    Args:
        layout: where the fields live.
    """

    def __init__(self, layout: Layout) -> None:
        self.key = layout.key
        self.opening = layout.opening
        self.stamp = layout.stamp
        self.blank: Event = dict.fromkeys(layout.fields)
        kept = frozenset(layout.kept)
        self.whole = [
            (name, _normal(field)) for name, field in layout.key.fields.items() if name not in kept
        ]
        self.readers: dict[str, dict[bytes, Callable[[bytes, Event], None]]] = {}
        for slot in layout.slots:
            self.readers.setdefault(slot.family, {})[slot.qualifier] = slot.reader()

    def events(self, row_key: bytes, cells: Sequence[Cell], *, strict: bool) -> list[Event]:
        """The events in one physical row; see `Layout.events`."""
        return self._events(self.key.decode(row_key), row_key, cells, strict=strict)

    def event(self, row: Mapping[str, Any], row_key: bytes, cells: Sequence[Cell]) -> Event | None:
        """The event of a row whose key was made from these values; see `Layout.event`."""
        event = self._event(row_key, cells, strict=False)
        if event is not None:
            for name, normal in self.whole:
                value = row.get(name)
                event[name] = None if value is None else normal(value)
        return event

    def rows(
        self, row_keys: Sequence[bytes], cells: Sequence[Sequence[Cell]]
    ) -> Iterator[list[Event]]:
        """The events in each of many physical rows; see `Layout.rows`."""
        if len(row_keys) < MANY:
            decoded: Iterable[Event] = map(self.key.decode, row_keys)
        else:
            decoded = self._decoded(row_keys)
        for values, row_key, found in zip(decoded, row_keys, cells, strict=True):
            yield self._events(values, row_key, found, strict=False)

    def _decoded(self, row_keys: Sequence[bytes]) -> Iterator[Event]:
        """The fields of many row keys, taken apart together."""
        import pyarrow as pa

        from rowkey.keys import batch_column

        batch = self.key.decode_batch(pa.array(row_keys, pa.binary()))
        names = batch.schema.names
        fields = (self.key.all_fields[name] for name in names)
        lists = [
            column.to_pylist() if field.type.is_sequence else batch_column(field, column).listed()
            for field, column in zip(fields, batch.columns, strict=True)
        ]
        return (dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True))

    def _events(
        self, values: Event, row_key: bytes, cells: Sequence[Cell], *, strict: bool
    ) -> list[Event]:
        if self.opening is not None:
            return self._many(self.opening, row_key, cells, values, strict=strict)
        event = self._event(row_key, cells, strict=strict)
        if event is None:
            return []
        event.update(values)
        return [event]

    def _event(self, row_key: bytes, cells: Sequence[Cell], *, strict: bool) -> Event | None:
        """The one event of a row, without what its key holds; None if it has no cell of it."""
        event = self.blank.copy()
        latest = self._fill(event, row_key, cells, strict=strict)
        if latest < 0:
            return None
        if self.stamp is not None:
            self._add_time(row_key, event, latest)
        return event

    def _fill(self, event: Event, row_key: bytes, cells: Sequence[Cell], *, strict: bool) -> int:
        """Add the values of a row's cells to its event.

        Returns:
            The newest timestamp among the cells of the design, -1 without one.
        """
        latest, readers = -1, self.readers
        for cell in reversed(cells):
            family, qualifier, timestamp, value, _, _ = cell
            try:
                read = readers[family][qualifier]
            except KeyError:
                if strict:
                    raise _unknown(row_key, cell) from None
                continue
            try:
                read(value, event)
            except Refused as refusal:
                raise _bad_value(row_key, cell, refusal) from None
            if timestamp > latest:  # noqa: PLR1730 - a call a cell would cost more
                latest = timestamp
        return latest

    def _many(
        self,
        opening: Opening,
        row_key: bytes,
        cells: Sequence[Cell],
        values: Event,
        *,
        strict: bool,
    ) -> list[Event]:
        """The events of a row that many share."""
        starts = self._starts(opening, row_key)
        found: dict[bytes, tuple[Event, Event]] = {}
        latest: dict[bytes, int] = {}
        for cell in reversed(cells):
            family, qualifier, timestamp, value, _, _ = cell
            try:
                at = opening.measure(qualifier)
                before = qualifier[:at]
                read = self.readers[family][qualifier[at:]]
                if before not in found:
                    found[before] = (self.blank.copy(), opening.read(before, starts))
            except (Refused, RowError, KeyError):
                if strict:
                    raise _unknown(row_key, cell) from None
                continue
            try:
                read(value, found[before][0])
            except Refused as refusal:
                raise _bad_value(row_key, cell, refusal) from None
            latest[before] = max(latest.get(before, -1), timestamp)
        events = []
        for before in sorted(found):
            event, opened = found[before]
            if self.stamp is not None:
                self._add_time(row_key, event, latest[before])
            event.update(opened)
            event.update(values)
            events.append(event)
        return events

    def _starts(self, opening: Opening, row_key: bytes) -> list[int | None]:
        try:
            return opening.starts(self.key, row_key)
        except Refused as refusal:
            mistake = refusal.mistake
            raise RowError(f"key {row_key.hex()}", mistake.what, mistake.allowed) from None

    def _add_time(self, row_key: bytes, event: Event, timestamp: int) -> None:
        """The field that is the timestamp of the event's cells."""
        assert self.stamp is not None
        try:
            event[self.stamp.field.name] = self.stamp.read(timestamp)
        except Refused as refusal:
            path = f"row {row_key.hex()}, {self.stamp.field.name}"
            raise RowError(path, refusal.mistake.what, refusal.mistake.allowed) from None


def _normal(field: Field) -> Callable[[Value], Value]:
    """What makes a field's value normal, once it is known to be one.

    Of most types the held form is the normal value: that spares three calls of four.
    """
    is_held = type(field.type).release is FieldType.release
    return field.type.hold if is_held else field.normal


def _unknown(row_key: bytes, cell: Cell) -> RowError:
    """The refusal of a cell that the design does not have."""
    path = f"row {row_key.hex()}, {cell.family}:{to_binary(cell.qualifier)}"
    return RowError(path, "the design has no such cell")


def _bad_value(row_key: bytes, cell: Cell, refusal: Refused) -> RowError:
    """The refusal of a cell whose bytes are no value of its field."""
    path = f"row {row_key.hex()}, {cell.family}:{to_binary(cell.qualifier)}"
    return RowError(path, refusal.mistake.what, refusal.mistake.allowed)
