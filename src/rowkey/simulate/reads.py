"""What the declared reads cost: asked of a sample of the rows, with values of that sample."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.plan import Plan, Read, plan_read
from rowkey.schema import Parameter, Range, satisfies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.regions import Boundaries

TRIALS = 100
"""Times each read is asked."""
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


class Asked:
    """Asks declared reads of a sample of rows.

    Args:
        design: the design.
        boundaries: where its regions begin.
        rows: the sampled rows as mappings of normal values.
        keys: the row key of each.
        scale: how many rows each sampled one stands for.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        rows: Sequence[Mapping[str, Any]],
        keys: Sequence[bytes],
        scale: float,
    ) -> None:
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.design = design
        self.boundaries = boundaries
        self.rows = rows
        self.keys = [keys[index] for index in order]
        self.ordered = [rows[index] for index in order]
        self.scale = scale

    def ask(self, read: Read) -> ReadResult:
        """What a read costs."""
        trials = (
            [self.rows[len(self.rows) * n // TRIALS] for n in range(TRIALS)] if self.rows else []
        )
        assumed, totals = "", []
        try:
            for row in trials:
                values, assumed = self._values(read, row)
                totals.append(self._one(read, values))
        except ReadError as problem:
            return ReadResult(read.name, error=str(problem))
        return _summed(read, totals, assumed)

    def _values(self, read: Read, row: Mapping[str, Any]) -> tuple[dict[int | str, Any], str]:
        """Values for the parameters, from a row: a range begins at its time."""
        values: dict[int | str, Any] = {}
        assumed = ""
        for condition in read.conditions:
            field = read.fields[condition.field]
            parameters = [o.name for o in condition.operands if isinstance(o, Parameter)]
            value = row.get(field.name)
            if not parameters:
                continue
            if condition.operator in ("<", "<=") or condition.operator == "between":
                later, assumed = self._later(read, field.name, value)
                values[parameters[-1]] = later
            if condition.operator == "between" and len(parameters) > 1:
                values[parameters[0]] = value
            elif condition.operator == "starts":
                values[parameters[0]] = value[:2] if value else value
            elif condition.operator not in ("<", "<=", "between"):
                values.update(dict.fromkeys(parameters, value))
        return values, assumed

    def _later(self, read: Read, name: str, value: Any) -> tuple[Any, str]:
        """The other end of a range that begins at a value."""
        kind = read.fields[name].type
        if not kind.counts:
            return value, f"the range over {name} holds one value"
        held = kind.hold(value)
        if read.span is not None and kind.tick is not None:
            return kind.release(held + max(read.span.nanoseconds // kind.tick, 1)), ""
        numbers = [kind.hold(row[name]) for row in self.rows if row[name] is not None]
        length = max(int((max(numbers) - min(numbers)) * DEFAULT_SHARE), 1)
        said = (
            f"a range over {name} covers {DEFAULT_SHARE:.0%} of its span; span = … says otherwise"
        )
        return kind.release(min(held + length, kind.numbers[1])), said

    def _one(self, read: Read, values: Mapping[int | str, Any]) -> tuple[Plan, int, float, float]:
        """The plan of one asking, the regions it touches, rows returned and rows read."""
        bounds = read.bounds(values)
        plan = plan_read(self.design.key, bounds, read.order)
        regions = self._regions(plan)
        found = [(bisect_left(self.keys, one.start), self._stop(one.stop)) for one in plan.ranges]
        inside = sum(stop - start for start, stop in found)
        if plan.residual:
            kinds = {name: read.fields[name].type for name in plan.residual}
            tests = {name: _held(bounds[name], kinds[name]) for name in plan.residual}
            matching = sum(
                all(
                    row[name] is not None and satisfies(kinds[name].hold(row[name]), bound)
                    for name, bound in tests.items()
                )
                for start, stop in found
                for row in self.ordered[start:stop]
            )
        else:
            matching = inside
        return plan, regions, *self._limited(read, plan, inside, matching)

    def _limited(self, read: Read, plan: Plan, inside: int, matching: int) -> tuple[float, float]:
        """Rows returned and read where reading stops at the limit, if the order allows it."""
        returned, scanned = matching * self.scale, inside * self.scale
        served = plan.serves_order or plan.serves_backwards or not read.order
        if read.limit is None or returned <= read.limit:
            return returned, scanned
        if not served or not matching:
            return float(read.limit), scanned
        return float(read.limit), min(scanned, read.limit * inside / matching + plan.fan_out - 1)

    def _regions(self, plan: Plan) -> int:
        """How many regions the ranges touch."""
        touched: set[int] = set()
        last = len(self.boundaries) - 1
        for one in plan.ranges:
            first = self.boundaries.locate_one(one.start) if one.start else 0
            end = self.boundaries.locate_one(one.stop) if one.stop else last
            if one.stop and one.stop in self.boundaries.splits:
                end -= 1
            touched.update(range(first, end + 1))
        return len(touched)

    def _stop(self, stop: bytes) -> int:
        return bisect_left(self.keys, stop) if stop else len(self.keys)


def _held(bound: Any, kind: Any) -> Any:
    """A bound over held values, which compare as the type orders them."""
    from rowkey.schema import Equal, OneOf, StartsWith

    match bound:
        case Equal(value):
            return Equal(None if value is None else kind.hold(value))
        case OneOf(values):
            return OneOf(tuple(kind.hold(value) for value in values if value is not None))
        case Range(low, high, with_low, with_high):
            return Range(
                None if low is None else kind.hold(low),
                None if high is None else kind.hold(high),
                with_low,
                with_high,
            )
    assert isinstance(bound, StartsWith)
    return bound


def _summed(
    read: Read, totals: Sequence[tuple[Plan, int, float, float]], assumed: str
) -> ReadResult:
    if not totals:
        return ReadResult(read.name, error="there are no rows to ask for")
    count = len(totals)
    plans = [plan for plan, *_ in totals]
    fans = [plan.fan_out for plan in plans]
    regions = [touched for _, touched, *_ in totals]
    return ReadResult(
        read.name,
        (sum(fans) / count, max(fans)),
        (sum(regions) / count, max(regions)),
        sum(returned for *_, returned, _ in totals) / count,
        sum(scanned for *_, scanned in totals) / count,
        plans[0].residual,
        any(plan.is_full_scan for plan in plans),
        all(plan.serves_order or plan.serves_backwards for plan in plans),
        assumed,
    )
