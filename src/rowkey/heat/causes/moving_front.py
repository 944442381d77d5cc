"""The cause `moving_front`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

MOSTLY = 0.75
"""Share of events that must stand at the front; late ones may lie behind it."""


class MovingFront(Cause):
    """Keys rise, or fall, with time: all writes go to the region at the end of what was written.

    Splitting does not help: the front leaves every region behind it half full and idle.
    """

    name = "moving_front"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        lead = next((part for part in design.key.parts if part.cardinality != 1), None)
        if lead is None or len(lead.fields) != 1 or not (lead.order.ascends or lead.order.descends):
            return None
        name = lead.fields[0]
        known = facts.get(name)
        rising = known.rising if known is not None else None
        is_clock = design.writes.time is design.fields[name] and design.writes.arrival == "clock"
        if (rising is not None and rising < MOSTLY) or (rising is None and not is_clock):
            return None
        servers = float(design.cluster.servers)
        what = f"the key begins with {name}, which moves with the clock"
        return Finding(
            cls.name,
            f"{what}: at any moment one region takes all writes, whatever the number of regions.",
            servers,
            {"field": name, "rising": rising},
        )

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        values = evidence.lead_values
        if len(values) < 2 or not evidence.hurts or len(set(values)) < 2:
            return None
        up, down = _at_the_front(values)
        share = max(up, down)
        if share < MOSTLY:
            return None
        names = " and ".join(dict.fromkeys(n for part in evidence.lead for n in part.fields))
        way, end = ("rise", "after") if up >= down else ("fall", "before")
        message = (
            f"Keys {way} with time, for they begin with {names}: {share:.0%} of the events came "
            f"{end} all earlier ones, and the busiest region took "
            f"{evidence.region_shares.median:.0%} of a typical window."
        )
        figures = {"fields": names, "front": share, "direction": way}
        return Finding(cls.name, message, float(evidence.servers), figures)


def _at_the_front(values: Sequence[bytes]) -> tuple[float, float]:
    """Shares of values not below, and not above, all before them."""
    highest = lowest = values[0]
    up = down = 0
    for value in values:
        if value >= highest:
            highest, up = value, up + 1
        if value <= lowest:
            lowest, down = value, down + 1
    return up / len(values), down / len(values)
