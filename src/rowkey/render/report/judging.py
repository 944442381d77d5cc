"""One design with everything that a report tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.design import properties_of
from rowkey.errors import SampleError
from rowkey.lint import check, look
from rowkey.plan import example_of, explain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rowkey.advise import Comparison
    from rowkey.design import Design, Properties
    from rowkey.lint import Findings
    from rowkey.plan import Explanation
    from rowkey.schema import Facts
    from rowkey.simulate import Simulation


@dataclass(frozen=True)
class Judged:
    """One design, what was simulated and what the rules found.

    Args:
        name: what it is called beside others: the name of its file.
        design: the design.
        simulation: where the operations land.
        properties: what it can and cannot do.
        findings: what the rules say.
        plans: how each declared read runs, by its name.
        event_bytes: mean bytes that an event adds to a store.
    """

    name: str
    design: Design
    simulation: Simulation
    properties: Properties
    findings: Findings
    plans: Mapping[str, Explanation]
    event_bytes: float

    @property
    def facts(self) -> Mapping[str, Facts]:
        """What is known of the fields: of a sample that was looked at, of those it stores too."""
        seen = self.findings.seen
        return self.simulation.facts if seen is None else seen.facts


def judged(
    name: str,
    simulation: Simulation,
    sample: str | Path | None = None,
    format_words: Mapping[str, Any] | None = None,
) -> Judged:
    """A simulated design with what the rules and the plans say of it.

    Args:
        name: what it is called beside others.
        simulation: what `simulate.run` gave.
        sample: the file it was simulated with; the design's own if None.
        format_words: how it is read, as `simulate.run` takes it.

    Raises:
        SampleError: a sample that was named does not fit the rules' look at it.

    Cost: a pass over the sample, 1 µs an event.
    """
    design = simulation.design
    seen = _seen(design, sample, format_words)
    return _told(name, simulation, check(design, seen, facts=simulation.facts))


def judged_together(found: Comparison) -> list[Judged]:
    """The designs of a comparison, each with all reads that any of them declares.

    Args:
        found: what `compare` gave.
    """
    events = max(found.operations, 1)
    return [
        _told(one.name, one.simulation, one.findings, one.event_bytes / events)
        for one in found.designs
    ]


def _told(
    name: str, simulation: Simulation, findings: Findings, event_bytes: float | None = None
) -> Judged:
    """A simulated design with its findings and what else follows from it.

    Args:
        name: what it is called beside others.
        simulation: what was simulated.
        findings: what the rules say.
        event_bytes: as it was counted; told from what is known of the fields if None.
    """
    design, seen = simulation.design, findings.seen
    facts = simulation.facts if seen is None else seen.facts
    plans = {
        read.name: explain(design.key, example_of(read), limit=read.limit) for read in design.reads
    }
    if event_bytes is None:
        event_bytes = design.layout.event_bytes(simulation.key_bytes, facts)
    properties = properties_of(design, facts)
    return Judged(name, design, simulation, properties, findings, plans, event_bytes)


def _seen(design: Design, sample: str | Path | None, format_words: Mapping[str, Any] | None) -> Any:
    """What the rules see of the sample; of a declared one that does not fit them, nothing."""
    path = sample if sample is not None else design.sample_path
    if path is None:
        return None
    try:
        return look(design, path, format_words)
    except SampleError:
        if sample is not None:
            raise
        return None
