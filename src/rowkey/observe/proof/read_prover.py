"""Run declared reads on the written table, and compare predicted with counted rows and regions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from rowkey.errors import ReadError
from rowkey.hbase import Settings
from rowkey.messages import pluralize
from rowkey.observe.proof.proof_result import ReadProof
from rowkey.observe.region_deltas import CounterSnapshot, compute_interval
from rowkey.plan import DeclaredRead, Plan, plan_read
from rowkey.regions import Boundaries
from rowkey.simulate import ReadSimulator
from rowkey.table import Table

TRIALS_PER_READ = 10
"""How often each read runs."""


class ReadProver:
    """Runs declared reads on a table whose row keys are all known.

    Args:
        keys: all its row keys, ascending and distinct.
        boundaries: where its regions begin.
        simulator: generates the values of the reads.
        row_heap_bytes: bytes that a row takes in the memory of a server, at most.
    """

    def __init__(
        self,
        table: Table,
        keys: Sequence[bytes],
        boundaries: Boundaries,
        simulator: ReadSimulator,
        row_heap_bytes: float,
    ) -> None:
        self.table, self.keys, self.simulator = table, keys, simulator
        self.bounds = boundaries.regions
        self._is_cluster = table.engine.list_servers() != [""]
        self._answers_per_row = (
            row_heap_bytes / Settings().scan_answer_bytes if self._is_cluster else 0.0
        )
        """Responses that a row fills: a full one may end within a row, which is counted again."""

    def prove_read(self, read: DeclaredRead) -> ReadProof:
        """Run a read with several values; return predicted and counted rows and regions."""
        proof = ReadProof(read.name)
        if lacks := [
            name for name in read.tested_fields if name not in self.simulator.columns.columns
        ]:
            return replace(proof, reason=f"the sample has no {' and no '.join(lacks)}")
        try:
            # They come sorted by the size of their answers: the middle one of each tenth is run.
            step = 100 // TRIALS_PER_READ
            for values in islice(self.simulator.generate_values(read), step // 2, None, step):
                proof = self._run_trial(proof, read, values)
        except ReadError as problem:
            progress = (
                f"stopped after {pluralize(proof.trial_count, 'run')}" if proof.trial_count else ""
            )
            return replace(
                proof, reason="; ".join(filter(None, (proof.reason, progress, str(problem))))
            )
        return proof

    def _run_trial(
        self, proof: ReadProof, read: DeclaredRead, values: Mapping[int | str, Any]
    ) -> ReadProof:
        """Run a read once, and return the result with its counts added."""
        plan = plan_read(self.table.design.key, read.build_bounds(values))
        expected = [self._predict_rows(plan, *bound) for bound in self.bounds]
        positional = [values[name] for name in sorted(n for n in values if isinstance(n, int))]
        parameters = {name: value for name, value in values.items() if isinstance(name, str)}
        before = self._take_snapshot()
        self.table.scan(read.conditions, *positional, **parameters).count()
        interval = compute_interval(before, self._take_snapshot())
        if list(interval.bounds) != self.bounds or not interval.is_known("reads"):
            why = "regions were reopened, split or merged during the read"
            return replace(
                proof,
                trial_count=proof.trial_count + 1,
                unknown_trials=proof.unknown_trials + 1,
                reason=why,
            )
        counts = [one.reads or 0 for one in interval.regions]
        wrong = sum(
            not rows <= count <= rows + ranges + int(rows * self._answers_per_row)
            or (self._is_cluster and bool(ranges) != bool(count))
            for (rows, ranges), count in zip(expected, counts, strict=True)
        )
        rows = sum(rows for rows, _ in expected)
        return replace(
            proof,
            trial_count=proof.trial_count + 1,
            fan_out=proof.fan_out + plan.fan_out,
            predicted_rows=proof.predicted_rows + rows,
            counted_reads=proof.counted_reads + sum(counts),
            max_reads=proof.max_reads
            + sum(r + ranges + int(r * self._answers_per_row) for r, ranges in expected),
            wrong_regions=proof.wrong_regions + wrong,
            predicted_regions=proof.predicted_regions + sum(r > 0 for _, r in expected),
            counted_regions=proof.counted_regions + sum(count > 0 for count in counts),
        )

    def _predict_rows(self, plan: Plan, start: bytes, stop: bytes) -> tuple[int, int]:
        """Return how many rows and how many ranges of a plan lie in a region."""
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

    def _take_snapshot(self) -> CounterSnapshot:
        """Return the current counters of the table's regions."""
        return CounterSnapshot.from_regions(0.0, self.table.store.list_open_regions(), [])
