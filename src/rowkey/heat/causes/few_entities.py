"""The cause `few_entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import counted
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import deciding_fields, leading_part
from rowkey.heat.proposals import wider_key
from rowkey.heat.reachable import reachable_regions
from rowkey.heat.skew import even_share
from rowkey.regions import integer_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

ENOUGH = 4
"""Values a region below which chance alone leaves regions uneven: at four, a hash puts nine on the
fullest of 16 regions where an even share would be four."""


class FewEntities(Cause):
    """The leading fields have too few values to fill the regions evenly, hashed or not."""

    name = "few_entities"
    looks = "empty"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        names = deciding_fields(design, facts, boundaries)
        values = _together(facts, names)
        regions = reachable_regions(design.key, boundaries)
        if not names or values is None or not _are_few(values, regions):
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
    def recognise(cls, evidence: Evidence) -> Finding | None:
        names, values = evidence.entity_fields, evidence.entities
        if not names or len(names) < len(evidence.lead_fields):
            return None
        if evidence.front is not None or (evidence.measured.is_even and not evidence.hurts):
            return None
        regions = reachable_regions(evidence.design.key, evidence.boundaries)
        if not _are_few(values, regions):
            return None
        used = len(evidence.boundaries) - evidence.empty
        written = (
            "all of them were" if used == len(evidence.boundaries) else f"{used:,} of them were"
        )
        written = "one of them was" if used == 1 else written
        then = f"{written} written, and so few lie unevenly."
        message = _message(names, f"{values:,}", regions, then)
        figures = {"fields": list(names), "values": values, "regions": regions, "used": used}
        bound = min(_skew_of_values(evidence), evidence.measured.skew)
        remedy = _remedy(evidence.design, evidence.facts, names)
        return Finding(cls.name, message, max(bound, 1.0), figures, remedy)


def _together(facts: Mapping[str, Facts], names: Iterable[str]) -> int | None:
    """How many values some fields can have together; None where that is not known."""
    total = 1
    for name in names:
        count = facts[name].distinct if name in facts else None
        if count is None:
            return None
        total *= count
    return total


def _are_few(values: int, regions: int) -> bool:
    """Whether so few values cannot fill the regions that keys can lie in."""
    return regions > 1 and values < ENOUGH * regions


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


def _skew_of_values(evidence: Evidence) -> float:
    """The skew over servers if every value were as busy, each in the region of most of its rows."""
    import numpy as np

    codes, regions = evidence.entity_codes, len(evidence.boundaries)
    pairs, counts = np.unique(codes * regions + evidence.regions, return_counts=True)
    order = np.lexsort((counts, pairs // regions))
    lasts = order[np.flatnonzero(np.diff(pairs[order] // regions, append=-1))]
    held = np.bincount(pairs[lasts] % regions, minlength=regions)
    loads = evidence.placements.by_server(held)
    return float(loads.max() * evidence.servers / evidence.entities)


def _remedy(design: Design, facts: Mapping[str, Facts], names: Sequence[str]) -> str:
    """More fields where the key has them, else chance; fewer regions are no cooler."""
    values = _together(facts, design.key.fields)
    enough = ENOUGH * 2 * design.cluster.servers
    if set(names) < set(design.key.fields) and (values is None or values >= enough):
        return (
            f"Take {wider_key(design).words}, which spreads by more fields; a read of one value "
            "then asks every bucket."
        )
    return (
        f"Take {wider_key(design, is_drawn=True).words}, which spreads the rows of each value; a "
        "read then asks every salt, and a row written twice may stand twice."
    )
