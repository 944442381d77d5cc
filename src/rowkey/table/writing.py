"""How rows are changed: put, replaced, moved and deleted.

A change is made in two steps. First the row is encoded, which needs nobody's turn. Then, with no
other change of the row in between, it is given its timestamp and written: `RowClock` says why.
"""

from __future__ import annotations

import secrets
from itertools import chain
from typing import TYPE_CHECKING, Any

from rowkey.cells import RowCells, check_mutation
from rowkey.errors import (
    Refused,
    RowError,
    did_you_mean,
)
from rowkey.table.changes import RowChange, as_row_error, deletes_of, put_before, stamped
from rowkey.table.generations.bringing import copy_before_delete
from rowkey.table.models import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.cells import Cell
    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.keys import Key


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
        self.families = design.families
        self.identity = design.layout.identity
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
        name = self.name_row(values, written.row)
        deletes = deletes_of(written.cells)
        if not deletes:
            return RowChange(name, [written])
        return RowChange(name, [*self._elsewhere(values, written.row, deletes), written], stamps=1)

    def _put_salted(self, values: Mapping[str, Any]) -> RowChange:
        """Return a put into one copy; what is taken away may stand in any of them."""
        salt = secrets.randbelow(self.key.salt_count)
        written = self.layout.write(values, salt=salt)
        name = self.name_row(values, written.row)
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
        return RowChange(self.name_row(values, written.row), [*before, whole], stamps=2)

    def delete(self, row: Any) -> RowChange:
        """Return the change that takes a row away, in every place where it may stand."""
        values = as_mapping(row)
        if self.key.is_coded and not self.key.is_known(values):
            self.require_known(values)
            return RowChange(b"", [])
        written, *elsewhere = self.erased(values)
        return RowChange(self.name_row(values, written.row), [*elsewhere, written], stamps=1)

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
            self.check_mutations(changes)
            self.take_from_others(changes, sync=sync)
            self.send([change[-1] for change in changes if change], sync=sync)
        else:
            self.send([one for change in changes for one in change], sync=sync)

    def check_mutations(self, changes: Iterable[Iterable[RowCells]]) -> None:
        """Raise unless all changes can be made, before a part of one is.

        Raises:
            RowError: naming the first that cannot.
        """
        try:
            for mutation in chain.from_iterable(changes):
                check_mutation(mutation, self.families)
        except Refused as refusal:
            raise as_row_error(refusal) from None

    def take_from_others(
        self, changes: Sequence[Sequence[RowCells]], *, sync: bool | None = None
    ) -> None:
        """Make stamped changes in all places but the one that is written, which keeps the values.

        So nothing older is seen once it is taken away there, and a row changes for readers when
        that place does. Behind a random salt readers know of no such place: values stay.
        """
        if not self.key.is_salted:
            copy_before_delete(self.store, changes, sync=sync)
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

    def require_known(self, values: Mapping[str, Any]) -> None:
        """Refuse fields that the design does not have.

        Raises:
            RowError: naming the first.
        """
        for name in values:
            if name not in self.fields:
                remedy = did_you_mean(str(name), self.fields)
                raise RowError(str(name), "there is no such field", ", ".join(self.fields), remedy)

    def name_row(self, values: Mapping[str, Any], row: bytes) -> bytes:
        """Return what stands for all places of a row: its key, where it has but one."""
        if self.naming is not None:
            return self.naming.encode(values, salt=0)
        return self.key.encode(values, salt=0) if self.key.is_salted else row


def _salts(key: Key) -> Sequence[int | None]:
    """The numbers that the random salt of a key takes; None where it has none."""
    return range(key.salt_count) if key.is_salted else (None,)
