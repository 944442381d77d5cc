"""The ids of `code`, given out through the catalog so that all who write agree on them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from rowkey.errors import Conflict, Refused, RowError, Unsupported, shown
from rowkey.keys import Dictionary, require_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rowkey.catalog.contract import Catalog
    from rowkey.catalog.entry import Entry
    from rowkey.keys import Field
    from rowkey.schema import Value

TRIES = 10_000
"""Times that an allocation is tried again because somebody else wrote meanwhile. One of those who
write at once always wins, so a number that is never reached means that the catalog is broken."""


class Known(Dictionary):
    """The ids as they stood at some time: it gives none, so that reading changes nothing.

    Args:
        values: by field, its values in the order of their ids; the first has the id 1.
    """

    is_whole = True
    """Whether a value without an id was never stored, so that no row has it."""

    def __init__(self, values: Mapping[str, Iterable[Value]]) -> None:
        self.values = {name: list(listed) for name, listed in values.items()}
        self.ids = {
            name: {value: number for number, value in enumerate(listed, 1)}
            for name, listed in self.values.items()
        }

    def id_of(self, name: str, value: Value, most: int | None = None) -> int:
        number = self.known_id(name, value)
        if number is None:
            raise RowError(name, f"{shown(value)} has no id", "a value that was stored")
        return number

    def known_id(self, name: str, value: Value) -> int | None:
        return self.ids.get(name, {}).get(value)

    def count(self, name: str) -> int:
        return len(self.values.get(name, ()))

    def value_of(self, name: str, number: int) -> Value:
        values = self.values.get(name, [])
        if not 1 <= number <= len(values):
            raise Refused("", f"no value of {name} has the id {number}", f"1..{len(values)}")
        return values[number - 1]

    def add(self, name: str, values: Iterable[Value]) -> None:
        """Take note of values that have got the next ids."""
        listed, ids = self.values.setdefault(name, []), self.ids.setdefault(name, {})
        for value in values:
            listed.append(value)
            ids[value] = len(listed)


class CatalogDictionary(Dictionary):
    """Ids of `code` values, allocated through a catalog by compare-and-set.

    What is known is kept; the catalog is asked for what is not, and is written only when a value
    is given an id. No id is given twice and no value gets two, whoever allocates at once.

    Args:
        catalog: where the table is remembered.
        table: its name.
        fields: its fields, by name.

    Raises:
        Unsupported: the table is not remembered.
    """

    is_whole = True
    """Whether a value without an id was never stored, so that no row has it."""

    def __init__(self, catalog: Catalog, table: str, fields: Mapping[str, Field]) -> None:
        self.catalog = catalog
        self.table = table
        self.fields = fields
        self._known = Known({})
        self._texts: dict[str, tuple[str, ...]] = {}
        self._lock = RLock()
        self._refresh()

    def id_of(self, name: str, value: Value, most: int | None = None) -> int:
        """The id of a value; a new one gets the next.

        Raises:
            RowError: the next would be above `most`, and is not given.
            Conflict: the catalog never lets the allocation through.
            Unsupported: the catalog cannot be read or written.

        Cost: a look into a dictionary where it is known; one write of the entry where it is new.
        """
        number = self._known.known_id(name, value)
        if number is None:
            self.learn({name: (value,)}, {} if most is None else {name: most})
            number = self._known.id_of(name, value)
        return number

    def learn(
        self, wanted: Mapping[str, Iterable[Value]], most: Mapping[str, int] | None = None
    ) -> None:
        """Give ids to those values that have none, in their order, with one write for all.

        Raises:
            RowError: a field has no room for all of its new values; none of any field is given.
            Conflict: the catalog never lets the allocation through.
            Unsupported: the catalog cannot be read or written.
        """
        listed = {name: list(dict.fromkeys(values)) for name, values in wanted.items()}
        with self._lock:
            for _ in range(TRIES):
                if not self._lacking(listed):
                    return
                entry = self._refresh()
                if new := self._lacking(listed):
                    for name, values in new.items():
                        require_room(name, self.count(name) + len(values), (most or {}).get(name))
                    self._allocate(entry, new)
        raise Conflict(f"table {self.table}", f"{TRIES:,} allocations were overtaken")

    def _lacking(self, listed: Mapping[str, Iterable[Value]]) -> dict[str, list[Value]]:
        """Those values of which no id is known here, by field."""
        ids = self._known.ids
        found = {
            name: [value for value in values if value not in ids.get(name, ())]
            for name, values in listed.items()
        }
        return {name: values for name, values in found.items() if values}

    def _allocate(self, entry: Entry, new: Mapping[str, list[Value]]) -> None:
        """Give values the next ids, unless somebody wrote the entry meanwhile."""
        codes = dict(entry.codes)
        for name, values in new.items():
            codes[name] = (*codes.get(name, ()), *map(self.fields[name].type.show, values))
        changed = replace(entry, codes=codes)
        with suppress(Conflict):
            self.catalog.write(self.table, changed, entry.version)
            self._take(changed)

    def known_id(self, name: str, value: Value) -> int | None:
        number = self._known.known_id(name, value)
        if number is None:
            self._refresh()
            number = self._known.known_id(name, value)
        return number

    def peek(self, name: str, value: Value) -> int | None:
        return self._known.known_id(name, value)

    def count(self, name: str) -> int:
        return self._known.count(name)

    def value_of(self, name: str, number: int) -> Value:
        if number > len(self._known.values.get(name, ())):
            self._refresh()
        return self._known.value_of(name, number)

    def snapshot(self) -> Known:
        """The ids as the catalog has them now, for reading: it gives none and never asks again."""
        self._refresh()
        return Known(self._known.values)

    def _refresh(self) -> Entry:
        """Take note of the ids that others have given.

        Raises:
            Unsupported: the table is not remembered any more, or was made anew.
        """
        with self._lock:
            entry = self.catalog.read(self.table)
            if entry is None:
                raise Unsupported(f"table {self.table}", "the catalog does not know it")
            self._take(entry)
        return entry

    def _take(self, entry: Entry) -> None:
        """Take note of the ids that an entry has beyond those known."""
        for name, texts in entry.codes.items():
            seen = self._texts.get(name, ())
            if name not in self.fields or texts == seen:
                continue
            if texts[: len(seen)] != seen:
                what = f"the ids of {name} are not those that were read before"
                remedy = "The table was made anew: open it again."
                raise Unsupported(f"table {self.table}", what, "", remedy)
            self._known.add(name, map(self.fields[name].parse, texts[len(seen) :]))
            self._texts[name] = texts
