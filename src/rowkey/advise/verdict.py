"""The verdict on a whole design, joined from its writes, each of its reads and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from rowkey.advise.key_remedy import NO_KEY_REMEDY, concerns_regions
from rowkey.advise.resources import estimate_mean_skew, estimate_needed_servers, get_capacity
from rowkey.array_libraries import np
from rowkey.design import Design
from rowkey.findings import Finding
from rowkey.hotspots import WARM_RATIO
from rowkey.lint import RULES
from rowkey.messages import Message, format_mean, format_number
from rowkey.plan import DeclaredRead
from rowkey.schema import MIN_VALUES_FOR_FACTS
from rowkey.simulate import LEVEL_NAMES
from rowkey.workload import (
    FAIR_UTILIZATION,
    FAIR_WASTE,
    HARMLESS_UTILIZATION,
    POOR_UTILIZATION,
    POOR_WASTE,
)

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost, ReadLoad, Simulation

Grade = Literal["good", "fair", "poor"]
GRADES: tuple[Grade, ...] = ("good", "fair", "poor")
"""Grades, the best first: deploy it; it works, but look at it; it will hurt."""
Topic = Literal["writes", "read", "load", "finding"]
"""What an assessment is about."""

MAX_WASTE_OF_LARGE_ANSWERS = 1.5
"""Operations of an answer, for each one that its rows need, up to which they are the load."""
MAX_ROWS_OF_POINT_READ = 10
"""Rows that a point read returns at most; it never scans the table in a good design."""
MIN_SHOWN_PERCENT, MAX_SHOWN_PERCENT = 0.001, 1_000
"""Percent of a capacity below and above which it does not matter how much less or more it is."""
_HARMLESS = Message("verdict.harmless", "uneven but harmless")
_BY_CHANCE = Message("verdict.by_chance", "no more uneven than chance explains")


@dataclass(frozen=True, slots=True)
class Assessment:
    """The grade of the writes, of one read, of all load or of one finding.

    Args:
        topic: what it is about.
        name: the name of the read, or the code of the rule; empty for others.
        grade: good, fair or poor.
        message: why, with its figures, as a sentence without its full stop.
        remedy: what to write instead, as a sentence; empty if nothing is better.
        remedy_code: the code of the rule or cause that the remedy is from; empty without one.
        utilization: share of the capacity of the busiest server that it takes, at the declared
            rate or else that of the recording; None where neither is known.
    """

    topic: Topic
    name: str
    grade: Grade
    message: str
    remedy: str = ""
    remedy_code: str = ""
    utilization: float | None = None

    @property
    def subject(self) -> str:
        """Return what it is about as text: `writes`, `read NAME`, `load` or a rule's code."""
        return " ".join(filter(None, (self.topic if self.topic != "finding" else "", self.name)))

    @property
    def rank(self) -> int:
        """Return the grade as a number: 0 for good, 2 for poor."""
        return GRADES.index(self.grade)


@dataclass(frozen=True, slots=True)
class DesignVerdict:
    """The verdict on a design.

    Args:
        assessments: of the writes, of every read and of every warning and error, the worst first.
        open_growth: how the grade depends on how the table grows, where nothing says that; as a
            sentence without its full stop.
    """

    assessments: tuple[Assessment, ...]
    open_growth: Message | None = None

    @property
    def decisive(self) -> Assessment:
        """Return the assessment that decides the verdict."""
        return self.assessments[0]

    @property
    def grade(self) -> Grade:
        """Return the worst grade of all assessments."""
        return self.decisive.grade

    @property
    def rank(self) -> tuple[int, int]:
        """Return the worst grade as a number, and how many of writes, reads and load are poor."""
        loads = [one.grade for one in self.assessments if one.topic != "finding"]
        return self.decisive.rank, loads.count("poor")

    @property
    def has_remedy(self) -> bool:
        """Return whether any assessment says what to write instead."""
        return any(one.remedy for one in self.assessments)

    def find_grade(self, topic: Topic) -> Grade:
        """Return the worst grade of what is assessed of a topic; good if nothing is."""
        return next((one.grade for one in self.assessments if one.topic == topic), "good")


