"""How rows are changed: put, replaced, moved, deleted, counted up, and changed on a condition.

A change is made in two steps. First the row is encoded, which needs nobody's turn. Then, with no
other change of the row in between, it is given its timestamp and written: `RowClock` says why.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, RowCells
from rowkey.engines import Ask, Check
from rowkey.errors import (
    DesignRefused,
    Refused,
    RowError,
    Unsupported,
    did_you_mean,
    shown,
)
from rowkey.table.changes import RowChange, as_row_error, deletes_of, put_before, stamped
from rowkey.table.generations.bringing import bring, bring_deleted
from rowkey.table.models import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.keys import Key
    from rowkey.rows import Layout

COUNTERS = frozenset({"i64"})
"""Types whose column is what HBase's increment counts: 8 bytes, big-endian, signed."""
GROWING = frozenset({"text", "bytes"})
"""Types whose column may be appended to."""


class Writing:
    """Turns rows into changes, and hands them to the engine in their order.

    A row may stand in several places: behind each number of a random salt, and where each live
    generation of the table's counts puts it. It is written in one of them, the ruling generation's;
    what is taken away is taken from all.

    Args:
        designs: the table's design under each count that rows may stand under; the first one is
            written.
        store: the engine's table.
        naming: the key that names a row for the row clock, whatever the counts are now; the first
            design's if None.
    """

    def __init__(self, designs: Sequence[Design], store: Store, naming: Key | None = None) -> None:
        design = designs[0]
        self.layout = design.layout
        self.key = design.key
        self.fields = design.fields
        self.identity = design.layout.identity
        self.kept = _kept(design.layout)
        self.store = store
        self.clock = store.row_clock
        self.naming = naming
        self.homes = tuple((one.layout, salt) for one in designs for salt in _salts(one.key))
        """The layouts and salts that give every place of a row, the one that is written first."""

    def keys_of(self, values: Mapping[str, Any]) -> list[bytes]:
        """The row keys under which a row may stand, each once; the ruling one first.

        With a random salt the first is that of number 0.
        """
        if len(self.homes) == 1:
            return [self.key.encode(values)]
        found = (layout.key.encode(values, salt=salt) for layout, salt in self.homes)
        return list(dict.fromkeys(found))

    def erased(self, values: Mapping[str, Any]) -> list[RowCells]:
        """The deletes of a row in every place where it may stand, the ruling one first."""
        found = [layout.erase(values, salt=salt) for layout, salt in self.homes]
        return found if len(found) == 1 else list({one.row: one for one in found}.values())

    def put(self, row: Any) -> RowChange:
        """Return the change that writes the fields given; None takes a field away."""
        values = as_mapping(row)
        if self.key.is_salted:
            return self._put_salted(values)
        written = self.layout.write(values)
        name = self._name(values, written.row)
        deletes = deletes_of(written.cells)
        if not deletes:
            return RowChange(name, [written])
        return RowChange(name, [*self._elsewhere(values, written.row, deletes), written], stamps=1)

    def _put_salted(self, values: Mapping[str, Any]) -> RowChange:
        """Return a put into one copy; what is taken away may stand in any of them."""
        salt = secrets.randbelow(self.key.salt_count)
        written = self.layout.write(values, salt=salt)
        name = self._name(values, written.row)
        deletes = deletes_of(written.cells)
        if deletes:
            return RowChange(
                name, [*self._elsewhere(values, written.row, deletes), written], stamps=1
            )
        last = self.clock.salt_of_last_put(name)
        if last is not None and last != salt:  # in one copy, puts of one moment need no other
            salt, written = last, self.layout.write(values, salt=last)
        return RowChange(name, [written], salt=salt)

    def _elsewhere(
        self, values: Mapping[str, Any], row: bytes, deletes: Sequence[Cell]
    ) -> list[RowCells]:
        """Return the same deletes in every other place where a row may stand."""
        if len(self.homes) == 1:
            return []
        return [RowCells(key, list(deletes)) for key in self.keys_of(values) if key != row]

    def replace(self, row: Any) -> RowChange:
        """Return the change that writes the fields given and takes all others away.

        Elsewhere what is given need not be taken away: it is older, and hidden. Copies behind a
        random salt may be of the same time, so that all of them go.
        """
        values = as_mapping(row)
        written = self.layout.write(values)
        clears = self.layout.clears(values)
        whole = RowCells(written.row, [*put_before(clears), *written.cells])
        gone = [*clears, *deletes_of(written.cells)]
        if self.key.is_salted:
            gone += self.layout.erase(values, salt=0).cells
        elsewhere = self._elsewhere(values, written.row, gone) if gone else []
        before = [RowCells(one.row, put_before(one.cells)) for one in elsewhere]
        return RowChange(self._name(values, written.row), [*before, whole], stamps=2)

    def delete(self, row: Any) -> RowChange:
        """Return the change that takes a row away, in every place where it may stand."""
        values = as_mapping(row)
        if self.key.is_coded and not self.key.is_known(values):
            self.require_known(values)
            return RowChange(b"", [])
        written, *elsewhere = self.erased(values)
        return RowChange(self._name(values, written.row), [*elsewhere, written], stamps=1)

    def apply(
        self, changes: Sequence[RowChange], *, sync: bool | None = None
    ) -> list[list[RowCells]]:
        """Stamp changes and hand them to the engine, with no other change of their rows between.

        Returns:
            The mutations of each change, as they were written.

        Raises:
            RowError: the engine refuses one; nothing is written.
        """
        clock, last = self.clock, 0
        with clock.ordered([change.name for change in changes]):
            written = []
            for change in changes:
                at = self._take_stamp(change)
                last = max(last, at)
                written.append([stamped(mutation, at) for mutation in change.mutations])
            self._send_changes(written, sync=sync)
        clock.hold_back(last)
        return written

    def _take_stamp(self, change: RowChange) -> int:
        """Return the timestamp of a change, the last one if it takes several."""
        if change.salt is not None:
            return self.clock.stamp_copy(change.name, change.salt)
        return self.clock.stamp(change.name, change.stamps) + max(change.stamps - 1, 0)

    def _send_changes(
        self, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        """Hand stamped changes to the engine: on a cluster the other places of a row first."""
        if self.store.is_shared and any(len(change) > 1 for change in changes):
            self._take_from_others(changes, sync=sync)
            self.send([change[-1] for change in changes if change], sync=sync)
        else:
            self.send([one for change in changes for one in change], sync=sync)

    def _take_from_others(
        self, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        """Make stamped changes in all places but the one that is written, which keeps the values.

        So nothing older is seen once it is taken away there, and a row changes for readers when
        that place does. Behind a random salt readers know of no such place: values stay.
        """
        if not self.key.is_salted:
            bring_deleted(self.store, changes)
        self.send([one for change in changes for one in change[:-1]], sync=sync)

    def send(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Hand stamped mutations to the engine.

        Raises:
            RowError: the engine refuses one; nothing is written.
        """
        try:
            self.store.mutate(mutations, sync=sync)
        except Refused as refusal:
            raise as_row_error(refusal) from None

    def increment(self, row: Any, amounts: Mapping[str, int]) -> dict[str, int]:
        """Add to counters of a row; gives their new values."""
        self._refuse_salt("an increment")
        self._refuse_stamp("an increment")
        row_key, columns = self._columns(row, amounts, COUNTERS, "no counter")
        for name, amount in amounts.items():
            if type(amount) is not int:
                raise RowError(name, f"{shown(amount)} cannot be added", "a whole number")
            if not -(2**63) <= amount < 2**63:
                raise RowError(name, f"{shown(amount)} does not fit in 8 bytes", "-2^63..2^63-1")
        given = [(f, q, amounts[name]) for name, (f, q) in columns.items()]
        values = as_mapping(row)
        self._keep(values)
        with self._alone(values, row_key) as last:
            self._bring(values, row_key, columns.values())
            cells = self.store.increment(row_key, given, after_ms=last)
            self._require_visible(values, row_key, cells, last)
        counts = [int.from_bytes(cell.value, "big", signed=True) for cell in cells]
        return dict(zip(columns, counts, strict=True))

    def append(self, row: Any, pieces: Mapping[str, Any]) -> None:
        """Append to texts or bytes of a row."""
        self._refuse_salt("an append")
        self._refuse_stamp("an append")
        row_key, columns = self._columns(row, pieces, GROWING, "nothing that can be appended to")
        values = as_mapping(row)
        given = [
            (*column, self._value(values, name, pieces[name], column))
            for name, column in columns.items()
        ]
        self._keep(values)
        with self._alone(values, row_key) as last:
            self._bring(values, row_key, columns.values())
            cells = self.store.append(row_key, given, after_ms=last)
            self._require_visible(values, row_key, cells, last)

    @contextmanager
    def _alone(self, values: Mapping[str, Any], row_key: bytes) -> Iterator[int]:
        """Let nobody else change a row for the time of a change that the engine stamps.

        Returns:
            The last timestamp that may hide a change of the row.

        Raises:
            Unsupported: the clock of a cluster's client stands behind that.
        """
        name = self._name(values, row_key)
        with self.clock.ordered([name]):
            last = self.clock.last_of(name)
            if self.store.is_shared and not self.clock.wait_for(last + 1):
                what = f"it is behind the last change of the row, {last}: a count would be hidden"
                raise Unsupported("clock", what, remedy="Try again when it is right.")
            try:
                yield last
            except Refused as refusal:
                raise as_row_error(refusal) from None

    def _require_visible(
        self, values: Mapping[str, Any], row_key: bytes, cells: Sequence[Cell], last: int
    ) -> None:
        """Note what the engine has stamped; raise if an earlier change of this process hides it.

        Raises:
            Unsupported: the clock of a server is behind this client's.
        """
        least = min(cell.timestamp for cell in cells)
        self.clock.note(self._name(values, row_key), max(cell.timestamp for cell in cells))
        if least <= last:
            what = f"the server stamped {least}, which the change of {last} hides"
            remedy = "The clocks of servers and clients must agree; then try again."
            raise Unsupported(f"row {row_key.hex()}", what, remedy=remedy)

    def _bring(
        self, values: Mapping[str, Any], row_key: bytes, columns: Iterable[tuple[str, bytes]]
    ) -> None:
        """Have what is counted up or compared in the place that is written, wherever it stood."""
        if len(self.homes) > 1:
            others = (key for key in self.keys_of(values) if key != row_key)
            named: dict[str, tuple[bytes, ...]] = {}
            for family, qualifier in columns:
                named[family] = (*named.get(family, ()), qualifier)
            bring(self.store, [[row_key, *others]], named)

    def check_and_put(self, row: Any, expected: Mapping[str, Any]) -> bool:
        """Put a row if one of its columns holds what is expected; says whether it did."""
        self._refuse_salt("a check-and-put")
        if len(expected) != 1:
            what = f"{len(expected)} columns are checked"
            raise RowError("expected", what, "one: HBase checks one column of a row")
        values = as_mapping(row)
        ((name, value),) = expected.items()
        row_key, columns = self._columns(values, expected, None, "no column")
        wanted = None if value is None else self._value(values, name, value, columns[name])
        check = Check(*columns[name], "=", wanted)
        row_name = self._name(values, row_key)
        with self.clock.ordered([row_name]):
            self._bring(values, row_key, columns.values())
            change = self.put(values)
            at = self.clock.stamp(row_name, 1)
            if self.store.is_shared:
                at = self._stamp_after_others(row_name, change.mutations[-1], at)
            mutations = [stamped(mutation, at) for mutation in change.mutations]
            if len(mutations) > 1:
                self._take_from_others([mutations])
            return self.store.check_and_mutate(row_key, check, mutations[-1].cells)

    def _stamp_after_others(self, name: bytes, mutation: RowCells, at: int) -> int:
        """Return a timestamp after all that a row holds: others may have clocks that are ahead."""
        families = {cell.family: () for cell in mutation.cells if cell.timestamp == LATEST}
        if not families:
            return at
        ask = Ask(columns=families, time_range=(at, LATEST), raw=True)
        (found,) = self.store.get([mutation.row], ask)
        if not found.cells:
            return at
        self.clock.note(name, max(cell.timestamp for cell in found.cells))
        return self.clock.stamp(name, 1)

    def _keep(self, values: Mapping[str, Any]) -> None:
        """Write what the key holds only in part: a row may begin with a count, and is read then."""
        if self.kept:
            named = dict.fromkeys((*self.identity, *self.kept))
            self.apply([self.put({name: values.get(name) for name in named})])

    def _value(
        self, values: Mapping[str, Any], name: str, value: Any, column: tuple[str, bytes]
    ) -> bytes:
        """The bytes of a field's value in its column."""
        stamp = self.layout.stamp
        needed = self.identity if stamp is None else (*self.identity, stamp.field.name)
        given = {one: values[one] for one in needed if one in values}
        written = self.layout.write({**given, name: value})
        found = (c.value for c in written.cells if (c.family, c.qualifier) == column)
        return next(found, b"")

    def _columns(
        self, row: Any, named: Mapping[str, Any], types: frozenset[str] | None, lack: str
    ) -> tuple[bytes, dict[str, tuple[str, bytes]]]:
        """The row key, and family and qualifier of some fields of it.

        Raises:
            RowError: a field has no cell of its own, or is none of the types.
        """
        values = as_mapping(row)
        self.require_known(named)
        for name in named:
            field = self.fields[name]
            if types is not None and field.type.name not in types:
                raise RowError(name, f"{field.type.name} is {lack}", " or ".join(sorted(types)))
        columns = {name: self.layout.column(name, values) for name in named}
        return self.layout.erase(values).row, columns

    def require_known(self, values: Mapping[str, Any]) -> None:
        """Refuse fields that the design does not have.

        Raises:
            RowError: naming the first.
        """
        for name in values:
            if name not in self.fields:
                remedy = did_you_mean(str(name), self.fields)
                raise RowError(str(name), "there is no such field", ", ".join(self.fields), remedy)

    def _refuse_salt(self, what: str) -> None:
        if self.key.is_salted:
            why = f"{what} must find the one row, but a random salt puts each write anywhere"
            raise DesignRefused("key", why, remedy="Use bucket(field, n), which is computed.")

    def _refuse_stamp(self, what: str) -> None:
        """Refuse what HBase stamps with its own time, where the timestamp is a field."""
        if (stamp := self.layout.stamp) is not None:
            name = stamp.field.name
            why = f"{what} is stamped by HBase with the time it is made, which would become {name}"
            remedy = "Read the row, and put it with check_and_put."
            raise DesignRefused(name, why, remedy=remedy)

    def _name(self, values: Mapping[str, Any], row: bytes) -> bytes:
        """What stands for all places of a row: its key, where it has but one."""
        if self.naming is not None:
            return self.naming.encode(values, salt=0)
        return self.key.encode(values, salt=0) if self.key.is_salted else row


def _salts(key: Key) -> Sequence[int | None]:
    """The numbers that the random salt of a key takes; None where it has none."""
    return range(key.salt_count) if key.is_salted else (None,)


def _kept(layout: Layout) -> tuple[str, ...]:
    """The fields of the key that are stored whole in a cell of their own as well."""
    alone = {slot.names for slot in layout.slots}
    return tuple(name for name in layout.kept if (name,) in alone)
