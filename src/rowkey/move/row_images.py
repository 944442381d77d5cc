"""Rows read one by one as the versions of their fields, apart from the design that stores them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

from rowkey.engines import CellSelection
from rowkey.errors import InvalidArgument, RowError
from rowkey.rows import ColumnCodec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.move.comparison_rules import ComparisonRules, FieldRule
    from rowkey.rows import CellSlot
    from rowkey.table import GenerationState

    Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowImage:
    """One row as both tables of a comparison see it.

    Args:
        versions: by field the timestamp and the packed value of each compared version, the newest
            first; the timestamp is None where it is not compared.
        timestamps: by field the timestamp of its newest version, compared or not.
        last_timestamp: the highest timestamp of its cells.
    """

    versions: Mapping[str, tuple[tuple[int | None, bytes], ...]]
    timestamps: Mapping[str, int]
    last_timestamp: int

    def __eq__(self, other: object) -> bool:
        """Return whether the compared versions are equal."""
        return isinstance(other, RowImage) and self.versions == other.versions

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
            selection = CellSelection(versions=versions, qualifier_range=(front, b""))
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
        """Return the image of a row from its cells."""
        columns: dict[tuple[str, bytes], list[Cell]] = {}
        for cell in cells:
            if (column := (cell.family, cell.qualifier)) in self._slots:
                columns.setdefault(column, []).append(cell)
        if not columns or not self._has_identity(values, columns):
            return None
        versions: dict[str, list[tuple[int | None, bytes]]] = {}
        timestamps: dict[str, int] = {}
        for column, found in columns.items():
            for rank, cell in enumerate(found):
                for name, value in self._read_fields(self._slots[column], cell):
                    rule = self.rules.fields.get(name)
                    if rule is not None and rank < rule.versions:
                        timestamp = cell.timestamp if rule.has_timestamp else None
                        versions.setdefault(name, []).append((timestamp, value))
                        timestamps.setdefault(name, cell.timestamp)
        if not versions and self.rules.skips_empty_rows:
            return None
        newest = max(cell.timestamp for found in columns.values() for cell in found)
        if (rule := self.rules.timestamp_field) is not None:
            versions[rule.field.name] = [(None, self._pack_timestamp(rule, newest))]
        return RowImage({name: tuple(some) for name, some in versions.items()}, timestamps, newest)

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

    def decode_value(self, name: str, packed: bytes) -> Any:
        """Return a packed value of a field as it is shown; the bytes if they are none."""
        try:
            return self._codecs[name].decode(packed)
        except (InvalidArgument, RowError):
            return packed

    def read_raw_cells(self, values: Mapping[str, Any]) -> list[Cell]:
        """Return all stored cells of a row, deletes and hidden cells too."""
        return self.state.getter.get_cells([values], raw=True)[0]

    def is_of_design(self, cell: Cell) -> bool:
        """Return whether a cell is one that the design stores fields in, or a marker."""
        return (cell.family, cell.qualifier) in self._slots

    def find_field_names(self, cell: Cell) -> tuple[str, ...]:
        """Return the fields that a cell of the design stores."""
        return self._slots[cell.family, cell.qualifier].field_names