def judge_design(simulation: Simulation, findings: Sequence[Finding]) -> DesignVerdict:
    """Return the verdict on a design.

    Args:
        simulation: a replay of its events.
        findings: what the lint rules found in it.
    """
    writes, reads = assess_writes(simulation), list(_assess_reads(simulation, findings))
    load = _assess_load(simulation, writes, reads)
    assessments = [writes, *reads, *load, *_assess_findings(findings, writes)]
    # The sort is stable: of equal grades the writes come first, then the reads in their order.
    return DesignVerdict(tuple(sorted(assessments, key=lambda one: -one.rank)))


def judge_open_growth(simulation: Simulation, findings: Sequence[Finding]) -> Message | None:
    """Return how the verdict depends on what makes the declared rate higher than the sample's.

    None where that is declared, or where the verdict is the same whatever it is.

    Args:
        simulation: a replay of the design's events.
        findings: what the lint rules found in it.
    """
    density = simulation.time_density
    if density is None or not simulation.is_growth_open:
        return None
    more_values, busier_values = (
        judge_design(simulation.assume_growth(one), findings) for one in ("entities", "rows")
    )
    if more_values.grade == busier_values.grade:
        return None
    worst = max(more_values, busier_values, key=lambda one: one.rank)
    return Message(
        "verdict.open_growth",
        "the declared rate is {factor} times that of the sample; if more values make that rate, "
        "the verdict is {first}, and if the same values write more often, {second} (decided by: "
        '{subject}); declare [writes] grows = "entities" or "rows", or [sample] of',
        factor=format_number(density.sample_factor, 2),
        first=more_values.grade.upper(),
        second=busier_values.grade.upper(),
        subject=worst.decisive.subject,
    )


def estimate_utilization(simulation: Simulation) -> float:
    """Return the share of the busiest server's capacity that writes and reads take.

    Only what has a rate counts: 0 where none is declared.
    """
    loads = _sum_utilizations(simulation)
    write_loads = _estimate_write_utilizations(simulation)
    # The server that writes keep busiest changes from window to window where their front moves.
    reads = float((loads - write_loads)[_find_used_servers(simulation)].mean())
    return max(_estimate_busiest_writes(simulation) + reads, float(loads.max()))


def assess_writes(simulation: Simulation) -> Assessment:
    """Return the grade of the writes from their skew and the load of the busiest server."""
    design, verdict = simulation.design, simulation.verdict
    servers, rate = design.cluster.servers, design.writes.peak_rate
    capacity = _compute_write_capacity(simulation)
    if simulation.is_thin or simulation.has_invented_places:
        return _assess_unknown_writes(simulation)
    skew = max(verdict.skew, 1.0)
    if rate is None:
        return _assess_writes_without_rate(simulation, capacity * servers / skew)
    mean, utilization = _estimate_mean_writes(simulation), _estimate_busiest_writes(simulation)
    grade, level = _grade_utilization(utilization), _describe_level(simulation)
    remedy = code = ""
    if verdict.level != "even" and utilization > HARMLESS_UTILIZATION:
        grade = _choose_worse(grade, "fair")
        remedy, code = _get_cause_remedy(simulation)
    elif verdict.level != "even":
        level = _HARMLESS
    elif grade != "good":
        remedy = _propose_servers(simulation, utilization)
    message = Message(
        "verdict.writes_rate",
        "{level}, {share}; at {rate} that is {utilization} of one server ({capacity})",
        level=level,
        share=_describe_share(simulation),
        rate=_format_rate(rate),
        utilization=_format_share(mean),
        capacity=_describe_capacity(simulation),
    )
    message = _add_write_peak(message, simulation, mean, utilization)
    return Assessment("writes", "", grade, message, remedy, code, utilization)


