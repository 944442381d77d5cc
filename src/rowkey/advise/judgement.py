"""One judged design: the rules, the reads and a replay of the same sample.

Packages are imported where they are used: a check of a file without a sample needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rowkey import lint, simulate, workload
from rowkey.design import (
    Design,
    DesignProperties,
    choose_example_values,
    complete_companion,
    derive_properties,
    format_path,
)
from rowkey.errors import InvalidDesign, RowError, SampleError
from rowkey.explanations import Explanation, explain_chosen_read, explain_read
from rowkey.lint import MeasuredWrites, check_design, verify_remedies
from rowkey.plan import DeclaredRead, bind_read
from rowkey.progress import Progress, ReportProgress
from rowkey.schema import FieldFacts
from rowkey.workload import FORESEEN_GROWTH, HARMLESS_UTILIZATION, count_read_operations

if TYPE_CHECKING:
    from rowkey.advise.comparison import Comparison
    from rowkey.advise.key_remedy import KeyRemedy
    from rowkey.advise.resources import Resources
    from rowkey.advise.robustness import ChangedLoad
    from rowkey.advise.verdict import DesignVerdict
    from rowkey.findings import Finding
    from rowkey.lint import FixedDesign, LintResult
    from rowkey.simulate import EventSource, Simulation
    from rowkey.workload import PackingSavings, RecordedSample, SampleInput, SampleSummary


HARMLESS_WEIGHT = 0.1
"""Exponent of a load that is uneven without harm, when it is weighed against reads and bytes."""
SEARCHING_CAUSES = "searching causes"
"""The phase after a replay, as progress names it."""
MAX_SEARCHED_READS = 20
"""Reads for which a judgement searches for a better key: each is tried under each of the best."""


class JudgedDesign:
    """A design with all results of judging it: findings, simulation, reads and sizes.

    Each result is computed when it is first read, and kept: reading the findings alone replays
    nothing.

    Args:
        design: the design. Its simulation has only the reads that no companion serves.
        sample: a file of recorded events, its recording, or a table of them: a pandas or polars
            DataFrame, a pyarrow Table or reader, a DuckDB relation; the design's own sample if
            None. It is read once, whatever is found out.
        name: what the design is called next to others; the table's name if empty.
        format_options: how the sample is read; as the design declares if None.
        second_half: whether only the second half of the sample is replayed.
        seed: the seed of all random choices.
        select: codes or names of the rules to run; all if empty.
        ignore: codes or names of the rules to leave out.
        names_keys: whether findings that need another key name the one that the search recommends,
            which takes as long as `rowkey advise`; else they say that it is to be searched.
        progress: called with how many events each phase has passed, such as `reading`.
    """

    def __init__(
        self,
        design: Design,
        sample: SampleInput | None = None,
        *,
        name: str = "",
        format_options: Mapping[str, Any] | None = None,
        second_half: bool = False,
        seed: int = 0,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        names_keys: bool = False,
        progress: ReportProgress | None = None,
    ) -> None:
        self.design = design
        self.name = name or design.table
        self.sample_problem: SampleError | None = None
        self.select = select
        self.ignore = ignore
        self._given_sample = sample
        self._format_options = format_options
        self._second_half = second_half
        self._seed = seed
        self._names_keys = names_keys
        self._progress = progress

    @cached_property
    def recording(self) -> RecordedSample | None:
        """Return the recorded sample, which is read only once; None without a sample.

        Raises:
            SampleError: the format of the sample is unknown.
        """
        if self._given_sample is None and self.design.sample_path is None:
            return None
        return simulate.record_design_sample(self.design, self._given_sample, self._format_options)

    @cached_property
    def source(self) -> EventSource:
        """Return the events, read and summarized in one pass; generated ones without a sample.

        Raises:
            SampleError: the sample cannot be read, or lacks a field that judging needs.
        """
        return self._open_source(second_half=self._second_half, progress=self._progress)

    def _open_source(self, **options: Any) -> EventSource:
        """Return the events of the sample, opened with some options; generated ones without it."""
        if self.recording is None:
            return simulate.open_generated_source(self.design, self._seed)
        return simulate.open_source(self.design, self.recording, None, seed=self._seed, **options)

    @cached_property
    def sample(self) -> SampleSummary | None:
        """Return the summary of the sample; None without a sample.

        A sample that the design declares and that cannot be read counts as none; the reason is in
        `sample_problem`.

        Raises:
            SampleError: a sample that was given cannot be read, or lacks a field of the key.
        """
        try:
            return None if self.recording is None else self.source.summary
        except SampleError as problem:
            if self._given_sample is not None:
                raise
            self.sample_problem = problem
            return None

    @cached_property
    def lint_result(self) -> LintResult:
        """Return the findings of the lint rules, and where keys are named those of companions."""
        own = self._lint_result_without_companions
        if not self.companions:
            return own
        found = [(name, one.lint_result) for name, one in self.companions.items()]
        return replace(
            own,
            findings=(
                *own.findings,
                *(self._place_finding(name, one) for name, of in found for one in of.findings),
            ),
            allowed_findings=(
                *own.allowed_findings,
                *(
                    self._place_finding(name, one)
                    for name, of in found
                    for one in of.allowed_findings
                ),
            ),
        )

    def _place_finding(self, name: str, finding: Finding) -> Finding:
        """Return a finding in a companion as one of the place that declares the companion."""
        place, source = format_path(("companions", name)), self.design.source
        line = 0 if source is None else source.source_map.find_line(place)
        return replace(finding, path=".".join(filter(None, (place, finding.path))), line=line)

    @cached_property
    def companions(self) -> Mapping[str, JudgedDesign]:
        """Return the companions by name, judged by the same events; none if no keys are named."""
        if not self._names_keys:
            return {}
        return {
            name: JudgedDesign(
                complete_companion(self.design, name),
                None if self.sample is None else self.recording,
                format_options=self._format_options,
                second_half=self._second_half,
                seed=self._seed,
                select=self.select,
                ignore=self.ignore,
                names_keys=True,
                progress=self._progress,
            )
            for name in self.design.companions
        }

    @cached_property
    def _lint_result_without_companions(self) -> LintResult:
        """Return the findings of the lint rules in this design alone."""
        if not self._names_keys:
            return self._unremedied_findings
        from rowkey.advise.key_remedy import complete_findings

        return verify_remedies(
            self.design,
            complete_findings(self._unremedied_findings, lambda: self.key_remedy),
            is_measured=self.measured_writes is not None,
            ignore=self.ignore,
        )

    @cached_property
    def _unremedied_findings(self) -> LintResult:
        """Return the findings of the lint rules, which name no key."""
        return check_design(
            self.design,
            self.sample,
            measured_writes=self.measured_writes,
            sample_problem=self.sample_problem,
            select=self.select,
            ignore=self.ignore,
        )

    @property
    def measured_writes(self) -> MeasuredWrites | None:
        """Return what a replay of the sample shows of the writes; None for too few events."""
        if self.sample is None:
            return None
        from rowkey.advise.resources import estimate_needed_servers
        from rowkey.advise.verdict import assess_writes, count_proposed_servers

        simulation = self.simulation
        if simulation.is_thin:
            return None
        assessment = assess_writes(simulation)
        is_good = assessment.grade == "good"
        is_even = is_good or simulation.verdict.level == "even"
        peak = simulation.write_peak or simulation.recorded_peak
        needed = None if is_good else estimate_needed_servers(simulation).value
        if is_even and not is_good and assessment.utilization is not None:
            needed = count_proposed_servers(simulation, assessment.utilization)
        return MeasuredWrites(
            is_good,
            () if is_even else tuple(simulation.causes),
            1.0 if peak is None else peak.factor,
            None if needed is None else int(needed),
        )

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return the warnings and errors among the findings."""
        return self.lint_result.filter_by_severity("warning")

    @property
    def warning_codes(self) -> frozenset[str]:
        """Return the codes of the rules that warn, or would if the design file did not allow it."""
        allowed = self.lint_result.allowed_findings
        return frozenset(one.code for one in (*self.warnings, *allowed))

    @cached_property
    def properties(self) -> DesignProperties:
        """Return the derived properties of the key, such as decodability."""
        return derive_properties(self.design, None if self.sample is None else self.sample.facts)

    @cached_property
    def simulation(self) -> Simulation:
        """Return the simulation: a replay of the sample, or of generated events."""
        simulation = simulate.run_on_source(
            self.design, self.source, seed=self._seed, progress=self._progress
        )
        if self._progress is not None:
            self._progress(Progress(SEARCHING_CAUSES))
            _ = simulation.causes  # computed now, while the progress is shown
        if not self._names_keys:
            return simulation
        from rowkey.advise.remedied_simulation import complete_simulation

        return complete_simulation(simulation, lambda: self.key_remedy)

    @cached_property
    def searched_source(self) -> EventSource:
        """Return the events by which another key is searched for, with all fields of the sample.

        Raises:
            SampleError: the sample cannot be read, or lacks a field that judging needs.
        """
        return self._open_source(second_half=False, keeps_all_fields=True)

    @cached_property
    def key_remedy(self) -> KeyRemedy | None:
        """Return the remedy by the key that the search recommends; None if it cannot be searched.

        Cost: that of `rowkey advise`, which searches in the same way; none for more reads than
        `MAX_SEARCHED_READS`, where the remedy is to run it.
        """
        from rowkey.advise.key_remedy import KeyRemedy
        from rowkey.advise.key_search import search_on_source

        if len(self.design.reads) > MAX_SEARCHED_READS:
            return None
        try:
            source = self.searched_source
            advice = search_on_source(self.design, source, self._seed, self._progress)
        except (SampleError, InvalidDesign):
            return None
        return KeyRemedy(advice)

    @cached_property
    def verdict(self) -> DesignVerdict:
        """Return the verdict on the design: good, fair or poor, with what decides it."""
        from rowkey.advise.verdict import judge_design, judge_open_growth

        if not self._names_keys:
            return judge_design(self.simulation, self.lint_result.findings)
        findings = self._unremedied_findings.findings
        verdict = judge_design(self.simulation, findings)
        if verdict.has_remedy:  # else no key is searched for in vain
            verdict = judge_design(self.simulation, self._lint_result_without_companions.findings)
        return replace(verdict, open_growth=judge_open_growth(self.simulation, findings))

    @cached_property
    def plans(self) -> Mapping[str, Explanation]:
        """Return the explanation of each declared read, by the read's name.

        Its parameters have values of the sample, the most frequent ones, or else of their types.
        """
        return {read.name: self._explain_read(read) for read in self.design.reads}

    @cached_property
    def companion_plans(self) -> Mapping[str, Explanation]:
        """Return the explanation of each declared read on the table that serves it.

        The reads are those of this design and of its companions; of one name, that of the first.
        """
        reads = {
            read.name: read
            for design in (*reversed([*self.design.companions.values()]), self.design)
            for read in design.reads
        }
        explain = partial(explain_chosen_read, self.design.companion_keys)
        return {name: self._explain_read(read, explain) for name, read in reads.items()}

    def _explain_read(
        self, read: DeclaredRead, explain: Callable[..., Explanation] | None = None
    ) -> Explanation:
        """Return the explanation of a declared read with example values.

        Args:
            read: the read.
            explain: explains a bound read; by the key of this design if None.
        """
        facts = {} if self.sample is None else self.sample.facts
        values = choose_example_values(read, facts)
        bound_read = bind_read(read.conditions, read.order, values, read.fields)
        explanation = (explain or partial(explain_read, self.design.key))(
            bound_read,
            limit=read.limit,
            facts=facts,
        )
        if not explanation.needs_key or not self._names_keys or self.key_remedy is None:
            return explanation
        return self.key_remedy.complete_explanation(explanation, bound_read)

    @cached_property
    def facts(self) -> Mapping[str, FieldFacts]:
        """Return the facts of the fields, from the sample or else from replayed events."""
        return self.simulation.facts if self.sample is None else self.sample.facts

    @cached_property
    def event_bytes(self) -> float:
        """Return the mean bytes that an event adds to a store, uncompressed."""
        return self.simulation.event_bytes

    @property
    def write_cost(self) -> float:
        """Return how much busier the busiest server is than chance makes it; 1 at best."""
        verdict = self.simulation.verdict
        return max(verdict.skew / max(verdict.even_skew, 1.0), 1.0)

    @property
    def write_harm(self) -> float:
        """Return `write_cost` as far as it matters: hardly, if they are good; else wholly.

        Not at all, if they would do no harm at many times their rate.
        """
        writes = next(one for one in self.verdict.assessments if one.topic == "writes")
        if writes.grade != "good":
            return self.write_cost
        load = writes.utilization
        is_negligible = load is not None and load * FORESEEN_GROWTH <= HARMLESS_UTILIZATION
        return 1.0 if is_negligible else float(self.write_cost**HARMLESS_WEIGHT)

    @cached_property
    def read_cost(self) -> float:
        """Return the operations a second of all declared reads.

        A read without a rate counts as one answer a second; one that cannot be run costs as much as
        a scan of every row.
        """
        every_row = count_read_operations(1, self.simulation.operation_count, self.event_bytes)
        return sum(
            (read.rate or 1.0) * (every_row if cost.error else cost.operations)
            for read, cost in zip(self.simulation.design.reads, self.simulation.reads, strict=True)
        )

    @cached_property
    def resources(self) -> Resources:
        """Return the servers, disk and operations that the design needs, and what they cost."""
        from rowkey.advise.resources import estimate_resources

        return estimate_resources(self.simulation)

    @cached_property
    def robustness(self) -> tuple[ChangedLoad, ...]:
        """Return how busy the busiest server is if the load or the cluster changes."""
        from rowkey.advise.robustness import measure_robustness

        return measure_robustness(self.simulation)

    @cached_property
    def packing(self) -> PackingSavings | None:
        """Return the bytes that packed cells save; None if no cell is packed.

        Measured on the sample where it can be read and has all their fields; else estimated from
        the widths of the fields.
        """
        layout = self.design.layout
        estimate = workload.measure_packing(layout, None)
        if estimate is None:
            return None
        try:
            if self.recording is None:
                return estimate
            events = workload.open_sample(self.recording, self.design.fields, None).match_columns()
            return workload.measure_packing(layout, events)
        except (SampleError, RowError):
            return estimate

    def apply_fixes(self) -> FixedDesign:
        """Return the design file with every safe fix of the rules applied.

        Raises:
            InvalidArgument: no rule has a code or name that was selected or ignored.
        """
        return lint.apply_fixes(self.design, self.sample, select=self.select, ignore=self.ignore)

    def judge_fixed(self, fixed: FixedDesign) -> JudgedDesign:
        """Judge a fixed design by the same sample, which is not read again."""
        judged = JudgedDesign(
            fixed.design,
            self._given_sample,
            name=self.name,
            format_options=self._format_options,
            second_half=self._second_half,
            seed=self._seed,
            select=self.select,
            ignore=self.ignore,
            names_keys=self._names_keys,
            progress=self._progress,
        )
        judged.sample, judged.recording = self.sample, self.recording
        return judged


def judge_simulation(simulation: Simulation) -> JudgedDesign:
    """Return the design of a simulation as a judged design; its events are not replayed again.

    Args:
        simulation: the result of `rowkey.simulate.run`.
    """
    judged = JudgedDesign(simulation.design, seed=simulation.seed)
    judged.recording, judged.simulation = None, simulation
    judged.sample = simulation.source.summary
    return judged


def judge_comparison(comparison: Comparison) -> list[JudgedDesign]:
    """Return each compared design as a judged design, with the reads of all designs.

    Nothing is replayed again.

    Args:
        comparison: the result of `compare_designs`.
    """
    events = max(comparison.operation_count, 1)
    judged_designs = []
    for design in comparison.designs:
        judged_design = JudgedDesign(design.simulation.design, comparison.path, name=design.name)
        judged_design.simulation = design.remedied_simulation
        judged_design.lint_result = design.lint_result
        judged_design.sample = design.lint_result.sample
        judged_design.event_bytes = design.event_bytes / events
        judged_design.verdict = design.verdict
        judged_designs.append(judged_design)
    return judged_designs
