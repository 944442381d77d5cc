"""Numbers for values: what `code` writes in place of a long value, and who gives the numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from rowkey.errors import Refused, RowError
from rowkey.keys.traits import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from rowkey.keys.contract import Part
    from rowkey.schema import Value

    Row = Mapping[str, Any]


class Dictionary(ABC):
    """Gives ids to values and values to ids, one numbering for each field."""

    is_whole: bool = False
    """Whether a value without an id was never stored, so that no row has it."""

    @abstractmethod
    def id_of(self, name: str, value: Value, most: int | None = None) -> int:
        """The id of a field's value, from 1; a value without one gets the next.

        Args:
            name: the field.
            value: in normal form.
            most: the highest id that may be given, or None for any.

        Raises:
            RowError: the next id would be above `most`, and is not given; or the dictionary is
                closed and has none.
        """

    def learn(
        self, wanted: Mapping[str, Iterable[Value]], most: Mapping[str, int] | None = None
    ) -> None:
        """Give ids to those values that have none, in their order; the default one by one.

        Args:
            wanted: some values of each field, in normal form.
            most: the highest id that each field may have; any where none is named.

        Raises:
            RowError: as `id_of`.
        """
        for name, values in wanted.items():
            for value in values:
                self.id_of(name, value, (most or {}).get(name))

    @abstractmethod
    def known_id(self, name: str, value: Value) -> int | None:
        """The id of a field's value if it has one; none is given."""

    def peek(self, name: str, value: Value) -> int | None:
        """The same as far as it is known here: nobody is asked, so that others may know more."""
        return self.known_id(name, value)

    @abstractmethod
    def count(self, name: str) -> int:
        """How many ids of a field are known here: the highest of them."""

    @abstractmethod
    def value_of(self, name: str, number: int) -> Value:
        """The value of an id.

        Raises:
            Refused: no value has it.
        """


def require_room(name: str, number: int, most: int | None) -> None:
    """Refuse an id that has no room in what is written for the field.

    Args:
        name: the field.
        number: the id.
        most: the highest that has room, or None for any.

    Raises:
        RowError: it has none.
    """
    if most is not None and number > most:
        what = f"the dictionary would have {number:,} values"
        remedy = "Declare a greater width=; stored keys must be written anew."
        raise RowError(name, what, f"at most {most:,} in {most.bit_length() // 8} bytes", remedy)


class FirstAppearance(Dictionary):
    """Ids in the order in which values are first stored: what judging uses."""

    def __init__(self) -> None:
        self.values: dict[str, list[Value]] = {}
        self.ids: dict[str, dict[Value, int]] = {}

    def id_of(self, name: str, value: Value, most: int | None = None) -> int:
        ids = self.ids.setdefault(name, {})
        if value not in ids:
            require_room(name, len(ids) + 1, most)
            self.values.setdefault(name, []).append(value)
            ids[value] = len(ids) + 1
        return ids[value]

    def known_id(self, name: str, value: Value) -> int | None:
        return self.ids.get(name, {}).get(value)

    def count(self, name: str) -> int:
        return len(self.ids.get(name, ()))

    def is_within(self, other: Dictionary) -> bool:
        """Whether all values that have ids here have some in another; none is given."""
        return all(
            other.known_id(name, value) is not None
            for name, values in self.values.items()
            for value in values
        )

    def value_of(self, name: str, number: int) -> Value:
        values = self.values.get(name, [])
        if not 1 <= number <= len(values):
            raise Refused("", f"no value of {name} has the id {number}", f"1..{len(values)}")
        return values[number - 1]


IDS = "\0ids"
"""Where the dictionary that a row is tried with stands among its values; no field has this name."""


class Trial(Dictionary):
    """A dictionary that gives no ids: rows are tried with it before their values get any.

    A value without an id has the one that it would get if nobody else were given one meanwhile.

    Args:
        base: the dictionary whose ids are known. Others are asked once for what they have given.
    """

    def __init__(self, base: Dictionary) -> None:
        self.base = base
        self.lacking: dict[str, dict[Value, int]] = {}
        """The values that were asked for and have no id yet, by field, each with its next one."""
        self.most: dict[str, int] = {}
        """The highest id that has room, by field."""
        self._has_asked = False

    def id_of(self, name: str, value: Value, most: int | None = None) -> int:
        number = self.base.peek(name, value)
        if number is not None:
            return number
        number = self.known_id(name, value) or self.count(name) + 1
        if self.base.peek(name, value) is None:
            require_room(name, number, most)
            self.lacking.setdefault(name, {})[value] = number
            if most is not None:
                self.most[name] = min(most, self.most.get(name, most))
        return number

    def settle(self) -> bool:
        """Give the values their ids, all at once; says whether there were any without.

        Raises:
            RowError: others were given ids meanwhile, and these have no room any more.
        """
        if self.lacking:
            self.base.learn(self.lacking, self.most)
        return bool(self.lacking)

    def known_id(self, name: str, value: Value) -> int | None:
        number = self.peek(name, value)
        if number is None and not self._has_asked:
            self._has_asked = True
            number = self.base.known_id(name, value)
        return number

    def peek(self, name: str, value: Value) -> int | None:
        return self.base.peek(name, value) or self.lacking.get(name, {}).get(value)

    def count(self, name: str) -> int:
        return self.base.count(name) + len(self.lacking.get(name, ()))

    def value_of(self, name: str, number: int) -> Value:
        return self.base.value_of(name, number)


def coded_fields(parts: Iterable[Part]) -> tuple[str, ...]:
    """The fields of which some parts hold ids, be it in a part that they are made of."""
    found: list[str] = []
    for part in parts:
        if part.source is Source.DICTIONARY:
            found += coded_fields(part.made_of) or part.fields
    return tuple(dict.fromkeys(found))


def learn_ids(
    written: Callable[[Row], bytes],
    rows: Iterable[Row],
    names: Sequence[str],
    dictionary: Dictionary,
) -> None:
    """Give ids to all values of `code` that some rows have, at once.

    Args:
        written: gives the key of a row.
        rows: some rows; those that have none are passed over.
        names: the fields whose ids are in the key.
        dictionary: gives the ids.

    Raises:
        RowError: others were given ids meanwhile, and these have no room any more.

    Cost: 0.5 µs a row whose values have ids already, an encoding of each other.
    """
    block, peek = Trial(dictionary), dictionary.peek
    for row in rows:
        with suppress(RowError, KeyError, TypeError):  # a row that is none tells it when it is put
            if any(peek(name, row[name]) is None for name in names):
                own = Trial(block)
                written({**row, IDS: own})
                own.settle()
    block.settle()
