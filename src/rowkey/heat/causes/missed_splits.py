"""The cause `missed_splits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.design import prefixes_of
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import is_of_time, moves_with_clock
from rowkey.heat.proposals import spread_key
from rowkey.heat.reachable import is_spread_evenly, region_shares

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

MANY = 0.2
"""Share of regions without a key above which the splits are said to miss the keys."""
TWICE = 2.0
"""Times its fair share that a region takes of evenly spread keys before the same is said."""
HALF_MORE = 1.5
"""Times what chance alone gives the fullest server, from which on empty regions do harm."""
ENOUGH = 4
"""Values a region below which regions stay empty by chance."""


class MissedSplits(Cause):
    """The boundaries lie where no keys are: regions stay empty, and the others take their load.

    Hexadecimal keys under splits made for decimal digits are the classic: 00, 10 … 90 leave 43.75 %
    of all rows to the last region. Small numbers of three or eight bytes under splits of the whole
    byte range are another: all of them lie in the first region.
    """

    name = "missed_splits"
    looks = "empty"
    of_regions = True

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        regions, servers = len(boundaries), design.cluster.servers
        if regions == 1 or moves_with_clock(design, facts) is not None:
            return None
        shares = region_shares(design.key, boundaries)
        unreachable = sum(share == 0 for share in shares)
        most = max(shares)
        misses = unreachable >= max(MANY * regions, 1)
        if not misses and not (is_spread_evenly(design.key) and most >= TWICE / regions):
            return None
        figures = {"regions": regions, "unreachable": unreachable, "expected": most}
        message = f"{unreachable} of {regions} regions can hold no key." if unreachable else ""
        bound = servers / max(min(regions - unreachable, servers), 1)
        if is_spread_evenly(design.key):
            message += f" {most:.2%} of all keys fall into one of {regions} regions."
            message = message.strip()
            bound = max(bound, servers * most)
        return Finding(cls.name, message, bound, figures, _remedy(design, facts))

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions, empty = len(evidence.boundaries), evidence.empty
        if regions == 1 or not evidence.keys or evidence.front is not None or _by_time(evidence):
            return None
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        if not _is_to_blame(evidence, is_foreseen=foreseen is not None):
            return None
        low, high = min(evidence.keys)[:8].hex(), max(evidence.keys)[:8].hex()
        message = (
            f"Keys lie between {low} and {high}, and the fullest of {regions} regions took "
            f"{evidence.fullest:.2%} of them."
        )
        if empty:
            message = f"{empty} of {regions} regions got no write. {message}"
        if foreseen is not None:
            message = f"{foreseen.message} {message}"
        bound = evidence.servers / max(min(regions - empty, evidence.servers), 1)
        figures = {
            "regions": regions,
            "empty": empty,
            "share": evidence.fullest,
            "low": low,
            "high": high,
        }
        bound = max(bound, evidence.servers * evidence.fullest)
        return Finding(cls.name, message, bound, figures, _remedy(evidence.design, evidence.facts))


def _remedy(design: Design, facts: Mapping[str, Facts]) -> str:
    """The splits that follow the keys; where they are declared already, what no splits need."""
    declared = design.cut.algorithm
    if prefixes_of(design.key) is not None:
        if declared != "per_bucket" or design.cut.request.regions is not None:
            return 'Cut with splits = "per_bucket", at the values that the leading part can take.'
    elif declared != "sample":
        return 'Cut with splits = "sample", at quantiles of keys that came.'
    found = spread_key(design, facts)
    return (
        f"Take {found.words}, for these splits were made for such keys and do not meet those that "
        f"came later; {found.costs}."
    )


def _by_time(evidence: Evidence) -> bool:
    """Whether buckets of time decide the region: what they leave empty is not for the splits."""
    return any(
        is_of_time(evidence.design, part) and not (part.order.ascends or part.order.descends)
        for part in evidence.lead
    )


def _is_to_blame(evidence: Evidence, *, is_foreseen: bool) -> bool:
    """Whether regions are empty, or hold many values, where nothing but the splits explains it."""
    regions = len(evidence.boundaries)
    misses = evidence.empty >= max(MANY * regions, 1)
    if is_foreseen:
        return misses or evidence.hurts
    if evidence.entity_fields and evidence.entities < ENOUGH * regions:
        return False
    servers = evidence.over_even(evidence.server_shares.median, evidence.servers)
    is_hot = evidence.hurts or (misses and servers > HALF_MORE)
    return is_hot and evidence.fullest >= TWICE / regions and _is_full_of_values(evidence)


def _is_full_of_values(evidence: Evidence) -> bool:
    """Whether the fullest region holds about as large a share of all values as of all events."""
    import numpy as np

    values = evidence.entity_codes if evidence.entity_fields else evidence.lead_ranks
    pairs = np.unique(np.stack([values, evidence.regions]), axis=1)
    held = np.bincount(pairs[1], minlength=len(evidence.boundaries)) / len(pairs[0])
    return bool(held[int(np.argmax(evidence.writes))] >= 0.7 * evidence.fullest)
