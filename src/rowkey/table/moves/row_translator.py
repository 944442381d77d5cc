"""Translation of stored rows from one design to another, with timestamps and delete markers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from zlib import crc32

from rowkey.array_libraries import np, pa
from rowkey.cells import COLUMN_DELETES, Cell, CellType, RowCells, build_sort_key
from rowkey.design import Design
from rowkey.engines import RAW_CELLS
from rowkey.errors import DesignRefused, InvalidArgument, RowError, RowkeyError
from rowkey.rows import Layout
from rowkey.table.moves.event_translator import EventTranslator

if TYPE_CHECKING:
    from rowkey.table.row_writer import RowWriter

MIN_ROWS_FOR_BATCH = 64
"""Rows from which keys are decoded and encoded together. Measured."""

_PUT = CellType.PUT
_new_tuple = tuple.__new__


class TranslatedTable(Protocol):
    """What a translator needs of the state of a table, which is a `GenerationState`."""

    active_design: Design
    combined_design: Design
    writer: RowWriter

    @property
    def place_count(self) -> int:
        """The number of row keys under which a row may be stored."""


class StoredEvent(NamedTuple):
    """The cells of one event of a row.

    Args:
        values: the fields that identify the event.
        cells: its cells; their qualifiers lack the event's prefix.
    """

    values: Mapping[str, Any]
    cells: Sequence[Cell]


class RowTranslator:
    """Translates rows of a source table to mutations of a target table with the same fields.

    Cells keep their timestamps and times to live. Deletes are translated as well, so that rows may
    be translated again, in any order, while clients write to both tables. Several threads may use
    one translator.

    Where fields are packed in one table only, the target gets a version for each time at which one
    of them changes; a packed cell lives as long as the longest-lived of its values.

    Args:
        source: the state of the table that is read.
        target: the state of the table that is written.

    Raises:
        DesignRefused: the two designs differ in their fields, in those that identify a row, or in
            the field that is the cell timestamp; no key of the source can be decoded; or the source
            has a random salt and a field that is the cell timestamp.
    """

    def __init__(self, source: TranslatedTable, target: TranslatedTable) -> None:
        self.source, self.target = source, target
        self._source_key = source.combined_design.key
        self._target_key = target.active_design.key
        self._source_key.check_decodable()
        source_layout = source.combined_design.layout
        self.check_row_copies(source_layout)
        self._source_prefix = source_layout.qualifier_prefix
        self._target_prefix = target.active_design.layout.qualifier_prefix
        self._events = EventTranslator(source.combined_design, target.active_design)
        self._lossy_fields = frozenset(source_layout.lossy_key_fields)
        self._identity_fields = source_layout.identity_fields
        self._identity = frozenset(self._identity_fields)
        mapping = self._events.mapping
        self._is_identity_map = all(old == new for old, new in mapping.mapped.items())
        self._is_simple = (
            self._events.is_direct
            and not mapping.derived
            and self._source_prefix is None
            and self._target_prefix is None
            and not self._lossy_fields
        )
        # Whether an event is deleted shows only in all copies of its row together.
        needs_all_cells = not self.is_direct or mapping.derived
        self._must_join_copies = bool(needs_all_cells) and source.place_count > 1
        self._has_one_key = len(target.writer.key_variants) == 1
        self._lock = Lock()
        self.untranslatable_count = 0
        """The number of rows that were left out: their keys or values cannot be decoded by the
        source's design, or cannot be stored by the target's. In a row of several events each
        event counts."""
        self.untranslatable_row: bytes | None = None
        """The key of the first of them."""
        self.untranslatable_reason = ""
        """Why it was left out."""

    @staticmethod
    def check_row_copies(source: Layout) -> None:
        """Raise if a delete of one copy of a row would hide the other copy in the target.

        A replace deletes the other copies at the time of the new one, which the target cannot tell.

        Raises:
            DesignRefused: the source has a random salt and a field that is the cell timestamp.
        """
        stamp = source.cell_timestamp
        if stamp is not None and source.key.is_salted:
            what = (
                f"the key has a random salt, and {stamp.field.name} is the cell timestamp, so a "
                "delete of one copy of a row cannot be told from a delete of the row"
            )
            remedy = "Read the rows and load them into the new table while nothing writes them."
            raise DesignRefused("key", what, remedy=remedy)

    @property
    def is_direct(self) -> bool:
        """Whether each cell of the target has exactly the fields and the bytes of one source cell.

        Then single cells can be translated, also with `LATEST` and `PRECEDING_TIMESTAMP`.
        """
        return self._events.is_direct

    @property
    def needs_whole_rows(self) -> bool:
        """Whether the cells of a row depend on each other, or on its stored fields."""
        return bool(not self.is_direct or self._events.mapping.derived or self._lossy_fields)

    def translate(self, rows: Sequence[RowCells]) -> list[RowCells]:
        """Return the mutations that give the target what is stored in rows of the source.

        Args:
            rows: whole rows of the source with all that is stored of each, in the order of cells.

        Returns:
            Puts under the active row key of each event, deletes under all its row keys: for each
            event the mutation of the active row key comes last. Rows that cannot be translated are
            left out and counted. Undeclared cells are carried along as `CarriedColumns` says.

        Raises:
            Unavailable: the copies of a row must be read in the source, which does not answer.

        Cost: 1 to 1.5 µs a row of one cell if the translation is direct and a row holds one event,
            in calls of thousands of rows; 10 to 30 µs otherwise, and a get of the row's copies
            where cells depend on each other and the source has several row keys for a row.
        """
        if not self._is_simple or len(rows) < MIN_ROWS_FOR_BATCH:
            mutations: list[RowCells] = []
            for row in rows:
                mutations += self._translate_row(row)
            return mutations
        try:
            keys = self._translate_keys([row for row, _ in rows])
        except (RowError, InvalidArgument):
            middle = len(rows) // 2
            return [*self.translate(rows[:middle]), *self.translate(rows[middle:])]
        return self._translate_simple_rows(rows, keys)

    def translate_event(self, values: Mapping[str, Any], cells: Iterable[Cell]) -> list[RowCells]:
        """Return the mutations of the target for cells of one event whose identity is known.

        Args:
            values: the fields that identify the event; others are ignored.
            cells: cells of the event in the source, or of a mutation of it.

        Raises:
            RowError: a field is missing or cannot be stored in the target.
            InvalidArgument: a value that must be repacked cannot be decoded.
        """
        if self._source_prefix is not None:
            start = len(self._source_prefix.encode(values))
            cells = [_cut_qualifier(cell, start) for cell in cells]
        return self._build_mutations(StoredEvent(values, list(cells)))

    def _translate_keys(self, row_keys: list[bytes]) -> list[bytes]:
        """Return the row keys in the target of many rows whose keys hold their whole identity."""
        batch = self._source_key.decode_batch(pa.array(row_keys, pa.binary()))
        key = self._target_key
        if not key.is_salted:
            return _to_list(key.encode_valid_batch(batch))
        unsalted = _to_list(key.encode_valid_batch(batch, salts=np.zeros(len(row_keys), np.int64)))
        salts = np.fromiter(map(crc32, unsalted), np.int64, len(unsalted)) % key.salt_count
        return _to_list(key.encode_valid_batch(batch, salts=salts))

    def _translate_simple_rows(
        self, rows: Sequence[RowCells], keys: Sequence[bytes]
    ) -> list[RowCells]:
        """Return the mutations of rows that hold one event each and whose new keys are known."""
        mapped, is_same = self._events.mapping.mapped, self._is_identity_map
        mutations: list[RowCells] = []
        for row, key in zip(rows, keys, strict=True):
            cells, has_others = row[1], not is_same
            for family, qualifier, _, _, cell_type, _ in cells:
                if cell_type is not _PUT:
                    mutations += self._translate_row(row)
                    break
                has_others |= (family, qualifier) not in mapped
            else:
                if has_others:
                    cells = [
                        _new_tuple(Cell, (*column, timestamp, value, cell_type, ttl_ms))
                        for family, qualifier, timestamp, value, cell_type, ttl_ms in cells
                        if (column := self._events.find_column(family, qualifier)) is not None
                    ]
                if cells:
                    mutations.append(_new_tuple(RowCells, (key, cells)))
        return mutations

    def _translate_row(self, row: RowCells) -> list[RowCells]:
        """Return the mutations of one row, without events that cannot be translated."""
        mutations: list[RowCells] = []
        try:
            events = [*self._split_events(row)]
            found = next((one for one in events if isinstance(one, StoredEvent)), None)
            if self._must_join_copies and found is not None:
                keys = self.source.writer.encode_row_keys(found.values)
                others = self.source.writer.store.get(
                    [key for key in keys if key != row.row], RAW_CELLS
                )
                events = [*self._split_events(_join_copies(row, others))]
        except (RowError, InvalidArgument) as error:
            self._leave_out(row.row, error)
            return []
        for event in events:
            try:
                if not isinstance(event, StoredEvent):
                    raise event
                mutations += self._build_mutations(event)
            except (RowError, InvalidArgument) as error:
                self._leave_out(row.row, error)
        return mutations

    def _leave_out(self, row_key: bytes, error: RowkeyError) -> None:
        """Count a row or an event that cannot be translated."""
        with self._lock:
            if self.untranslatable_row is None:
                self.untranslatable_row, self.untranslatable_reason = row_key, str(error)
            self.untranslatable_count += 1

    def _split_events(self, row: RowCells) -> Iterator[StoredEvent | RowError]:
        """Yield the events of a row, or the error of an event that cannot be identified.

        Raises:
            RowError: the row key cannot be decoded.
            InvalidArgument: the same, for a time slice in it.
        """
        key_values = self._source_key.decode(row.row)
        prefix = self._source_prefix
        if prefix is None:
            yield self._identify_event(row.row, key_values, row.cells)
            return
        starts = prefix.find_slice_starts(self._source_key, row.row)
        family_deletes = [cell for cell in row.cells if cell.cell_type in COLUMN_DELETES]
        cells_by_prefix: dict[bytes, list[Cell]] = defaultdict(list)
        for cell in row.cells:
            if cell.cell_type not in COLUMN_DELETES:
                with suppress(InvalidArgument):
                    end = prefix.find_end(cell.qualifier)
                    cells_by_prefix[cell.qualifier[:end]].append(_cut_qualifier(cell, end))
        if family_deletes and not cells_by_prefix:
            yield _build_unknown_event_error(row.row)
        for start, cells in cells_by_prefix.items():
            if any(self._is_of_event(*cell[:2]) for cell in cells):
                try:
                    values = key_values | prefix.decode(start, starts)
                except (RowError, InvalidArgument):
                    continue
                yield self._identify_event(row.row, values, [*cells, *family_deletes])

    def _is_of_event(self, family: str, name: bytes) -> bool:
        """Return whether an event may have cells of a column, declared or carried."""
        events = self._events
        return (family, name) in events.mapping.source_slots or events.carried.has_column(
            family, name
        )

    def _identify_event(
        self, row_key: bytes, values: Mapping[str, Any], cells: Sequence[Cell]
    ) -> StoredEvent | RowError:
        """Return an event with its identity, of which the key may have only a part."""
        if self._lossy_fields:
            values = {**dict.fromkeys(self._identity_fields), **values}
            try:
                values = {**values, **self._events.read_fields(cells, self._lossy_fields)}
                known_keys = self.source.writer.encode_row_keys(values)
            except (RowError, InvalidArgument):
                known_keys = []
            if row_key not in known_keys:
                return _build_unknown_event_error(row_key)
        return StoredEvent(values, cells)

    def _build_mutations(self, event: StoredEvent) -> list[RowCells]:
        """Return the mutations of an event: its deletes under all row keys, its puts under one."""
        values = {
            name: event.values[name] for name in self._identity_fields if name in event.values
        }
        prefix = b"" if self._target_prefix is None else self._target_prefix.encode(values)
        cells = self._events.translate(values, event.cells, prefix)
        if not cells:
            return []
        salt, key = None, self._target_key
        if key.is_salted:
            salt = crc32(key.encode(values, salt=0)) % key.salt_count
        active_key = key.encode(values, salt=salt)
        deletes = [cell for cell in cells if cell.cell_type != _PUT]
        mutations = []
        if deletes and not (self._has_one_key and salt is None):
            row_keys = self.target.writer.encode_row_keys(values)
            mutations = [RowCells(one, deletes) for one in row_keys if one != active_key]
        return [*mutations, RowCells(active_key, cells)]


def _cut_qualifier(cell: Cell, start: int) -> Cell:
    """Return a cell without the prefix of its qualifier; one of a whole family has none."""
    if cell.cell_type in COLUMN_DELETES:
        return cell
    return cell._replace(qualifier=cell.qualifier[start:])


def _join_copies(row: RowCells, others: Iterable[RowCells]) -> RowCells:
    """Return all cells that are stored of a row under several row keys, each once."""
    cells = dict.fromkeys([*row.cells, *(cell for other in others for cell in other.cells)])
    return RowCells(row.row, sorted(cells, key=build_sort_key))


def _to_list(keys: pa.Array) -> list[bytes]:
    row_keys: list[bytes] = keys.to_pylist()
    return row_keys


def _build_unknown_event_error(row_key: bytes) -> RowError:
    """Return the error of a row whose identity cannot be read."""
    what = "neither the row key nor a stored column tells which row this is"
    return RowError(f"row key {row_key.hex()}", what)
