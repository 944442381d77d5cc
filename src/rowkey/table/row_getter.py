"""Read rows by the fields of their keys, from every row key under which each may be stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress, islice
from typing import Any

from rowkey.cells import MAX_JAVA_INT, Cell, RowCells
from rowkey.design import Design
from rowkey.engines import NEWEST_CELLS, CellSelection, Store
from rowkey.errors import Conflict
from rowkey.rows import RowWithUndeclared, UndeclaredCells, check_undeclared_name, find_next_prefix
from rowkey.table.row_writer import RowWriter
from rowkey.table.scans.merge import select_newest_cells

MAX_READ_ATTEMPTS = 1_000
"""Times that a row is read again because its other row keys change meanwhile. Only deletes write
them, and clients that have not yet read of a new number of buckets."""


class RowGetter:
    """Reads rows of a design by the fields of their keys.

    Args:
        design: the table's design for reads.
        store: the engine's table.
        writer: encodes the row keys under which a row may be stored.
    """

    def __init__(self, design: Design, store: Store, writer: RowWriter) -> None:
        self.layout = design.layout
        self.key = design.key
        self.store = store
        self.writer = writer
        self.lossy_key_fields = [
            (name, design.fields[name]) for name in design.layout.lossy_key_fields
        ]

    def get_rows(
        self, rows: Sequence[Mapping[str, Any]], *, undeclared: bool = False
    ) -> list[dict[str, Any] | None]:
        """Return the rows with these keys, None for a missing one.

        Args:
            rows: the fields of the key of each.
            undeclared: whether rows have their undeclared cells; see `Table.get`.
        """
        key = self.key
        get_rows = self._get_with_undeclared if undeclared else self._get_all_rows
        if not key.has_coded_fields:
            return get_rows(rows)
        for values in rows:
            self.writer.require_known_fields(values)
        known = [key.has_known_ids(values) for values in rows]
        found = iter(get_rows(list(compress(rows, known))))
        return [next(found) if is_known else None for is_known in known]

    def _get_all_rows(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Return the rows with these keys, whose values of `code` all have ids."""
        if self.layout.has_shared_rows:
            return [self._get_event(values) for values in rows]
        for values in rows:
            self.writer.require_known_fields(values)
        if len(self.writer.key_variants) == 1 and not self.key.is_salted:
            encode = self.key.encode
            row_cells = self.store.get([encode(values) for values in rows], NEWEST_CELLS)
            return list(map(self._decode_event, rows, row_cells))
        places = [self.writer.encode_row_keys(values) for values in rows]
        row_cells = [_merge_copies(copies) for copies in self._read_places(places, NEWEST_CELLS)]
        return list(map(self._decode_event, rows, row_cells))

    def _get_with_undeclared(
        self, rows: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any] | None]:
        """Return the rows with these keys and their undeclared cells, None for a missing one."""
        check_undeclared_name(self.layout.fields)
        found: list[dict[str, Any] | None] = []
        for values in rows:
            self.writer.require_known_fields(values)
            row = self.find_row_with_undeclared(values)
            found.append(None if row is None else row.build_row())
        return found

    def find_row_with_undeclared(self, values: Mapping[str, Any]) -> RowWithUndeclared | None:
        """Return the row with a key and its undeclared cells, None if it has no cell."""
        prefix, selection, start = self.layout.qualifier_prefix, NEWEST_CELLS, b""
        if prefix is not None:
            start = prefix.encode(values)
            selection = CellSelection(qualifier_range=(start, find_next_prefix(start)))
        (copies,) = self._read_places([self.writer.encode_row_keys(values)], selection)
        row = _merge_copies(copies)
        stored = (
            self.layout.event_reader.decode_with_undeclared(*row, known=values) if row.cells else []
        )
        found = next((one for one in stored if one.event_prefix == start), None)
        if found is not None and found.is_declared and not self._is_same_row(found.values, values):
            return None
        return found

    def count_undeclared_cells(self, values: Mapping[str, Any]) -> UndeclaredCells:
        """Return a summary of the undeclared cells of one row."""
        summary = UndeclaredCells()
        if self.key.has_coded_fields and not self.key.has_known_ids(values):
            return summary
        found = self.find_row_with_undeclared(values)
        if found is not None and found.cells:
            row_key, *_ = self.writer.encode_row_keys(values)
            prefixes = {found.event_prefix or b""} if found.is_declared else ()
            summary.add_row(row_key, found.cells, prefixes)
        return summary

    def get_cells(
        self, rows: Sequence[Mapping[str, Any]], *, raw: bool = False
    ) -> list[list[Cell]]:
        """Return the newest cells of each row, without the prefix of their qualifiers.

        Args:
            rows: the fields of the key of each.
            raw: whether to return deletes, and all versions that are stored, of all its row keys.

        Raises:
            Conflict: other clients change a row during every attempt to read it.

        Cost: one read; if several events share a row, one for each, a raw one of all its cells.
        """
        if self.key.has_coded_fields:
            known = [self.key.has_known_ids(values) for values in rows]
            found = iter(self._get_known_cells(list(compress(rows, known)), raw=raw))
            return [next(found) if is_known else [] for is_known in known]
        return self._get_known_cells(rows, raw=raw)

    def _get_known_cells(self, rows: Sequence[Mapping[str, Any]], *, raw: bool) -> list[list[Cell]]:
        """Return the cells of rows whose values of `code` all have ids; see `get_cells`."""
        prefix = self.layout.qualifier_prefix
        if prefix is not None and len(rows) > 1:
            return [self._get_known_cells([one], raw=raw)[0] for one in rows]
        deletes = [self.writer.encode_deletes(values) for values in rows]
        places = [[one.row for one in some] for some in deletes]
        selection = CellSelection(raw=raw, versions=MAX_JAVA_INT if raw else 1)
        if prefix is not None and rows and not raw:  # a raw read cannot select columns
            # Undeclared cells of the event are read as well.
            front = prefix.encode(rows[0])
            selection = CellSelection(qualifier_range=(front, find_next_prefix(front)))
        found = []
        for values, copies in zip(rows, self._read_places(places, selection), strict=True):
            cells = chain.from_iterable(copy.cells for copy in copies)
            front = b"" if prefix is None else prefix.encode(values)
            found.append(
                [
                    cell._replace(qualifier=cell.qualifier[len(front) :])
                    for cell in (cells if raw else _merge_copies(copies).cells)
                    if cell.qualifier.startswith(front)
                ]
            )
        return found

    def _read_places(
        self, places: Sequence[Sequence[bytes]], selection: CellSelection
    ) -> Sequence[Sequence[RowCells]]:
        """Return the cells under all row keys of each row, those of the active row key first.

        All cells are of one moment, except under a random salt on a cluster: there any copy may
        change at any time.
        """
        if max(map(len, places), default=0) < 2:
            return self._read_in_one_get(places, selection)
        if not self.store.is_shared:
            return [self._read_exclusively(keys, selection) for keys in places]
        if self.key.is_salted:
            return self._read_in_one_get(places, selection)
        return self._read_consistently(places, selection)

    def _read_exclusively(
        self, keys: Sequence[bytes], selection: CellSelection
    ) -> Sequence[RowCells]:
        """Return the cells under the row keys of a row, read while no client can change a row."""
        with self.writer.clock.lock_rows([]):
            return self.store.get(keys, selection)

    def _read_consistently(
        self, places: Sequence[Sequence[bytes]], selection: CellSelection
    ) -> Sequence[Sequence[RowCells]]:
        """Return the cells under all row keys of each row as of one moment, on a cluster.

        The other row keys are read before and after the active one, until both reads are equal.

        Raises:
            Conflict: other clients change them during every attempt.

        Cost: three gets, each of all rows.
        """
        results: list[Sequence[RowCells]] = [()] * len(places)
        pending = list(range(len(places)))
        other_cells = self._read_in_one_get([keys[1:] for keys in places], selection)
        for _ in range(MAX_READ_ATTEMPTS):
            active = self.store.get([places[row][0] for row in pending], selection)
            new_cells = self._read_in_one_get([places[row][1:] for row in pending], selection)
            changed_numbers = []
            for number, row in enumerate(pending):
                results[row] = [active[number], *other_cells[number]]
                if new_cells[number] != other_cells[number]:
                    changed_numbers.append(number)
            if not changed_numbers:
                return results
            pending = [pending[number] for number in changed_numbers]
            other_cells = [new_cells[number] for number in changed_numbers]
        what = f"other clients changed the row in each of {MAX_READ_ATTEMPTS:,} attempts to read it"
        remedy = "Try again when fewer clients write this row."
        raise Conflict(f"row key {places[pending[0]][0].hex()}", what, remedy=remedy)

    def _read_in_one_get(
        self, places: Sequence[Sequence[bytes]], selection: CellSelection
    ) -> list[list[RowCells]]:
        """Return the cells under some row keys of each row, all read by one get."""
        cells = iter(self.store.get(list(chain.from_iterable(places)), selection))
        return [list(islice(cells, len(keys))) for keys in places]

    def _decode_event(
        self, values: Mapping[str, Any], row_cells: RowCells
    ) -> dict[str, Any] | None:
        """Return the event in the cells of a row; None if they are of a row with other values."""
        row, cells = row_cells
        event = self.layout.event_reader.decode_event(values, row, cells) if cells else None
        if event is None or (self.lossy_key_fields and not self._is_same_row(event, values)):
            return None
        return event

    def _is_same_row(self, event: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Return whether an event has the requested values of fields that the key has in part."""
        return all(
            event[name] == (None if values.get(name) is None else field.normalize(values[name]))
            for name, field in self.lossy_key_fields
        )

    def _get_event(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the event with some key values from a row that several events share."""
        deletes = self.writer.encode_deletes(values)
        (copies,) = self._read_places(
            [[one.row for one in deletes]], self._build_selection(deletes[0])
        )
        row = _merge_copies(copies)
        if not row.cells:
            return None
        events = self.layout.decode_events(*row)
        return events[0] if events and self._is_same_row(events[0], values) else None

    def _build_selection(self, deletes: RowCells) -> CellSelection:
        """Return the selection of all columns of one event, from the deletes of the event."""
        columns: dict[str, list[bytes]] = {}
        for cell in deletes.cells:
            columns.setdefault(cell.family, []).append(cell.qualifier)
        return CellSelection(columns={family: tuple(listed) for family, listed in columns.items()})


def _merge_copies(copies: Iterable[RowCells]) -> RowCells:
    """Return the newest cells of the copies of one row, with the key of the first that has any."""
    present = [copy for copy in copies if copy.cells]
    first = present[0].row if present else b""
    return RowCells(first, select_newest_cells([copy.cells for copy in present]))
