"""Dictionaries: the ids that `code` stores in place of long values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rowkey.errors import InvalidArgument, RowError
from rowkey.schema import Value

Row = Mapping[str, Any]


class Dictionary(ABC):
    """Assigns ids to values and finds the value of an id; each field has its own ids."""

    is_complete: bool = False
    """Whether all ids are known here, so that no row has a value without an id."""

    @abstractmethod
    def assign_id(self, name: str, value: Value, max_id: int | None = None) -> int:
        """Return the id of a field's value, from 1; assign the next one to a value without id.

        Args:
            value: in normal form.
            max_id: the highest allowed id, or None for any.

        Raises:
            RowError: the next id would be above `max_id`; or the dictionary is closed and the value
                has no id.
        """

    def assign_ids(
        self,
        values_by_field: Mapping[str, Iterable[Value]],
        max_ids: Mapping[str, int] | None = None,
    ) -> None:
        """Assign ids to the values that have none, in their order; by default one by one.

        Args:
            values_by_field: some values of each field, in normal form.
            max_ids: the highest allowed id of each field; no limit for a field that is missing.

        Raises:
            RowError: as `assign_id`.
        """
        for name, values in values_by_field.items():
            for value in values:
                self.assign_id(name, value, (max_ids or {}).get(name))

    @abstractmethod
    def find_id(self, name: str, value: Value) -> int | None:
        """Return the id of a field's value; None if it has none."""

    def find_cached_id(self, name: str, value: Value) -> int | None:
        """Return the id of a value if it is known locally, without a request to a shared store."""
        return self.find_id(name, value)

    @abstractmethod
    def count_ids(self, name: str) -> int:
        """Return the count of a field's locally known ids, which is the highest of them."""

    @abstractmethod
    def find_value(self, name: str, number: int) -> Value:
        """Return the value of an id.

        Raises:
            InvalidArgument: no value has this id.
        """


def check_id_fits(name: str, number: int, max_id: int | None) -> None:
    """Raise an error if an id does not fit into its bytes in the key.

    Args:
        number: the id.
        max_id: the highest id that fits, or None for any.

    Raises:
        RowError: the id does not fit.
    """
    if max_id is not None and number > max_id:
        what = f"code({name}) has no id left for a new value, which would get the id {number:,}"
        remedy = f"Move the rows to a table with a larger width, as in code({name}, width=4)."
        raise RowError(f"field {name}", what, f"at most {max_id:,} different values", remedy)


class FirstSeenDictionary(Dictionary):
    """Ids in the order in which values first occur; the dictionary of keys without a table."""

    def __init__(self) -> None:
        self.values_by_field: dict[str, list[Value]] = {}
        self.ids_by_field: dict[str, dict[Value, int]] = {}

    def assign_id(self, name: str, value: Value, max_id: int | None = None) -> int:
        """Return the id of a value; a new value gets the next free id."""
        ids = self.ids_by_field.setdefault(name, {})
        if value not in ids:
            check_id_fits(name, len(ids) + 1, max_id)
            self.values_by_field.setdefault(name, []).append(value)
            ids[value] = len(ids) + 1
        return ids[value]

    def find_id(self, name: str, value: Value) -> int | None:
        return self.ids_by_field.get(name, {}).get(value)

    def count_ids(self, name: str) -> int:
        return len(self.ids_by_field.get(name, ()))

    def is_subset_of(self, other: Dictionary) -> bool:
        """Return whether all values that have ids here have ids in another dictionary."""
        return all(
            other.find_id(name, value) is not None
            for name, values in self.values_by_field.items()
            for value in values
        )

    def find_value(self, name: str, number: int) -> Value:
        values = self.values_by_field.get(name, [])
        if not 1 <= number <= len(values):
            raise InvalidArgument(
                name,
                f"the dictionary of code({name}) has no value with the id {number}",
                f"an id from 1 to {len(values)}" if values else "",
                "Decode keys with the dictionary that encoded them.",
            )
        return values[number - 1]


DICTIONARY_FIELD = "\0ids"
"""The key of a tentative dictionary among a row's values; no field can have this name."""


class TentativeDictionary(Dictionary):
    """A dictionary that assigns no ids: rows are encoded with it before their values get ids.

    A value without an id has the id that it would get if no other client assigned one meanwhile.

    Args:
        base: the dictionary that knows the ids; it is asked at most once for ids of other clients.
    """

    def __init__(self, base: Dictionary) -> None:
        self.base = base
        self.pending_ids: dict[str, dict[Value, int]] = {}
        """The values without an id, by field, each with the id that it would get."""
        self.max_ids: dict[str, int] = {}
        """The highest id that fits, by field."""
        self._has_refreshed = False

    def assign_id(self, name: str, value: Value, max_id: int | None = None) -> int:
        """Return the id of a value; a new value gets a pending id."""
        number = self.base.find_cached_id(name, value)
        if number is not None:
            return number
        number = self.find_id(name, value) or self.count_ids(name) + 1
        if self.base.find_cached_id(name, value) is None:
            check_id_fits(name, number, max_id)
            self.pending_ids.setdefault(name, {})[value] = number
            if max_id is not None:
                self.max_ids[name] = min(max_id, self.max_ids.get(name, max_id))
        return number

    def commit_ids(self) -> bool:
        """Assign the pending ids, all at once, and return whether there were any.

        Raises:
            RowError: other clients assigned ids meanwhile, and these ids no longer fit.
        """
        if self.pending_ids:
            self.base.assign_ids(self.pending_ids, self.max_ids)
        return bool(self.pending_ids)

    def find_id(self, name: str, value: Value) -> int | None:
        number = self.find_cached_id(name, value)
        if number is None and not self._has_refreshed:
            self._has_refreshed = True
            number = self.base.find_id(name, value)
        return number

    def find_cached_id(self, name: str, value: Value) -> int | None:
        """Return the known or pending id of a value; None if it has none."""
        return self.base.find_cached_id(name, value) or self.pending_ids.get(name, {}).get(value)

    def count_ids(self, name: str) -> int:
        """Return the count of a field's known and pending ids."""
        return self.base.count_ids(name) + len(self.pending_ids.get(name, ()))

    def find_value(self, name: str, number: int) -> Value:
        return self.base.find_value(name, number)


def assign_row_ids(
    encode: Callable[[Row], bytes],
    rows: Iterable[Row],
    names: Sequence[str],
    dictionary: Dictionary,
) -> None:
    """Assign ids to all values of `code` in some rows, all at once.

    Args:
        encode: returns the key of a row.
        rows: the rows; those that cannot be encoded are skipped.
        names: the fields that the key stores as ids.
        dictionary: assigns the ids.

    Raises:
        RowError: other clients assigned ids meanwhile, and these ids no longer fit.

    Cost: 0.5 µs for a row with known ids, an encoding for any other row.
    """
    pending, find_cached_id = TentativeDictionary(dictionary), dictionary.find_cached_id
    for row in rows:
        with suppress(RowError, KeyError, TypeError):  # the error is raised when the row is put
            if any(find_cached_id(name, row[name]) is None for name in names):
                row_dictionary = TentativeDictionary(pending)
                encode({**row, DICTIONARY_FIELD: row_dictionary})
                row_dictionary.commit_ids()
    pending.commit_ids()


class ExampleDictionary(FirstSeenDictionary):
    """Ids for example values of reads: a value that is asked for has one, as if rows held it."""

    def find_id(self, name: str, value: Value) -> int | None:
        """Return the id of a value; a new value gets the next free id."""
        return self.assign_id(name, value)
