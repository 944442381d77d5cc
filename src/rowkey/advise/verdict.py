"""The verdict on a whole design, joined from its writes, each of its reads and its findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rowkey.lint import RULES
from rowkey.messages import pluralize
from rowkey.workload import DEFAULT_CAPACITY_PER_S, count_read_operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.design import Design
    from rowkey.lint import Finding
    from rowkey.plan import DeclaredRead
    from rowkey.simulate import ReadCost, Simulation

Grade = Literal["good", "fair", "poor"]
GRADES: tuple[Grade, ...] = ("good", "fair", "poor")
"""Grades, the best first: deploy it; it works, but look at it; it will hurt."""

FAIR_UTILIZATION, POOR_UTILIZATION = 0.5, 0.9
"""Shares of its capacity above which a server has too little left for twice the load, and above
which a peak or the failure of a neighbour is too much."""
HARMLESS_UTILIZATION = 0.25
"""Share of its capacity up to which a server may take any share of the load: four times as much
would still fit."""
FAIR_WASTE, POOR_WASTE = 0.01, 0.1
"""Shares of all servers that a scan of the whole table may take, and that any read may waste on
regions and rows that its answer does not need."""
MAX_ROWS_OF_POINT_READ = 10
"""Rows that a point read returns at most; it never scans the table in a good design."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """The grade of the writes, of one read, of all load or of one finding.

    Args:
        subject: `writes`, `read NAME`, `load` or the code of a rule.
        grade: good, fair or poor.
        message: why, with its figures, as a sentence without its full stop.
        remedy: what to write instead, as a sentence; empty if nothing is better.
        utilization: share of the capacity that it takes: of the busiest server for writes, of all
            servers for a read; None without a rate.
    """

    subject: str
    grade: Grade
    message: str
    remedy: str = ""
    utilization: float | None = None

    @property
    def rank(self) -> int:
        """Return the grade as a number: 0 for good, 2 for poor."""
        return GRADES.index(self.grade)


@dataclass(frozen=True, slots=True)
class DesignVerdict:
    """The verdict on a design.

    Args:
        assessments: of the writes, of every read and of every warning and error, the worst first.
    """

    assessments: tuple[Assessment, ...]

    @property
    def decisive(self) -> Assessment:
        """Return the assessment that decides the verdict."""
        return self.assessments[0]

    @property
    def grade(self) -> Grade:
        """Return the worst grade of all assessments."""
        return self.decisive.grade


def judge_design(simulation: Simulation, findings: Sequence[Finding]) -> DesignVerdict:
    """Return the verdict on a design.

    Args:
        simulation: a replay of its events.
        findings: what the lint rules found in it.
    """
    writes, reads = _assess_writes(simulation), list(_assess_reads(simulation, findings))
    assessments = [writes, *reads, *_assess_load(writes, reads), *_assess_findings(findings)]
    # The sort is stable: of equal grades the writes come first, then the reads in their order.
    return DesignVerdict(tuple(sorted(assessments, key=lambda one: -one.rank)))


def get_capacity(design: Design) -> tuple[float, str]:
    """Return the operations a second of one server, and whether they are declared or assumed."""
    declared = design.cluster.capacity_per_s
    return (DEFAULT_CAPACITY_PER_S, "assumed") if declared is None else (declared, "declared")


def _assess_writes(simulation: Simulation) -> Assessment:
    """Return the grade of the writes from their skew and the load of the busiest server."""
    design, verdict = simulation.design, simulation.verdict
    servers, rate = design.cluster.servers, design.writes.rate
    capacity, origin = get_capacity(design)
    skew = max(verdict.skew, 1.0)
    share = (
        f"the busiest of {pluralize(servers, 'server')} takes {skew:.2f}× its fair share of the "
        "writes"
    )
    limit = f"{origin} capacity of {capacity:,.0f}/s"
    remedy = simulation.causes[0].remedy if simulation.causes else ""
    if rate is None:
        grade = GRADES[("even", "warm", "hot").index(verdict.level)]
        bearable = capacity * servers / skew
        message = f"{share}; at {bearable:,.0f} writes per second it reaches its {limit}"
        return Assessment("writes", grade, message, remedy)
    peak = max((burst.rate_factor for burst in design.writes.bursts), default=1.0)
    utilization = rate * max(peak, 1.0) * skew / servers / capacity
    grade, effect = _grade_utilization(utilization), ""
    if verdict.level != "even":
        if utilization > HARMLESS_UTILIZATION:
            grade = _choose_worse(grade, "fair")
        else:
            effect = "uneven but harmless: "
    message = f"{effect}{share}, which is {_format_share(utilization)} of its {limit}"
    return Assessment("writes", grade, message, remedy, utilization)


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

    >>> [_format_share(share) for share in (0.0000123, 0.034, 0.5, 1.3)]
    ['0.0012 %', '3.4 %', '50 %', '130 %']
    """
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 10 else f"{float(f'{percent:.2g}'):.10g} %"


