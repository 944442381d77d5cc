"""Decoding of a row's cells to events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rowkey.array_libraries import pa
from rowkey.cells import Cell, CellType
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Field, FieldType, Key
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.placement_interface import CellSlot
from rowkey.rows.qualifier_prefix import QualifierPrefix
from rowkey.rows.undeclared_cells import RowWithUndeclared, UndeclaredCell, format_column
from rowkey.schema import Value

Event = dict[str, Any]
MIN_ROWS_FOR_BATCH = 160
"""Rows from which decoding keys together is faster than one by one. Measured."""


class EventReader:
    """Decodes the events of one layout, whose attributes it takes, with functions compiled once."""

    def __init__(
        self,
        key: Key,
        fields: Iterable[str],
        lossy_key_fields: Collection[str],
        slots: Iterable[CellSlot],
        qualifier_prefix: QualifierPrefix | None,
        cell_timestamp: CellTimestamp | None,
    ) -> None:
        self.key = key
        self.qualifier_prefix = qualifier_prefix
        self.cell_timestamp = cell_timestamp
        self.blank_event: Event = dict.fromkeys(fields)
        self.key_normalizers = [
            (name, _choose_normalizer(field))
            for name, field in key.fields.items()
            if name not in lossy_key_fields
        ]
        self.readers: dict[str, dict[bytes, Callable[[bytes, Event], None]]] = {}
        for slot in slots:
            self.readers.setdefault(slot.family, {})[slot.qualifier] = slot.compile_reader()

    def decode_events(self, row_key: bytes, cells: Sequence[Cell]) -> list[Event]:
        """Return the events in the cells of one row; see `Layout.decode_events`."""
        return self._build_events(self.key.decode(row_key), row_key, cells)

    def decode_event(
        self, row: Mapping[str, Any], row_key: bytes, cells: Sequence[Cell]
    ) -> Event | None:
        """Return the event of a row whose key fields are known; None if it has no cell.

        The fields of the key are taken from `row`, so that the key is not decoded. Only for layouts
        with one event per row.

        Args:
            row: the fields of the key; others are ignored.
            row_key: the key encoded from them.
            cells: the puts of the row.

        Raises:
            RowError: the bytes of a value do not fit its field.
        """
        event = self._build_event(row_key, cells)
        if event is not None:
            self._add_key_values(event, row)
        return event

    def _add_key_values(self, event: Event, row: Mapping[str, Any]) -> None:
        """Add the normal values of the fields that the key has whole to an event."""
        for name, normal in self.key_normalizers:
            value = row.get(name)
            event[name] = None if value is None else normal(value)

    def decode_rows(
        self, row_keys: Sequence[bytes], cells: Sequence[Sequence[Cell]]
    ) -> Iterator[list[Event]]:
        """Yield the events of each of many rows, as `decode_events` returns them.

        Args:
            cells: the puts of each, in their order.

        Raises:
            RowError: as `decode_events`, for the first row.

        Cost: about 2 µs a row with three parts and three columns, where they are many.
        """
        if len(row_keys) < MIN_ROWS_FOR_BATCH:
            decoded: Iterable[Event] = map(self.key.decode, row_keys)
        else:
            decoded = self._decode_keys(row_keys)
        for values, row_key, row_cells in zip(decoded, row_keys, cells, strict=True):
            yield self._build_events(values, row_key, row_cells)

    def _decode_keys(self, row_keys: Sequence[bytes]) -> Iterator[Event]:
        """Return the fields in each of many row keys, decoded together."""
        from rowkey.keys import build_field_column

        batch = self.key.decode_batch(pa.array(row_keys, pa.binary()))
        names = batch.schema.names
        fields = (self.key.declared_fields[name] for name in names)
        lists = [
            column.to_pylist()
            if field.type.is_sequence
            else build_field_column(field, column).to_list()
            for field, column in zip(fields, batch.columns, strict=True)
        ]
        return (dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True))

    def _build_events(self, values: Event, row_key: bytes, cells: Sequence[Cell]) -> list[Event]:
        """Return the events of one row from its key's fields and its cells."""
        if self.qualifier_prefix is not None:
            return self._build_shared_events(self.qualifier_prefix, row_key, cells, values)
        event = self._build_event(row_key, cells)
        if event is None:
            return []
        event.update(values)
        return [event]

    def _build_event(self, row_key: bytes, cells: Sequence[Cell]) -> Event | None:
        """Return the only event of a row, without its key's fields; None if it has no cell."""
        event = self.blank_event.copy()
        latest = self._fill_event(event, row_key, cells)
        if latest < 0:
            return None
        if self.cell_timestamp is not None:
            self._add_timestamp(row_key, event, latest)
        return event

    def _fill_event(self, event: Event, row_key: bytes, cells: Sequence[Cell]) -> int:
        """Add the values of a row's cells to its event.

        Returns:
            The newest timestamp among the cells of the design, -1 without one.

        Raises:
            RowError: a field does not allow the value of a cell.
        """
        latest, readers = -1, self.readers
        for cell in reversed(cells):
            family, qualifier, timestamp, value, _, _ = cell
            try:
                read = readers[family][qualifier]
            except KeyError:
                continue
            try:
                read(value, event)
            except InvalidArgument as refusal:
                raise _build_bad_value_error(row_key, cell, refusal) from None
            if timestamp > latest:  # noqa: PLR1730 - a call a cell would cost more
                latest = timestamp
        return latest

    def _build_shared_events(
        self,
        qualifier_prefix: QualifierPrefix,
        row_key: bytes,
        cells: Sequence[Cell],
        values: Event,
    ) -> list[Event]:
        """Return the events of a row that several events share, ordered by qualifier.

        Raises:
            RowError: a field does not allow the value of a cell.
        """
        starts = self._find_slice_starts(qualifier_prefix, row_key)
        events_by_prefix: dict[bytes, tuple[Event, Event]] = {}
        latest: dict[bytes, int] = {}
        for cell in reversed(cells):
            family, qualifier, timestamp, value, _, _ = cell
            try:
                at = qualifier_prefix.find_end(qualifier)
                prefix = qualifier[:at]
                read = self.readers[family][qualifier[at:]]
                if prefix not in events_by_prefix:
                    events_by_prefix[prefix] = (
                        self.blank_event.copy(),
                        qualifier_prefix.decode(prefix, starts),
                    )
            except (InvalidArgument, RowError, KeyError):
                continue
            try:
                read(value, events_by_prefix[prefix][0])
            except InvalidArgument as refusal:
                raise _build_bad_value_error(row_key, cell, refusal) from None
            latest[prefix] = max(latest.get(prefix, -1), timestamp)
        events = []
        for prefix in sorted(events_by_prefix):
            event, prefix_fields = events_by_prefix[prefix]
            if self.cell_timestamp is not None:
                self._add_timestamp(row_key, event, latest[prefix])
            event.update(prefix_fields)
            event.update(values)
            events.append(event)
        return events

    def split_cells(
        self, row_key: bytes, cells: Iterable[Cell]
    ) -> tuple[set[bytes], list[UndeclaredCell]]:
        """Return which events of a row have declared cells, and its undeclared cells.

        Args:
            cells: its cells; deletes are ignored.

        Returns:
            The prefixes of the events, the empty one where a row holds one event; and the puts in
            no column of the design, in their order.

        Raises:
            RowError: the key has a time slice that cannot be decoded.
        """
        prefix, event_prefixes = self.qualifier_prefix, set()
        starts = None if prefix is None else self._find_slice_starts(prefix, row_key)
        known_prefixes: dict[bytes, bool] = {}
        undeclared = []
        for cell in cells:
            if cell.cell_type != CellType.PUT:
                continue
            front: bytes | None = b""
            if prefix is not None and starts is not None:
                front = _find_event_prefix(prefix, cell.qualifier, starts, known_prefixes)
            name = cell.qualifier[len(front or b"") :]
            if front is None or name not in self.readers.get(cell.family, ()):
                undeclared.append(UndeclaredCell(front, cell))
            else:
                event_prefixes.add(front)
        return event_prefixes, undeclared

    def decode_with_undeclared(
        self, row_key: bytes, cells: Sequence[Cell], *, known: Mapping[str, Any] | None = None
    ) -> list[RowWithUndeclared]:
        """Return the events in one row with their undeclared cells, and what is no event.

        Args:
            cells: its puts, in their order.
            known: the fields of the key, if they are known, so that it is not decoded.

        Returns:
            First the cells that belong to no event of a shared row, together; then each event, and
            each that has undeclared cells only, in the order of the qualifiers.

        Raises:
            RowError: as `decode_events`.

        Cost: two to three times that of `decode_events`.
        """
        if known is None:
            key_values = self.key.decode(row_key)
        else:
            key_values = {}
            self._add_key_values(key_values, known)
        event_prefixes, undeclared = self.split_cells(row_key, cells)
        events = self._build_events(key_values, row_key, cells)
        cells_by_prefix: dict[bytes | None, list[UndeclaredCell]] = {}
        for one in undeclared:
            cells_by_prefix.setdefault(one.event_prefix, []).append(one)
        # `_build_events` returns the events in the order of their prefixes.
        rows = [
            RowWithUndeclared(event, True, prefix, cells_by_prefix.pop(prefix, []))
            for prefix, event in zip(sorted(event_prefixes), events, strict=True)
        ]
        for prefix, its_cells in cells_by_prefix.items():
            values = {**self.blank_event, **key_values}
            if prefix and self.qualifier_prefix is not None:
                starts = self._find_slice_starts(self.qualifier_prefix, row_key)
                values |= self.qualifier_prefix.decode(prefix, starts)
            rows.append(RowWithUndeclared(values, False, prefix, its_cells))
        return sorted(rows, key=lambda row: row.event_prefix or b"")

    def find_event_prefixes(
        self, row_key: bytes, qualifiers: Iterable[bytes]
    ) -> list[bytes | None]:
        """Return the prefix of the event that each qualifier of a shared row names, or None.

        Raises:
            RowError: the key has a time slice that cannot be decoded.
        """
        prefix = self.qualifier_prefix
        assert prefix is not None
        starts = self._find_slice_starts(prefix, row_key)
        known_prefixes: dict[bytes, bool] = {}
        return [_find_event_prefix(prefix, one, starts, known_prefixes) for one in qualifiers]

    def _find_slice_starts(
        self, qualifier_prefix: QualifierPrefix, row_key: bytes
    ) -> list[int | None]:
        """Return the starts of the time slices in a row key.

        Raises:
            RowError: the row key has other bytes than the design encodes.
        """
        try:
            return qualifier_prefix.find_slice_starts(self.key, row_key)
        except InvalidArgument as refusal:
            mistake = refusal.mistake
            path = f"row key {row_key.hex()}" + (f", {mistake.path}" if mistake.path else "")
            remedy = "Read the table with the design that wrote it."
            raise RowError(path, mistake.problem, mistake.expected, remedy) from None

    def _add_timestamp(self, row_key: bytes, event: Event, timestamp: int) -> None:
        """Add the value of the field that is stored in the cells' timestamps to an event.

        Raises:
            RowError: the field does not allow the timestamp.
        """
        assert self.cell_timestamp is not None
        try:
            event[self.cell_timestamp.field.name] = self.cell_timestamp.decode_timestamp(timestamp)
        except InvalidArgument as refusal:
            path = f"row key {row_key.hex()}, field {self.cell_timestamp.field.name}"
            raise _build_row_error(path, refusal) from None


