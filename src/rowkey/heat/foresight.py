"""What can be said of a design's heat before any event: the causes that its declaration shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.causes import KINDS
from rowkey.regions import Boundaries
from rowkey.schema import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.heat.evidence import Came, Finding


def foreseen(
    design: Design,
    facts: Mapping[str, Facts] | None = None,
    boundaries: Boundaries | None = None,
    came: Came | None = None,
) -> list[Finding]:
    """The causes a design shows by itself, the one that explains most first.

    Args:
        design: the design.
        facts: what is known of its fields; what the file declares if None.
        boundaries: where its regions begin; those that the file alone gives if None.
        came: events that came, with their keys; what the file declares is judged alone if None.
    """
    known = facts if facts is not None else declared_facts(design)
    unknown = boundaries is None and (design.cut.needs_sample or design.cut.needs_count)
    if boundaries is None:
        boundaries = Boundaries() if unknown else design.cut.boundaries(design.key)
    found: list[Finding] = []
    for cause in sorted(KINDS.values(), key=lambda kind: kind.needs_even):
        if unknown and cause.needs_boundaries:
            continue
        finding = cause.foresee_from(design, known, boundaries, came)
        if finding is None or (cause.needs_even and any(f.bound > finding.bound for f in found)):
            continue
        found.append(finding)
    return sorted(found, key=lambda one: -one.bound)


def declared_facts(design: Design) -> dict[str, Facts]:
    """What the file says of its fields' values."""
    facts = {}
    for name, field in design.fields.items():
        distinct, draw = field.words.distinct, design.writes.draws.get(name)
        if distinct is None:
            continue
        heaviest: tuple[tuple[object, float], ...] = ()
        if draw is not None:
            value = draw.heaviest_value(design.domain(name))
            heaviest = ((value, draw.heaviest_share(distinct)),)
        facts[name] = Facts(distinct=distinct, heaviest=heaviest)
    return facts
