"""The values of the parameters of declared reads, taken from a sample of the rows."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from rowkey.keys import ColumnBatch
    from rowkey.plan import DeclaredRead
    from rowkey.schema import Condition
    from rowkey.simulate.ranked_rows import RankedRows

    Row = Mapping[str, Any]

TRIALS_PER_READ = 100
"""Trials of each read."""
DEFAULT_RANGE_SHARE = 0.01
"""Share of its field's values that a range covers where no `span` was declared; said in
`assumption`."""


class TrialValues:
    """The values of a read's parameters in each of its trials.

    Each trial takes them from one sampled row. The rows are sorted by how many rows have the same
    values in the fields that the read gives, and divided into as many equal parts as there are
    trials; of each part a row is taken that has as many such rows as the mean one. So each value,
    and each size of answer, has its share of the trials, however uneven or periodic the sample is.

    Args:
        read: the read.
        columns: the sampled rows, in the order of their arrival.
        ranked_rows: the same rows, to find values in them.

    Raises:
        ReadError: no row of the sample has a value in all fields that its conditions test.
    """

    def __init__(self, read: DeclaredRead, columns: ColumnBatch, ranked_rows: RankedRows) -> None:
        self._read = read
        self._columns = columns
        self._ranked_rows = ranked_rows
        self._lists = _ListFiller(read, columns)
        self.row_numbers = self._find_able_rows()
        """The rows whose values are asked for, each as often as the others."""
        self._rows = self._choose_rows()
        self._parameter_ends = _list_parameter_ends(read)
        self.assumption = ""
        """What was assumed to choose the values, or an empty string."""

    def choose_values(self, trial: int) -> tuple[dict[int | str, Any], list[int]]:
        """Return the value of each parameter in a trial, and the rows that they are from.

        The first of them is the row that was chosen for the trial.

        Args:
            trial: its number, below `TRIALS_PER_READ`.
        """
        number, row = self._rows[trial]
        values: dict[int | str, Any] = {}
        for condition in self._read.conditions:
            for place, operand in enumerate(condition.operands):
                if not isinstance(operand, Parameter):
                    continue
                value: Any = row.get(condition.field)
                if condition.operator == "starts":
                    value = value[:2]
                elif condition.operator not in ("=", "in"):
                    low, high = self._place_range(condition.field, value)
                    value = low if _is_low_end(condition, place) else high
                values[operand.name] = value
        return values, self._lists.fill_lists(values, row, number)

    def _find_able_rows(self) -> np.ndarray[Any, Any]:
        """Return the rows that have a value in all fields that the read's conditions test."""
        import numpy as np

        read = self._read
        is_able = np.ones(len(self._columns), np.bool_)
        for test in read.conditions:
            missing = self._columns.find_nulls(test.field)
            if test.operator not in ("=", "in") and missing is not None:
                is_able &= ~missing
        able = np.flatnonzero(is_able)
        if not len(able):
            what = "no row of the sample has a value in all fields that its conditions test"
            remedy = "Give a sample with rows that this read can find."
            raise ReadError(f"read {read.name}", what, remedy=remedy)
        return able

    def _choose_rows(self) -> list[tuple[int, Row]]:
        """Choose sampled rows whose values become the parameters of the trials."""
        import numpy as np

        able = self.row_numbers
        given = [one.field for one in self._read.conditions if one.operator in ("=", "in")]
        groups = self._ranked_rows.number_groups(given)[able]
        sizes = np.bincount(groups)
        order = np.lexsort((groups, sizes[groups]))
        numbers = able[order[_find_mean_places(sizes[groups][order])]]
        rows = self._columns.take(numbers).iterate_rows(list(self._read.tested_fields))
        return list(zip(numbers.tolist(), rows, strict=True))

    def _place_range(self, name: str, value: Any) -> tuple[Any, Any]:
        """Return the ends of a range over a field, of which one or both are parameters.

        It begins at a value of the sample, or so much earlier that it ends within the sample. A
        read of all after a time is of the latest, if it declares a `span`.

        Args:
            name: the field.
            value: its value in a sampled row.
        """
        read, kind = self._read, self._read.fields[name].type
        has_high = "high" in self._parameter_ends[name]
        if not kind.has_integer_form:
            return value, self._choose_end(name, value) if has_high else value
        start, length = kind.to_internal(value), read.get_span(name)
        if not has_high and length is None:
            return value, value
        least, greatest = self._ranked_rows.find_extremes(name)
        if length is None:
            length = max(int((greatest - least) * DEFAULT_RANGE_SHARE), 1)
            self.assumption = (
                f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its span; declare `span` "
                "to change that"
            )
        if not has_high:
            start = max(greatest - length, least)
        elif "low" in self._parameter_ends[name]:
            start = max(min(start, greatest - length), least)
        stop = min(start + length, kind.number_range[1])
        return kind.from_internal(start), kind.from_internal(stop)

    def _choose_end(self, name: str, value: Any) -> Any:
        """Return the end of a range over values that are no numbers."""
        kind = self._read.fields[name].type
        self.assumption = f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its values"
        return kind.from_internal(
            self._ranked_rows.find_value_beyond(name, kind.to_internal(value), DEFAULT_RANGE_SHARE)
        )


