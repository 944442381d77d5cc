"""Rows read one by one as the versions of their fields, apart from the design that stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell
from rowkey.engines import CellSelection
from rowkey.errors import InvalidArgument, RowError
from rowkey.rows import CellSlot, ColumnCodec, find_next_prefix

if TYPE_CHECKING:
    from rowkey.move.comparison_rules import ComparisonRules, FieldRule
    from rowkey.table import GenerationState

    Event = dict[str, Any]
    Column = tuple[str, bytes]
    """The family of an undeclared cell, and its qualifier without the prefix of its event."""


@dataclass(frozen=True, slots=True)
class RowImage:
    """One row as both tables of a comparison see it.

    Args:
        versions: by field, or by column of undeclared cells, the timestamp and the packed value of
            each compared version, the newest first; the timestamp is None where it is not compared.
        timestamps: by field the timestamp of its newest version, compared or not.
        last_timestamp: the highest timestamp of its declared cells; -1 if it has none.
    """

    versions: Mapping[str | Column, tuple[tuple[int | None, bytes], ...]]
    timestamps: Mapping[str, int]
    last_timestamp: int

    @property
    def is_declared(self) -> bool:
        """Whether it has declared cells."""
        return self.last_timestamp >= 0

    def __eq__(self, other: object) -> bool:
        """Return whether the compared versions are equal, and both or none are rows of a design."""
        return (
            isinstance(other, RowImage)
            and self.versions == other.versions
            and self.is_declared == other.is_declared
        )

    __hash__ = None  # type: ignore[assignment]


class RowImageReader:
    """Reads rows of one table by their identities as images.

    Args:
        state: the designs and the store of the table.
        rules: what is compared.
    """

    def __init__(self, state: GenerationState, rules: ComparisonRules) -> None:
        self.state, self.rules = state, rules
        self.layout = state.combined_design.layout
        self._slots = {(slot.family, slot.qualifier): slot for slot in self.layout.slots}
        self._readers = {column: slot.compile_reader() for column, slot in self._slots.items()}
        self._lossy_fields = {
            name: self.layout.fields[name] for name in self.layout.key_fields_in_columns
        }
        self._codecs = {name: ColumnCodec(one) for name, one in self.layout.fields.items()}

    def read_images(self, rows: Sequence[Mapping[str, Any]]) -> list[RowImage | None]:
        """Return the images of rows, None for a row that the table does not have.

        Args:
            rows: the fields of each row's identity.

        Cost: one get of all rows; of rows that several events share, one for each.
        """
        cells_of_rows = self.read_cells(rows)
        return [self._build_image(*one) for one in zip(rows, cells_of_rows, strict=True)]

    def read_cells(self, rows: Sequence[Mapping[str, Any]]) -> list[list[Cell]]:
        """Return the cells of rows, newest versions first, without the prefix of qualifiers."""
        state, versions = self.state, self.rules.versions
        if state.has_row_copies or versions == 1:
            return state.getter.get_cells(rows)
        key = self.layout.key
        known = [not key.has_coded_fields or key.has_known_ids(values) for values in rows]
        found = iter(self._read_versions(list(compress(rows, known)), versions))
        return [next(found) if is_known else [] for is_known in known]

    def _read_versions(self, rows: Sequence[Mapping[str, Any]], versions: int) -> list[list[Cell]]:
        """Return several versions of the cells of rows that have one row key each."""
        store, prefix = self.state.writer.store, self.layout.qualifier_prefix
        keys = [self.layout.key.encode(values) for values in rows]
        if prefix is None:
            return [list(row.cells) for row in store.get(keys, CellSelection(versions=versions))]
        found = []
        for values, key in zip(rows, keys, strict=True):
            front = prefix.encode(values)
            selection = CellSelection(
                versions=versions, qualifier_range=(front, find_next_prefix(front))
            )
            (row,) = store.get([key], selection)
            found.append(
                [
                    cell._replace(qualifier=cell.qualifier[len(front) :])
                    for cell in row.cells
                    if cell.qualifier.startswith(front)
                ]
            )
        return found

    def _build_image(self, values: Mapping[str, Any], cells: Iterable[Cell]) -> RowImage | None:
        columns: dict[Column, list[Cell]] = {}
        versions: dict[str | Column, list[tuple[int | None, bytes]]] = {}
        for cell in cells:
            if (column := (cell.family, cell.qualifier)) in self._slots:
                columns.setdefault(column, []).append(cell)
            elif len(versions.get(column, ())) < self.rules.count_versions(*column):
                versions.setdefault(column, []).append((cell.timestamp, cell.value))
        if columns and not self._has_identity(values, columns):
            return None
        if not columns and self.rules.carried.needs_declared_cell:
            return None
        timestamps = self._add_fields(versions, columns)
        if self.rules.skips_empty_rows and not timestamps:
            columns = {}
        if not versions and not columns:
            return None
        newest = max((cell.timestamp for found in columns.values() for cell in found), default=-1)
        if (rule := self.rules.timestamp_field) is not None and columns:
            versions[rule.field.name] = [(None, self._pack_timestamp(rule, newest))]
        return RowImage({name: tuple(some) for name, some in versions.items()}, timestamps, newest)

    def _add_fields(
        self,
        versions: dict[str | Column, list[tuple[int | None, bytes]]],
        columns: Mapping[Column, Sequence[Cell]],
    ) -> dict[str, int]:
        """Add the versions of fields in declared cells; return the newest timestamp of each."""
        timestamps: dict[str, int] = {}
        for column, found in columns.items():
            for rank, cell in enumerate(found):
                for name, value in self._read_fields(self._slots[column], cell):
                    rule = self.rules.fields.get(name)
                    if rule is not None and rank < rule.versions:
                        timestamp = cell.timestamp if rule.has_timestamp else None
                        versions.setdefault(name, []).append((timestamp, value))
                        timestamps.setdefault(name, cell.timestamp)
        return timestamps

    def _pack_timestamp(self, rule: FieldRule, timestamp: int) -> bytes:
        """Return the value of the field in the timestamps of cells, as `ColumnCodec` packs it."""
        assert self.layout.cell_timestamp is not None
        value = self.layout.cell_timestamp.decode_timestamp(timestamp)
        return self._codecs[rule.field.name].pack(value)

    def _has_identity(
        self, values: Mapping[str, Any], columns: Mapping[tuple[str, bytes], Sequence[Cell]]
    ) -> bool:
        """Return whether cells are those of the row asked for, and not of one with its row key."""
        if not self._lossy_fields:
            return True
        event: Event = {}
        for column, found in columns.items():
            if self._lossy_fields.keys() & {*self._slots[column].field_names}:
                try:
                    self._readers[column](found[0].value, event)
                except InvalidArgument:
                    return False
        return all(
            event.get(name) == (None if values[name] is None else field.normalize(values[name]))
            for name, field in self._lossy_fields.items()
        )

    def _read_fields(self, slot: CellSlot, cell: Cell) -> Iterable[tuple[str, bytes]]:
        """Yield the fields in a cell with their packed values; a bad cell's bytes as they are."""
        if slot.is_plain:
            yield slot.field_names[0], cell.value
            return
        event: Event = {}
        try:
            self._readers[slot.family, slot.qualifier](cell.value, event)
        except InvalidArgument:
            event.clear()
            for name in slot.field_names:
                yield name, cell.value
        for name, value in event.items():
            if value is not None:
                yield name, self._codecs[name].pack(value)

    def decode_value(self, name: str | Column, packed: bytes) -> Any:
        """Return a packed value of a field as it is shown; the bytes if they are none."""
        if not isinstance(name, str):
            return packed
        try:
            return self._codecs[name].decode(packed)
        except (InvalidArgument, RowError):
            return packed

    def read_raw_cells(self, values: Mapping[str, Any]) -> list[Cell]:
        """Return all stored cells of a row, deletes and hidden cells too."""
        return self.state.getter.get_cells([values], raw=True)[0]

    def is_compared(self, cell: Cell) -> bool:
        """Return whether the design stores fields in a cell, or marks rows; or it is carried."""
        column = (cell.family, cell.qualifier)
        return column in self._slots or self.rules.carried.has_column(*column)

    def find_column(self, name: str | Column) -> Column | None:
        """Return the column that stores a field, or a column itself; None if none does."""
        if not isinstance(name, str):
            return name
        return next((one for one, slot in self._slots.items() if name in slot.field_names), None)

    def is_bare(self, cell: Cell) -> bool:
        """Return whether a declared cell has no compared field: a marker, or fields of the key."""
        slot = self._slots.get((cell.family, cell.qualifier))
        return slot is not None and self.rules.fields.keys().isdisjoint(slot.field_names)

    def find_names(self, cell: Cell) -> tuple[str | Column, ...]:
        """Return the fields that a cell stores, or the column of an undeclared one."""
        column = (cell.family, cell.qualifier)
        return self._slots[column].field_names if column in self._slots else (column,)
