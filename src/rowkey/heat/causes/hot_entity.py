"""The cause `hot_entity`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

TOGETHER = 0.9
"""Share of an entity's events in one region above which they are taken to lie together."""


class HotEntity(Cause):
    """One value takes many of the events, and all of its rows lie in one region.

    A hash of it moves the heat but does not spread it: every row of the value keeps one prefix. It
    is spread by a bucket over more fields, or by `bucket(…, n, m)` for the values listed as heavy.
    """

    name = "hot_entity"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        lead = next((part for part in design.key.parts if part.cardinality != 1), None)
        if lead is None or len(lead.fields) != 1 or design.fields[lead.fields[0]].type.tick:
            return None
        name = lead.fields[0]
        known = facts.get(name)
        share = known.heaviest_share if known is not None else None
        if share is None or not _matters(share, design.cluster.servers, len(boundaries)):
            return None
        assert known is not None
        shown = design.fields[name].type.show(known.heaviest[0][0])
        return Finding(
            cls.name,
            f"{name} {shown} takes {share:.1%} of the events, and all its rows lie in one region: "
            f"the skew over {design.cluster.servers} servers cannot fall below "
            f"{design.cluster.servers * share:.2f}.",
            design.cluster.servers * share,
            {"field": name, "value": shown, "share": share},
        )

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        names = evidence.entity_fields
        if not names or not evidence.keys:
            return None
        values = list(zip(*(evidence.rows.column(n).to_pylist() for n in names), strict=True))
        entity, count = Counter(values).most_common(1)[0]
        share = count / len(values)
        regions = Counter(
            region
            for value, region in zip(values, evidence.regions.tolist(), strict=True)
            if value == entity
        )
        region, together = regions.most_common(1)[0]
        if together < TOGETHER * count:
            return None
        if not _matters(share, evidence.servers, len(evidence.boundaries)) or len(set(values)) == 1:
            return None
        shown = ", ".join(f"{name} {value}" for name, value in zip(names, entity, strict=True))
        bound = evidence.servers * share
        message = (
            f"{shown} takes {share:.1%} of the events, {together / count:.0%} of them in region "
            f"{region}: the skew over {evidence.servers} servers cannot fall below {bound:.2f}."
        )
        figures = {"fields": list(names), "value": shown, "share": share, "region": region}
        return Finding(cls.name, message, bound, figures)


def _matters(share: float, servers: int, regions: int) -> bool:
    """Whether one value is more than its region's, or half its server's, fair share."""
    return share > 1.5 / max(regions, 1) and share > 0.5 / servers
