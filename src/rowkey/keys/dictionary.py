"""Numbers for values: what `code` writes in place of a long value, and who gives the numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rowkey.errors import Refused

if TYPE_CHECKING:
    from rowkey.schema import Value


class Dictionary(ABC):
    """Gives ids to values and values to ids, one numbering for each field."""

    is_whole: bool = False
    """Whether a value without an id was never stored, so that no row has it."""

    @abstractmethod
    def id_of(self, name: str, value: Value) -> int:
        """The id of a field's value, from 1.

        Raises:
            RowError: the dictionary is closed and has none.
        """

    @abstractmethod
    def known_id(self, name: str, value: Value) -> int | None:
        """The id of a field's value if it has one; none is given."""

    @abstractmethod
    def value_of(self, name: str, number: int) -> Value:
        """The value of an id.

        Raises:
            Refused: no value has it.
        """


class FirstAppearance(Dictionary):
    """Ids in the order in which values are first stored: what judging uses."""

    def __init__(self) -> None:
        self.values: dict[str, list[Value]] = {}
        self.ids: dict[str, dict[Value, int]] = {}

    def id_of(self, name: str, value: Value) -> int:
        ids = self.ids.setdefault(name, {})
        if value not in ids:
            self.values.setdefault(name, []).append(value)
            ids[value] = len(ids) + 1
        return ids[value]

    def known_id(self, name: str, value: Value) -> int | None:
        return self.ids.get(name, {}).get(value)

    def value_of(self, name: str, number: int) -> Value:
        values = self.values.get(name, [])
        if not 1 <= number <= len(values):
            raise Refused("", f"no value of {name} has the id {number}", f"1..{len(values)}")
        return values[number - 1]


IDS = "\0ids"
"""Where the dictionary that a row is tried with stands among its values; no field has this name."""


class Trial(Dictionary):
    """A dictionary that gives no ids: rows are tried with it before their values get any.

    Args:
        base: the dictionary whose ids are known.
    """

    def __init__(self, base: Dictionary) -> None:
        self.base = base
        self.lacks = False
        """Whether a value was asked for that has no id yet."""

    def id_of(self, name: str, value: Value) -> int:
        number = self.base.known_id(name, value)
        self.lacks |= number is None
        return number or 1

    def known_id(self, name: str, value: Value) -> int | None:
        return self.base.known_id(name, value)

    def value_of(self, name: str, number: int) -> Value:
        return self.base.value_of(name, number)