def _choose_normalizer(field: Field) -> Callable[[Value], Value]:
    """Return the function that normalizes a field's values after decoding.

    For most types the internal form is the normal value, which spares three calls of four.
    """
    is_normal = type(field.type).from_internal is FieldType.from_internal
    return field.type.to_internal if is_normal else field.normalize


def _find_event_prefix(
    qualifier_prefix: QualifierPrefix,
    qualifier: bytes,
    starts: Sequence[int | None],
    known_prefixes: dict[bytes, bool],
) -> bytes | None:
    """Return the prefix of a qualifier that names an event; None if it names none.

    Args:
        qualifier_prefix: the codec of prefixes.
        qualifier: the whole qualifier.
        starts: the starts of the time slices, from the row key.
        known_prefixes: whether each prefix that was looked at names an event.
    """
    try:
        front = qualifier[: qualifier_prefix.find_end(qualifier)]
    except InvalidArgument:
        return None
    if (is_event := known_prefixes.get(front)) is None:
        try:
            qualifier_prefix.decode(front, starts)
            is_event = True
        except (InvalidArgument, RowError):
            is_event = False
        known_prefixes[front] = is_event
    return front if is_event else None


def _build_bad_value_error(row_key: bytes, cell: Cell, refusal: InvalidArgument) -> RowError:
    """Return the error of a cell with bytes that are not a value of its field."""
    path = f"row key {row_key.hex()}, column {format_column(cell.family, cell.qualifier)}"
    return _build_row_error(path, refusal)


def _build_row_error(path: str, refusal: InvalidArgument) -> RowError:
    """Return the error of stored bytes that cannot be decoded, with the row and the cell."""
    mistake = refusal.mistake
    remedy = "Put the row again, or delete the cell if another program wrote it."
    return RowError(path, mistake.problem, mistake.expected, mistake.remedy or remedy)
