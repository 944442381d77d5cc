"""The cause `few_entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import counted
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import ENOUGH, Evidence, Finding
from rowkey.heat.leading import deciding_fields, leading_part, values_together
from rowkey.heat.proposals import salted_key, spread_key
from rowkey.heat.reachable import is_missed, missed_by, reachable_regions, skew_of_values
from rowkey.heat.skew import even_share, is_far_too_few
from rowkey.regions import integer_bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.heat.evidence import Came
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts


class FewEntities(Cause):
    """The leading fields have too few values to fill the regions evenly, hashed or not."""

    name = "few_entities"
    looks = "empty"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        names = deciding_fields(design, facts, boundaries)
        values = values_together(design, facts, names)
        regions = reachable_regions(design.key, boundaries)
        if not names or values is None or not _are_few(values, regions):
            return None
        seen = max(facts[name].seen if name in facts else 0 for name in names)
        if seen and not _are_all(values, regions, seen):
            return None
        servers = design.cluster.servers
        # One region a value is as uneven as their number makes it; a hash throws them at random.
        part = leading_part(design, facts)
        is_kept = part is not None and (part.order.ascends or part.order.descends)
        bound = integer_bound(values, servers) if is_kept else float(even_share(values, servers))
        upto = "up to " if len(names) > 1 else ""
        message = _message(
            names, f"{upto}{values:,}", regions, _left_empty(values, regions, is_kept=is_kept)
        )
        figures = {"fields": list(names), "values": values, "regions": regions, "used": None}
        return Finding(cls.name, message, bound, figures, _remedy(design, facts, names))

    @classmethod
    def foresee_from(
        cls,
        design: Design,
        facts: Mapping[str, Facts],
        boundaries: Boundaries,
        came: Came | None,
    ) -> Finding | None:
        """The same, unless the keys that came show that the boundaries throw them together."""
        found = cls.foresee(design, facts, boundaries)
        if found is not None and came is not None and missed_by(design, facts, boundaries, came):
            return None
        return found

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        names, values = evidence.entity_fields, evidence.entities
        if not names or len(names) < len(evidence.lead_fields):
            return None
        if evidence.front is not None or (evidence.measured.is_even and not evidence.hurts):
            return None
        regions = reachable_regions(evidence.design.key, evidence.boundaries)
        if not _are_few(values, regions) or is_missed(evidence):
            return None
        if not _are_all(values, regions, len(evidence.keys)):
            return None
        used = len(evidence.boundaries) - evidence.empty
        written = (
            "all of them were" if used == len(evidence.boundaries) else f"{used:,} of them were"
        )
        written = "one of them was" if used == 1 else written
        then = f"{written} written, and so few lie unevenly."
        message = _message(names, f"{values:,}", regions, then)
        figures = {"fields": list(names), "values": values, "regions": regions, "used": used}
        bound = min(skew_of_values(evidence), evidence.measured.skew)
        remedy = _remedy(evidence.design, evidence.facts, names)
        return Finding(cls.name, message, max(bound, 1.0), figures, remedy)


def _are_few(values: int, regions: int) -> bool:
    """Whether so few values cannot fill the regions that keys can lie in."""
    return regions > 1 and values < ENOUGH * regions


def _are_all(values: int, regions: int, events: int) -> bool:
    """Whether as many events would have shown more values, had there been enough of them."""
    return is_far_too_few(events, ENOUGH * regions, min(values, events))


def _message(names: Sequence[str], values: str, regions: int, then: str) -> str:
    has = "has" if len(names) == 1 else "have together"
    plural = "value" if values == "1" else "values"
    return f"{' and '.join(names)} {has} {values} {plural} for {counted(regions, 'region')}: {then}"


def _left_empty(values: int, regions: int, *, is_kept: bool) -> str:
    """What becomes of regions: values in their own order meet each other less than at random."""
    if is_kept:
        empty = regions - values
        left = f", so {empty:,} or more of them stay empty" if empty > 0 else ""
        return f"a value never lies in two regions{left or ', and so few divide them unevenly'}."
    empty_mean = regions * (1 - 1 / regions) ** values
    return f"thrown at random, so few leave {empty_mean:.1f} of them empty on average."


def _remedy(design: Design, facts: Mapping[str, Facts], names: Sequence[str]) -> str:
    """More fields where the key has them, else chance; fewer regions are no cooler."""
    values = values_together(design, facts, design.key.fields)
    enough = ENOUGH * 2 * design.cluster.servers
    if set(names) < set(design.key.fields) and (values is None or values >= enough):
        found = spread_key(design, facts, beside=names)
        return f"Take {found.words}, which spreads by more fields; {found.costs}."
    return (
        f"Take {salted_key(design).words}, which spreads the rows of each value; a "
        "read then asks every salt, and a row written twice may stand twice."
    )
