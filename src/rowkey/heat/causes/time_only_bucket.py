"""The cause `time_only_bucket`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.keys import Part
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

SECOND_NS = 1_000_000_000


class TimeOnlyBucket(Cause):
    """A bucket is computed from time alone: events of one moment meet in one bucket.

    Times that come in steps reach few buckets at all: n / gcd(step, n) of a remainder by n.
    """

    name = "time_only_bucket"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        part = _spreading_by_time(design)
        if part is None:
            return None
        name = part.fields[0]
        known = facts.get(name)
        step = known.step if known is not None else None
        reached = part.reach(step) if step else None
        total = part.cardinality or 1
        if reached is not None and reached < total:
            servers = float(design.cluster.servers)
            return Finding(
                cls.name,
                _steps(design, part, step or 0, reached),
                max(servers / reached, 1.0),
                {"field": name, "step": step, "reached": reached, "buckets": total},
            )
        if (part.resolution or 0) < SECOND_NS:
            return None
        return Finding(
            cls.name,
            _moment(part),
            float(design.cluster.servers),
            {"field": name, "resolution_ns": part.resolution, "buckets": total},
        )

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        if foreseen is None:
            return None
        shortest = evidence.skews[0].servers
        if not evidence.hurts and (shortest is None or shortest < 2):
            return None
        used = int((evidence.writes > 0).sum())
        message = f"{foreseen.message} {used} of {len(evidence.writes)} regions were written."
        return Finding(cls.name, message, foreseen.bound, {**foreseen.evidence, "used": used})


def _spreading_by_time(design: Design) -> Part | None:
    """The leading part, if it is one of a few numbers computed from time alone."""
    part = next((part for part in design.key.parts if part.cardinality != 1), None)
    if part is None or part.resolution is None or part.order.ascends or part.order.descends:
        return None
    return part if part.cardinality is not None and part.images({}).points is not None else None


def _steps(design: Design, part: Part, step: int, reached: int) -> str:
    name = part.fields[0]
    tick = design.fields[name].type.tick or 1
    seconds = step * tick / SECOND_NS
    return (
        f"{part.name} is computed from {name} alone, and its times come in steps of "
        f"{seconds:,.12g} s: they reach {reached} of {part.cardinality} numbers."
    )


def _moment(part: Part) -> str:
    seconds = (part.resolution or 0) / SECOND_NS
    return (
        f"{part.name} is computed from {part.fields[0]} alone: all events of the same "
        f"{seconds:,.12g} s meet in one of {part.cardinality} numbers."
    )
