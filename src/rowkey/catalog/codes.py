"""The ids of `code` values, allocated through the catalog so that all writers agree on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import RLock

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import Catalog, build_contention_error
from rowkey.errors import Conflict, InvalidArgument, RowError, Unavailable
from rowkey.keys import Dictionary, Field, check_id_fits
from rowkey.messages import format_value
from rowkey.schema import Value

MAX_ALLOCATION_TRIES = 10_000
"""Times that an allocation is tried again because another client wrote meanwhile. Of the clients
that write at once one always wins, so that this number is reached only if the catalog is broken."""


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

    def assign_id(self, name: str, value: Value, max_id: int | None = None) -> int:
        """Return the id of a value; raise if it has none, because no id is allocated here."""
        number = self.find_id(name, value)
        if number is None:
            what = f"code({name}) has no id for the value {format_value(value)} in the catalog"
            remedy = "Put a row with this value first."
            raise RowError(f"field {name}", what, "a value that a row was stored with", remedy)
        return number

    def find_id(self, name: str, value: Value) -> int | None:
        return self.ids.get(name, {}).get(value)

    def count_ids(self, name: str) -> int:
        """Return how many values of a field have an id."""
        return len(self.values.get(name, ()))

    def find_value(self, name: str, number: int) -> Value:
        """Return the value that the catalog gave an id.

        Raises:
            InvalidArgument: the catalog lists no value with this id.
        """
        values = self.values.get(name, [])
        if not 1 <= number <= len(values):
            what = f"the catalog lists no value with the id {number} for code({name})"
            allowed = f"an id from 1 to {len(values)}" if values else ""
            remedy = "Restore the catalog from a backup: it lacks ids that rows have."
            raise InvalidArgument(f"field {name}", what, allowed, remedy)
        return values[number - 1]

    def add_values(self, name: str, values: Iterable[Value]) -> None:
        """Add values that were given the next ids of a field, in the order of the ids."""
        listed, ids = self.values.setdefault(name, []), self.ids.setdefault(name, {})
        for value in values:
            listed.append(value)
            ids[value] = len(listed)


class CatalogDictionary(Dictionary):
    """Ids of `code` values, allocated through a catalog by compare-and-set.

    Known ids are kept in memory; the catalog is read for a value or an id that is not known, and
    written only when a value gets an id. No id is given to two values, and no value gets two ids,
    whichever clients allocate at once.

    Args:
        catalog: the catalog that has an entry for the table.
        table: its name.
        fields: its fields, by name.

    Raises:
        Unavailable: the catalog has no entry for the table.
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

    def assign_id(self, name: str, value: Value, max_id: int | None = None) -> int:
        """Return the id of a value; a new value gets the next one.

        Raises:
            RowError: the next id would be above `max_id`; it is not assigned.
            Conflict: other clients change the entry before every attempt to write it.
            Unavailable: the catalog cannot be read or written.

        Cost: a dictionary lookup for a known value; one write of the entry for a new one.
        """
        number = self._known_codes.find_id(name, value)
        if number is None:
            self.assign_ids({name: (value,)}, {} if max_id is None else {name: max_id})
            number = self._known_codes.assign_id(name, value)
        return number

    def assign_ids(
        self,
        values_by_field: Mapping[str, Iterable[Value]],
        max_ids: Mapping[str, int] | None = None,
    ) -> None:
        """Allocate ids for the values that have none, in their order, with one write.

        Raises:
            RowError: a field has too few ids for its new values; no value of any field gets one.
            Conflict: other clients change the entry before every attempt to write it.
            Unavailable: the catalog cannot be read or written.
        """
        unique_values = {
            name: list(dict.fromkeys(values)) for name, values in values_by_field.items()
        }
        with self._lock:
            for _ in range(MAX_ALLOCATION_TRIES):
                if not self._find_missing(unique_values):
                    return
                entry = self._refresh()
                if new := self._find_missing(unique_values):
                    for name, values in new.items():
                        check_id_fits(
                            name, self.count_ids(name) + len(values), (max_ids or {}).get(name)
                        )
                    self._allocate_ids(entry, new)
        raise build_contention_error(self.table, MAX_ALLOCATION_TRIES)

    def _find_missing(
        self, values_by_field: Mapping[str, Iterable[Value]]
    ) -> dict[str, list[Value]]:
        """Return the values whose id is not known in memory, by field."""
        ids = self._known_codes.ids
        missing = {
            name: [value for value in values if value not in ids.get(name, ())]
            for name, values in values_by_field.items()
        }
        return {name: values for name, values in missing.items() if values}

    def _allocate_ids(self, entry: CatalogEntry, new_values: Mapping[str, list[Value]]) -> None:
        """Write the next ids of values to the catalog, unless another client wrote it first."""
        codes = dict(entry.codes)
        for name, values in new_values.items():
            codes[name] = (*codes.get(name, ()), *map(self.fields[name].type.format_value, values))
        new_entry = replace(entry, codes=codes)
        with suppress(Conflict):
            self.catalog.write(self.table, new_entry, entry.version)
            self._apply_entry(new_entry)

    def find_id(self, name: str, value: Value) -> int | None:
        """Return the id of a value; the catalog is read if the id is not known in memory."""
        number = self._known_codes.find_id(name, value)
        if number is None:
            self._refresh()
            number = self._known_codes.find_id(name, value)
        return number

    def find_cached_id(self, name: str, value: Value) -> int | None:
        """Return the id of a value if it is known in memory, else None; read no catalog."""
        return self._known_codes.find_id(name, value)

    def count_ids(self, name: str) -> int:
        """Return how many values of a field have an id that is known in memory."""
        return self._known_codes.count_ids(name)

    def find_value(self, name: str, number: int) -> Value:
        """Return the value that has an id; the catalog is read if it is not known in memory."""
        if number > len(self._known_codes.values.get(name, ())):
            self._refresh()
        return self._known_codes.find_value(name, number)

    def take_snapshot(self) -> CodeSnapshot:
        """Return a copy of the ids that the catalog has now, which allocates none."""
        self._refresh()
        return CodeSnapshot(self._known_codes.values)

    def _refresh(self) -> CatalogEntry:
        """Read the catalog entry, add the ids that other clients have allocated, and return it.

        Raises:
            Unavailable: the table has no entry any more, or was created again.
        """
        with self._lock:
            entry = self.catalog.read(self.table)
            if entry is None:
                what = (
                    "the catalog has no entry for this table, so ids of code(…) cannot be decoded"
                )
                remedy = "Restore the catalog from a backup, or create the table again."
                raise Unavailable(f"table {self.table}", what, remedy=remedy)
            self._apply_entry(entry)
        return entry

    def _apply_entry(self, entry: CatalogEntry) -> None:
        """Add the ids of a catalog entry that are not known in memory yet."""
        for name, texts in entry.codes.items():
            known_texts = self._known_texts.get(name, ())
            if name not in self.fields or texts == known_texts:
                continue
            if texts[: len(known_texts)] != known_texts:
                what = (
                    f"the catalog now lists other ids for the values of {name} than when the table "
                    "was opened, so the table was created again, or its catalog was restored"
                )
                remedy = (
                    f"Open the table again, and before you write check in a few rows that {name} "
                    "is right."
                )
                raise Unavailable(f"table {self.table}", what, "", remedy)
            self._known_codes.add_values(
                name, map(self.fields[name].parse, texts[len(known_texts) :])
            )
            self._known_texts[name] = texts
