"""The cause `missed_splits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.design import prefixes_of
from rowkey.errors import counted
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding, codes_of
from rowkey.heat.leading import deciding_fields, is_of_time, leading_part, moves_with_clock
from rowkey.heat.proposals import spread_key
from rowkey.heat.reachable import is_spread_evenly, region_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.heat.evidence import Came
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

MANY = 0.2
"""Share of regions without a key above which the splits are said to miss the keys."""
TWICE = 2.0
"""Times its fair share that a region takes of evenly spread keys before the same is said."""
NOTABLE = 0.05
"""Share of all keys by which a region is over its fair share before it is said to be too full."""
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
        message = (
            f"{unreachable} of {counted(regions, 'region')} can hold no key." if unreachable else ""
        )
        bound = servers / max(min(regions - unreachable, servers), 1)
        if is_spread_evenly(design.key):
            message += f" {most:.2%} of all keys fall into one of {counted(regions, 'region')}."
            message = message.strip()
            bound = max(bound, servers * most)
        return Finding(cls.name, message, bound, figures, _remedy(design, facts))

    @classmethod
    def foresee_from(
        cls,
        design: Design,
        facts: Mapping[str, Facts],
        boundaries: Boundaries,
        came: Came | None,
    ) -> Finding | None:
        """By the leading part alone, or by where the keys lie that came."""
        foreseen = cls.foresee(design, facts, boundaries)
        if foreseen is not None or came is None or len(boundaries) == 1:
            return foreseen
        return _of_keys(design, facts, boundaries, came)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions, empty = len(evidence.boundaries), evidence.empty
        if regions == 1 or not evidence.keys or evidence.front is not None or _by_time(evidence):
            return None
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        if not _is_to_blame(evidence, is_foreseen=foreseen is not None):
            return None
        so_far = foreseen.message if foreseen is not None else ""
        seen = (regions, empty, evidence.fullest)
        return _finding(evidence.design, evidence.facts, evidence.keys, seen, so_far)


def _of_keys(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries, came: Came
) -> Finding | None:
    """The same where many values came, and nothing but the boundaries explains that they meet.

    A value counts once a region, for a heavy one is a cause of its own.
    """
    import numpy as np

    part = leading_part(design, facts)
    if part is None or is_of_time(design, part) or moves_with_clock(design, facts) is not None:
        return None
    regions = len(boundaries)
    placed = np.array([boundaries.locate_one(key) for key in came.keys], np.int64)
    held = np.bincount(placed, minlength=regions)
    empty, fullest = int(np.count_nonzero(held == 0)), float(held.max() / held.sum())
    misses = empty >= max(MANY * regions, 1)
    if not misses and fullest <= max(TWICE / regions, 1 / regions + NOTABLE):
        return None
    names = deciding_fields(design, facts, boundaries)
    codes = codes_of(came.rows, names) if names else np.arange(len(placed))
    is_many = codes.max() + 1 >= ENOUGH * regions
    share = TWICE / regions
    if not is_many or not _is_full(came.rows, names, codes, placed, (int(held.argmax()), share)):
        return None
    return _finding(design, facts, came.keys, (regions, empty, fullest), "")


def _finding(
    design: Design,
    facts: Mapping[str, Facts],
    keys: Sequence[bytes],
    seen: tuple[int, int, float],
    foreseen: str,
) -> Finding:
    """What was seen of keys that came: regions, how many got none, the share of the fullest."""
    regions, empty, fullest = seen
    low, high = min(keys)[:8].hex(), max(keys)[:8].hex()
    message = (
        f"Keys lie between {low} and {high}, and the fullest of {counted(regions, 'region')} took "
        f"{fullest:.2%} of them."
    )
    if empty:
        message = f"{empty} of {counted(regions, 'region')} got no write. {message}"
    if foreseen:
        message = f"{foreseen} {message}"
    servers = design.cluster.servers
    bound = max(servers / max(min(regions - empty, servers), 1), servers * fullest)
    figures = {"regions": regions, "empty": empty, "share": fullest, "low": low, "high": high}
    return Finding(MissedSplits.name, message, bound, figures, _remedy(design, facts))


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

    names = evidence.entity_fields
    codes = evidence.entity_codes if names else evidence.lead_ranks
    least = int(np.argmax(evidence.writes)), 0.7 * evidence.fullest
    return _is_full(evidence.rows, names, codes, evidence.regions, least)


def _is_full(
    rows: pa.RecordBatch,
    names: Sequence[str],
    codes: np.ndarray[Any, Any],
    regions: np.ndarray[Any, Any],
    least: tuple[int, float],
) -> bool:
    """Whether a region holds so large a share of all values, each counted once a region.

    Where several fields decide, of the first one too if it has many values: one of them may come
    with many of another.

    Args:
        rows: the events.
        names: the fields that decide the region.
        codes: a number for each event, equal where they are.
        regions: the region of each.
        least: the region, and the share.
    """
    import numpy as np

    region, share = least
    asked = [codes]
    if len(names) > 1:
        first = codes_of(rows, names[:1])
        asked += [first] if first.max() + 1 >= ENOUGH * (int(regions.max()) + 1) else []
    for some in asked:
        pairs = np.unique(np.stack([some, regions]), axis=1)
        if (pairs[1] == region).sum() < share * pairs.shape[1]:
            return False
    return True