def _add_write_peak(
    mean_message: Message, simulation: Simulation, mean: float, utilization: float
) -> Message:
    """Return the assessment of the mean rate with what the busiest time makes of it.

    Args:
        mean_message: what the mean rate asks of the busiest server.
        simulation: a replay of the design's events.
        mean: the same as a share of its capacity.
        utilization: the share in the busiest time.
    """
    peak, rate = simulation.write_peak, simulation.design.writes.peak_rate
    recorded = simulation.recorded_peak
    if recorded is not None and simulation.has_untold_peak and simulation.time_density is not None:
        return Message(
            "verdict.untold_peak",
            "{mean}; in the busiest {seconds} s of the sample, from {start}, the rate is "
            "{factor}× the mean, but nearly all events came in so few such bursts that the peak "
            "at {times} times the rate of the sample cannot be told: declare [[writes.bursts]]",
            mean=mean_message,
            seconds=recorded.width_s,
            start=recorded.start_text,
            factor=f"{recorded.factor:,.1f}",
            times=format_number(simulation.time_density.sample_factor, 2),
        )
    if peak is None or rate is None:
        return mean_message
    if peak.repeats > 1:
        return Message(
            "verdict.more_batches",
            "{mean}; in the busiest {seconds} s of the sample, from {start}, the rate is "
            "{factor}× the mean, but at {rate} each value of the key is written {repeats} times "
            "as often as in the sample: more such bursts are assumed, each of which takes "
            "{utilization} of one server",
            mean=mean_message,
            seconds=peak.width_s,
            start=peak.start_text,
            factor=f"{peak.factor * peak.repeats:.1f}",
            rate=_format_rate(rate),
            repeats=format_number(peak.repeats, 2),
            utilization=_format_share(utilization),
        )
    if utilization <= WARM_RATIO * mean:
        return mean_message
    if peak.factor_range is None:
        return Message(
            "verdict.write_peak",
            "{mean}; in the busiest {seconds} s of the sample, from {start}, the rate is "
            "{factor}× the mean, and one server takes {share} of these writes: {utilization} of "
            "its capacity",
            mean=mean_message,
            seconds=peak.width_s,
            start=peak.start_text,
            factor=f"{peak.factor:.1f}",
            share=f"{peak.server_share:.0%}",
            utilization=_format_share(utilization),
        )
    low, high = (utilization * one / peak.server_factor for one in peak.factor_range)
    return Message(
        "verdict.table_peak",
        "{mean}; {time} one server takes {factor}× its fair share of the mean rate: "
        "{utilization} of its capacity ({low} to {high})",
        mean=mean_message,
        time=_describe_peak_time(simulation, peak.width_s),
        factor=f"{peak.server_factor:.1f}",
        utilization=_format_share(utilization),
        low=_format_share(low),
        high=_format_share(high),
    )


def _describe_peak_time(simulation: Simulation, seconds: int) -> Message:
    """Return the busiest time of a table that a sample has a part of, declared or assumed."""
    density = simulation.time_density
    if simulation.design.sample_share is None and density is not None:
        return Message(
            "verdict.assumed_peak_time",
            "assuming that the table has {count} times as many values as the sample, in the "
            "busiest {seconds} s of the table",
            count=format_number(density.sample_factor, 2),
            seconds=seconds,
        )
    return Message(
        "verdict.part_peak_time",
        "in the busiest {seconds} s of the table, estimated from this part of it,",
        seconds=seconds,
    )


def _assess_writes_without_rate(simulation: Simulation, bearable_rate: float) -> Assessment:
    """Return the grade of the writes of a table whose rate is not declared.

    The recording's own rate decides as a declared one does; where it is unknown, their skew.

    Args:
        simulation: a replay of the design's events.
        bearable_rate: events a second at which the busiest server is full.
    """
    level, rate = simulation.verdict.level, simulation.recorded_rate
    utilization = _estimate_own_utilization(simulation, bearable_rate)
    is_harmless = (
        level != "even" and utilization is not None and utilization <= HARMLESS_UTILIZATION
    )
    message = Message(
        "verdict.writes_bearable",
        "{level}, {share}; one server is full when the table gets {rate} ({capacity})",
        level=_HARMLESS if is_harmless else _describe_level(simulation),
        share=_describe_share(simulation),
        rate=_format_rate(bearable_rate),
        capacity=_describe_capacity(simulation),
    )
    load_grade: Grade = "good" if utilization is None else _grade_utilization(utilization)
    is_shown = level != "even" or load_grade != "good"
    if is_shown and rate is not None and utilization is not None:
        message = Message(
            "verdict.own_rate",
            "{bearable}; the recording's own rate, {rate}, takes {utilization} of one server: "
            "declare [writes] rate if the table is to bear more",
            bearable=message,
            rate=_format_rate(rate),
            utilization=_format_share(utilization),
        )
    if is_harmless:
        return Assessment("writes", "", "good", message, utilization=utilization)
    remedy, code = _get_cause_remedy(simulation)
    if level == "even" and utilization is not None and load_grade != "good":
        remedy = _propose_servers(simulation, utilization)
    grade = GRADES[("even", "warm", "hot").index(level)]
    if utilization is not None:
        grade = load_grade if level == "even" else _choose_worse(load_grade, "fair")
    return Assessment("writes", "", grade, message, remedy, code, utilization)


