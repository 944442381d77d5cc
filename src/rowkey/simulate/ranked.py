"""Rows that are asked many questions: of each field the different values, in the order of its type.

A residual tests one row, or one batch, once. A simulation asks the same rows hundreds of times, so
that what a condition says is found among the different values, and rows look it up by number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rowkey.keys import Columns
    from rowkey.plan import Plan, Residual
    from rowkey.schema import Bound

    Mask = np.ndarray[Any, np.dtype[np.bool_]]


class Ranked:
    """Rows whose fields are tested together; true is what `Residual` says of each by itself.

    Args:
        columns: the fields of the rows.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._fields: dict[str, _Ranks] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def mask(self, residual: Residual) -> Mask:
        """Which rows meet all conditions of a residual.

        Cost: 1 ns a row and condition, once the values of the field are sorted, which takes 1 µs a
        row; 60 ns a different value for `starts with`.
        """
        import numpy as np

        found = np.ones(len(self), np.bool_)
        for name, bound in residual.bounds.items():
            found &= self._ranks(name).mask(bound)
        return found

    def ends(self, name: str) -> tuple[Any, Any]:
        """The least and the greatest held value of a field that some row has."""
        held = self._ranks(name).held
        return held[0], held[-1]

    def beyond(self, name: str, held: Any, share: float) -> Any:
        """The held value so many of a field's different values behind another, or the greatest.

        Args:
            name: the field.
            held: one of its values.
            share: of all different values, at least one.
        """
        values = self._ranks(name).held
        place = bisect_right(values, held) - 1 + max(int(len(values) * share), 1)
        return values[min(place, len(values) - 1)]

    def _ranks(self, name: str) -> _Ranks:
        if name not in self._fields:
            self._fields[name] = _Ranks(self._columns, name)
        return self._fields[name]


class _Ranks:
    """One field of the rows: its different values, ascending, and which of them each row has.

    Args:
        columns: the fields of the rows.
        name: the field.
    """

    def __init__(self, columns: Columns, name: str) -> None:
        import numpy as np

        column, kind = columns.columns[name], columns.columns[name].declared.type
        codes, held = column.codes, column.values
        if codes is not None:  # of its values some may be of no row
            used = np.unique(codes)
            codes, held = np.searchsorted(used, codes), kind.taken(held, used[used >= 0])
            codes = codes - int(len(used) > 0 and used[0] < 0)
        self._hold = kind.hold
        listed = kind.listed(held)
        self.values = sorted(set(listed), key=self._hold)
        self.held = list(map(self._hold, self.values))
        self.places = {value: place for place, value in enumerate(self.values)}
        places = np.fromiter(map(self.places.__getitem__, listed), np.intp, len(listed))
        if codes is not None:
            places = np.append(places, len(self.values))[codes]  # the code of a null is -1
        self.rows = places

    def mask(self, bound: Bound) -> Mask:
        """Which rows have a value that satisfies a bound."""
        import numpy as np

        table = np.zeros(len(self.values) + 1, np.bool_)  # a null stands behind the last value
        table[self._meeting(bound)] = True
        found: Mask = table[self.rows]
        return found

    def _meeting(self, bound: Bound) -> Any:
        """The places of the values that satisfy a bound: a slice, or a list."""
        match bound:
            case Equal(value):
                return self._among((value,))
            case OneOf(values):
                return self._among(values)
            case StartsWith(prefix):
                begins = (place for place, v in enumerate(self.values) if v.startswith(prefix))
                return list(begins)
        assert isinstance(bound, Range)
        return self._within(bound)

    def _among(self, values: Any) -> list[int]:
        """The places of listed values, as far as any row has them."""
        known = [self.places.get(value) for value in values if value is not None]
        found = [place for place in known if place is not None]
        return [*found, len(self.values)] if None in values else found

    def _within(self, bound: Range) -> slice:
        """The places of the values between two ends."""
        first, last = 0, len(self.values)
        if bound.low is not None:
            from_low = bisect_left if bound.with_low else bisect_right
            first = from_low(self.held, self._hold(bound.low))
        if bound.high is not None:
            to_high = bisect_right if bound.with_high else bisect_left
            last = to_high(self.held, self._hold(bound.high))
        return slice(first, max(first, last))


def looked_over(
    found: Sequence[tuple[int, int]], reached: Sequence[int | None], *, is_backwards: bool
) -> int:
    """How many rows of some ranges are looked at up to the last one of each."""
    ends = zip(found, reached, strict=True)
    if is_backwards:
        return sum(stop - at for (_, stop), at in ends if at is not None)
    return sum(at + 1 - start for (start, _), at in ends if at is not None)


def reached_by(
    plan: Plan,
    keys: Sequence[bytes],
    found: Sequence[tuple[int, int]],
    fitting: Mask,
    wanted: int,
) -> list[int | None]:
    """The last row of each range that is looked at until enough rows were taken.

    Ranges are merged by what follows their prefixes: of each the first row is looked at, and then
    the next one each time a row of it was passed.

    Args:
        plan: how the rows are read.
        keys: the rows, ascending.
        found: where each range begins and stops among them.
        fitting: which rows are taken, the others are passed over.
        wanted: rows to take; those of the ranges that are taken are as many or more.

    Returns:
        A place among the keys for each range; None of a range without a row.
    """
    import numpy as np

    taken = []
    for number, (start, stop) in enumerate(found):
        mine = start + np.flatnonzero(fitting[start:stop])
        first = mine[-wanted:] if plan.is_backwards else mine[:wanted]
        skipped = len(plan.ranges[number].prefix)
        taken += [(keys[at][skipped:], number) for at in first.tolist()]
    taken.sort(reverse=plan.is_backwards)
    last, of = taken[wanted - 1]
    return [
        _looked_at(keys, stretch, one.prefix + last, number - of, is_backwards=plan.is_backwards)
        for number, (one, stretch) in enumerate(zip(plan.ranges, found, strict=True))
    ]


def _looked_at(
    keys: Sequence[bytes], found: tuple[int, int], key: bytes, turn: int, *, is_backwards: bool
) -> int | None:
    """The last row of one range that is looked at when a merge stops.

    Args:
        keys: the rows, ascending.
        found: where the range begins and stops among them.
        key: the last row that was taken, with the prefix of this range.
        turn: of equal rows those of lower ranges come first, or last if it goes backwards: the
            number of this range less that of the range whose row was taken.
        is_backwards: whether the ranges are read from their ends.
    """
    start, stop = found
    if start == stop:
        return None
    if turn == 0:
        return bisect_left(keys, key, start, stop)
    # All rows of the range that come before the one that was taken are passed; then one is seen.
    passed = bisect_right if turn < 0 else bisect_left
    at = passed(keys, key, start, stop)
    return max(at - 1, start) if is_backwards else min(at, stop - 1)
