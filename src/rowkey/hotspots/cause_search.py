"""Search for the causes of hot spots, in a design before use or in measured load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.design import Design
from rowkey.hotspots.causes import CAUSES
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.regions import Boundaries
from rowkey.schema import MIN_VALUES_FOR_FACTS, FieldFacts

MIN_EXPLAINED_SHARE = 1 / 3
"""Share of what was measured above a skew of 1 from which a cause explains it."""
MIN_NOTABLE_RATIO = 1.1
"""Skew, as a multiple of an even design's, from which a cause is worth a word on an even load."""


if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents


def predict_causes(
    design: Design,
    facts: Mapping[str, FieldFacts] | None = None,
    boundaries: Boundaries | None = None,
    keyed_events: KeyedEvents | None = None,
) -> list[CauseFinding]:
    """Predict the causes of hot spots from a design and its sample, the largest first.

    Args:
        design: the design.
        facts: the facts of its fields; the declared ones if None.
        boundaries: its region boundaries; those that follow from the file alone if None.
        keyed_events: sampled events with their keys; None without a sample.
    """
    field_facts = facts if facts is not None else build_declared_facts(design)
    unknown = boundaries is None and (design.splits.needs_sample or design.splits.needs_count)
    if boundaries is None:
        boundaries = Boundaries() if unknown else design.splits.compute_boundaries(design.key)
    findings: list[CauseFinding] = []
    for cause in sorted(CAUSES.values(), key=lambda plugin: plugin.needs_even_load):
        if unknown and cause.needs_boundaries:
            continue
        finding = cause.predict_from_sample(design, field_facts, boundaries, keyed_events)
        if finding is None or (
            cause.needs_even_load
            and any(one.explained_skew > finding.explained_skew for one in findings)
        ):
            continue
        findings.append(finding)
    return _sort_findings(findings)


def recognise_causes(result: LoadResult) -> list[CauseFinding]:
    """Find the causes of hot spots in measured load, the largest first.

    Too few events show no causes: their shares, order and numbers of values mean nothing.

    Args:
        result: the measured load.
    """
    if len(result.keys) < MIN_VALUES_FOR_FACTS:
        return []
    skew = max(result.measured_skew.skew, 1.0)
    findings: list[CauseFinding] = []
    for cause in CAUSES.values():
        found = cause.recognise(result)
        if found is None:
            continue
        explained = min(found.explained_skew, skew)
        finding = replace(found, bound=min(found.bound, explained), explained=explained)
        if result.measured_skew.is_even:
            least = MIN_NOTABLE_RATIO * max(result.measured_skew.even_skew, 1.0)
            is_named = cause.concerns_regions or explained > least
        else:
            is_named = explained - 1 >= MIN_EXPLAINED_SHARE * (skew - 1)
        if is_named:
            findings.append(finding)
    return _sort_findings(findings)


def _sort_findings(findings: list[CauseFinding]) -> list[CauseFinding]:
    """Return findings, those that explain most first."""
    return sorted(findings, key=lambda finding: (-finding.explained_skew, -finding.bound))


def build_declared_facts(design: Design) -> dict[str, FieldFacts]:
    """Return the facts of fields that the design file declares."""
    facts = {}
    for name, field in design.fields.items():
        distinct, draw = field.declaration.distinct, design.writes.distributions.get(name)
        if distinct is None:
            continue
        heaviest: tuple[tuple[object, float], ...] = ()
        if draw is not None:
            value = draw.find_heaviest_value(design.find_domain(name))
            heaviest = ((value, draw.compute_heaviest_share(distinct)),)
        facts[name] = FieldFacts(distinct_count=distinct, heaviest_values=heaviest)
    return facts
