"""What the declared reads cost: asked of a sample of the rows, with values of that sample."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError
from rowkey.plan import KeyRange, Plan, Read, Residual, plan_read
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        rows: the sampled rows as mappings of normal values, in the order of their arrival.
        keys: the row key of each; of rows with one key the last stands.
        total: how many rows the table holds.
    """

    def __init__(
        self,
        design: Design,
        boundaries: Boundaries,
        rows: Sequence[Mapping[str, Any]],
        keys: Sequence[bytes],
        total: int,
    ) -> None:
        standing = dict(zip(keys, rows, strict=True))
        self.design = design
        self.boundaries = boundaries
        self.rows = rows
        self.keys = sorted(standing)
        self.ordered = [standing[key] for key in self.keys]
        self.scale = total / max(len(self.keys), 1)
        self._spans: dict[str, int] = {}

    def ask(self, read: Read) -> ReadResult:
        """What a read costs."""
        assumed, totals = "", []
        try:
            for row in self._trials(read):
                values, assumed = self._values(read, row)
                totals.append(self._one(read, values))
        except ReadError as problem:
            return ReadResult(read.name, error=str(problem))
        return _summed(read, totals, assumed)

    def _trials(self, read: Read) -> list[Mapping[str, Any]]:
        """Rows to take values from, spread over the sample; each has all that ranges begin at."""
        ranged = [test.field for test in read.conditions if test.operator not in ("=", "in")]
        able = [row for row in self.rows if all(row.get(name) is not None for name in ranged)]
        if not able:
            raise ReadError(f"read {read.name}", "there are no rows to ask for")
        return [able[len(able) * n // TRIALS] for n in range(TRIALS)]

    def _values(self, read: Read, row: Mapping[str, Any]) -> tuple[dict[int | str, Any], str]:
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
        if not kind.counts:
            return value, f"the range over {name} holds one value"
        held = kind.hold(value)
        if read.span is not None and kind.tick is not None:
            length = max(read.span.nanoseconds // kind.tick, 1)
            return kind.release(min(held + length, kind.numbers[1])), ""
        if name not in self._spans:
            numbers = [kind.hold(row[name]) for row in self.rows if row[name] is not None]
            self._spans[name] = max(numbers) - min(numbers)
        length = max(int(self._spans[name] * DEFAULT_SHARE), 1)
        said = (
            f"a range over {name} covers {DEFAULT_SHARE:.0%} of its span; span = … says otherwise"
        )
        return kind.release(min(held + length, kind.numbers[1])), said

    def _one(self, read: Read, values: Mapping[int | str, Any]) -> tuple[Plan, int, float, float]:
        """The plan of one asking, the regions it touches, rows returned and rows read."""
        bounds = read.bounds(values)
        plan = plan_read(self.design.key, bounds, read.order)
        found = [(bisect_left(self.keys, one.start), self._stop(one.stop)) for one in plan.ranges]
        inside = sum(stop - start for start, stop in found)
        fits = Residual(plan.residual, bounds, read.fields)
        matching = inside
        if fits:
            matching = sum(fits(row) for start, stop in found for row in self.ordered[start:stop])
        returned, scanned = matching * self.scale, inside * self.scale
        spans = [self._span(one.start, one.stop) for one in plan.ranges]
        if read.limit is None or returned <= read.limit:
            return plan, _count(spans), returned, scanned
        limit = float(read.limit)
        if plan.serves_order or plan.serves_backwards or not read.order:
            scanned = min(scanned, limit * inside / matching + plan.fan_out - 1)
            spans = self._spans_read(read.limit, plan, found, fits)
        return plan, _count(spans), limit, scanned

    def _span(self, start: bytes, stop: bytes) -> range:
        """The regions between two keys."""
        first = self.boundaries.locate_one(start) if start else 0
        end = self.boundaries.locate_one(stop) if stop else len(self.boundaries) - 1
        if stop and stop in self.boundaries.splits:
            end -= 1
        return range(first, end + 1)

    def _spans_read(
        self,
        limit: int,
        plan: Plan,
        found: Sequence[tuple[int, int]],
        fits: Residual,
    ) -> list[range]:
        """The regions of each range that are read until a limit is reached.

        Ranges are merged by what follows their prefixes: of each the first row is looked at, and
        then the next one each time a row of it was taken.
        """
        is_backwards = plan.serves_backwards and not plan.serves_order
        reached: list[int | None] = [None] * len(found)

        def rows(number: int) -> Iterator[tuple[bytes, int, int]]:
            skipped, (start, stop) = len(plan.ranges[number].prefix), found[number]
            for at in range(stop - 1, start - 1, -1) if is_backwards else range(start, stop):
                reached[number] = at
                yield self.keys[at][skipped:], number, at

        left = max(round(limit / self.scale), 1)
        merged = merge(*map(rows, range(len(found))), reverse=is_backwards)
        for _, _, at in merged:
            left -= fits(self.ordered[at])
            if not left:
                break
        return [
            self._up_to(one, held, at, is_backwards=is_backwards)
            for one, held, at in zip(plan.ranges, found, reached, strict=True)
        ]

    def _up_to(
        self, one: KeyRange, held: tuple[int, int], at: int | None, *, is_backwards: bool
    ) -> range:
        """The regions of a range up to a row of it; all of them if it holds none.

        Where the boundaries are from a sample, the rows they are from stand in the regions that
        those replayed leave empty: there a range begins where its first row does.
        """
        whole = self._span(one.start, one.stop)
        if at is None:
            return whole
        if self.design.cut.needs_sample:
            start, stop = held
            whole = self._span(self.keys[start], self.keys[stop - 1] + b"\0")
        region = self.boundaries.locate_one(self.keys[at])
        return range(region, whole.stop) if is_backwards else range(whole.start, region + 1)

    def _stop(self, stop: bytes) -> int:
        return bisect_left(self.keys, stop) if stop else len(self.keys)


def _count(spans: Iterable[range]) -> int:
    """How many regions some spans touch together."""
    return len({region for span in spans for region in span})


def _summed(
    read: Read, totals: Sequence[tuple[Plan, int, float, float]], assumed: str
) -> ReadResult:
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