def _estimate_own_utilization(simulation: Simulation, bearable_rate: float) -> float | None:
    """Return the share of the busiest server that a recording's own rate takes at its peak.

    None if the recording shows no rate.

    Args:
        simulation: a replay of the design's events.
        bearable_rate: events a second at which the busiest server is full.
    """
    rate = simulation.recorded_rate
    if rate is None:
        return None
    return max(rate / bearable_rate, _estimate_peak_writes(simulation, rate))


def _get_cause_remedy(simulation: Simulation) -> tuple[str, str]:
    """Return the remedy and the code of the largest cause of an uneven load; else empty strings."""
    if simulation.verdict.level == "even" or not simulation.causes:
        return "", ""
    return simulation.causes[0].remedy, simulation.causes[0].code


def count_proposed_servers(simulation: Simulation, utilization: float) -> int:
    """Return how many servers an even load needs, so that it takes half of their capacity.

    Args:
        simulation: a replay of the design's events.
        utilization: what counts where no rate is declared, or where one region takes too much.
    """
    needed = estimate_needed_servers(simulation).value
    return int(needed or ceil(simulation.design.cluster.servers * utilization / FAIR_UTILIZATION))


def _propose_servers(simulation: Simulation, utilization: float) -> Message:
    """Return the remedy for an even load: more servers; see `count_proposed_servers`."""
    count = count_proposed_servers(simulation, utilization)
    used = simulation.used_region_count
    if count <= used:
        return Message(
            "verdict.more_servers", "Use {servers} servers or more.", servers=f"{count:,}"
        )
    return Message(
        "verdict.more_regions",
        "Use {servers} servers or more, and as many regions with writes (now {regions}).",
        servers=f"{count:,}",
        regions=f"{used:,}",
    )


def _assess_unknown_writes(simulation: Simulation) -> Assessment:
    """Return the assessment of writes that are too few to be judged, or of made-up places.

    At a declared rate that one server easily bears, nothing depends on where they go.
    """
    rate, capacity = simulation.design.writes.peak_rate, _compute_write_capacity(simulation)
    if rate is not None and rate <= HARMLESS_UTILIZATION * capacity:
        message = Message(
            "verdict.few_writes",
            "at {rate} the writes are {utilization} of what one server can do ({capacity}), "
            "wherever they go",
            rate=_format_rate(rate),
            utilization=_format_share(rate / capacity),
            capacity=_describe_capacity(simulation),
        )
        return Assessment("writes", "", "good", message, utilization=rate / capacity)
    if not simulation.is_thin:
        message = Message(
            "verdict.invented_places",
            "no sample tells in which of the listed regions the writes are: the values of "
            "{fields}, with which keys begin, are made up",
            fields=" and ".join(simulation.invented_fields),
        )
        remedy = Message(
            "verdict.sample_for_splits",
            'Declare [sample] path = "…", a recording of your events, or give --sample FILE.',
        )
        return Assessment("writes", "", "fair", message, remedy)
    if simulation.operation_count == 1:
        message = Message("verdict.one_event", "1 event is too little to judge the writes")
    else:
        message = Message(
            "verdict.few_events",
            "{count} events are too few to judge the writes",
            count=simulation.operation_count,
        )
    remedy = Message(
        "verdict.more_events",
        "Give a sample of {count} events or more.",
        count=MIN_VALUES_FOR_FACTS,
    )
    return Assessment("writes", "", "fair", message, remedy)


