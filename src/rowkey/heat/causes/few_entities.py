"""The cause `few_entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        lead = next((part for part in design.key.parts if part.cardinality != 1), None)
        if lead is None or any(design.fields[name].type.tick for name in lead.fields):
            return None
        counts = [facts[name].distinct for name in lead.fields if name in facts]
        known = [count for count in counts if count is not None]
        if not known or len(known) < len(lead.fields) or len(boundaries) == 1:
            return None
        values = 1
        for count in known:
            values *= count
        if values >= ENOUGH * len(boundaries):
            return None
        return _finding(design, " and ".join(lead.fields), values, len(boundaries), None)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        names = evidence.entity_fields
        regions = len(evidence.boundaries)
        if not names or len(names) < len({n for p in evidence.lead for n in p.fields}):
            return None
        if regions == 1 or not evidence.hurts:
            return None
        columns = (evidence.rows.column(name).to_pylist() for name in names)
        values = len(set(zip(*columns, strict=True)))
        if values >= ENOUGH * regions:
            return None
        used = int((evidence.writes > 0).sum())
        return _finding(evidence.design, " and ".join(names), values, regions, used)


def _finding(design: Design, names: str, values: int, regions: int, used: int | None) -> Finding:
    empty = regions * (1 - 1 / regions) ** values
    message = f"{names} has {values:,} values for {regions:,} regions"
    if used is not None:
        message += f": {used:,} regions were written"
    message += f"; a hash of so few leaves {empty:.1f} regions empty on average."
    servers = design.cluster.servers
    bound = max(servers / max(min(values, servers), 1), 1.0)
    figures = {"fields": names, "values": values, "regions": regions, "used": used}
    return Finding(FewEntities.name, message, bound, figures)
