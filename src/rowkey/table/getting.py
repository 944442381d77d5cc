"""Rows by their keys, from every place where each may stand."""

from __future__ import annotations

from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any

from rowkey.cells import RowCells
from rowkey.engines import ALL, Ask
from rowkey.errors import Conflict
from rowkey.table.scans.merge import newest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.table.writing import Writing

MAX_READS = 1_000
"""Times that a row is read again because its other places change meanwhile. Only clients that have
not yet heard of a new number of buckets write there, and all deletes."""


class Getting:
    """Finds rows of a design by the fields of their keys.

    Args:
        design: the table's design, as it reads.
        store: the engine's table.
        writing: knows where a row may stand.
    """

    def __init__(self, design: Design, store: Store, writing: Writing) -> None:
        self.layout = design.layout
        self.key = design.key
        self.store = store
        self.writing = writing
        self.kept = [(name, design.fields[name]) for name in design.layout.kept]

    def found(self, asked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The rows with these keys; one whose value behind `code` has no id is not there."""
        key = self.key
        if not key.is_coded:
            return self._all_found(asked)
        for values in asked:
            self.writing.require_known(values)
        known = [key.is_known(values) for values in asked]
        found = iter(self._all_found(list(compress(asked, known))))
        return [next(found) if is_known else None for is_known in known]

    def _all_found(self, asked: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The rows with these keys, from all places where each may stand."""
        if self.layout.shares_rows:
            return [self._found_event(values) for values in asked]
        for values in asked:
            self.writing.require_known(values)
        if len(self.writing.homes) == 1:
            encode = self.key.encode
            found = self.store.get([encode(values) for values in asked], ALL)
            return list(map(self._event, asked, found))
        places = [self.writing.keys_of(values) for values in asked]
        found = [_one_of(copies) for copies in self._read(places, ALL)]
        return list(map(self._event, asked, found))

    def _read(self, places: Sequence[Sequence[bytes]], ask: Ask) -> Sequence[Sequence[RowCells]]:
        """Return what stands in all places of each row, the ruling one first.

        It is what stood there at one time. Only behind a random salt on a cluster it may not be:
        there any place may change at any time.
        """
        if max(map(len, places), default=0) < 2:
            return self._read_together(places, ask)
        if not self.store.is_shared:
            return [self._read_alone(keys, ask) for keys in places]
        if self.key.is_salted:
            return self._read_together(places, ask)
        return self._read_at_one_time(places, ask)

    def _read_alone(self, keys: Sequence[bytes], ask: Ask) -> Sequence[RowCells]:
        """Return what stands in the places of a row while nobody may change a row."""
        with self.writing.clock.ordered(()):
            return self.store.get(keys, ask)

    def _read_at_one_time(
        self, places: Sequence[Sequence[bytes]], ask: Ask
    ) -> Sequence[Sequence[RowCells]]:
        """Return what stood in all places of each row when the ruling one was read.

        The other places are read before it and after it, until both times they hold the same.

        Raises:
            Conflict: they change faster than they can be read.

        Cost: three gets, each of all rows.
        """
        found: list[Sequence[RowCells]] = [()] * len(places)
        pending = list(range(len(places)))
        others = self._read_together([keys[1:] for keys in places], ask)
        for _ in range(MAX_READS):
            ruling = self.store.get([places[row][0] for row in pending], ask)
            again = self._read_together([places[row][1:] for row in pending], ask)
            changed = []
            for number, row in enumerate(pending):
                found[row] = [ruling[number], *others[number]]
                if again[number] != others[number]:
                    changed.append(number)
            if not changed:
                return found
            pending = [pending[number] for number in changed]
            others = [again[number] for number in changed]
        what = f"it was changed {MAX_READS:,} times meanwhile"
        raise Conflict(f"row {places[pending[0]][0].hex()}", what)

    def _read_together(self, places: Sequence[Sequence[bytes]], ask: Ask) -> list[list[RowCells]]:
        """Return what stands in some places of each row, all read by one get."""
        cells = iter(self.store.get(list(chain.from_iterable(places)), ask))
        return [list(islice(cells, len(keys))) for keys in places]

    def _event(self, values: Mapping[str, Any], found: RowCells) -> dict[str, Any] | None:
        """The event of these values, if what was found under its key is one."""
        row, cells = found
        event = self.layout.event(values, row, cells) if cells else None
        if event is None or (self.kept and not self._is_of(event, values)):
            return None
        return event

    def _is_of(self, event: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Whether a row is the one asked for, where keys hold a field only in part."""
        return all(
            event[name] == (None if values.get(name) is None else field.normal(values[name]))
            for name, field in self.kept
        )

    def _found_event(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """The event with this key and qualifier, among those that share its row."""
        erased = self.writing.erased(values)
        (copies,) = self._read([[one.row for one in erased]], self._ask_of(erased[0]))
        held = [one for one in copies if one.cells]
        if not held:
            return None
        events = self.layout.events(held[0].row, newest([one.cells for one in held]))
        return events[0] if events and self._is_of(events[0], values) else None

    def _ask_of(self, erased: RowCells) -> Ask:
        """What is asked of a row so that one event's cells come."""
        columns: dict[str, list[bytes]] = {}
        for cell in erased.cells:
            columns.setdefault(cell.family, []).append(cell.qualifier)
        return Ask(columns={family: tuple(listed) for family, listed in columns.items()})


def _one_of(copies: Iterable[RowCells]) -> RowCells:
    """The copies of one row as one: under the key of the first that holds anything."""
    held = [copy for copy in copies if copy.cells]
    first = held[0].row if held else b""
    return RowCells(first, newest([copy.cells for copy in held]))
