"""Declared reads, asked of the table that was written: rows and regions predicted and counted."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError, counted
from rowkey.hbase import Settings
from rowkey.observe.counting import Counted, between
from rowkey.observe.proving.proof import ReadProof
from rowkey.plan import plan_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.plan import Plan, Read
    from rowkey.regions import Boundaries
    from rowkey.simulate import Asked
    from rowkey.table import Table

TIMES = 10
"""Times that a read is asked."""


class Reading:
    """Asks reads of a table whose row keys are known.

    Args:
        table: the table.
        keys: all its row keys, ascending and distinct.
        boundaries: where its regions begin.
        asked: gives values to ask with.
        heap: bytes that a row takes in the memory of a server, at most.
    """

    def __init__(
        self,
        table: Table,
        keys: Sequence[bytes],
        boundaries: Boundaries,
        asked: Asked,
        heap: float,
    ) -> None:
        self.table, self.keys, self.asked = table, keys, asked
        self.bounds = boundaries.regions
        self._is_cluster = table.engine.servers() != [""]
        self._cut = heap / Settings().scan_bytes if self._is_cluster else 0.0
        """Answers that a row fills: a full one may end within a row, which is counted again."""

    def prove(self, read: Read) -> ReadProof:
        """A read, asked some times without its limit, until its ranges are read."""
        found = ReadProof(read.name)
        if lacks := [name for name in read.asked if name not in self.asked.columns.columns]:
            return replace(found, why=f"the sample has no {' and no '.join(lacks)}")
        try:
            for values, _, _ in islice(self.asked.askings(read), 0, None, 100 // TIMES):
                found = self._once(found, read, values)
        except ReadError as problem:
            asked = f"not asked again after {counted(found.asked, 'asking')}" if found.asked else ""
            return replace(found, why="; ".join(filter(None, (found.why, asked, str(problem)))))
        return found

    def _once(self, found: ReadProof, read: Read, values: Mapping[int | str, Any]) -> ReadProof:
        """One asking more."""
        plan = plan_read(self.table.design.key, read.bounds(values))
        expected = [self._expected(plan, *bound) for bound in self.bounds]
        positional = [values[name] for name in sorted(n for n in values if isinstance(n, int))]
        named = {name: value for name, value in values.items() if isinstance(name, str)}
        before = self._counted()
        self.table.scan(read.conditions, *positional, **named).count()
        interval = between(before, self._counted())
        if list(interval.bounds) != self.bounds or not interval.is_known("reads"):
            why = "regions were opened anew, split or merged while it was read"
            return replace(found, asked=found.asked + 1, unknown=found.unknown + 1, why=why)
        counts = [one.reads or 0 for one in interval.regions]
        wrong = sum(
            not rows <= count <= rows + ranges + int(rows * self._cut)
            or (self._is_cluster and bool(ranges) != bool(count))
            for (rows, ranges), count in zip(expected, counts, strict=True)
        )
        rows = sum(rows for rows, _ in expected)
        return replace(
            found,
            asked=found.asked + 1,
            fan_out=found.fan_out + plan.fan_out,
            predicted=found.predicted + rows,
            counted=found.counted + sum(counts),
            most=found.most + sum(r + ranges + int(r * self._cut) for r, ranges in expected),
            wrong=found.wrong + wrong,
            regions_predicted=found.regions_predicted + sum(r > 0 for _, r in expected),
            regions_counted=found.regions_counted + sum(count > 0 for count in counts),
        )

    def _expected(self, plan: Plan, start: bytes, stop: bytes) -> tuple[int, int]:
        """The rows of a region that lie in the ranges of a plan, and the ranges that come to it."""
        rows = ranges = 0
        for one in plan.ranges:
            low = max(one.start, start)
            high = min(filter(None, (one.stop, stop)), default=b"")
            if high and low >= high:
                continue
            ranges += 1
            end = bisect_left(self.keys, high) if high else len(self.keys)
            rows += end - bisect_left(self.keys, low)
        return rows, ranges

    def _counted(self) -> Counted:
        return Counted.of(0.0, self.table.store.openings(), [])
