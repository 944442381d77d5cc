"""What can be said of a design's heat before any event: the causes that its declaration shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import DeclarationError
from rowkey.heat.causes import KINDS
from rowkey.regions import Boundaries
from rowkey.schema import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.heat.evidence import Finding


def foreseen(design: Design, facts: Mapping[str, Facts] | None = None) -> list[Finding]:
    """The causes a design shows by itself, the one that explains most first.

    Args:
        design: the design.
        facts: what is known of its fields; what the file declares if None.
    """
    known = facts if facts is not None else declared_facts(design)
    try:
        sampled = design.cut.needs_sample or design.cut.needs_count
        boundaries = Boundaries() if sampled else design.cut.boundaries(design.key)
    except DeclarationError:
        return []
    causes = [
        cause.foresee(design, known, boundaries)
        for cause in KINDS.values()
        if not sampled or not cause.needs_boundaries
    ]
    return sorted((cause for cause in causes if cause is not None), key=lambda c: -c.bound)


def declared_facts(design: Design) -> dict[str, Facts]:
    """What the file says of its fields' values."""
    facts = {}
    for name, field in design.fields.items():
        distinct, draw = field.words.distinct, design.writes.draws.get(name)
        if distinct is None:
            continue
        heaviest: tuple[tuple[object, float], ...] = ()
        if draw is not None:
            heaviest = ((field.type.domain.nth(0), draw.heaviest_share(distinct)),)
        facts[name] = Facts(distinct=distinct, heaviest=heaviest)
    return facts