def _describe_level(simulation: Simulation) -> Message:
    """Return whether the writes are even, warm or hot, or whether too few events tell."""
    verdict = simulation.verdict
    if verdict.level == "even" and verdict.skew > WARM_RATIO * verdict.even_skew:
        return _BY_CHANCE
    return LEVEL_NAMES[verdict.level]


def _describe_share(simulation: Simulation) -> Message:
    """Return what the busiest server takes of the writes, next to what chance would give it."""
    verdict, servers = simulation.verdict, simulation.design.cluster.servers
    if servers == 1:
        return Message("verdict.only_server", "one server takes all writes")
    return Message(
        "verdict.busiest_server",
        "the busiest of {servers} servers takes {skew}× its fair share (an even design: {even}×, "
        "{basis})",
        servers=servers,
        skew=f"{verdict.skew:.2f}",
        basis=verdict.basis,
        even=f"{verdict.even_skew:.2f}",
    )


def _describe_capacity(simulation: Simulation) -> Message:
    """Return the capacity of a server as text, and whether it is declared or assumed."""
    capacity, is_declared = get_capacity(simulation.design)
    number = f"{capacity:,.0f}" if capacity >= 10 else f"{capacity:g}"
    message = Message("verdict.assumed_capacity", "assumed capacity: {capacity}/s", capacity=number)
    if is_declared:
        message = Message(
            "verdict.declared_capacity", "declared capacity: {capacity}/s", capacity=number
        )
    each = simulation.write_operations
    if each == 1:
        return message
    return Message(
        "verdict.large_events",
        "{capacity}, of which an event of {size} kB takes {operations}",
        capacity=message,
        size=f"{simulation.event_bytes / 1_000:,.0f}",
        operations=format_number(each, 2),
    )


def _compute_write_capacity(simulation: Simulation) -> float:
    """Return how many events of their size a server can write a second."""
    return get_capacity(simulation.design)[0] / simulation.write_operations


def _grade_utilization(utilization: float) -> Grade:
    """Return the grade of a server by the share of its capacity that is used."""
    if utilization > POOR_UTILIZATION:
        return "poor"
    return "fair" if utilization > FAIR_UTILIZATION else "good"


def _choose_worse(first: Grade, second: Grade) -> Grade:
    """Return the worse of two grades."""
    return max(first, second, key=GRADES.index)


def _format_share(share: float) -> str:
    """Return a share in percent with two significant digits.

    >>> [_format_share(share) for share in (0.0000023, 0.0000523, 0.034, 0.5, 13.0)]
    ['under 0.001 %', '0.0052 %', '3.4 %', '50 %', 'over 1,000 %']
    """
    percent = 100 * share
    if percent < MIN_SHOWN_PERCENT:
        return Message("verdict.tiny_share", "under {percent} %", percent=f"{MIN_SHOWN_PERCENT:g}")
    if percent > MAX_SHOWN_PERCENT:
        return Message("verdict.huge_share", "over {percent} %", percent=f"{MAX_SHOWN_PERCENT:,}")
    return f"{percent:,.0f} %" if percent >= 10 else f"{float(f'{percent:.2g}'):.10g} %"


