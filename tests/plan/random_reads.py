"""Random reads with conditions and values, and a plain check of each condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from plan.random_keys import FIELDS, VALUES_BY_FIELD, normalize_row, orders, to_comparable
from rowkey.schema import Condition, Parameter

if TYPE_CHECKING:
    from rowkey.keys import Key
    from rowkey.schema import Ordering

Row = dict[str, Any]
PREFIX_OPERATORS = ("starts",)
COMPARISON_OPERATORS = ("<", "<=", ">", ">=", "between")
EQUALITY_OPERATORS = ("=", "=", "in", "in")
MINIMUM_BY_NULLABLE_FIELD: dict[str, Any] = {"note": "", "level": 0}
"""The smallest value of each field that may be null."""


class RandomRead:
    """A read with conditions, values and an order.

    Args:
        tests: field, operator and values of each condition; `in` has one list.
        order: the order of the rows.
    """

    def __init__(
        self, tests: list[tuple[str, str, list[Any]]], order: tuple[Ordering, ...]
    ) -> None:
        self.tests = tests
        self.order = order
        self.values: list[Any] = []
        self.conditions: list[Condition] = []
        for name, operator, given in tests:
            first = len(self.values)
            self.values += given
            operands = tuple(Parameter(first + place) for place in range(len(given)))
            self.conditions.append(Condition(name, operator, operands))

    @property
    def where(self) -> str:
        """The conditions as text."""
        return " and ".join(map(str, self.conditions))

    def __repr__(self) -> str:
        return f"{self.where!r} of {self.values} by {[str(one) for one in self.order]}"

    def matches_row(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row satisfies every condition."""
        return all(
            _satisfies_condition(name, row[name], operator, given)
            for name, operator, given in self.tests
        )

    def sort_rows(self, rows: Iterable[Row]) -> list[Row]:
        """Sort rows in the order of the read, nulls first in both directions."""
        return sorted(rows, key=cmp_to_key(self.compare_rows))

    def compare_rows(self, one: Row, other: Row) -> int:
        """Compare two rows in the order of the read: below 0, 0 or above 0."""
        for ordering in self.order:
            mine, yours = (
                to_comparable(ordering.field, row[ordering.field]) for row in (one, other)
            )
            if mine == yours:
                continue
            if mine is None or yours is None:
                return -1 if mine is None else 1
            return (-1 if mine < yours else 1) * (-1 if ordering.descending else 1)
        return 0


def _satisfies_condition(name: str, value: Any, operator: str, given: list[Any]) -> bool:
    """Return whether a value satisfies one condition."""
    if operator == "=":
        return bool(value == given[0])
    if operator == "in":
        return value in given[0]
    if value is None:
        return False
    mine, (first, *others) = to_comparable(name, value), [to_comparable(name, one) for one in given]
    if operator == "starts":
        return bool(mine.startswith(first))
    low = first if operator in (">", ">=", "between") else None
    high = others[0] if others else first if operator in ("<", "<=") else None
    above = low is None or mine > low or (mine == low and operator != ">")
    below = high is None or mine < high or (mine == high and operator != "<")
    return bool(above and below)


@st.composite
def random_reads(draw: st.DrawFn, key: Key) -> RandomRead:
    """Draw a read of up to three fields, mostly of the key, some with two conditions."""
    of_key = st.sampled_from([*key.fields] or ["n"])
    any_field = of_key | of_key | st.sampled_from(sorted(FIELDS))
    least = draw(st.sampled_from((0, 1, 1, 2)))
    names = draw(st.lists(any_field, min_size=least, max_size=3).map(dict.fromkeys).map(list))
    tests = [test for name in names for test in draw(_conditions(key, name))]
    return RandomRead(tests, draw(orders(key)))


@st.composite
def _conditions(draw: st.DrawFn, key: Key, name: str) -> list[tuple[str, str, list[Any]]]:
    """Draw one or two conditions on a field, never a prefix together with a comparison."""
    field = key.declared_fields[name]
    value = VALUES_BY_FIELD[name].map(lambda given: normalize_row(key, {name: given})[name])
    present = value.map(
        lambda given: MINIMUM_BY_NULLABLE_FIELD.get(name) if given is None else given
    )
    sort = draw(
        st.sampled_from(
            [
                EQUALITY_OPERATORS,
                COMPARISON_OPERATORS,
                *([PREFIX_OPERATORS] * field.type.is_sequence),
            ]
        )
    )
    found: list[tuple[str, str, list[Any]]] = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        operator = draw(st.sampled_from(sort if not found else (*sort, "=")))
        if operator == "in":
            found.append((name, operator, [draw(st.lists(value, min_size=1, max_size=4))]))
        else:
            kind = value if operator == "=" else present
            given = [draw(kind) for _ in range(2 if operator == "between" else 1)]
            found.append((name, operator, given))
    return found