def _assess_reads(simulation: Simulation, findings: Sequence[Finding]) -> Iterator[Assessment]:
    """Yield the grade of each declared read."""
    remedies = {
        finding.value: finding.remedy
        for finding in reversed(findings)
        if _get_measured_load(finding) == "reads"
    }
    for read, cost in zip(simulation.design.reads, simulation.reads, strict=False):
        yield _assess_read(simulation, read, cost, remedies.get(read.name, ""))


def _assess_read(
    simulation: Simulation, read: DeclaredRead, cost: ReadCost, remedy: str
) -> Assessment:
    """Return the grade of a read from what its answers cost at its rate."""
    subject, design = f"read {read.name}", simulation.design
    if cost.error:
        return Assessment(subject, "poor", f"the read cannot be run: {cost.error}", remedy)
    is_scan = cost.is_full_scan and bool(cost.residual_fields)
    rows_read = cost.read_rows * (_estimate_growth(simulation) if cost.is_full_scan else 1.0)
    regions = cost.regions[0]
    message = (
        f"{'it scans the whole table: ' if is_scan else ''}{pluralize(round(rows_read), 'row')} "
        f"in {pluralize(round(regions, 1), 'region')} are read for "
        f"{pluralize(round(cost.returned_rows, 1), 'row')} returned, on average"
    )
    if read.rate is None:
        return Assessment(subject, "poor" if is_scan else "good", message, remedy)
    capacity = get_capacity(design)[0] * design.cluster.servers
    operations = count_read_operations(regions, rows_read)
    utilization = read.rate * operations / capacity
    needed = count_read_operations(min(regions, 1), min(cost.returned_rows, rows_read))
    waste = read.rate * (operations - needed) / capacity
    grade = _grade_utilization(utilization)
    is_point_scan = is_scan and cost.returned_rows <= MAX_ROWS_OF_POINT_READ
    if waste > POOR_WASTE:
        grade = "poor"
    elif is_point_scan or (is_scan and waste > FAIR_WASTE):
        grade = _choose_worse(grade, "fair")
    message += f"; at its rate that is {_format_share(utilization)} of all servers' capacity"
    return Assessment(subject, grade, message, remedy, utilization)


def _estimate_growth(simulation: Simulation) -> float:
    """Return how many times as many rows the table will have as the sample; at least 1."""
    size = simulation.source.estimate_demand(simulation.design).size
    rows = simulation.replay.row_counter.distinct_count
    if not size or not rows or not simulation.event_bytes:
        return 1.0
    return max(size / simulation.event_bytes / rows, 1.0)


def _assess_load(writes: Assessment, reads: Sequence[Assessment]) -> Iterator[Assessment]:
    """Yield the grade of writes and reads together if it is worse than that of each alone."""
    total = (writes.utilization or 0.0) + sum(one.utilization or 0.0 for one in reads)
    grade = _grade_utilization(total)
    if GRADES.index(grade) > max(one.rank for one in (writes, *reads)):
        message = f"writes and reads take {_format_share(total)} of the busiest server's capacity"
        yield Assessment("load", grade, message, "Use more servers.", total)


def _get_measured_load(finding: Finding) -> str:
    """Return which load shows in figures what a finding foresees; empty for none."""
    rule = next((one for one in RULES.values() if one.code == finding.code), None)
    return "" if rule is None else rule.measured_by


def _assess_findings(findings: Sequence[Finding]) -> Iterator[Assessment]:
    """Yield the grades of warnings and errors that neither writes nor reads show in figures."""
    for finding in findings:
        if finding.severity != "info" and not _get_measured_load(finding):
            grade: Grade = "poor" if finding.severity == "error" else "fair"
            yield Assessment(finding.code, grade, finding.message, finding.remedy)