def _format_rate(rate: float) -> str:
    """Return a rate with three significant digits in the unit in which it is 1 or more.

    Args:
        rate: how many a second.

    >>> [_format_rate(rate) for rate in (1 / 86_400, 0.5, 72_727.3)]
    ['1/d', '30/m', '72,700/s']
    """
    units = (("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400))
    unit, seconds = next((one for one in units if rate * one[1] >= 1), units[-1])
    rounded = float(f"{rate * seconds:.3g}")
    return f"{rounded:,.0f}/{unit}" if rounded >= 100 else f"{rounded:g}/{unit}"


def _assess_reads(simulation: Simulation, findings: Sequence[Finding]) -> Iterator[Assessment]:
    """Yield the grade of each declared read."""
    found = {
        finding.evidence.get("read", finding.value): finding
        for finding in sorted(findings, key=lambda one: -one.rank)[::-1]
        if _get_measured_load(finding) == "reads"
    }
    for read, cost in zip(simulation.design.reads, simulation.reads, strict=False):
        yield _assess_read(simulation, read, cost, found.get(read.name))


def _assess_read(
    simulation: Simulation, read: DeclaredRead, cost: ReadCost, finding: Finding | None
) -> Assessment:
    """Return the grade of a read from what its answers cost at its rate."""
    remedy, code = (finding.remedy, finding.code) if finding is not None else ("", "")
    if cost.error:
        message = Message("verdict.read_error", "it cannot be run: {reason}", reason=cost.error)
        return Assessment("read", read.name, "poor", message)
    is_scan = cost.is_full_scan and bool(cost.residual_fields)
    message = _describe_read(simulation.design, read, cost, is_scan=is_scan)
    if read.rate is None:
        grade: Grade = "poor" if is_scan else "good"
        if finding is not None:
            grade = _choose_worse(grade, _grade_finding(finding))
        if grade == "good":
            remedy = code = ""
        return Assessment("read", read.name, grade, message, remedy, code)
    load = next(one for one in simulation.read_loads if one.name == read.name)
    assessment = _assess_read_load(simulation, read, cost, load, message)
    if assessment.grade == "good" or assessment.remedy:
        return assessment
    return replace(assessment, remedy=remedy, remedy_code=code)


def _assess_read_load(
    simulation: Simulation, read: DeclaredRead, cost: ReadCost, load: ReadLoad, answer: Message
) -> Assessment:
    """Return the grade of a read from the busiest server at its rate.

    Args:
        simulation: a replay of the design's events.
        read: the read, with a rate.
        cost: the cost of its mean answer.
        load: where it falls.
        answer: that cost as text.
    """
    loads, servers = _estimate_utilizations(simulation, load), _find_used_servers(simulation)
    server_count = int(servers.sum())
    utilization = float(loads.max())
    is_scan = cost.is_full_scan and bool(cost.residual_fields)
    grade = _grade_waste(simulation.design, server_count, load.rate, cost, is_scan=is_scan)
    grade = _choose_worse(grade, _grade_utilization(utilization))
    rate, share = _format_rate(load.rate), _format_share(utilization)
    if load.servers.level == "even" or server_count == 1 or simulation.has_invented_places:
        message = Message(
            "verdict.read_rate",
            "{cost}; at {rate} that is {utilization} of what the busiest server can do",
            cost=answer,
            rate=rate,
            utilization=share,
        )
        remedy = _advise_on_large_answers(simulation, cost, load, grade)
        if remedy or grade == "good":
            return Assessment("read", read.name, grade, message, remedy, utilization=utilization)
        return _explain_read(simulation, read, grade, message, utilization)
    message = Message(
        "verdict.read_uneven",
        "{cost}; at {rate} the busiest of {servers} servers takes {skew}× its fair share (even "
        "reads: {even}×), {utilization} of what it can do",
        cost=answer,
        rate=rate,
        servers=simulation.design.cluster.servers,
        skew=f"{load.servers.skew:.2f}",
        even=f"{load.servers.even_skew:.2f}",
        utilization=share,
    )
    if utilization <= HARMLESS_UTILIZATION:
        return Assessment("read", read.name, grade, message, utilization=utilization)
    grade = _choose_worse(grade, "fair")
    return _explain_read(simulation, read, grade, message, utilization)


def _explain_read(
    simulation: Simulation, read: DeclaredRead, grade: Grade, message: Message, utilization: float
) -> Assessment:
    """Return the assessment of a read with the cause that explains most of its load, if any."""
    cause = next(iter(simulation.read_causes[read.name]), None)
    if cause is None:
        return Assessment("read", read.name, grade, message, utilization=utilization)
    message = Message(
        "verdict.read_because", "{figures}: {reason}", figures=message, reason=cause.message
    )
    return Assessment("read", read.name, grade, message, cause.remedy, utilization=utilization)


def _advise_on_large_answers(
    simulation: Simulation, cost: ReadCost, load: ReadLoad, grade: Grade
) -> Message | str:
    """Return the remedy of an even read that costs hardly more than the rows that it returns."""
    design = simulation.design
    needed = load.rate * cost.needed_operations / get_capacity(design)[0]
    is_wasteful = cost.operations > MAX_WASTE_OF_LARGE_ANSWERS * cost.needed_operations
    if grade == "good" or is_wasteful:
        return ""
    if _grade_utilization(needed / design.cluster.servers) != grade:
        return ""
    servers = int(estimate_needed_servers(simulation).value or ceil(needed / FAIR_UTILIZATION))
    return Message(
        "verdict.large_answers",
        "The rows that the read returns are the load: ask for fewer (limit, a shorter time), "
        "less often, or from a cache; or use {servers} servers and {regions} regions or more.",
        servers=f"{servers:,}",
        regions=f"{max(servers, len(simulation.regions)):,}",
    )


def _grade_waste(
    design: Design, servers: int, rate: float, cost: ReadCost, *, is_scan: bool
) -> Grade:
    """Return the grade of a read by what it wastes, at its rate, of the servers it can use."""
    capacity = get_capacity(design)[0] * servers
    waste = rate * (cost.operations - cost.needed_operations) / capacity
    if waste > POOR_WASTE:
        return "poor"
    is_point_scan = is_scan and cost.returned_rows <= MAX_ROWS_OF_POINT_READ
    return "fair" if is_point_scan or (is_scan and waste > FAIR_WASTE) else "good"


def _estimate_utilizations(simulation: Simulation, load: ReadLoad) -> np.ndarray[Any, Any]:
    """Return the share of its capacity that a read takes of each server.

    What chance explains counts as even over the servers that have rows.
    """
    capacity, _ = get_capacity(simulation.design)
    if not load.servers.is_within_chance and not simulation.has_invented_places:
        return load.servers.operations / capacity
    servers = _find_used_servers(simulation)
    even: np.ndarray[Any, Any] = servers * (load.servers.total / servers.sum() / capacity)
    return even


def _describe_read(design: Design, read: DeclaredRead, cost: ReadCost, *, is_scan: bool) -> Message:
    """Return what one answer of a read costs on average."""
    answer = Message(
        "verdict.read_cost",
        "an answer reads {rows} in {ranges} and {regions} for {returned} returned, on average",
        rows=_format_row_count(design, cost.read_rows),
        ranges=_format_range_count(cost.fan_out[0]),
        regions=_format_region_count(cost.regions[0]),
        returned=_format_row_count(design, cost.returned_rows),
    )
    if not is_scan:
        return answer
    if read.limit is not None and cost.serves_order:
        return Message(
            "verdict.read_limited_scan",
            "nothing in the key narrows it, so it scans the table until it has {rows}; {answer}",
            rows=_format_row_count(design, read.limit),
            answer=answer,
        )
    return Message("verdict.read_scan", "it scans the whole table; {answer}", answer=answer)


def _find_used_servers(simulation: Simulation) -> np.ndarray[Any, Any]:
    """Return which servers have rows; all of them if none was replayed, or where is unknown."""
    replay = simulation.replay
    has_rows = replay.placements.sum_by_server(replay.writes) > 0
    if simulation.has_invented_places or not has_rows.any():
        return np.ones_like(has_rows)
    used: np.ndarray[Any, Any] = has_rows
    return used


def _format_row_count(design: Design, number: float) -> Message:
    """Return a number of rows as text: of events, where they share rows."""
    if design.layout.has_shared_rows:
        if number == 1:
            return Message("count.event", "1 event")
        return Message("count.events", "{number} events", number=format_mean(number))
    if number == 1:
        return Message("count.row", "1 row")
    return Message("count.rows", "{number} rows", number=format_mean(number))


def _format_range_count(number: float) -> Message:
    """Return a number of ranges as text."""
    if number == 1:
        return Message("count.range", "1 range")
    return Message("count.ranges", "{number} ranges", number=format_mean(number))


def _format_region_count(number: float) -> Message:
    """Return a number of regions as text."""
    if number == 1:
        return Message("count.region", "1 region")
    return Message("count.regions", "{number} regions", number=format_mean(number))


def _assess_load(
    simulation: Simulation, writes: Assessment, reads: Sequence[Assessment]
) -> Iterator[Assessment]:
    """Yield the grade of writes and reads together if it is worse than that of each alone."""
    if simulation.has_invented_places:
        return
    loads = _sum_utilizations(simulation)
    total = estimate_utilization(simulation)
    grade = _grade_utilization(total)
    if GRADES.index(grade) <= max(one.rank for one in (writes, *reads)):
        return
    message = Message(
        "verdict.load",
        "writes and reads together take {utilization} of the busiest server",
        utilization=_format_share(total),
    )
    remedy: str = _propose_servers(simulation, total)
    if writes.grade != "good" and writes.remedy:
        remedy = writes.remedy
    elif total > WARM_RATIO * float(loads[_find_used_servers(simulation)].mean()):
        remedy = Message(
            "verdict.spread_load",
            "Spread the load that is uneven: other servers have capacity left.",
        )
    yield Assessment("load", "", grade, message, remedy, utilization=total)


def _sum_utilizations(simulation: Simulation) -> np.ndarray[Any, Any]:
    """Return the share of each server's capacity that all writes and reads take."""
    total = _estimate_write_utilizations(simulation)
    for load in simulation.read_loads:
        if load.is_rate_declared:
            total = total + _estimate_utilizations(simulation, load)
    return total


def _estimate_busiest_writes(simulation: Simulation) -> float:
    """Return the share of its capacity that writes take of the busiest server at their peak."""
    rate = simulation.design.writes.rate or 0.0
    return max(_estimate_mean_writes(simulation), _estimate_peak_writes(simulation, rate))


def _estimate_peak_writes(simulation: Simulation, rate: float) -> float:
    """Return the share of its capacity that a recording's peak takes of the busiest server.

    0 if the recording has none.

    Args:
        simulation: a replay of the design's events.
        rate: the mean events a second of the whole recording, at which the table is written.
    """
    peak, servers = simulation.write_peak, simulation.design.cluster.servers
    factor = 0.0 if peak is None else peak.server_factor
    return rate * factor / servers / _compute_write_capacity(simulation)


def _estimate_mean_writes(simulation: Simulation) -> float:
    """Return the share of its capacity that the writes of a window take of the busiest server.

    At the mean rate of a recording, or in the strongest declared burst.
    """
    if simulation.is_thin:
        return 0.0
    rate, servers = simulation.design.writes.peak_rate or 0.0, simulation.design.cluster.servers
    return rate * estimate_mean_skew(simulation) / servers / _compute_write_capacity(simulation)


def _estimate_write_utilizations(simulation: Simulation) -> np.ndarray[Any, Any]:
    """Return the share of its capacity that all writes take of each server; 0 without a rate."""
    rate = simulation.design.writes.peak_rate or 0.0
    return simulation.write_shares * (rate / _compute_write_capacity(simulation))


def _get_measured_load(finding: Finding) -> str:
    """Return which load shows in figures what a finding foresees; empty for none."""
    rule = next((one for one in RULES.values() if one.code == finding.code), None)
    return "" if rule is None else rule.measured_by


def _assess_findings(findings: Sequence[Finding], writes: Assessment) -> Iterator[Assessment]:
    """Yield the grades of warnings and errors that neither writes nor reads show in figures.

    What mends the writes comes before a number of regions, which it may change.
    """
    for finding in findings:
        if finding.severity != "info" and not _get_measured_load(finding):
            remedy = finding.remedy
            if writes.remedy not in ("", NO_KEY_REMEDY, remedy) and concerns_regions(finding):
                remedy = Message(
                    "remedy.writes_first",
                    "First do what is proposed for the writes; rowkey then computes how many "
                    "regions the table needs.",
                )
            yield Assessment(
                "finding",
                finding.code,
                _grade_finding(finding),
                finding.message,
                remedy,
                finding.code,
            )


def _grade_finding(finding: Finding) -> Grade:
    """Return the grade that a finding gives to the design."""
    return {"info": GRADES[0], "warning": GRADES[1], "error": GRADES[2]}[finding.severity]
