"""The cause `few_entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import deciding_fields, wider_bucket
from rowkey.heat.reachable import reachable_regions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

ENOUGH = 4
"""Values a region below which chance alone leaves regions uneven: at four, a hash puts nine on the
fullest of 16 regions where an even share would be four."""


class FewEntities(Cause):
    """The leading fields have too few values to fill the regions evenly, hashed or not."""

    name = "few_entities"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        names = deciding_fields(design, facts, boundaries)
        known = [facts[name].distinct for name in names if name in facts]
        counts = [count for count in known if count is not None]
        if not names or len(counts) < len(names):
            return None
        values = 1
        for count in counts:
            values *= count
        return _finding(design, boundaries, names, values, None)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        names = evidence.entity_fields
        if not names or len(names) < len(evidence.lead_fields) or not evidence.hurts:
            return None
        used = len(evidence.boundaries) - evidence.empty
        return _finding(evidence.design, evidence.boundaries, names, evidence.entities, used)


def _finding(
    design: Design, boundaries: Boundaries, names: Sequence[str], values: int, used: int | None
) -> Finding | None:
    """The finding, if so few values cannot fill the regions that keys can lie in."""
    regions = reachable_regions(design.key, boundaries)
    if regions < 2 or values >= ENOUGH * regions:
        return None
    fields, has = " and ".join(names), "has" if len(names) == 1 else "have together"
    empty = regions * (1 - 1 / regions) ** values
    # Declared numbers of values multiply; a sample shows how many of the pairs there are.
    upto = "up to " if used is None and len(names) > 1 else ""
    written = "" if used is None else f" {used:,} of them were written;"
    message = (
        f"{fields} {has} {upto}{values:,} values for {regions:,} regions:{written} a hash of so "
        f"few leaves {empty:.1f} regions empty on average."
    )
    servers = design.cluster.servers
    bound = max(servers / min(values, servers), 1.0)
    figures = {"fields": list(names), "values": values, "regions": regions, "used": used}
    fewer = f"ake at most {max(values // ENOUGH, 1):,} regions"
    remedy = f"T{fewer}."
    if set(names) != set(design.key.fields):
        remedy = f"Spread by more fields, as {wider_bucket(design)} does, or t{fewer}."
    return Finding(FewEntities.name, message, bound, figures, remedy)
