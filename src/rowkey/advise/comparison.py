"""The result of a comparison: the figures of several designs, measure by measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rowkey.advise.key_remedy import complete_findings
from rowkey.advise.remedied_simulation import complete_simulation
from rowkey.advise.resources import Resources, estimate_resources
from rowkey.advise.verdict import DesignVerdict, judge_design
from rowkey.design import Design
from rowkey.schema import ReadDeclaration
from rowkey.simulate import Simulation

if TYPE_CHECKING:
    from rowkey.advise.judgement import JudgedDesign
    from rowkey.lint import LintResult

BetterDirection = Literal["less", "more", ""]
"""Which way a measure is better; empty where neither is."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one design, or the reason why there is none.

    Args:
        value: the figure; None where there is none.
        is_exact: whether it was counted, not estimated or timed.
        reason: why there is none, or an empty string.
        is_full_scan: whether it is of a read of the whole table, whose one range is no merit.
    """

    value: float | None
    is_exact: bool = True
    reason: str = ""
    is_full_scan: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a comparison, with its figure for each design.

    Args:
        name: its name: `skew_10s`, `event_bytes`, `fan_out`.
        description: what it measures, as a phrase.
        figures: a figure for each design, in their order.
        direction: which way it is better.
        tolerance: figures that differ by less are equal: chance makes as much.
        read_name: the read it is of; None for all reads together, and what is not of reads.
    """

    name: str
    description: str
    figures: tuple[Figure, ...]
    direction: BetterDirection = "less"
    tolerance: float = 0.0
    read_name: str | None = None

    @property
    def best_designs(self) -> tuple[int, ...]:
        """Return the indexes of the best designs by this measure; none if all are equal.

        A design that has no figure, or that reads the whole table, is never among them, and does
        not affect the others.

        >>> figures = [Figure(2.0), Figure(1.0), Figure(None), Figure(1.1)]
        >>> Measure("skew_10s", "", tuple(figures), tolerance=0.2).best_designs
        (1, 3)
        >>> Measure("fan_out", "", (Figure(1.0, is_full_scan=True), Figure(16.0))).best_designs
        (1,)
        """
        sign = {"less": 1, "more": -1, "": 0}[self.direction]
        signed_values = {
            n: sign * one.value
            for n, one in enumerate(self.figures)
            if one.value is not None and not one.is_full_scan
        }
        best_value = min(signed_values.values(), default=0)
        best = tuple(
            n for n, value in signed_values.items() if value <= best_value + self.tolerance
        )
        value_count = sum(one.value is not None for one in self.figures)
        return best if len(best) < value_count else ()


@dataclass(frozen=True)
class ComparedDesign:
    """One design of a comparison, with its simulation, findings and stored bytes.

    Args:
        label: its letter, from A.
        name: what it is called: its file, or its table.
        design: the design as it was declared.
        simulation: the sample on it, with the reads and the cluster of the comparison; its causes
            name no key.
        declared: the design as it was declared, judged by the same sample.
        key_bytes: bytes of the row keys of all replayed events together.
        event_bytes: bytes that the replayed events add to a store together, before encoding and
            compression; those that overwrite others are in it.
        is_measured: whether those bytes were counted, not estimated from the widths of fields.
        encode_us: microseconds to make one row key; None without a clock.
    """

    label: str
    name: str
    design: Design
    simulation: Simulation
    declared: JudgedDesign
    key_bytes: int
    event_bytes: float
    is_measured: bool
    encode_us: float | None = None

    @cached_property
    def lint_result(self) -> LintResult:
        """Return what the rules say of the design as it was declared, with the recommended key.

        Cost: where another key is needed, that of a search for it, once for a design.
        """
        return complete_findings(self.declared.lint_result, lambda: self.declared.key_remedy)

    @cached_property
    def remedied_simulation(self) -> Simulation:
        """Return the simulation, with the recommended key in its causes; see `lint_result`."""
        return complete_simulation(self.simulation, lambda: self.declared.key_remedy)

    @cached_property
    def verdict(self) -> DesignVerdict:
        """Return the verdict on the design, with the reads and the cluster of the comparison."""
        verdict = judge_design(self.remedied_simulation, self.declared.lint_result.findings)
        if not verdict.has_remedy:  # no key is searched for in vain
            return verdict
        return judge_design(self.remedied_simulation, self.lint_result.findings)

    @cached_property
    def resources(self) -> Resources:
        """Return what the design needs, with the reads and the cluster of the comparison."""
        return estimate_resources(self.simulation)


@dataclass(frozen=True)
class Comparison:
    """The result of comparing designs by the same events, servers and reads.

    Args:
        path: the sample.
        event_count: events of the sample.
        first_event: the number of the first that was replayed: 0, or that of the second half.
        servers: region servers.
        capacity: operations a second one of them serves; None where no design declares it.
        designs: the designs, in the order they were given.
        measures: the measures, each with a figure for each design.
        reads: the reads that every design was asked, by name: all that any of them declares.
        read_weights: the share of each read among all, by its rate; even where a rate is missing.
        has_rates: whether those shares are from declared rates.
        seed: where randomness began.
    """

    path: Path
    event_count: int
    first_event: int
    servers: int
    capacity: float | None
    designs: tuple[ComparedDesign, ...]
    measures: tuple[Measure, ...]
    reads: Mapping[str, ReadDeclaration]
    read_weights: Mapping[str, float]
    has_rates: bool
    seed: int

    @property
    def operation_count(self) -> int:
        """Return how many events were replayed on each design."""
        return self.event_count - self.first_event

    def find_measure(self, name: str, read_name: str | None = None) -> Measure:
        """Return a measure by its name, and by the name of its read if it has one.

        Raises:
            KeyError: there is none.
        """
        for one in self.measures:
            if (one.name, one.read_name) == (name, read_name):
                return one
        raise KeyError(name if read_name is None else (name, read_name))
