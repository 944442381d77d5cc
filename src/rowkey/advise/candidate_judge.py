"""Judges the designs of a search for a key by the same events: by the first ones, or by all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from rowkey.advise.advice import find_new_warning
from rowkey.advise.judgement import JudgedDesign, judge_simulation
from rowkey.advise.read_estimates import SORT_PENALTY
from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.findings import Finding
from rowkey.lint import RULES, LintResult, check_design, fix_families
from rowkey.plan import plan_read
from rowkey.proposals import apply_proposal
from rowkey.simulate import EventSource, Replay, Simulation, run_on_source
from rowkey.workload import DistinctCounter, FamilySize, SampleSummary

if TYPE_CHECKING:
    from rowkey.proposals import Candidate, ExampleRead

SKEW_EVENTS = 10_000
"""First events by which the leading parts of keys are compared."""
FINALIST_EVENTS = 30_000
"""First events by which finalists are judged; what is proposed is judged by all."""
FINALIST_TRIALS = 10
"""Trials of each read in which finalists are judged; a tenth of those of a verdict."""
CHECKED_ROWS = 2_000
"""Sampled events by which the rules check a key before it is judged."""


class CandidateJudge:
    """Judges a design, and the same one with other keys.

    By the first events a judgement replays their later half: splits may be taken from the first.

    Args:
        full_design: the design as it is declared.
        design: the same without the reads that a companion serves.
        source: its events.
        reads: its reads, or one that is assumed, with example values.
        seed: where randomness begins.
    """

    def __init__(
        self,
        full_design: Design,
        design: Design,
        source: EventSource,
        reads: Sequence[ExampleRead],
        seed: int,
    ) -> None:
        self.full_design = full_design
        self.design = design
        self.source = source
        self.row_count = source.estimate_rows(design)
        self.replays_half = bool(source.first_replayed)
        """Whether a judgement by all events replays only their second half."""
        self.replay_count = 0
        self._reads = reads
        self._seed = seed
        self._first_simulations: dict[str, Simulation] = {}

    def measure_skew(self, candidate: Candidate) -> float | None:
        """Return how uneven the first events are under a candidate; None if it is not valid."""
        try:
            design = apply_proposal(self.design, candidate)
            simulation = self._replay(design, SKEW_EVENTS)
        except InvalidDesign:
            return None
        verdict = simulation.verdict
        return round(max(verdict.skew / max(verdict.even_skew, 1.0), 1.0), 2)

    def judge_unless_refused(self, design: Design) -> JudgedDesign | Finding:
        """Judge a design by the first events, unless a rule finds what it did not find before.

        Its families are changed where they do not suit its reads any more.

        Returns:
            The judged design, or a warning that the declared one does not have.
        """
        # Most keys are refused by rules that need no causes of hot spots, which take most time.
        summary = self._summarize(design)
        for selected in (_list_quick_rules(), ()):
            found = check_design(design, summary, select=selected)
            new = self._list_new_warnings(found)
            fixed = fix_families(design, new, summary)
            if fixed is not design:  # a Bloom filter, say, that its reads cannot use
                design, found = fixed, check_design(fixed, summary, select=selected)
                new = self._list_new_warnings(found)
            warning = find_new_warning((), new)
            if warning is not None and not _is_measured(warning):
                return warning
        judged = self.judge_by_first_events(design)
        if warning is not None:  # what is predicted of the writes may do no harm at their rate
            found = check_design(design, summary, measured_writes=judged.measured_writes)
            warning = find_new_warning((), self._list_new_warnings(found))
        judged.lint_result = found
        return warning or judged

    def judge_by_first_events(self, design: Design) -> JudgedDesign:
        """Judge a design by the first events and few trials of its reads.

        Designs that differ only in their reads share one replay, which measures all reads.
        """
        identity = design.build_write_identity()
        if identity not in self._first_simulations:
            asked_all = self.copy_with_reads(
                design, [read.name for read in self.design.reads], design.table
            )
            simulation = self._replay(asked_all, FINALIST_EVENTS)
            simulation.source.summary = self._summarize(asked_all)
            self._first_simulations[identity] = replace(simulation, max_read_trials=FINALIST_TRIALS)
        return self._judge_simulation(self._first_simulations[identity].copy_with_reads(design))

    def judge_by_all_events(self, design: Design) -> JudgedDesign:
        """Judge a design by all events."""
        simulation = self._replay(design)
        if simulation.source.summary is not None:
            simulation.source.summary = simulation.source.summary.copy_with_key(
                design.key,
                design.layout,
                self._count_rows(simulation),
                family_sizes=simulation.source.measure_family_sizes(design),
            )
        return self._judge_simulation(simulation)

    def copy_with_reads(self, design: Design, names: Collection[str], table: str) -> Design:
        """Return a design with other reads of those that are declared, and another table name."""
        declared = self.design.declaration.model_dump(by_alias=True, exclude_defaults=True)
        reads = [read for read in declared.get("reads", []) if read["name"] in names]
        options = {} if table == self.design.table else {"companions": None}
        return design.copy_with_options(reads=reads, table=table, **options)

    def _replay(self, design: Design, max_events: int | None = None) -> Simulation:
        """Replay events under a design; of the first ones the second half."""
        source = replace(self.source)
        if source.summary is not None:
            is_measured = max_events is not None or design is self.design
            sizes = self._family_sizes if is_measured else None
            source.summary = source.summary.copy_with_key(
                design.key, design.layout, None, family_sizes=sizes
            )
        if max_events is not None:
            source.total_count = min(source.total_count, max_events)
            source.is_whole = False
        is_half = self.replays_half or max_events is not None
        source.first_replayed = source.total_count // 2 if is_half else 0
        self.replay_count += 1
        return run_on_source(design, source, seed=self._seed)

    def _judge_simulation(self, simulation: Simulation) -> JudgedDesign:
        """Return the judged design of a simulation, with the cost of what is assumed to be read."""
        judged = judge_simulation(simulation)
        if simulation.design is self.design:
            judged.design = self.full_design  # its findings tell which reads a companion serves
        if not self.design.reads:
            judged.read_cost = float(sum(map(partial(self._weigh_ranges, judged), self._reads)))
        return judged

    def _weigh_ranges(self, judged: JudgedDesign, read: ExampleRead) -> float:
        """Return the ranges that an assumed read asks, or all rows, with the penalty of a sort."""
        plan = plan_read(judged.design.key, read.bounds, read.order)
        ranges = self.row_count if plan.residual_fields else plan.fan_out
        return ranges * (SORT_PENALTY if plan.needs_sort else 1)

    def _count_rows(self, simulation: Simulation) -> DistinctCounter:
        """Return the rows of all events under a design of which some or all were replayed."""
        replay = simulation.replay
        counter = DistinctCounter()
        if simulation.source.first_replayed:
            earlier = Replay(
                replay.design, replay.boundaries, simulation.operation_count, self._seed
            )
            for events in simulation.source.read_earlier_events():
                earlier.count_rows(events)
            counter.merge(earlier.row_counter)
        counter.merge(replay.row_counter)
        return counter

    def _list_new_warnings(self, found: LintResult) -> list[Finding]:
        """Return the warnings among findings that the declared design does not have."""
        warnings = found.filter_by_severity("warning")
        return [one for one in warnings if one.code not in self._first_warning_codes]

    @cached_property
    def _first_warning_codes(self) -> frozenset[str]:
        """Return the codes of the warnings on the declared design, by the first events."""
        return self.judge_by_first_events(self.design).warning_codes

    def _summarize(self, design: Design) -> SampleSummary | None:
        """Return what few of the events show under the key of a design; None without a sample."""
        summary = self._fewer_rows
        return summary and summary.copy_with_key(
            design.key, design.layout, None, family_sizes=self._family_sizes
        )

    @cached_property
    def _fewer_rows(self) -> SampleSummary | None:
        """Return what few of the events show under the declared key; None without a sample."""
        summary, design = self.source.summary, self.design
        if summary is None:
            return None
        return summary.copy_with_key(
            design.key,
            design.layout,
            None,
            max_rows=CHECKED_ROWS,
            family_sizes=self._family_sizes,
        )

    @cached_property
    def _family_sizes(self) -> Mapping[str, FamilySize]:
        """Return the bytes of an event in each family under the declared key.

        Those of other keys are measured only for what is judged by all events.
        """
        return self.source.measure_family_sizes(self.design)


@cache
def _list_quick_rules() -> tuple[str, ...]:
    """Return the codes of the rules for warnings and errors that need no replay.

    They look for no cause of hot spots, and at no findings of other rules.
    """
    return tuple(
        rule.code
        for rule in RULES.values()
        if rule.severity != "info"
        and rule.measured_by != "writes"
        and not rule.cause
        and not rule.runs_last  # it needs the findings of all rules
    )


def _is_measured(warning: Finding) -> bool:
    """Return whether a replay of the writes can say that what is predicted does no harm."""
    return RULES[warning.name.replace("-", "_")].measured_by == "writes"
