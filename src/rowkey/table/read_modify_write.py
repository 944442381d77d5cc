"""Changes that depend on what a row holds: counts, appends, and puts on a condition."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST
from rowkey.engines import Ask, Check
from rowkey.errors import DesignRefused, Refused, RowError, Unsupported, shown
from rowkey.table.changes import as_row_error, stamped
from rowkey.table.generations.bringing import bring
from rowkey.table.models import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Cell, RowCells
    from rowkey.rows import Layout
    from rowkey.table.writing import Writing

COUNTERS = frozenset({"i64"})
"""Types whose column is what HBase's increment counts: 8 bytes, big-endian, signed."""
GROWING = frozenset({"text", "bytes"})
"""Types whose column may be appended to."""


class ReadModifyWrite:
    """Changes a row by what it holds, with no other change of it in between.

    Args:
        writing: encodes rows, and sends changes of them.
    """

    def __init__(self, writing: Writing) -> None:
        self.writing, self.store = writing, writing.store

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
        name = self.writing.name_row(values, row_key)
        with self.writing.clock.ordered([name]):
            last = self.writing.clock.last_of(name)
            if self.store.is_shared and not self.writing.clock.wait_for(last + 1):
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
        self.writing.clock.note(
            self.writing.name_row(values, row_key), max(cell.timestamp for cell in cells)
        )
        if least <= last:
            what = f"the server stamped {least}, which the change of {last} hides"
            remedy = "The clocks of servers and clients must agree; then try again."
            raise Unsupported(f"row {row_key.hex()}", what, remedy=remedy)

    def _bring(
        self, values: Mapping[str, Any], row_key: bytes, columns: Iterable[tuple[str, bytes]]
    ) -> None:
        """Have what is counted up or compared in the place that is written, wherever it stood."""
        others = [key for key in self.writing.keys_of(values) if key != row_key]
        if others:
            named: dict[str, tuple[bytes, ...]] = {}
            for family, qualifier in columns:
                named[family] = (*named.get(family, ()), qualifier)
            bring(self.store, [row_key, *others], named)

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
        row_name = self.writing.name_row(values, row_key)
        with self.writing.clock.ordered([row_name]):
            self._bring(values, row_key, columns.values())
            change = self.writing.put(values)
            if len(change.mutations) > 1 and not self._holds(row_key, check):
                return False  # before anything is taken away elsewhere
            at = self.writing.clock.stamp(row_name, 1)
            if self.store.is_shared:
                at = self._stamp_after_others(row_name, values, change.mutations[-1], at)
            mutations = [stamped(mutation, at) for mutation in change.mutations]
            if len(mutations) > 1:
                self.writing.check_mutations([mutations])
                self.writing.take_from_others([mutations])
            return self.store.check_and_mutate(row_key, check, mutations[-1].cells)

    def _holds(self, row_key: bytes, check: Check) -> bool:
        """Whether a column of a row holds what is expected of it."""
        ask = Ask(columns={check.family: (check.qualifier,)})
        (found,) = self.store.get([row_key], ask)
        value = found.cells[0].value if found.cells else None
        return value == check.value or (check.value is None and not value)

    def _stamp_after_others(
        self, name: bytes, values: Mapping[str, Any], mutation: RowCells, at: int
    ) -> int:
        """Return a timestamp after all that a row holds: others may have clocks that are ahead."""
        families = {cell.family: () for cell in mutation.cells if cell.timestamp == LATEST}
        if not families:
            return at
        ask = Ask(columns=families, time_range=(at, LATEST), raw=True)
        found = self.store.get(self.writing.keys_of(values), ask)
        stamps = [cell.timestamp for one in found for cell in one.cells]
        if not stamps:
            return at
        self.writing.clock.note(name, max(stamps))
        return self.writing.clock.stamp(name, 1)

    def _keep(self, values: Mapping[str, Any]) -> None:
        """Write what the key holds only in part: a row may begin with a count, and is read then."""
        kept = _kept(self.writing.layout)
        if kept:
            named = dict.fromkeys((*self.writing.identity, *kept))
            self.writing.apply([self.writing.put({name: values.get(name) for name in named})])

    def _value(
        self, values: Mapping[str, Any], name: str, value: Any, column: tuple[str, bytes]
    ) -> bytes:
        """The bytes of a field's value in its column."""
        stamp = self.writing.layout.stamp
        needed = (
            self.writing.identity if stamp is None else (*self.writing.identity, stamp.field.name)
        )
        given = {one: values[one] for one in needed if one in values}
        written = self.writing.layout.write({**given, name: value})
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
        self.writing.require_known(named)
        for name in named:
            field = self.writing.fields[name]
            if types is not None and field.type.name not in types:
                raise RowError(name, f"{field.type.name} is {lack}", " or ".join(sorted(types)))
        columns = {name: self.writing.layout.column(name, values) for name in named}
        return self.writing.layout.erase(values).row, columns

    def _refuse_salt(self, what: str) -> None:
        if self.writing.key.is_salted:
            why = f"{what} must find the one row, but a random salt puts each write anywhere"
            raise DesignRefused("key", why, remedy="Use bucket(field, n), which is computed.")

    def _refuse_stamp(self, what: str) -> None:
        """Refuse what HBase stamps with its own time, where the timestamp is a field."""
        if (stamp := self.writing.layout.stamp) is not None:
            name = stamp.field.name
            why = f"{what} is stamped by HBase with the time it is made, which would become {name}"
            remedy = "Read the row, and put it with check_and_put."
            raise DesignRefused(name, why, remedy=remedy)


def _kept(layout: Layout) -> tuple[str, ...]:
    """The fields of the key that are stored whole in a cell of their own as well."""
    alone = {slot.names for slot in layout.slots}
    return tuple(name for name in layout.kept if (name,) in alone)
