"""The cause `moving_front`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import moves_with_clock, share_of_front
from rowkey.heat.proposals import spread_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

SORTED = "bulk_sorted"


class MovingFront(Cause):
    """Keys rise, or fall, with time: all writes go to the region at the end of what was written.

    Splitting does not help: the front leaves every region behind it half full and idle. An import
    in the order of the keys is such a front on any key; shuffling it is the remedy.
    """

    name = "moving_front"
    looks = "front"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        is_import = design.writes.arrival == SORTED and not design.key.is_salted
        field = moves_with_clock(design, facts)
        if field is None and not is_import:
            return None
        what = (
            _import() if is_import else f"the key begins with {field}, which moves with the clock"
        )
        known = facts.get(field or "")
        share = 1.0 if field is None else share_of_front(design, facts, field, boundaries)
        takes = "all writes, whatever the number of regions"
        if share < 1:
            takes = f"{share:.0%} of the writes, for the newest values come most"
        return Finding(
            cls.name,
            f"{what}: at any moment one region takes {takes}.",
            max(design.cluster.servers * share, 1.0),
            {"field": field, "rising": known.rising if known is not None else None},
            _remedy(design, facts, is_import=is_import),
        )

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        front = evidence.front
        if front is None:
            return None
        fields = evidence.lead_fields
        names = " and ".join(fields)
        times = [name for name in fields if evidence.design.fields[name].type.tick is not None]
        why = f"they begin with {names}, which moves with {'time' if times else 'arrival'}"
        if evidence.design.writes.arrival == SORTED:
            why = _import()
        regions = evidence.placements.regions
        alone = "; with more regions than one the same would be true" if regions == 1 else ""
        spans = f"half of what comes at a time spans {_spanned(front.spread)} of all keys"
        if front.is_standing:
            moving = moves_with_clock(evidence.design, evidence.facts) or names
            why = f"they begin with {moving}, which moves with the clock"
            spans = "what came lies within one step of it, and what follows beyond"
        message = (
            f"Keys {front.direction} as events come, for {why}: {spans}, and the busiest region "
            f"took {evidence.region_shares.median:.0%} of a typical window{alone}."
        )
        figures = {
            "fields": list(fields),
            "direction": front.direction,
            "steps": front.steps,
            "spread": front.spread,
            "share": evidence.region_shares.median,
        }
        is_import = evidence.design.writes.arrival == SORTED
        remedy = _remedy(evidence.design, evidence.facts, is_import=is_import)
        return Finding(cls.name, message, float(evidence.servers), figures, remedy)


def _spanned(share: float) -> str:
    """A share of all keys; what would be printed as nothing is less than something.

    >>> _spanned(0.0123), _spanned(0.0), _spanned(0.00049)
    ('1.2%', 'less than 0.1%', 'less than 0.1%')
    """
    return f"{share:.1%}" if share >= 0.001 else "less than 0.1%"


def _import() -> str:
    return "rows are imported in the order of their keys"


def _remedy(design: Design, facts: Mapping[str, Facts], *, is_import: bool) -> str:
    if is_import:
        return "Shuffle the rows before they are loaded, or load finished files in bulk."
    found = spread_key(design, facts)
    return f"Put {found.in_front}; {found.costs}."
