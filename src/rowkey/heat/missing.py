"""Whether boundaries lie beside the keys that came, and nothing but they explains the heat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.heat.evidence import codes_of
from rowkey.heat.leading import deciding_fields, is_of_time, leading_part, moves_with_clock
from rowkey.heat.occupancy import is_far_too_few
from rowkey.heat.reachable import TWICE, is_met_evenly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.heat.evidence import Came, Evidence
    from rowkey.keys import Key
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

MANY = 0.2
"""Share of regions without a key above which the splits are said to miss the keys."""
NOTABLE = 0.05
"""Share of all keys by which a region is over its fair share before it is said to be too full."""
HALF_MORE = 1.5
"""Times what chance alone gives the fullest server, from which on empty regions do harm."""
ENOUGH = 4
"""Values a region below which regions stay empty by chance."""
MOST = 0.7
"""Share of its events that the fullest region must hold of all values, each counted once."""


def misses(empty: int, regions: int) -> bool:
    """Whether so many regions are empty that the splits may miss the keys."""
    return empty >= max(MANY * regions, 1)


def missed_by(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries, came: Came
) -> tuple[int, float] | None:
    """How many regions got no key, and the share of the fullest, where the boundaries are to blame.

    A value counts once a region, for a heavy one is a cause of its own.

    Args:
        design: the design.
        facts: what is known of its fields.
        boundaries: where its regions begin.
        came: the events.
    """
    import numpy as np

    part = leading_part(design, facts)
    if part is None or is_of_time(design, part) or moves_with_clock(design, facts) is not None:
        return None
    regions = len(boundaries)
    placed = np.array([boundaries.locate_one(key) for key in came.keys], np.int64)
    held = np.bincount(placed, minlength=regions)
    empty, fullest = int(np.count_nonzero(held == 0)), float(held.max() / held.sum())
    if not misses(empty, regions) and fullest <= max(TWICE / regions, 1 / regions + NOTABLE):
        return None
    names = deciding_fields(design, facts, boundaries)
    if not names and is_met_evenly(design.key, boundaries):
        return None  # what is no value of a field is spread, and the boundaries meet it
    codes = codes_of(came.rows, names) if names else np.arange(len(placed))
    values = int(codes.max()) + 1
    if _are_thrown_together(design.key, boundaries, values, regions - empty):
        return empty, fullest
    least = int(held.argmax()), TWICE / regions
    is_many = values >= ENOUGH * regions
    return (
        (empty, fullest) if is_many and _is_full(came.rows, names, codes, placed, least) else None
    )


def is_missed(evidence: Evidence) -> bool:
    """Whether regions are empty, or hold many values, where nothing but the splits explains it."""
    regions, empty = len(evidence.boundaries), evidence.empty
    servers = evidence.over_even(evidence.server_shares.median, evidence.servers)
    is_hot = evidence.hurts or (misses(empty, regions) and servers > HALF_MORE)
    if not is_hot or not can_be_missed(evidence):
        return False
    values = evidence.entities if evidence.entity_fields else len(evidence.keys)
    if _are_thrown_together(evidence.design.key, evidence.boundaries, values, regions - empty):
        return True
    is_many = values >= ENOUGH * regions
    return is_many and evidence.fullest >= TWICE / regions and is_full_of_values(evidence)


def can_be_missed(evidence: Evidence) -> bool:
    """Whether there are boundaries, keys, and no time in front that leaves regions empty."""
    is_cut = len(evidence.boundaries) > 1 and bool(evidence.keys)
    return is_cut and evidence.front is None and not _by_time(evidence)


def _by_time(evidence: Evidence) -> bool:
    """Whether buckets of time decide the region: what they leave empty is not for the splits."""
    return any(
        is_of_time(evidence.design, part) and not (part.order.ascends or part.order.descends)
        for part in evidence.lead
    )


def _are_thrown_together(key: Key, boundaries: Boundaries, values: int, used: int) -> bool:
    """Whether values lie in far fewer regions than their number would leave to chance.

    Of an even part in front that no boundary cuts, it would be the part that throws them together.

    Args:
        key: the bound row key.
        boundaries: where its regions begin.
        values: how many came.
        used: how many regions they lie in.
    """
    regions = len(boundaries)
    is_few = 2 * used <= regions and is_far_too_few(values, regions, used)
    return is_few and not is_met_evenly(key, boundaries)


def is_full_of_values(evidence: Evidence) -> bool:
    """Whether the fullest region holds about as large a share of all values as of all events."""
    import numpy as np

    names = evidence.entity_fields
    codes = evidence.entity_codes if names else evidence.lead_ranks
    least = int(np.argmax(evidence.writes)), MOST * evidence.fullest
    return _is_full(evidence.rows, names, codes, evidence.regions, least)


def skew_of_values(evidence: Evidence) -> float:
    """The skew over servers if every value were as busy, each in the region of most of its rows."""
    import numpy as np

    codes = evidence.entity_codes if evidence.entity_fields else evidence.lead_ranks
    regions = len(evidence.boundaries)
    pairs, counts = np.unique(codes * regions + evidence.regions, return_counts=True)
    order = np.lexsort((counts, pairs // regions))
    lasts = order[np.flatnonzero(np.diff(pairs[order] // regions, append=-1))]
    held = np.bincount(pairs[lasts] % regions, minlength=regions)
    loads = evidence.placements.by_server(held)
    return float(loads.max() * evidence.servers / len(lasts))


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
