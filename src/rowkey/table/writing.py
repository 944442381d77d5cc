"""How rows are changed: put, replaced, moved, deleted, counted up, and changed on a condition."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, Kind, RowCells
from rowkey.engines import Check
from rowkey.errors import DesignRefused, Refused, RowError, did_you_mean, shown
from rowkey.table.generations.bringing import bring
from rowkey.table.models import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.keys import Key
    from rowkey.rows import Layout
    from rowkey.table.stamps import Stamps

COUNTERS = frozenset({"i64"})
"""Types whose column is what HBase's increment counts: 8 bytes, big-endian, signed."""
GROWING = frozenset({"text", "bytes"})
"""Types whose column may be appended to."""


class Writing:
    """Turns changes of rows into mutations, stamps them, and hands them to the engine.

    A row may stand in several places: behind each number of a random salt, and where each live
    generation of the table's counts puts it. It is written in one of them, the ruling generation's;
    what is taken away is taken from all.

    Args:
        designs: the table's design under each count that rows may stand under; the first one is
            written.
        store: the engine's table.
        stamps: gives each mutation its timestamp.
        naming: the key that names a row for `stamps`, whatever the counts are now; the first
            design's if None.
    """

    def __init__(
        self,
        designs: Sequence[Design],
        store: Store,
        stamps: Stamps,
        naming: Key | None = None,
    ) -> None:
        design = designs[0]
        self.layout = design.layout
        self.key = design.key
        self.fields = design.fields
        self.identity = design.layout.identity
        self.kept = _kept(design.layout)
        self.store = store
        self.stamps = stamps
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

    def put(self, row: Any) -> list[RowCells]:
        """The mutations that write the fields given; None takes a field away.

        The last one is that of the place which is written.
        """
        values = as_mapping(row)
        if self.key.is_salted:
            return self._put_salted(values)
        written = self.layout.write(values)
        deletes = _deletes(written.cells)
        if not deletes:
            return [stamped(written, self.stamps.again(self._name(values, written.row)))]
        at = self._next(values, written.row)
        return [*self._elsewhere(values, written.row, deletes, at), stamped(written, at)]

    def _put_salted(self, values: Mapping[str, Any]) -> list[RowCells]:
        """A put into one copy; what is taken away may stand in any of them."""
        count = self.key.salt_count
        drawn = self.layout.write(values, salt=secrets.randbelow(count))
        deletes = _deletes(drawn.cells)
        if not deletes:
            one = self._name(values, drawn.row)
            at, salt = self.stamps.copy(one, secrets.randbelow(count))
            return [stamped(self.layout.write(values, salt=salt), at)]
        at = self._next(values, drawn.row)
        return [*self._elsewhere(values, drawn.row, deletes, at), stamped(drawn, at)]

    def _elsewhere(
        self, values: Mapping[str, Any], row: bytes, deletes: Sequence[Cell], at: int
    ) -> list[RowCells]:
        """The same deletes in every other place where a row may stand."""
        if len(self.homes) == 1:
            return []
        others = (key for key in self.keys_of(values) if key != row)
        return [stamped(RowCells(key, list(deletes)), at) for key in others]

    def replace(self, row: Any) -> list[RowCells]:
        """The mutations that write the fields given and take all others away.

        Elsewhere what is given need not be taken away: it is older, and hidden. Copies behind a
        random salt may be of the same time, so that all of them go.
        """
        values = as_mapping(row)
        written = self.layout.write(values)
        at = self._next(values, written.row, 2)
        clears = self.layout.clears(values)
        before = stamped(RowCells(written.row, clears), at)
        after = stamped(written, at + 1)
        whole = RowCells(written.row, [*before.cells, *after.cells])
        gone = [*clears, *_deletes(written.cells)]
        if self.key.is_salted:
            gone += self.layout.erase(values, salt=0).cells
        return [*self._elsewhere(values, written.row, gone, at), whole] if gone else [whole]

    def delete(self, row: Any) -> list[RowCells]:
        """The mutations that take a row away, in every place where it may stand."""
        values = as_mapping(row)
        if self.key.is_coded and not self.key.is_known(values):
            self.require_known(values)
            return []
        erased = self.erased(values)
        at = self._next(values, erased[0].row)
        return [stamped(one, at) for one in erased]

    def apply(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Hand mutations to the engine.

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
        with self._counting(values, row_key):
            self._bring(values, row_key, columns.values())
            counted = self.store.increment(row_key, given)
        return dict(zip(columns, counted, strict=True))

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
        with self._counting(values, row_key):
            self._bring(values, row_key, columns.values())
            self.store.append(row_key, given)

    @contextmanager
    def _counting(self, values: Mapping[str, Any], row_key: bytes) -> Iterator[None]:
        """What is done to a row that the engine stamps: after all that was stamped here."""
        name = self._name(values, row_key)
        with self.stamps.held(name):
            self.stamps.wait(name)
            try:
                yield
            except Refused as refusal:
                raise as_row_error(refusal) from None
            self.stamps.count(name)

    def _bring(
        self, values: Mapping[str, Any], row_key: bytes, columns: Iterable[tuple[str, bytes]]
    ) -> None:
        """Have what is counted up or compared in the place that is written, wherever it stood."""
        if len(self.homes) > 1:
            others = (key for key in self.keys_of(values) if key != row_key)
            bring(self.store, [row_key, *others], list(columns))

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
        with self.stamps.held(self._name(values, row_key)):
            self._bring(values, row_key, columns.values())
            *elsewhere, written = self.put(values)
            is_put = self.store.check_and_mutate(row_key, check, written.cells)
            if is_put and elsewhere:
                self.apply(elsewhere)
            return is_put

    def _keep(self, values: Mapping[str, Any]) -> None:
        """Write what the key holds only in part: a row may begin with a count, and is read then."""
        if self.kept:
            named = dict.fromkeys((*self.identity, *self.kept))
            self.apply(self.put({name: values.get(name) for name in named}))

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

    def _next(self, values: Mapping[str, Any], row: bytes, count: int = 1) -> int:
        """The timestamp of a mutation; all places of a row share one series."""
        return self.stamps.next(self._name(values, row), count)

    def _name(self, values: Mapping[str, Any], row: bytes) -> bytes:
        """What stands for all places of a row: its key, where it has but one."""
        if self.naming is not None:
            return self.naming.encode(values, salt=0)
        return self.key.encode(values, salt=0) if self.key.is_salted else row


def _salts(key: Key) -> Sequence[int | None]:
    """The numbers that the random salt of a key takes; None where it has none."""
    return range(key.salt_count) if key.is_salted else (None,)


def takes_away(mutations: Iterable[RowCells]) -> bool:
    """Whether mutations take anything away."""
    return any(cell.kind is not Kind.PUT for one in mutations for cell in one.cells)


def _deletes(cells: Sequence[Cell]) -> list[Cell]:
    """Those cells of a mutation that take something away."""
    return [cell for cell in cells if cell.kind is not Kind.PUT]


def _kept(layout: Layout) -> tuple[str, ...]:
    """The fields of the key that are stored whole in a cell of their own as well."""
    alone = {slot.names for slot in layout.slots}
    return tuple(name for name in layout.kept if (name,) in alone)


def stamped(mutation: RowCells, at: int) -> RowCells:
    """A mutation whose cells without a timestamp of their own have this one."""
    cells = [c if c.timestamp != LATEST else c._replace(timestamp=at) for c in mutation.cells]
    return RowCells(mutation.row, cells)


def as_row_error(refusal: Refused) -> RowError:
    """What an engine refused, as an error of the row."""
    one = refusal.mistake
    return RowError(one.path, one.what, one.allowed, one.remedy)
