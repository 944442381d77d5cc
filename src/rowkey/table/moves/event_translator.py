"""Translation of the cells of one event from the layout of one table to that of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.cells import COLUMN_DELETES, LATEST, Cell, CellType
from rowkey.design import Design
from rowkey.table.moves.carried_columns import CarriedColumns
from rowkey.table.moves.slot_mapping import SlotMapping
from rowkey.table.row_writer import PRECEDING_TIMESTAMP

if TYPE_CHECKING:
    from rowkey.table.moves.slot_mapping import Column, RebuiltSlot

_PUT, _DELETE, _DELETE_COLUMN = CellType.PUT, CellType.DELETE, CellType.DELETE_COLUMN


@dataclass(slots=True)
class ColumnHistory:
    """What is stored of one column of an event.

    Args:
        puts: the puts by timestamp.
        deleted_up_to_ms: the timestamps of deletes that hide all puts that are not newer.
        deleted_at_ms: the timestamps of deletes that hide the put of the same timestamp.
    """

    puts: dict[int, Cell] = field(default_factory=dict)
    deleted_up_to_ms: set[int] = field(default_factory=set)
    deleted_at_ms: set[int] = field(default_factory=set)

    def add(self, cell: Cell) -> None:
        """Add a put, or a delete of this column or of its family."""
        if cell.cell_type is _PUT or cell.cell_type == _PUT:
            self.puts[cell.timestamp] = cell
        elif COLUMN_DELETES.get(cell.cell_type, cell.cell_type) == _DELETE_COLUMN:
            self.deleted_up_to_ms.add(cell.timestamp)
        else:
            self.deleted_at_ms.add(cell.timestamp)

    @property
    def visible_puts(self) -> dict[int, Cell]:
        """The puts that no delete hides, by timestamp."""
        hidden = max(self.deleted_up_to_ms, default=-1)
        return {
            at: put for at, put in self.puts.items() if at > hidden and at not in self.deleted_at_ms
        }


class EventTranslator:
    """Translates the cells of single events."""

    def __init__(self, source: Design, target: Design) -> None:
        self.mapping = mapping = SlotMapping.from_layouts(source.layout, target.layout)
        self.carried = CarriedColumns.from_designs(source, target)
        self.is_direct = not mapping.rebuilt
        self._has_shared_rows = target.layout.has_shared_rows
        self._source_columns: dict[str, list[Column]] = defaultdict(list)
        for column in mapping.source_slots:
            self._source_columns[column[0]].append(column)
        equal = {old for old, new in mapping.mapped.items() if old == new}
        others = mapping.source_slots.keys() | {
            (slot.family, slot.qualifier) for slot in target.layout.slots
        }
        self._equal_families = (
            frozenset()
            if self._has_shared_rows
            else self.carried.carried_families - {family for family, _ in others - equal}
        )
        """The families that have the same columns in both tables."""
        self._is_stamped = target.layout.cell_timestamp is not None
        self._build_row_deletes = target.layout.event_writer.build_row_deletes
        self._derived = [(slot, slot.compile_writer()) for slot in self.mapping.derived]
        self._readers = {
            column: slot.compile_reader() for column, slot in self.mapping.source_slots.items()
        }

    def translate(
        self, values: Mapping[str, Any], cells: Sequence[Cell], prefix: bytes
    ) -> list[Cell]:
        """Return the cells of an event in the target.

        Args:
            values: the fields that identify the event.
            cells: its cells in the source, with qualifiers that lack the event's prefix. Cells of
                columns that neither the design has nor the move carries are left out.
            prefix: the event's prefix of qualifiers in the target.

        Raises:
            InvalidArgument: a value that must be repacked cannot be decoded.
            RowError: a value cannot be stored in the target.
        """
        if not self._derived and self.is_direct:
            return self._map_cells(cells, prefix)[0]
        cells = [_order_preceding(cell) for cell in cells]
        translated, covered = self._map_cells(cells, prefix)
        histories = self._build_histories(cells)
        if self._derived:
            translated += self._derive_cells(values, histories, covered, prefix)
        for rebuilt in self.mapping.rebuilt:
            translated += self._rebuild_cells(rebuilt, values, histories, covered, prefix)
        return [_restore_preceding(cell) for cell in translated]

    def _map_cells(
        self, cells: Sequence[Cell], prefix: bytes
    ) -> tuple[list[Cell], set[tuple[CellType, int]]]:
        """Return the mapped cells, and the deletes of all families, by column type and time."""
        translated = []
        families: dict[tuple[CellType, int], list[str]] = defaultdict(list)
        for cell in cells:
            family, qualifier, timestamp, value, cell_type, ttl_ms = cell
            if cell_type in COLUMN_DELETES:
                families[cell_type, timestamp].append(family)
            elif (column := self.find_column(family, qualifier)) is not None:
                translated.append(
                    Cell(column[0], prefix + column[1], timestamp, value, cell_type, ttl_ms)
                )
        covered = set()
        for (cell_type, timestamp), deleted in families.items():
            names = deleted
            is_whole = not self._has_shared_rows and self._source_columns.keys() <= set(deleted)
            # A packed cell may get a put of the same time: one of its fields is deleted up to it.
            if is_whole and (self.is_direct or cell_type == CellType.DELETE_FAMILY):
                covered.add((COLUMN_DELETES[cell_type], timestamp))
                translated += self._build_row_deletes(timestamp, cell_type)
                names = [name for name in deleted if name not in self._source_columns]
            for name in names:
                if name in self._equal_families:
                    translated.append(Cell(name, b"", timestamp, cell_type=cell_type))
                    continue
                columns = dict.fromkeys(self._source_columns.get(name, ()))
                columns |= {
                    one[:2]: None
                    for one in cells
                    if one.family == name and one.cell_type not in COLUMN_DELETES
                }
                for one in columns:
                    if (column := self.find_column(*one)) is not None:
                        at, kind = prefix + column[1], COLUMN_DELETES[cell_type]
                        translated.append(Cell(column[0], at, timestamp, cell_type=kind))
        return translated, covered

    def find_column(self, family: str, name: bytes) -> Column | None:
        """Return the column of the target that gets the cells of a column; None if none does."""
        column = self.mapping.mapped.get((family, name))
        if column is None and self.carried.has_column(family, name):
            return (family, name)
        return column

    def _build_histories(self, cells: Iterable[Cell]) -> dict[Column, ColumnHistory]:
        """Return what is stored of each column of the source."""
        histories = {column: ColumnHistory() for column in self.mapping.source_slots}
        for cell in cells:
            if cell.cell_type in COLUMN_DELETES:
                for column in self._source_columns.get(cell.family, ()):
                    histories[column].add(cell)
            elif (cell.family, cell.qualifier) in histories:
                histories[cell.family, cell.qualifier].add(cell)
        return histories

    def _derive_cells(
        self,
        values: Mapping[str, Any],
        histories: Mapping[Column, ColumnHistory],
        covered: set[tuple[CellType, int]],
        prefix: bytes,
    ) -> Iterator[Cell]:
        """Yield the cells that the target has of every event: a marker, fields of the identity."""
        columns = tuple(histories.values())
        lifetimes = _find_lifetimes(columns)
        deletes = _find_event_deletes(columns) - covered
        for slot, write in self._derived:
            qualifier, value = prefix + slot.qualifier, write(values)
            if isinstance(value, bytes):
                for timestamp, ttl_ms in lifetimes.items():
                    yield Cell(slot.family, qualifier, timestamp, value, ttl_ms=ttl_ms)
                for cell_type, timestamp in deletes:
                    yield Cell(slot.family, qualifier, timestamp, cell_type=cell_type)

    def _rebuild_cells(
        self,
        rebuilt: RebuiltSlot,
        values: Mapping[str, Any],
        histories: Mapping[Column, ColumnHistory],
        covered: set[tuple[CellType, int]],
        prefix: bytes,
    ) -> Iterator[Cell]:
        """Yield the versions of a cell of the target: one for each change of its fields.

        A version lives as long as the longest-lived of its values. If a field is the timestamp, a
        delete makes no version, whose time would be that field's value.
        """
        slot, columns = rebuilt.slot, [histories[column] for column in rebuilt.sources]
        qualifier, change_times = prefix + slot.qualifier, set()
        identity = {name: values.get(name) for name in rebuilt.identity_fields}
        iterate = _iterate_visible_states if self._is_stamped else _iterate_states
        for timestamp, puts in iterate(columns):
            change_times.add(timestamp)
            fields: dict[str, Any] = {}
            used = []
            for column, put in zip(rebuilt.sources, puts, strict=True):
                if put is not None:
                    found: dict[str, Any] = {}
                    self._readers[column](put.value, found)
                    present = {
                        name: value
                        for name, value in found.items()
                        if value is not None and name in rebuilt.value_fields
                    }
                    fields |= present
                    if present or identity:
                        used.append(put)
            if used:
                value = slot.encode_values({**fields, **identity})
                ttl_ms = _find_longest_ttl(used, timestamp)
                yield Cell(slot.family, qualifier, timestamp, value, ttl_ms=ttl_ms)
            elif (_DELETE_COLUMN, timestamp) not in covered:
                yield Cell(slot.family, qualifier, timestamp, cell_type=_DELETE_COLUMN)
        deletes = {(_DELETE, at) for one in columns for at in one.deleted_at_ms}
        if self._is_stamped:
            deletes |= {(_DELETE, at) for one in columns for at in one.puts}
            deleted_up_to_ms = min(max(one.deleted_up_to_ms, default=-1) for one in columns)
            deletes |= {(_DELETE_COLUMN, deleted_up_to_ms)} if deleted_up_to_ms >= 0 else set()
        for cell_type, timestamp in deletes - covered:
            if timestamp not in change_times:
                yield Cell(slot.family, qualifier, timestamp, cell_type=cell_type)

    def read_fields(self, cells: Iterable[Cell], names: frozenset[str]) -> dict[str, Any]:
        """Return the values of some fields in the newest puts of an event, deleted ones too.

        Args:
            cells: as for `translate`.
            names: the fields; one that no put has is left out.

        Raises:
            InvalidArgument: a value cannot be decoded.
        """
        newest: dict[Column, Cell] = {}
        for cell in cells:
            column = cell[:2]
            known = self.mapping.source_slots.get(column)
            if cell.cell_type == _PUT and known and not names.isdisjoint(known.field_names):
                last = newest.get(column)
                if last is None or cell.timestamp > last.timestamp:
                    newest[column] = cell
        found: dict[str, Any] = {}
        for column, cell in newest.items():
            self._readers[column](cell.value, found)
        return {name: value for name, value in found.items() if name in names}


def _order_preceding(cell: Cell) -> Cell:
    """Return a cell that waits for the timestamp before its change with one that sorts so."""
    is_preceding = cell.timestamp == PRECEDING_TIMESTAMP
    return cell._replace(timestamp=LATEST - 1) if is_preceding else cell


def _restore_preceding(cell: Cell) -> Cell:
    """Undo `_order_preceding`."""
    is_preceding = cell.timestamp == LATEST - 1
    return cell._replace(timestamp=PRECEDING_TIMESTAMP) if is_preceding else cell


def _iterate_states(columns: Sequence[ColumnHistory]) -> Iterator[tuple[int, list[Cell | None]]]:
    """Yield the time of each change, ascending, and the put that each column then shows."""
    times = {
        at
        for one in columns
        for at in (*(one.puts.keys() - one.deleted_at_ms), *one.deleted_up_to_ms)
    }
    puts: list[Cell | None] = [None] * len(columns)
    for timestamp in sorted(times):
        for number, one in enumerate(columns):
            if timestamp in one.deleted_up_to_ms:
                puts[number] = None
            elif timestamp in one.puts and timestamp not in one.deleted_at_ms:
                puts[number] = one.puts[timestamp]
        yield timestamp, puts


def _iterate_visible_states(
    columns: Sequence[ColumnHistory],
) -> Iterator[tuple[int, list[Cell | None]]]:
    """Yield the time of each visible put, ascending, and the visible puts that are not newer."""
    visible = [one.visible_puts for one in columns]
    puts: list[Cell | None] = [None] * len(columns)
    for timestamp in sorted({at for one in visible for at in one}):
        for number, one in enumerate(visible):
            puts[number] = one.get(timestamp, puts[number])
        yield timestamp, puts


def _find_lifetimes(columns: Iterable[ColumnHistory]) -> dict[int, int | None]:
    """Return the time of each put, and the longest time to live among the puts of that time."""
    puts: dict[int, list[Cell]] = defaultdict(list)
    for one in columns:
        for timestamp, put in one.puts.items():
            puts[timestamp].append(put)
    return {timestamp: _find_longest_ttl(some, timestamp) for timestamp, some in puts.items()}


def _find_longest_ttl(puts: Iterable[Cell], timestamp: int) -> int | None:
    """Return the ms after a timestamp at which the last of some puts is gone; None for never."""
    ends = [None if put.ttl_ms is None else put.timestamp + put.ttl_ms for put in puts]
    if None in ends:
        return None
    return max(1, max(end for end in ends if end is not None) - timestamp)


def _find_event_deletes(columns: Sequence[ColumnHistory]) -> set[tuple[CellType, int]]:
    """Return the deletes of a column that any event has: those after which nothing is left.

    At a time before which nothing was put, all columns must be deleted: a put may come later.
    """
    deletes: set[tuple[CellType, int]] = set()
    put_times = sorted({at for one in columns for at in one.puts})
    first_put = put_times[0] if put_times else LATEST + 1
    for timestamp, puts in _iterate_states(columns):
        if timestamp >= first_put and not any(puts):
            deletes.add((_DELETE_COLUMN, timestamp))
        elif timestamp < first_put:
            lasts = [
                max((at for at in one.deleted_up_to_ms if at <= timestamp), default=None)
                for one in columns
            ]
            known = [last for last in lasts if last is not None]
            if len(known) == len(columns):
                deletes.add((_DELETE_COLUMN, min(known)))
    for timestamp in {at for one in columns for at in one.deleted_at_ms}:
        there = [one for one in columns if timestamp in one.puts] or columns
        if all(timestamp in one.deleted_at_ms for one in there):
            deletes.add((_DELETE, timestamp))
    return deletes
