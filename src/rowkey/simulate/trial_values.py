"""The values of the parameters of declared reads, taken from a sample of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.schema import Bounds, Condition, Parameter
from rowkey.simulate.row_demand import RowDemand

if TYPE_CHECKING:
    from rowkey.keys import ColumnBatch
    from rowkey.plan import DeclaredRead
    from rowkey.simulate.ranked_rows import RankedRows

    Row = Mapping[str, Any]

TRIALS_PER_READ = 100
"""Trials of each read."""
TRIAL_CHANCES = [
    (71 * number % TRIALS_PER_READ + 0.5) / TRIALS_PER_READ for number in range(TRIALS_PER_READ)
]
"""For each trial, the share of the answers with rows that are not older. Trials come by their
values: those of one value, or every part of them, have ages that are spread."""
MAX_SHARE_BEYOND = 0.05
"""Share of the declared ages above those of all rows from which it is told."""
MIN_FITTING_SHARE = 0.1
"""Share of the rows at which a time of a read's length may begin, from which on only these are
taken."""
DEFAULT_RANGE_SHARE = 0.01
"""Share of its field's values that a range covers where no `span` was declared; said in
`assumption`."""


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """What one trial of a read asks for, whatever the key.

    Args:
        bounds: what it asks of each field.
        source_events: the sampled events that its values are from; the first decided the others.
        matching_events: the sampled events that it asks for, ascending.
    """

    bounds: Bounds
    source_events: list[int]
    matching_events: np.ndarray[Any, Any]


class TrialValues:
    """The values of a read's parameters in each of its trials.

    Each trial takes them from one sampled row, which `RowDemand` chooses so that each value has its
    share of the trials. The read's `age` replaces the time of that row, which is independent of its
    other values: ages are taken at equal steps, in an order of which every part is spread.

    Args:
        ranked_rows: the sampled rows, in the order of their arrival.
        has_later_times: whether the table keeps events of a longer time than the sample has.
        extremes: the ends of the fields of which a few outliers do not count.

    Raises:
        ReadError: no row of the sample has a value in all fields that its conditions test.
    """

    def __init__(
        self,
        read: DeclaredRead,
        ranked_rows: RankedRows,
        *,
        has_later_times: bool = False,
        extremes: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        columns = ranked_rows.columns
        self._read = read
        self._extremes = extremes or {}
        self._ranked_rows = ranked_rows
        self._lists = _ListFiller(read, columns)
        self.demand = RowDemand(read, columns, ranked_rows)
        """How often the values of each row are asked for."""
        self._parameter_ends = _list_parameter_ends(read)
        self.row_numbers, self.weights = self.demand.choose_rows(
            TRIALS_PER_READ, self._find_fitting_rows(columns) if has_later_times else None
        )
        """The row of each trial, and for how many answers each stands, 1 in the mean."""
        rows = columns.take(self.row_numbers).iterate_rows(list(read.tested_fields))
        self._rows = list(rows)
        self._questions: dict[int, TrialQuestion] = {}
        self.assumption = ""
        """What was assumed to choose the values, or an empty string."""
        self.age_assumption = ""
        """What was assumed because the sample has no rows of a declared age, or empty."""

    def get_question(self, trial: int) -> TrialQuestion:
        """Return what a trial asks for, found on first use.

        Args:
            trial: its number, below `TRIALS_PER_READ`.
        """
        if trial not in self._questions:
            values, source_events = self.choose_values(trial)
            bounds = self._read.build_bounds(values)
            matching = self._ranked_rows.find_rows(bounds).astype(np.int32)
            self._questions[trial] = TrialQuestion(bounds, source_events, matching)
        return self._questions[trial]

    def choose_values(self, trial: int) -> tuple[dict[int | str, Any], list[int]]:
        """Return the value of each parameter in a trial, and the rows that they are from.

        The first of them is the row that was chosen for the trial.

        Args:
            trial: its number, below `TRIALS_PER_READ`.
        """
        number, row = int(self.row_numbers[trial]), self._rows[trial]
        values: dict[int | str, Any] = {}
        for condition in self._read.conditions:
            for place, operand in enumerate(condition.operands):
                if not isinstance(operand, Parameter):
                    continue
                value: Any = row.get(condition.field)
                if condition.operator == "starts":
                    value = value[:2]
                elif condition.operator not in ("=", "in"):
                    low, high = self._place_range(condition.field, value, trial)
                    value = low if _is_low_end(condition, place) else high
                values[operand.name] = value
        return values, self._lists.fill_lists(values, row, number)

    def find_starts(self, name: str, chances: Sequence[float]) -> np.ndarray[Any, Any]:
        """Return where ranges over a time field begin by the read's age, as internal values.

        Args:
            chances: for each range the share of the ranges that are later, from 0 to 1.
        """
        age = self._read.age
        assert age is not None
        least, greatest = self._find_extremes(name)
        latest = max(greatest - self._find_length(name), least)
        unit_ns = self._read.fields[name].type.unit_ns
        assert unit_ns is not None
        beyond = age.compute_share_beyond(latest - least, unit_ns)
        if beyond > MAX_SHARE_BEYOND:
            self.age_assumption = (
                f"{beyond:.0%} of the ages {age} lie before the oldest row of the sample; the "
                "younger ones are asked for more often instead; a longer sample has the older ones"
            )
        starts: np.ndarray[Any, Any] = latest - age.compute_ages(
            np.asarray(chances), latest - least, unit_ns
        )
        return starts

    def _find_fitting_rows(self, columns: ColumnBatch) -> np.ndarray[Any, Any] | None:
        """Return from which rows on the read's times lie within the sample; None if from any.

        A range that is moved to end with the sample has rows before its row as well, which is more
        than it finds in a table that goes on.
        """
        read, fitting = self._read, None
        if read.age is not None:
            return None
        for name, ends in self._parameter_ends.items():
            kind, length = read.fields[name].type, read.get_span(name)
            if kind.unit_ns is None or length is None or ends != {"low", "high"}:
                continue
            _, greatest = self._find_extremes(name)
            fits = columns.find_values(name) <= greatest - length
            if fits.mean() >= MIN_FITTING_SHARE:
                fitting = fits if fitting is None else fitting & fits
        return fitting

    def _find_extremes(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of a field, without outliers.

        A range that ends with a clock that was wrong would reach beyond what was recorded.
        """
        least, greatest = self._ranked_rows.find_extremes(name)
        first, last = self._extremes.get(name, (least, greatest))
        return max(least, first), min(greatest, last)

    def _find_length(self, name: str) -> int:
        """Return how long a range over a field is, in its units; assumed if it is not declared."""
        length = self._read.get_span(name)
        if length is not None:
            return length
        least, greatest = self._find_extremes(name)
        self.assumption = (
            f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its span; declare `span` "
            "to change that"
        )
        return max(int((greatest - least) * DEFAULT_RANGE_SHARE), 1)

    def _place_range(self, name: str, value: Any, trial: int) -> tuple[Any, Any]:
        """Return the ends of a range over a field, of which one or both are parameters.

        It begins at a value of the sample, or so much earlier that it ends within the sample. A
        read of all after a time is of the latest, if it declares a `span`. With an `age`, the range
        begins its span and that age before the newest row, and not before the oldest.

        Args:
            value: its value in the trial's row.
            trial: the number of the trial.
        """
        read, kind = self._read, self._read.fields[name].type
        has_high = "high" in self._parameter_ends[name]
        if not kind.has_integer_form:
            return value, self._choose_end(name, value) if has_high else value
        if read.age is not None and kind.unit_ns is not None:
            start = int(self.find_starts(name, TRIAL_CHANCES[trial : trial + 1])[0])
        elif not has_high and read.get_span(name) is None:
            return value, value
        else:
            least, greatest = self._find_extremes(name)
            start, latest = kind.to_internal(value), max(greatest - self._find_length(name), least)
            if not has_high:
                start = latest
            elif "low" in self._parameter_ends[name]:
                start = max(min(start, latest), least)
        stop = min(start + self._find_length(name), kind.number_range[1])
        return kind.from_internal(start), kind.from_internal(stop)

    def _choose_end(self, name: str, value: Any) -> Any:
        """Return the end of a range over values that are no numbers."""
        kind = self._read.fields[name].type
        self.assumption = f"a range over {name} covers {DEFAULT_RANGE_SHARE:.0%} of its values"
        return kind.from_internal(
            self._ranked_rows.find_value_beyond(name, kind.to_internal(value), DEFAULT_RANGE_SHARE)
        )


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
