"""Rows indexed by the distinct values of each field, to test many conditions on them fast.

A residual filter tests each row once. A simulation tests the same rows hundreds of times, so a
condition is evaluated on the distinct values, and rows look up the result by number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.schema import Bound, Bounds, Equal, OneOf, Range, StartsWith
from rowkey.workload import order_groups

if TYPE_CHECKING:
    from rowkey.keys import ColumnBatch
    from rowkey.plan import Plan

    Rows = np.ndarray[Any, np.dtype[np.intp]]


class RankedRows:
    """Rows with an index of each field, to test many conditions on them fast."""

    def __init__(self, columns: ColumnBatch) -> None:
        self.columns = columns
        self._ranked_columns: dict[str, RankedColumn] = {}
        self._extremes: dict[str, tuple[int, int]] = {}

    def find_rows(self, bounds: Bounds) -> Rows:
        """Return the rows within the bounds of a read, ascending.

        Args:
            bounds: what is asked of each field, in normal values.

        Cost: 2 ns for each row that has a value that is asked for, and for each row where none is;
        60 ns a different value for `starts with`. At first 1 µs a row to sort the values.
        """
        rows: Rows | None = None
        for name, bound in sorted(bounds.items(), key=lambda one: not isinstance(one[1], Equal)):
            rows = self._get_ranked_column(name).find_rows(bound, rows)
        return np.arange(len(self.columns)) if rows is None else rows

    def number_groups(self, names: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return a number for each row, in their own order; equal ones have equal values.

        Args:
            names: the fields whose values are compared.
        """
        groups = np.zeros(len(self.columns), np.intp)
        for place, name in enumerate(names):
            column = self._get_ranked_column(name)
            groups = groups * (len(column.values) + 1) + column.row_positions
            if place:  # so that the numbers stay small
                groups = np.unique(groups, return_inverse=True)[1]
        return groups

    def find_extremes(self, name: str) -> tuple[int, int]:
        """Return the smallest and the largest internal value of a field of numbers."""
        if name not in self._extremes:
            column = self.columns.columns[name]
            values = column.values
            if column.codes is not None:
                values = values[column.codes[column.codes >= 0]]
            self._extremes[name] = int(values.min()), int(values.max())
        return self._extremes[name]

    def find_value_beyond(self, name: str, internal_value: Any, share: float) -> Any:
        """Return the value that lies a share of all distinct values after another one.

        Args:
            internal_value: one of its values.
            share: of all different values, at least one.
        """
        values = self._get_ranked_column(name).internal_values
        place = bisect_right(values, internal_value) - 1 + max(int(len(values) * share), 1)
        return values[min(place, len(values) - 1)]

    def _get_ranked_column(self, name: str) -> RankedColumn:
        """Return the index of a field, built on first use."""
        if name not in self._ranked_columns:
            self._ranked_columns[name] = RankedColumn(self.columns, name)
        return self._ranked_columns[name]


class RankedColumn:
    """An index of one field: its distinct values, ascending, and the value of each row."""

    def __init__(self, columns: ColumnBatch, name: str) -> None:
        column, kind = columns.columns[name], columns.columns[name].declared_field.type
        codes, values = column.codes, column.values
        self._to_internal = kind.to_internal
        if codes is None and kind.has_integer_form:
            values, self.row_positions = np.unique(values, return_inverse=True)
            self.values, self.internal_values = kind.from_internal_batch(values), values.tolist()
            return
        if codes is not None:  # some of its values may occur in no row
            used, codes = np.unique(codes, return_inverse=True)
            values = kind.take_rows(values, used[used >= 0])
            codes = codes - int(len(used) > 0 and used[0] < 0)
        listed = kind.from_internal_batch(values)
        self.values = sorted(set(listed), key=self._to_internal)
        self.internal_values = list(map(self._to_internal, self.values))
        places = np.fromiter(map(self.positions.__getitem__, listed), np.intp, len(listed))
        if codes is not None:
            places = np.append(places, len(self.values))[codes]  # the code of a null is -1
        self.row_positions = places

    @cached_property
    def positions(self) -> dict[Any, int]:
        """Return the position of each distinct value."""
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def _rows_by_position(self) -> tuple[Rows, Rows]:
        """Return the rows in the order of their values, and where those of each value begin."""
        counts = np.bincount(self.row_positions, minlength=len(self.values) + 1)
        return order_groups(self.row_positions), np.concatenate([[0], np.cumsum(counts)])

    def find_rows(self, bound: Bound, rows: Rows | None = None) -> Rows:
        """Return the rows with a value within a bound, ascending; among some rows if given."""
        positions = self._find_positions(bound)
        if rows is None and isinstance(bound, Equal):
            order, starts = self._rows_by_position
            return (
                order[starts[positions[0]] : starts[positions[0] + 1]] if positions else order[:0]
            )
        table = np.zeros(len(self.values) + 1, np.bool_)  # null comes after the last value
        table[positions] = True
        if rows is None:
            return np.flatnonzero(table[self.row_positions])
        found: Rows = rows[table[self.row_positions[rows]]]
        return found

    def _find_positions(self, bound: Bound) -> Any:
        """Return the positions of the distinct values within a bound."""
        match bound:
            case Equal(value):
                return self._find_listed((value,))
            case OneOf(values):
                return self._find_listed(values)
            case StartsWith(prefix):
                begins = (place for place, v in enumerate(self.values) if v.startswith(prefix))
                return list(begins)
        assert isinstance(bound, Range)
        return self._find_range(bound)

    def _find_listed(self, values: Any) -> list[int]:
        """Return the positions of listed values that occur in a row."""
        known = [self.positions.get(value) for value in values if value is not None]
        found = [place for place in known if place is not None]
        return [*found, len(self.values)] if None in values else found

    def _find_range(self, bound: Range) -> slice:
        """Return the positions of the distinct values within a range."""
        first, last = 0, len(self.values)
        if bound.low is not None:
            from_low = bisect_left if bound.includes_low else bisect_right
            first = from_low(self.internal_values, self._to_internal(bound.low))
        if bound.high is not None:
            to_high = bisect_right if bound.includes_high else bisect_left
            last = to_high(self.internal_values, self._to_internal(bound.high))
        return slice(first, max(first, last))


