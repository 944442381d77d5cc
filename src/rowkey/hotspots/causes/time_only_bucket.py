"""The cause `time_only_bucket`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rowkey.design import Design
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import CLOCK_ARRIVALS, find_leading_part, is_time_only
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.keys import Part
from rowkey.messages import pluralize
from rowkey.proposals import ANOTHER_KEY
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts

SECOND_NS = 1_000_000_000


class TimeOnlyBucketCause(Cause):
    """The leading part spreads rows by time alone: events of one moment go to the same region.

    Times in even steps reach only some of the buckets: n / gcd(step, n) of a remainder by n.
    """

    name = "time_only_bucket"
    map_shape = "moment"
    needs_boundaries = False

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if the leading part is computed from times alone."""
        part = _find_time_bucket(design, facts)
        if part is None:
            return None
        step_ns = _compute_step_ns(design, facts, part)
        reached = _count_reached(facts, part)
        servers = float(design.cluster.servers)
        figures = {
            "fields": list(part.fields),
            "step_s": step_ns / SECOND_NS,
            "reached": reached,
            "buckets": part.cardinality,
        }
        if reached is not None and part.cardinality is not None and reached < part.cardinality:
            message = (
                f"{_format_source(part)}, and its times come in steps of "
                f"{_format_seconds(step_ns)}: they reach {reached} of {part.cardinality} values."
            )
            bound = max(servers / reached, 1.0)
            return CauseFinding(
                cls.name, message, ANOTHER_KEY, bound=bound, evidence=figures, needs_key=True
            )
        if step_ns < SECOND_NS or design.writes.arrival not in CLOCK_ARRIVALS:
            return None
        places = f"one of {part.cardinality} values" if _has_listed_values(part) else ("one region")
        message = (
            f"{_format_source(part)}: all events of the same {_format_seconds(step_ns)} go to "
            f"{places}."
        )
        return CauseFinding(
            cls.name, message, ANOTHER_KEY, bound=servers, evidence=figures, needs_key=True
        )

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if a bucket of times alone made one region hot."""
        prediction = cls.predict(result.design, result.facts, result.boundaries)
        shortest = result.skews[0].server_skew
        if prediction is None or not result.keys:
            return None
        if not result.has_hot_region and (shortest is None or shortest < 2):
            return None
        parts = result.design.key.parts
        place = next(n for n, part in enumerate(parts, 1) if is_time_only(result.design, part))
        value_counts = Counter(result.take_leading_bytes(place))
        share = max(value_counts.values()) / len(result.keys)
        figures = {**prediction.evidence, "came": len(value_counts), "share": share}
        total = parts[place - 1].cardinality
        total_text = f" of {total}" if _has_listed_values(parts[place - 1]) else ""
        message = (
            f"{prediction.message} {pluralize(len(value_counts), 'value')}{total_text} occurred, "
            f"and the most frequent took {share:.0%} of the events."
        )
        step_ns = _compute_step_ns(result.design, result.facts, parts[place - 1])
        moments = result.number_moments(parts[place - 1].fields[0], step_ns)
        return CauseFinding(
            cls.name,
            message,
            ANOTHER_KEY,
            bound=result.compute_least_skew(moments),
            evidence=figures,
            explained=result.measured_skew.skew,
            needs_key=True,
        )


def _find_time_bucket(design: Design, facts: Mapping[str, FieldFacts]) -> Part | None:
    """Return the leading part if it is computed from times alone, in no order of time."""
    part = find_leading_part(design, facts)
    if (
        part is None
        or not is_time_only(design, part)
        or part.order.is_ascending
        or part.order.is_descending
    ):
        return None
    return part


def _compute_step_ns(design: Design, facts: Mapping[str, FieldFacts], part: Part) -> int:
    """Return the nanoseconds for which a time bucket keeps its value."""
    steps = []
    for name in part.fields:
        tick = design.fields[name].type.unit_ns or 1
        field_facts = facts.get(name)
        steps.append(
            (field_facts.step if field_facts is not None and field_facts.step else 1) * tick
        )
    return max(part.resolution_ns or 0, min(steps))


def _count_reached(facts: Mapping[str, FieldFacts], part: Part) -> int | None:
    """Return how many bucket values the times can reach; None if their step is unknown."""
    field_facts = facts.get(part.fields[0])
    if len(part.fields) > 1 or field_facts is None or not field_facts.step:
        return None
    return part.count_reachable(field_facts.step)


def _has_listed_values(part: Part) -> bool:
    """Return whether a key part has few enough values to list them."""
    return part.cardinality is not None and part.images({}).points is not None


def _format_source(part: Part) -> str:
    """Return the clause that names the fields from which a part is computed."""
    return f"{part.name} is computed from {' and '.join(part.fields)} alone"


def _format_seconds(nanoseconds: int) -> str:
    """Return a duration in seconds with its unit."""
    return f"{nanoseconds / SECOND_NS:,.12g} s"
