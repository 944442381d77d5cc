"""The ids of `code` values, allocated through the catalog so that all writers agree on them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from rowkey.errors import Conflict, InvalidArgument, RowError, Unavailable
from rowkey.keys import Dictionary, check_id_fits
from rowkey.messages import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rowkey.catalog.catalog_entry import CatalogEntry
    from rowkey.catalog.contract import Catalog
    from rowkey.keys import Field
    from rowkey.schema import Value

MAX_ALLOCATION_TRIES = 10_000
"""Times that an allocation is tried again because another client wrote meanwhile. One of those who
write at once always wins, so a number that is never reached means that the catalog is broken."""


class CodeSnapshot(Dictionary):
    """The ids of values at some time; it allocates none, so reading changes nothing.

    Args:
        values: by field, its values in the order of their ids; the first has the id 1.
    """

    is_complete = True
    """Whether a value without an id was never stored, so that no row has it."""

    def __init__(self, values: Mapping[str, Iterable[Value]]) -> None:
        self.values = {name: list(listed) for name, listed in values.items()}
        self.ids = {
            name: {value: number for number, value in enumerate(listed, 1)}
            for name, listed in self.values.items()
        }

    def assign_id(self, name: str, value: Value, most: int | None = None) -> int:
        number = self.find_id(name, value)
        if number is None:
            raise RowError(name, f"{format_value(value)} has no id", "a value that was stored")
        return number

    def find_id(self, name: str, value: Value) -> int | None:
        return self.ids.get(name, {}).get(value)

    def count_ids(self, name: str) -> int:
        return len(self.values.get(name, ()))

    def find_value(self, name: str, number: int) -> Value:
        values = self.values.get(name, [])
        if not 1 <= number <= len(values):
            raise InvalidArgument(
                "", f"no value of {name} has the id {number}", f"1..{len(values)}"
            )
        return values[number - 1]

    def add_values(self, name: str, values: Iterable[Value]) -> None:
        """Add values that have got the next ids."""
        listed, ids = self.values.setdefault(name, []), self.ids.setdefault(name, {})
        for value in values:
            listed.append(value)
            ids[value] = len(listed)


class CatalogDictionary(Dictionary):
    """Ids of `code` values, allocated through a catalog by compare-and-set.

    What is known is kept; the catalog is asked for what is not, and is written only when a value
    is given an id. No id is given twice and no value gets two, whichever clients allocate at once.

    Args:
        catalog: where the table is remembered.
        table: its name.
        fields: its fields, by name.

    Raises:
        Unavailable: the table is not remembered.
    """

    is_complete = True
    """Whether a value without an id was never stored, so that no row has it."""

    def __init__(self, catalog: Catalog, table: str, fields: Mapping[str, Field]) -> None:
        self.catalog = catalog
        self.table = table
        self.fields = fields
        self._known_codes = CodeSnapshot({})
        self._known_texts: dict[str, tuple[str, ...]] = {}
        self._lock = RLock()
        self._refresh()

    def assign_id(self, name: str, value: Value, most: int | None = None) -> int:
        """Return the id of a value; a new value gets the next one.

        Raises:
            RowError: the next would be above `most`, and is not given.
            Conflict: the catalog never lets the allocation through.
            Unavailable: the catalog cannot be read or written.

        Cost: a look into a dictionary where it is known; one write of the entry where it is new.
        """
        number = self._known_codes.find_id(name, value)
        if number is None:
            self.assign_ids({name: (value,)}, {} if most is None else {name: most})
            number = self._known_codes.assign_id(name, value)
        return number

    def assign_ids(
        self, wanted: Mapping[str, Iterable[Value]], most: Mapping[str, int] | None = None
    ) -> None:
        """Allocate ids for the values that have none, in their order, with one write.

        Raises:
            RowError: a field has no room for all of its new values; none of any field is given.
            Conflict: the catalog never lets the allocation through.
            Unavailable: the catalog cannot be read or written.
        """
        listed = {name: list(dict.fromkeys(values)) for name, values in wanted.items()}
        with self._lock:
            for _ in range(MAX_ALLOCATION_TRIES):
                if not self._find_missing(listed):
                    return
                entry = self._refresh()
                if new := self._find_missing(listed):
                    for name, values in new.items():
                        check_id_fits(
                            name, self.count_ids(name) + len(values), (most or {}).get(name)
                        )
                    self._allocate_ids(entry, new)
        raise Conflict(
            f"table {self.table}", f"{MAX_ALLOCATION_TRIES:,} allocations were overtaken"
        )

    def _find_missing(
        self, values_by_field: Mapping[str, Iterable[Value]]
    ) -> dict[str, list[Value]]:
        """Return the values whose id is not known here, by field."""
        ids = self._known_codes.ids
        found = {
            name: [value for value in values if value not in ids.get(name, ())]
            for name, values in values_by_field.items()
        }
        return {name: values for name, values in found.items() if values}

    def _allocate_ids(self, entry: CatalogEntry, new_values: Mapping[str, list[Value]]) -> None:
        """Give values the next ids, unless another client wrote the entry meanwhile."""
        codes = dict(entry.codes)
        for name, values in new_values.items():
            codes[name] = (*codes.get(name, ()), *map(self.fields[name].type.format_value, values))
        changed = replace(entry, codes=codes)
        with suppress(Conflict):
            self.catalog.write(self.table, changed, entry.version)
            self._apply_entry(changed)

    def find_id(self, name: str, value: Value) -> int | None:
        number = self._known_codes.find_id(name, value)
        if number is None:
            self._refresh()
            number = self._known_codes.find_id(name, value)
        return number

    def find_cached_id(self, name: str, value: Value) -> int | None:
        return self._known_codes.find_id(name, value)

    def count_ids(self, name: str) -> int:
        return self._known_codes.count_ids(name)

    def find_value(self, name: str, number: int) -> Value:
        if number > len(self._known_codes.values.get(name, ())):
            self._refresh()
        return self._known_codes.find_value(name, number)

    def take_snapshot(self) -> CodeSnapshot:
        """Return the ids as the catalog has them now, for reading."""
        self._refresh()
        return CodeSnapshot(self._known_codes.values)

    def _refresh(self) -> CatalogEntry:
        """Read the ids that other clients have allocated.

        Raises:
            Unavailable: the table has no entry any more, or was created again.
        """
        with self._lock:
            entry = self.catalog.read(self.table)
            if entry is None:
                raise Unavailable(f"table {self.table}", "the catalog does not know it")
            self._apply_entry(entry)
        return entry

    def _apply_entry(self, entry: CatalogEntry) -> None:
        """Add the ids of an entry that are not known yet."""
        for name, texts in entry.codes.items():
            seen = self._known_texts.get(name, ())
            if name not in self.fields or texts == seen:
                continue
            if texts[: len(seen)] != seen:
                what = f"the ids of {name} are not those that were read before"
                remedy = "The table was created again: open it again."
                raise Unavailable(f"table {self.table}", what, "", remedy)
            self._known_codes.add_values(name, map(self.fields[name].parse, texts[len(seen) :]))
            self._known_texts[name] = texts