def cut_spans(
    spans: Sequence[tuple[int, int]], last_rows: Sequence[int | None], *, is_backwards: bool
) -> list[tuple[int, int]]:
    """Return the part of each span that a read scans, up to the last row that it scans there."""
    return [
        (start, start) if at is None else (at, stop) if is_backwards else (start, at + 1)
        for (start, stop), at in zip(spans, last_rows, strict=True)
    ]


def find_last_rows(
    plan: Plan,
    keys: Sequence[bytes],
    spans: Sequence[tuple[int, int]],
    matching: np.ndarray[Any, Any],
    row_limit: int,
) -> list[int | None]:
    """Return the last row that a read with a limit scans in each of its ranges.

    Ranges are merged by the bytes after their prefixes: the first row of each range is read, and
    its next row whenever the merge has passed one.

    Args:
        plan: how the rows are read.
        keys: the rows, ascending.
        spans: the start and stop of each range, as indexes of `keys`.
        matching: the rows that match the read, ascending, all within these spans; the others are
            skipped.
        row_limit: rows to return; the ranges have at least as many matching rows.

    Returns:
        An index of `keys` for each range; None for a range without rows.
    """
    if sum(start < stop for start, stop in spans) == 1:  # nothing to merge
        last_row = int(matching[-row_limit if plan.is_backwards else row_limit - 1])
        return [last_row if start < stop else None for start, stop in spans]
    edges = np.searchsorted(matching, np.array(spans)).tolist()

    def read_range(number: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield the matching rows of a range as the merge sorts them."""
        rows, skipped = matching[slice(*edges[number])], len(plan.ranges[number].prefix)
        first_rows = rows[: -row_limit - 1 : -1] if plan.is_backwards else rows[:row_limit]
        for at in first_rows.tolist():
            yield keys[at][skipped:], number, at

    merged = merge(*map(read_range, range(len(spans))), reverse=plan.is_backwards)
    last, last_range, last_row = next(islice(merged, row_limit - 1, None))
    return [
        last_row
        if number == last_range
        else _find_last_row(
            keys, stretch, one.prefix + last, number - last_range, is_backwards=plan.is_backwards
        )
        for number, (one, stretch) in enumerate(zip(plan.ranges, spans, strict=True))
    ]


def _find_last_row(
    keys: Sequence[bytes],
    span: tuple[int, int],
    key: bytes,
    range_offset: int,
    *,
    is_backwards: bool,
) -> int | None:
    """Return the last row that a merge scans in a range before it takes its last row from another.

    Args:
        keys: the rows, ascending.
        span: where the range begins and stops among them.
        key: the last row that was taken, with the prefix of this range.
        range_offset: of equal rows those of lower ranges come first, or last if it goes backwards:
            the number of this range less that of the range whose row was taken.
        is_backwards: whether the ranges are read from their ends.
    """
    start, stop = span
    if start == stop:
        return None
    # All rows of the range that come before the one that was taken are passed; then one is seen.
    passed = bisect_right if range_offset < 0 else bisect_left
    at = passed(keys, key, start, stop)
    return max(at - 1, start) if is_backwards else min(at, stop - 1)
