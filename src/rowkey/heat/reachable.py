"""Which regions keys can lie in, told from the bytes of the leading part, and which they miss."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.heat.evidence import ENOUGH, codes_of
from rowkey.heat.leading import deciding_fields, is_of_time, leading_part, moves_with_clock
from rowkey.heat.skew import is_far_too_few
from rowkey.regions import Boundaries, next_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.heat.evidence import Came, Evidence
    from rowkey.keys import Alphabet, Key, Part
    from rowkey.schema import Facts

TWICE = 2.0
"""Times its fair share that a region takes of evenly spread keys before the splits miss them."""
EQUAL_STEPS = {bytes(range(256)): "uniform", b"0123456789abcdef": "hex_string"}
"""The algorithms that cut the range of some bytes into equal steps, by the bytes."""
DEEP = 8
"""Bytes of a boundary that are looked at."""
MANY = 0.2
"""Share of regions without a key above which the splits are said to miss the keys."""
NOTABLE = 0.05
"""Share of all keys by which a region is over its fair share before it is said to be too full."""
HALF_MORE = 1.5
"""Times what chance alone gives the fullest server, from which on empty regions do harm."""
MOST = 0.7
"""Share of its events that the fullest region must hold of all values, each counted once."""


@lru_cache(maxsize=4)  # of one design several causes and rules ask, of up to 65,536 regions
def region_shares(key: Key, boundaries: Boundaries, *, is_full: bool = False) -> tuple[float, ...]:
    """The share of each region if the values of the leading part came equally often.

    Args:
        key: the bound row key.
        boundaries: where its regions begin.
        is_full: whether every byte is taken to come as often, whatever the part says of itself.

    Returns:
        One number a region; 0 where no key can lie. Where the values do not come equally often,
        only that is meant: the others are 1.
    """
    prefix, part = _behind_constants(key)
    if part is None:
        return tuple(float(boundaries.locate_one(prefix) == n) for n in range(len(boundaries)))
    points = None if is_full else part.images({}).points
    if points is not None:
        return tuple(_of_points([prefix + point for point in points], boundaries))
    if not (part.alphabet.even or is_full):
        first = [prefix + bytes([byte]) for byte in part.opens.values]
        return tuple(float(share > 0) for share in _of_points(first, boundaries))
    below = _below(part.alphabet)
    marks = [_place(prefix, below, split) for split in boundaries.splits]
    return tuple(stop - start for start, stop in pairwise([0.0, *marks, 1.0]))


def reachable_regions(key: Key, boundaries: Boundaries) -> int:
    """How many regions a key can lie in."""
    return sum(share > 0 for share in region_shares(key, boundaries))


def counted_regions(design: Design, values: int | None, boundaries: Boundaries) -> int | None:
    """How many regions keys reach whose leading numbers are so many, from the least on.

    Args:
        design: the design.
        values: how many there are; None if that is not known.
        boundaries: where its regions begin.

    Returns:
        None where the key does not begin with a number, or nothing is known of how many there are.
    """
    prefix, part = _behind_constants(design.key)
    if part is None or len(part.fields) != 1 or values is None:
        return None
    field = design.fields[part.fields[0]]
    if not field.type.counts or not (part.order.ascends or part.order.descends):
        return None
    ends = (field.type.domain.nth(n) for n in (0, min(values, field.type.domain.size) - 1))
    low, high = sorted(boundaries.locate_one(prefix + part.encode({field.name: n})) for n in ends)
    return min(high - low + 1, values)


def drawn_regions(design: Design, boundaries: Boundaries) -> int | None:
    """How many regions keys reach whose leading values are drawn as those of made events are.

    Args:
        design: the design.
        boundaries: where its regions begin.

    Returns:
        None where the key does not begin with one field of a fixed width, it is a number, or
        its values are listed.
    """
    prefix, part = _behind_constants(design.key)
    if part is None or len(part.fields) != 1 or part.framing.width is None:
        return None
    (name,) = part.fields
    if design.fields[name].type.counts or part.images({}).points is not None:
        return None
    if not (part.order.ascends or part.order.descends):
        return None
    domain, draws = design.domain(name), 2 * ENOUGH * len(boundaries)
    values = (domain.drawn_one(number) for number in range(min(draws, domain.size)))
    return len({boundaries.locate_one(prefix + part.encode({name: one})) for one in values})


def is_spread_evenly(key: Key) -> bool:
    """Whether the values of the leading part come about equally often, whatever the rows hold."""
    _, part = _behind_constants(key)
    if part is None or part.order.ascends or part.order.descends:
        return False
    return part.alphabet.even or part.images({}).points is not None


def evenly_cut(design: Design) -> str | None:
    """The algorithm whose equal steps meet the leading part's bytes; None if none is known to.

    Raw bytes of a hash and values that fill all their bytes without being counted, such as UUIDs,
    come evenly over the whole range; digits of a hash over that of the digits.

    Args:
        design: the design.
    """
    prefix, part = _behind_constants(design.key)
    if part is None or prefix:
        return None
    width, values = part.framing.width, part.alphabet.values
    if part.alphabet.even:
        return EQUAL_STEPS.get(values)
    is_filled = width is not None and part.cardinality == 256**width and len(part.fields) == 1
    is_counted = any(design.fields[name].type.counts for name in part.fields)
    return "uniform" if is_filled and not is_counted else None


def is_met_evenly(key: Key, boundaries: Boundaries) -> bool:
    """Whether the leading part spreads over the regions, and no boundary cuts one of its values."""
    _, part = _behind_constants(key)
    regions = len(boundaries)
    if part is None or not is_spread_evenly(key) or (part.cardinality or regions) < regions:
        return False
    return max(region_shares(key, boundaries)) < TWICE / regions


def _behind_constants(key: Key) -> tuple[bytes, Part | None]:
    """The constant bytes that keys begin with, and the part behind them."""
    prefix = b""
    for part in key.parts:
        if part.cardinality != 1:
            return prefix, part
        prefix += b"".join(part.images({}).points or ())
    return prefix, None


def _of_points(points: list[bytes], boundaries: Boundaries) -> list[float]:
    """Each point's share, divided among the regions that cut what begins with it."""
    shares, splits, each = [0.0] * len(boundaries), boundaries.splits, 1 / len(points)
    for point in points:
        first, after = bisect_right(splits, point), next_prefix(point)
        last = len(splits) if after is None else bisect_left(splits, after)
        if first == last:  # nearly always, and there may be 65,536
            shares[first] += each
            continue
        for region in range(first, last + 1):
            shares[region] += each / (last + 1 - first)
    return shares


def _below(alphabet: Alphabet) -> list[int]:
    """How many bytes of an alphabet lie below each number from 0 to 256."""
    return [bisect_left(alphabet.values, number) for number in range(257)]


def _place(prefix: bytes, below: list[int], split: bytes) -> float:
    """Share of the keys that lie before a boundary, if every byte of the alphabet were as likely.

    >>> from rowkey.keys import Alphabet
    >>> _place(b"", _below(Alphabet(b"0123456789abcdef")), b"90")
    0.5625
    """
    if split[: len(prefix)] != prefix:
        return float(split > prefix)
    share, width = 0.0, 1.0
    for byte in split[len(prefix) : len(prefix) + DEEP]:
        width /= below[-1]
        share += width * below[byte]
        if below[byte] == below[byte + 1]:
            break
    return share


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
