"""Estimates of what reads cost under a key, from its plans and the facts of the fields alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.keys import Key
from rowkey.plan import ReadPlanner
from rowkey.schema import NANOSECONDS, FieldFacts
from rowkey.workload import count_read_operations

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.plan import DeclaredRead, Plan
    from rowkey.proposals import ExampleRead

SORT_PENALTY = 10
"""What a read costs that sorts all its rows to return the first few, compared with reading them."""
RANGE_SHARE = 0.01
"""Share of the rows that a range of a key covers in an estimate, if its length is unknown."""


class ReadEstimator:
    """Estimates the operations of reads under many keys, none of which is replayed.

    Args:
        design: the design with its reads, or with one that is assumed.
        facts: the facts of its fields.
        row_count: rows of its table.
        reads: its reads that have example values.
    """

    def __init__(
        self,
        design: Design,
        facts: Mapping[str, FieldFacts],
        row_count: float,
        reads: Sequence[ExampleRead],
    ) -> None:
        self._design = design
        self._facts = facts
        self._row_count = row_count
        self._reads = reads
        self._declared = {read.name: read for read in design.reads}

    def estimate_costs(self, keys: Sequence[Key]) -> np.ndarray[Any, Any]:
        """Return the estimated operations a second of each read (column) under each key (row)."""
        costs = [
            self.get_rate(read) * self._estimate_answer(planner, read, self._declared[read.name])
            for planner in map(ReadPlanner, keys)
            for read in self._reads
        ]
        return np.array(costs, np.float64).reshape(len(keys), len(self._reads))

    def get_rate(self, read: ExampleRead) -> float:
        """Return how often a read is asked in a second; once where no rate is declared."""
        return self._declared[read.name].rate or 1.0

    def _estimate_answer(
        self, planner: ReadPlanner, read: ExampleRead, declared: DeclaredRead
    ) -> float:
        """Return an estimate of the operations of one answer of a read under a key."""
        plan, limit = planner.plan(read.bounds, read.order), declared.limit
        pinned_parts = planner.key.parts[: plan.pinned_count]
        pinned_fields = {
            name
            for part in pinned_parts
            for name in part.fields
            if part.residue(name).is_empty and name in read.single_value_fields
        }
        rows = self._row_count / prod(map(self._count_values, pinned_fields))
        rows /= prod(
            part.cardinality or 1
            for part in pinned_parts
            if pinned_fields < pinned_fields.union(part.fields) <= read.single_value_fields
        )
        if set(read.bounds) - set(plan.residual_fields) - read.single_value_fields:
            rows *= self._estimate_range_share(declared)
        if limit is not None and plan.needs_sort:
            rows *= SORT_PENALTY
        elif limit is not None:
            passed = limit * self._estimate_rows_per_match(plan, read, declared)
            rows = min(rows, passed + plan.fan_out)
        return count_read_operations(plan.fan_out, max(rows, 1.0))

    def _estimate_rows_per_match(
        self, plan: Plan, read: ExampleRead, declared: DeclaredRead
    ) -> float:
        """Return how many rows a read passes for each row that its remaining conditions keep."""
        range_share = self._estimate_range_share(declared)
        return prod(
            self._count_values(name) if name in read.single_value_fields else 1 / range_share
            for name in plan.residual_fields
        )

    def _estimate_range_share(self, read: DeclaredRead) -> float:
        """Return which share of the rows a range of a read covers: of times by its span."""
        time, rate = self._design.writes.time, self._design.writes.rate
        span = read.get_span(time.name) if time is not None else None
        if time is None or not span or not rate:
            return RANGE_SHARE
        rows = span * (time.type.unit_ns or 0) / NANOSECONDS["s"] * rate
        return min(max(rows, 1.0) / self._row_count, 1.0)

    def _count_values(self, name: str) -> int:
        """Return how many values a field has; 1 if that is unknown."""
        facts = self._facts.get(name)
        return (facts.distinct_count if facts is not None else None) or 1
