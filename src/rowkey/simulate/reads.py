"""What the declared reads cost: asked of a sample of the rows, with values of that sample."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError, counted
from rowkey.plan import KeyRange, Plan, Read, Residual, plan_read
from rowkey.schema import Parameter
from rowkey.simulate.ranked import Ranked, looked_over, reached_by

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.keys import Columns
    from rowkey.regions import Boundaries

    Row = Mapping[str, Any]

TRIALS = 100
"""Times each read is asked."""
MOST_RANGES_ASKED = 1_000_000
"""Ranges over all times that a design's reads are asked: above, each is asked fewer times, at least
once. Derivation: 6 µs a range are 6 s."""
_SPREAD_TRIALS = [37 * number % TRIALS for number in range(TRIALS)]
"""The places of trials in an order of which every beginning is spread over all of them."""
DEFAULT_SHARE = 0.01
"""Share of the span of time that a range covers where no `span` was declared; said in `assumed`."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What one declared read costs, over many askings.

    Args:
        name: its name.
        fan_out: ranges read for one answer, mean and most.
        regions: regions touched, mean and most.
        returned: rows of the answer, mean.
        read: rows read for them, mean.
        residual: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the order asked for, forwards or backwards.
        assumed: what was assumed to ask it, or an empty string.
        error: why it could not be asked, or an empty string.
    """

    name: str
    fan_out: tuple[float, int] = (0.0, 0)
    regions: tuple[float, int] = (0.0, 0)
    returned: float = 0.0
    read: float = 0.0
    residual: tuple[str, ...] = ()
    is_full_scan: bool = False
    serves_order: bool = True
    assumed: str = ""
    error: str = ""

    @property
    def amplification(self) -> float | None:
        """Rows read for each row of the answer; None if answers were empty."""
        return self.read / self.returned if self.returned else None


@dataclass(frozen=True, slots=True)
class _Asking:
    """What one asking of a read costs; without its plan, whose ranges may be very many.

    Args:
        fan_out: ranges of its plan.
        residual: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the order asked for, forwards or backwards.
        regions: regions it touches.
        returned: rows of the answer.
        read: rows read for them.
    """

    fan_out: int
    residual: tuple[str, ...]
    is_full_scan: bool
    serves_order: bool
    regions: int
    returned: float
    read: float

    @classmethod
    def from_plan(cls, plan: Plan, spans: Iterable[range], returned: float, read: float) -> _Asking:
        """Return what a plan costs that touches some spans of regions."""
        serves_order = plan.serves_order or plan.serves_backwards
        regions = len({region for span in spans for region in span})
        return cls(
            plan.fan_out, plan.residual, plan.is_full_scan, serves_order, regions, returned, read
        )


class _Lists:
    """Different values for the lists of a read: `host in (?, ?, ?)` asks for three hosts.

    Args:
        read: the read.
        columns: rows to take values from.
    """

    def __init__(self, read: Read, columns: Columns) -> None:
        self._columns = columns
        self._lists = {
            test.field: [one.name for one in test.operands if isinstance(one, Parameter)]
            for test in read.conditions
            if test.operator == "in"
        }
        self._equal = [test.field for test in read.conditions if test.operator == "="]
        self._found: dict[tuple[str, bool], dict[Any, dict[Any, int]]] = {}

    def filled(self, values: dict[int | str, Any], row: Row, number: int) -> set[int]:
        """Fill the lists, whose first value is that of a row, with others.

        They are of rows that agree with it in what the read asks to be equal, as far as there are.

        Args:
            values: the values of the read's parameters, from one row.
            row: that row.
            number: its number.

        Returns:
            The rows that the values are from.
        """
        taken = {number}
        for field, names in self._lists.items():
            found = {row[field]: number} if names else {}
            for is_alike in (True, False):
                others = self._others(field, row, is_alike=is_alike)
                lacking = len(names) - len(found)
                new = ((value, one) for value, one in others if value not in found)
                found |= dict(islice(new, lacking)) if lacking > 0 else {}
            values.update(zip(names, found, strict=False))
            taken |= set(found.values())
        return taken

    def _others(self, field: str, row: Row, *, is_alike: bool) -> Iterator[tuple[Any, int]]:
        """The values of a field and a row of each: first those that were seen behind a row's own.

        Args:
            field: the field.
            row: the row.
            is_alike: whether of rows that agree with it alone; else of all.
        """
        equal = [name for name in self._equal if name != field] if is_alike else []
        if (field, is_alike) not in self._found:
            self._found[field, is_alike] = self._groups(field, equal)
        group = self._found[field, is_alike][tuple(row[name] for name in equal)]
        seen = list(group)
        first = seen.index(row[field]) if row[field] is not None else 0
        yield from ((value, group[value]) for value in (*seen[first:], *seen[:first]))

    def _groups(self, field: str, equal: Sequence[str]) -> dict[Any, dict[Any, int]]:
        """By the values of some fields, the values of another and the first row of each."""
        groups: dict[Any, dict[Any, int]] = {}
        for number, row in enumerate(self._columns.rows([*equal, field])):
            group = groups.setdefault(tuple(row[name] for name in equal), {})
            if row[field] is not None:
                group.setdefault(row[field], number)
        return groups


class Asked:
    """Asks declared reads of a sample of rows.

    The rows that the values are taken from are among the rows of the table for certain and stand
    for themselves; each other row of the sample stands for as many as the table has for it.

    Args:
        design: the design.
        boundaries: where its regions begin.
        columns: the sampled rows, in the order of their arrival.
        keys: the row key of each; of rows with one key the last stands.
        total: how many rows the table holds.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        columns: Columns,
        keys: Sequence[bytes],
        total: int,
    ) -> None:
        import numpy as np

        standing = {key: number for number, key in enumerate(keys)}
        self.design = design
        self.boundaries = boundaries
        self.columns = columns
        self.keys = sorted(standing)
        self.total = total
        self._key_of = keys
        self._ranked = Ranked(columns.take(np.array([standing[key] for key in self.keys], np.intp)))

    def ask(self, read: Read) -> ReadResult:
        """What a read costs."""
        left = MOST_RANGES_ASKED // max(len(self.design.reads), 1)
        found: dict[int, _Asking] = {}
        try:
            lists, trials = _Lists(read, self.columns), self._trials(read)
            for place in _SPREAD_TRIALS:
                number, row = trials[place]
                values, assumed = self._values(read, row)
                taken = lists.filled(values, row, number)
                found[place] = self._one(read, values, {self._key_of[one] for one in taken})
                left -= found[place].fan_out
                if left <= 0:
                    break
        except ReadError as problem:
            return ReadResult(read.name, error=str(problem))
        if len(found) < TRIALS:
            most = counted(max(one.fan_out for one in found.values()), "range")
            fewer = f"asked {counted(len(found), 'time')} instead of {TRIALS}, for it has {most}"
            assumed = "; ".join(filter(None, (assumed, fewer)))
        return _summed(read, [found[place] for place in sorted(found)], assumed)

    def askings(self, read: Read) -> Iterator[tuple[dict[int | str, Any], set[int], str]]:
        """Values for a read, each time it is asked; the rows they are from, and what is assumed."""
        lists = _Lists(read, self.columns)
        for number, row in self._trials(read):
            values, assumed = self._values(read, row)
            yield values, lists.filled(values, row, number), assumed

    def _trials(self, read: Read) -> list[tuple[int, Row]]:
        """Rows to take values from, spread over the sample; each has all that ranges begin at."""
        import numpy as np

        is_able = np.ones(len(self.columns), np.bool_)
        for test in read.conditions:
            missing = self.columns.nulls(test.field)
            if test.operator not in ("=", "in") and missing is not None:
                is_able &= ~missing
        able = np.flatnonzero(is_able)
        if not len(able):
            raise ReadError(f"read {read.name}", "there are no rows to ask for")
        numbers = able[len(able) * np.arange(TRIALS) // TRIALS]
        rows = self.columns.take(numbers).rows(list(read.asked))
        return list(zip(numbers.tolist(), rows, strict=True))

    def _values(self, read: Read, row: Row) -> tuple[dict[int | str, Any], str]:
        """Values for the parameters, from a row: a range begins at its value."""
        values: dict[int | str, Any] = {}
        said = ""
        for condition in read.conditions:
            for place, operand in enumerate(condition.operands):
                if not isinstance(operand, Parameter):
                    continue
                value: Any = row.get(condition.field)
                if condition.operator == "starts":
                    value = value[:2]
                elif condition.operator in ("<", "<=") or (
                    condition.operator == "between" and place == 1
                ):
                    value, said = self._later(read, condition.field, value)
                values[operand.name] = value
        return values, said

    def _later(self, read: Read, name: str, value: Any) -> tuple[Any, str]:
        """The other end of a range that begins at a value."""
        kind = read.fields[name].type
        held = kind.hold(value)
        if not kind.counts:
            said = f"a range over {name} covers {DEFAULT_SHARE:.0%} of its values"
            return kind.release(self._ranked.beyond(name, held, DEFAULT_SHARE)), said
        if read.span is not None and kind.tick is not None:
            length = max(read.span.nanoseconds // kind.tick, 1)
            return kind.release(min(held + length, kind.numbers[1])), ""
        least, greatest = self._ranked.ends(name)
        length = max(int((greatest - least) * DEFAULT_SHARE), 1)
        said = (
            f"a range over {name} covers {DEFAULT_SHARE:.0%} of its span; span = … says otherwise"
        )
        return kind.release(min(held + length, kind.numbers[1])), said

    def _one(self, read: Read, values: Mapping[int | str, Any], own: Collection[bytes]) -> _Asking:
        """One asking, with values of the rows that have these keys."""
        import numpy as np

        bounds = read.bounds(values)
        plan = plan_read(self.design.key, bounds, read.order)
        found = [(bisect_left(self.keys, one.start), self._stop(one.stop)) for one in plan.ranges]
        starts, stops = np.array(found, np.intp).reshape(-1, 2).T
        fitting = self._ranked.mask(Residual(plan.residual, bounds, read.fields))
        before = np.concatenate([[0], np.cumsum(fitting)])
        places = np.array([bisect_left(self.keys, key) for key in own], np.intp)
        # Ranges ascend and lie apart: a row can be in the last one that begins with it or before.
        last = np.searchsorted(starts, places, "right") - 1
        held = places[(last >= 0) & (places < stops[last])] if len(starts) else places[:0]
        matching = int((before[stops] - before[starts]).sum())
        scanned = self._rows(int((stops - starts).sum()), len(held), len(places), plan)
        returned = self._rows(matching, int(fitting[held].sum()), len(places), plan)
        spans = [self.boundaries.between(one.start, one.stop) for one in plan.ranges]
        if read.limit is None or returned <= read.limit:
            return _Asking.from_plan(plan, spans, returned, scanned)
        limit = float(read.limit)
        if plan.serves_order or plan.serves_backwards or not read.order:
            wanted = max(round(matching * limit / returned), 1)
            reached = reached_by(plan, self.keys, found, fitting, wanted)
            seen = looked_over(found, reached, is_backwards=plan.is_backwards)
            heads = sum(at is not None for at in reached) - 1
            # As many rows are passed for each that is taken as are passed in the sample.
            scanned = min(scanned, limit * (seen - heads) / wanted + heads)
            spans = [
                self._up_to(one, stretch, at, is_backwards=plan.is_backwards)
                for one, stretch, at in zip(plan.ranges, found, reached, strict=True)
            ]
        return _Asking.from_plan(plan, spans, limit, scanned)

    def _rows(self, seen: int, own: int, asked: int, plan: Plan) -> float:
        """How many rows of the table some rows of the sample stand for.

        Args:
            seen: rows of the sample.
            own: how many of them the values are from.
            asked: rows that the values are from.
            plan: how they are read; a range of one key holds one row.
        """
        others = len(self.keys) - asked
        each = max(self.total - asked, 0) / others if others else 1.0
        rows = own + (seen - own) * each
        return min(rows, float(plan.fan_out)) if plan.is_point else rows

    def _up_to(
        self, one: KeyRange, held: tuple[int, int], at: int | None, *, is_backwards: bool
    ) -> range:
        """The regions of a range up to a row of it; all of them if it holds none.

        Where the boundaries are from a sample, the rows they are from stand in the regions that
        those replayed leave empty: there a range begins where its first row does.
        """
        whole = self.boundaries.between(one.start, one.stop)
        if at is None:
            return whole
        if self.design.cut.needs_sample:
            start, stop = held
            whole = self.boundaries.between(self.keys[start], self.keys[stop - 1] + b"\0")
        region = self.boundaries.locate_one(self.keys[at])
        return range(region, whole.stop) if is_backwards else range(whole.start, region + 1)

    def _stop(self, stop: bytes) -> int:
        return bisect_left(self.keys, stop) if stop else len(self.keys)


def _summed(read: Read, totals: Sequence[_Asking], assumed: str) -> ReadResult:
    count = len(totals)
    fans = [one.fan_out for one in totals]
    regions = [one.regions for one in totals]
    return ReadResult(
        read.name,
        (sum(fans) / count, max(fans)),
        (sum(regions) / count, max(regions)),
        sum(one.returned for one in totals) / count,
        sum(one.read for one in totals) / count,
        totals[0].residual,
        any(one.is_full_scan for one in totals),
        all(one.serves_order for one in totals),
        assumed,
    )