def _find_mean_places(sizes: np.ndarray[Any, Any]) -> list[int]:
    """Return the place of a row of about the mean size in each of as many parts as trials.

    Args:
        sizes: of the rows, ascending.
    """
    places = []
    for trial in range(TRIALS_PER_READ):
        start = len(sizes) * trial // TRIALS_PER_READ
        stop = max(len(sizes) * (trial + 1) // TRIALS_PER_READ, start + 1)
        part = sizes[start:stop]
        nearest = part[abs(part - part.mean()).argmin()]
        first, end = part.searchsorted(nearest), part.searchsorted(nearest, "right")
        places.append(start + int(first + end - 1) // 2)
    return places


def _list_parameter_ends(read: DeclaredRead) -> dict[str, set[str]]:
    """Return which ends of the range over each field are parameters: `low`, `high`."""
    ends: dict[str, set[str]] = {}
    for condition in read.conditions:
        for place, operand in enumerate(condition.operands):
            if isinstance(operand, Parameter):
                end = "low" if _is_low_end(condition, place) else "high"
                ends.setdefault(condition.field, set()).add(end)
    return ends


def _is_low_end(condition: Condition, place: int) -> bool:
    """Return whether an operand of a range is its low end.

    Args:
        condition: a condition with <, <=, >, >= or between.
        place: of the operand among those of the condition.
    """
    return condition.operator in (">", ">=") or (condition.operator == "between" and place == 0)


class _ListFiller:
    """Chooses values for the `in` lists of a read, such as three different hosts.

    Args:
        read: the read.
        columns: rows to take values from.
    """

    def __init__(self, read: DeclaredRead, columns: ColumnBatch) -> None:
        self._columns = columns
        self._list_parameters = {
            test.field: [one.name for one in test.operands if isinstance(one, Parameter)]
            for test in read.conditions
            if test.operator == "in"
        }
        self._equal_fields = [test.field for test in read.conditions if test.operator == "="]
        self._groups_by_field: dict[tuple[str, bool], dict[Any, dict[Any, int]]] = {}

    def fill_lists(self, values: dict[int | str, Any], row: Row, number: int) -> list[int]:
        """Fill the rest of each `in` list with values of other rows.

        They are from rows with the same values in the read's equality conditions, if there are any.

        Args:
            values: the values of the read's parameters, from one row.
            row: that row.
            number: its number.

        Returns:
            The rows that the values are from, that row first.
        """
        row_numbers = {number: None}
        for field, names in self._list_parameters.items():
            rows_by_value = {row[field]: number} if names else {}
            for is_alike in (True, False):
                others = self._list_other_values(field, row, is_alike=is_alike)
                lacking = len(names) - len(rows_by_value)
                new = ((value, one) for value, one in others if value not in rows_by_value)
                rows_by_value |= dict(islice(new, lacking)) if lacking > 0 else {}
            values.update(zip(names, rows_by_value, strict=False))
            row_numbers |= dict.fromkeys(rows_by_value.values())
        return list(row_numbers)

    def _list_other_values(
        self, field: str, row: Row, *, is_alike: bool
    ) -> Iterator[tuple[Any, int]]:
        """Yield other values of a field, those seen with the row's prefix first.

        Args:
            field: the field.
            row: the row.
            is_alike: whether of rows that agree with it alone; else of all.
        """
        equal = [name for name in self._equal_fields if name != field] if is_alike else []
        if (field, is_alike) not in self._groups_by_field:
            self._groups_by_field[field, is_alike] = self._group_values(field, equal)
        group = self._groups_by_field[field, is_alike][tuple(row[name] for name in equal)]
        seen = list(group)
        first = seen.index(row[field]) if row[field] is not None else 0
        yield from ((value, group[value]) for value in (*seen[first:], *seen[:first]))

    def _group_values(self, field: str, group_fields: Sequence[str]) -> dict[Any, dict[Any, int]]:
        """Return the values of a field and their first rows, grouped by other fields."""
        groups: dict[Any, dict[Any, int]] = {}
        for number, row in enumerate(self._columns.iterate_rows([*group_fields, field])):
            group = groups.setdefault(tuple(row[name] for name in group_fields), {})
            if row[field] is not None:
                group.setdefault(row[field], number)
        return groups
