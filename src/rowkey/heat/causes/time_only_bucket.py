"""The cause `time_only_bucket`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import WITH_THE_CLOCK, is_of_time, leading_part
from rowkey.heat.proposals import spread_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.keys import Part
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

SECOND_NS = 1_000_000_000


class TimeOnlyBucket(Cause):
    """What spreads the rows is computed from time alone: events of one moment meet in one place.

    Times that come in steps reach few buckets at all: n / gcd(step, n) of a remainder by n.
    """

    name = "time_only_bucket"
    looks = "moment"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        part = _spreading_by_time(design, facts)
        if part is None:
            return None
        step_ns = _step_ns(design, facts, part)
        reached = _reached(facts, part)
        servers = float(design.cluster.servers)
        figures = {
            "fields": list(part.fields),
            "step_s": step_ns / SECOND_NS,
            "reached": reached,
            "buckets": part.cardinality,
        }
        if reached is not None and part.cardinality is not None and reached < part.cardinality:
            message = (
                f"{_computed(part)}, and its times come in steps of {_seconds(step_ns)}: they "
                f"reach {reached} of {part.cardinality} numbers."
            )
            bound = max(servers / reached, 1.0)
            return Finding(cls.name, message, bound, figures, _remedy(design, facts))
        if step_ns < SECOND_NS or design.writes.arrival not in WITH_THE_CLOCK:
            return None
        places = f"one of {part.cardinality} numbers" if _is_listed(part) else "one place"
        message = f"{_computed(part)}: all events of the same {_seconds(step_ns)} meet in {places}."
        return Finding(cls.name, message, servers, figures, _remedy(design, facts))

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        shortest = evidence.skews[0].servers
        if foreseen is None or not evidence.keys:
            return None
        if not evidence.hurts and (shortest is None or shortest < 2):
            return None
        parts = evidence.design.key.parts
        place = next(n for n, part in enumerate(parts, 1) if is_of_time(evidence.design, part))
        came = Counter(evidence.lead_pieces(place))
        share = max(came.values()) / len(evidence.keys)
        figures = {**foreseen.evidence, "came": len(came), "share": share}
        total = parts[place - 1].cardinality
        of = f" of {total}" if _is_listed(parts[place - 1]) else ""
        message = f"{foreseen.message} {len(came):,}{of} came, the fullest with {share:.0%}."
        return Finding(cls.name, message, foreseen.bound, figures, foreseen.remedy)


def _remedy(design: Design, facts: Mapping[str, Facts]) -> str:
    found = spread_key(design, facts)
    return (
        f"Take {found.words}, which spreads by what differs between events of one moment; "
        f"{found.costs}."
    )


def _spreading_by_time(design: Design, facts: Mapping[str, Facts]) -> Part | None:
    """The leading part, if times alone decide it and it does not follow their order."""
    part = leading_part(design, facts)
    if part is None or not is_of_time(design, part) or part.order.ascends or part.order.descends:
        return None
    return part


def _step_ns(design: Design, facts: Mapping[str, Facts], part: Part) -> int:
    """Nanoseconds within which the part does not change: it, or its times, are so coarse."""
    steps = []
    for name in part.fields:
        tick = design.fields[name].type.tick or 1
        known = facts.get(name)
        steps.append((known.step if known is not None and known.step else 1) * tick)
    return max(part.resolution or 0, min(steps))


def _reached(facts: Mapping[str, Facts], part: Part) -> int | None:
    """How many numbers the times reach; None if nothing is known of their steps."""
    known = facts.get(part.fields[0])
    if len(part.fields) > 1 or known is None or not known.step:
        return None
    return part.reach(known.step)


def _is_listed(part: Part) -> bool:
    """Whether the part is one of a few numbers."""
    return part.cardinality is not None and part.images({}).points is not None


def _computed(part: Part) -> str:
    return f"{part.name} is computed from {' and '.join(part.fields)} alone"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / SECOND_NS:,.12g} s"
