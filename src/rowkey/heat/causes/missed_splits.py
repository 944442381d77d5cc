"""The cause `missed_splits`."""

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

MANY = 0.2
"""Share of regions no key can fall into above which the splits are said to miss the keys."""


class MissedSplits(Cause):
    """The boundaries lie where no keys are: regions stay empty, and the others take their load.

    Hexadecimal keys under splits made for decimal digits are the classic: 00, 10 … 90 leave 43.75 %
    of all rows to the last region.
    """

    name = "missed_splits"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        lead = next((part for part in design.key.parts if part.cardinality != 1), None)
        if lead is None or len(boundaries) == 1:
            return None
        unreachable = _unreachable(lead, boundaries)
        if unreachable < MANY * len(boundaries):
            return None
        low, high = lead.alphabet.low, lead.alphabet.high
        message = (
            f"{unreachable} of {len(boundaries)} regions can hold no key: keys begin with bytes "
            f"{low:02x} to {high:02x} only."
        )
        bound = design.cluster.servers / max(
            min(len(boundaries) - unreachable, design.cluster.servers), 1
        )
        figures = {"unreachable": unreachable, "low": f"{low:02x}", "high": f"{high:02x}"}
        return Finding(cls.name, message, bound, figures)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions = len(evidence.boundaries)
        empty = int((evidence.writes == 0).sum())
        many_values = len(set(evidence.lead_values)) >= 4 * regions
        if regions == 1 or empty < max(MANY * regions, 1) or not evidence.keys:
            return None
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        if foreseen is None and not (many_values and _is_one_side(evidence)):
            return None
        share = float(evidence.writes.max() / evidence.writes.sum())
        low, high = min(evidence.keys)[:8].hex(), max(evidence.keys)[:8].hex()
        message = (
            f"{empty} of {regions} regions got no write: keys lie between {low} and {high}, and "
            f"the fullest region took {share:.0%} of them."
        )
        if foreseen is not None:
            message = f"{foreseen.message} {message}"
        bound = evidence.servers / max(min(regions - empty, evidence.servers), 1)
        return Finding(
            cls.name, message, bound, {"empty": empty, "regions": regions, "share": share}
        )


def _unreachable(lead: Part, boundaries: Boundaries) -> int:
    """Regions whose first bytes the leading part cannot take."""
    count = 0
    for start, stop in boundaries.regions:
        low = start[0] if start else 0
        high = (stop[0] if len(stop) > 1 else stop[0] - 1) if stop else 255
        count += not any(low <= byte <= high for byte in lead.alphabet.values)
    return count


def _is_one_side(evidence: Evidence) -> bool:
    """Whether the empty regions all lie before, or all behind, those that were written."""
    written = [index for index, count in enumerate(evidence.writes.tolist()) if count]
    return len(written) == written[-1] - written[0] + 1
