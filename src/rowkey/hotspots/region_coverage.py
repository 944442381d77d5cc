"""The regions that keys can reach, computed from the bytes of the leading part."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots.leading_parts import (
    find_clock_field,
    find_deciding_fields,
    find_leading_part,
    is_time_only,
)
from rowkey.hotspots.load_result import LoadResult, assign_row_codes
from rowkey.hotspots.skew import is_improbably_few
from rowkey.keys import Alphabet, Key, Part
from rowkey.proposals import MIN_VALUES_PER_REGION
from rowkey.regions import Boundaries, compute_prefix_stop, locate_key_array, place_round_robin
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents

OVERFULL_RATIO = 2.0
"""Load of a region, over its fair share, from which splits miss evenly spread keys."""
EQUAL_STEP_ALGORITHMS = {bytes(range(256)): "uniform", b"0123456789abcdef": "hex_string"}
"""The split algorithm with equal steps over the range of some bytes, by those bytes."""
MAX_BOUNDARY_BYTES = 8
"""Leading bytes of a boundary that count."""
MIN_EMPTY_SHARE = 0.2
"""Share of regions without a key above which the splits miss the keys."""
MIN_EXCESS_SHARE = 0.05
"""Share of all keys above its fair share from which a region is too full."""
MIN_HARMFUL_RATIO = 1.5
"""Skew, as a multiple of that by chance, from which empty regions do harm."""
MAX_REFITTED_EXCESS = 0.5
"""Share of the skew above an even one that splits of the replayed keys may leave, if the splits of
earlier keys are to blame for it."""
MIN_EVENTS_PER_REGION = 10
"""Events per region, on average, from which one without any got none by design: by chance one in
22,000 gets none."""
MIN_VALUE_SHARE_RATIO = 0.7
"""Share of its events that the fullest region must hold of all values, each counted once."""


@lru_cache(maxsize=4)  # of one design several causes and rules ask, of up to 65,536 regions
def compute_region_shares(
    key: Key, boundaries: Boundaries, *, is_uniform: bool = False
) -> tuple[float, ...]:
    """Return each region's share of keys if all leading values were equally frequent.

    Args:
        key: the bound row key.
        boundaries: where its regions begin.
        is_uniform: whether all bytes are assumed to be equally frequent, whatever the part is.

    Returns:
        One number a region; 0 where no key can lie. If the values are not equally frequent, each
        other region gets 1.
    """
    prefix, part = _skip_constants(key)
    if part is None:
        return tuple(float(boundaries.locate_key(prefix) == n) for n in range(len(boundaries)))
    points = None if is_uniform else part.images({}).points
    if points is not None:
        return tuple(_share_points([prefix + point for point in points], boundaries))
    if not (part.alphabet.is_uniform or is_uniform):
        first = [prefix + bytes([byte]) for byte in part.first_byte_alphabet.values]
        return tuple(float(share > 0) for share in _share_points(first, boundaries))
    below = _count_bytes_below(part.alphabet)
    marks = [_compute_position(prefix, below, split) for split in boundaries.splits]
    return tuple(stop - start for start, stop in pairwise([0.0, *marks, 1.0]))


def count_reachable_regions(key: Key, boundaries: Boundaries) -> int:
    """Return how many regions the row keys of a design can fall into."""
    return sum(share > 0 for share in compute_region_shares(key, boundaries))


def count_regions_of_numbers(
    design: Design, value_count: int | None, boundaries: Boundaries
) -> int | None:
    """Return how many regions keys reach if leading numbers count up; None if unknown.

    Args:
        design: the design.
        value_count: how many there are; None if that is not known.
        boundaries: where its regions begin.

    Returns:
        None where the key does not begin with a number, or nothing is known of how many there are.
    """
    prefix, part = _skip_constants(design.key)
    if part is None or len(part.fields) != 1 or value_count is None:
        return None
    field = design.fields[part.fields[0]]
    if not field.type.has_integer_form or not (part.order.is_ascending or part.order.is_descending):
        return None
    domain = design.find_domain(field.name)
    ends = (domain.generate_value(n) for n in (0, min(value_count, domain.size) - 1))
    low, high = sorted(boundaries.locate_key(prefix + part.encode({field.name: n})) for n in ends)
    return min(high - low + 1, value_count)


def count_regions_of_random_values(design: Design, boundaries: Boundaries) -> int | None:
    """Return how many regions keys reach if leading values are random; None if unknown.

    Args:
        design: the design.
        boundaries: where its regions begin.

    Returns:
        None where the key does not begin with one field of a fixed width, it is a number, or
        its values are listed.
    """
    prefix, part = _skip_constants(design.key)
    if part is None or len(part.fields) != 1 or part.framing.width is None:
        return None
    (name,) = part.fields
    if design.fields[name].type.has_integer_form or part.images({}).points is not None:
        return None
    if not (part.order.is_ascending or part.order.is_descending):
        return None
    domain, draws = design.find_domain(name), 2 * MIN_VALUES_PER_REGION * len(boundaries)
    values = (domain.draw_value(number) for number in range(min(draws, domain.size)))
    return len({boundaries.locate_key(prefix + part.encode({name: one})) for one in values})


def is_spread_evenly(key: Key) -> bool:
    """Return whether the leading part spreads any rows evenly, as a hash does."""
    _, part = _skip_constants(key)
    if part is None or part.order.is_ascending or part.order.is_descending:
        return False
    return part.alphabet.is_uniform or part.images({}).points is not None


def find_equal_steps(design: Design) -> str | None:
    """Return the split algorithm whose equal steps fit the leading bytes; None if unknown.

    Raw bytes of a hash, and values such as UUIDs, are spread evenly over the whole byte range;
    digits of a hash over the range of the digits.

    Args:
        design: the design.
    """
    prefix, part = _skip_constants(design.key)
    if part is None or prefix:
        return None
    width, values = part.framing.width, part.alphabet.values
    if part.alphabet.is_uniform:
        return EQUAL_STEP_ALGORITHMS.get(values)
    is_filled = width is not None and part.cardinality == 256**width and len(part.fields) == 1
    is_counted = any(design.fields[name].type.has_integer_form for name in part.fields)
    return "uniform" if is_filled and not is_counted else None


def is_split_evenly(key: Key, boundaries: Boundaries) -> bool:
    """Return whether the leading part fills the regions evenly."""
    _, part = _skip_constants(key)
    regions = len(boundaries)
    if part is None or not is_spread_evenly(key) or (part.cardinality or regions) < regions:
        return False
    return max(compute_region_shares(key, boundaries)) < OVERFULL_RATIO / regions


def _skip_constants(key: Key) -> tuple[bytes, Part | None]:
    """Return the constant bytes at the start of all keys, and the part after them."""
    prefix = b""
    for part in key.parts:
        if part.cardinality != 1:
            return prefix, part
        prefix += b"".join(part.images({}).points or ())
    return prefix, None


def _share_points(points: list[bytes], boundaries: Boundaries) -> list[float]:
    """Return each region's share of equally frequent key prefixes."""
    shares, splits, each = [0.0] * len(boundaries), boundaries.splits, 1 / len(points)
    for point in points:
        first, after = bisect_right(splits, point), compute_prefix_stop(point)
        last = len(splits) if after is None else bisect_left(splits, after)
        if first == last:  # nearly always, and there may be 65,536
            shares[first] += each
            continue
        for region in range(first, last + 1):
            shares[region] += each / (last + 1 - first)
    return shares


def _count_bytes_below(alphabet: Alphabet) -> list[int]:
    """Return, for each number from 0 to 256, how many bytes of an alphabet are smaller."""
    return [bisect_left(alphabet.values, number) for number in range(257)]


def _compute_position(prefix: bytes, bytes_below: list[int], split: bytes) -> float:
    """Return the share of keys that sort before a split key.

    >>> from rowkey.keys import Alphabet
    >>> _compute_position(b"", _count_bytes_below(Alphabet(b"0123456789abcdef")), b"90")
    0.5625
    """
    if split[: len(prefix)] != prefix:
        return float(split > prefix)
    share, width = 0.0, 1.0
    for byte in split[len(prefix) : len(prefix) + MAX_BOUNDARY_BYTES]:
        width /= bytes_below[-1]
        share += width * bytes_below[byte]
        if bytes_below[byte] == bytes_below[byte + 1]:
            break
    return share


def has_many_empty(empty_count: int, regions: int) -> bool:
    """Return whether so many regions are empty that the splits may miss the keys."""
    return empty_count >= max(MIN_EMPTY_SHARE * regions, 1)


def count_unwritten_regions(keys: Sequence[bytes], regions: int) -> tuple[int, int] | None:
    """Return how many regions split at quantiles of earlier keys get no later key, of how many.

    Args:
        keys: row keys in the order of arrival; the first half are the earlier ones.
        regions: how many regions are wanted. Fewer are tried if the keys are too few for so many.

    Returns:
        The regions without a later key, and all that were tried; None if the keys are too few for
        two regions.

    >>> count_unwritten_regions([bytes([n]) for n in range(200)], 10)
    (9, 10)
    >>> count_unwritten_regions([bytes([n * 7 % 200]) for n in range(200)], 10)
    (0, 10)
    """
    half = len(keys) // 2
    tried = min(regions, half // MIN_EVENTS_PER_REGION)
    if tried < 2:
        return None
    earlier = sorted(keys[:half])
    splits = dict.fromkeys(earlier[half * n // tried] for n in range(1, tried))
    boundaries = Boundaries([key for key in splits if key])
    placed = locate_key_array(boundaries, pa.array(keys[half:], pa.binary()))
    return len(boundaries) - len(np.unique(placed)), len(boundaries)


def find_missed_splits(
    design: Design,
    facts: Mapping[str, FieldFacts],
    boundaries: Boundaries,
    keyed_events: KeyedEvents,
) -> tuple[int, float] | None:
    """Return the number of empty regions and the fullest share if the splits miss the keys.

    Each value counts once a region, because a heavy value is a cause of its own.

    Args:
        design: the design.
        facts: the facts of its fields.
        boundaries: where its regions begin.
        keyed_events: the events.
    """
    part = find_leading_part(design, facts)
    if part is None or is_time_only(design, part) or find_clock_field(design, facts) is not None:
        return None
    regions = len(boundaries)
    placed = locate_key_array(boundaries, pa.array(keyed_events.keys, pa.binary()))
    counts = np.bincount(placed, minlength=regions)
    empty, fullest = int(np.count_nonzero(counts == 0)), float(counts.max() / counts.sum())
    if not has_many_empty(empty, regions) and fullest <= max(
        OVERFULL_RATIO / regions, 1 / regions + MIN_EXCESS_SHARE
    ):
        return None
    names = find_deciding_fields(design, facts, boundaries)
    if not names and is_split_evenly(design.key, boundaries):
        return None  # what is no value of a field is spread, and the boundaries meet it
    codes = assign_row_codes(keyed_events.rows, names) if names else np.arange(len(placed))
    values = int(codes.max()) + 1
    if _is_crowded(design.key, boundaries, values, regions - empty):
        return empty, fullest
    region_and_share = int(counts.argmax()), OVERFULL_RATIO / regions
    is_many = values >= MIN_VALUES_PER_REGION * regions
    return (
        (empty, fullest)
        if is_many
        and not is_split_evenly(design.key, boundaries)
        and _has_share_of_values(keyed_events.rows, names, codes, placed, region_and_share)
        else None
    )


def has_missed_splits(result: LoadResult) -> bool:
    """Return whether regions are empty or crowded and only the splits explain it."""
    regions, empty = len(result.boundaries), result.empty_region_count
    servers = result.compare_to_even(result.server_shares.mean, result.servers)
    is_hot = result.has_hot_region or (
        has_many_empty(empty, regions) and servers > MIN_HARMFUL_RATIO
    )
    if not is_hot or not can_miss_splits(result):
        return False
    values = result.entity_count if result.entity_fields else len(result.keys)
    if _is_crowded(result.design.key, result.boundaries, values, regions - empty):
        return True
    is_many = values >= MIN_VALUES_PER_REGION * regions
    return (
        is_many
        and not is_split_evenly(result.design.key, result.boundaries)
        and result.fullest_share >= OVERFULL_RATIO / regions
        and has_region_full_of_values(result)
    )


def compute_refitted_skew(result: LoadResult) -> float:
    """Return the skew over servers if the regions were split at quantiles of the replayed keys."""
    splits, regions = result.design.splits, len(result.boundaries)
    refitted = splits.compute_boundaries(
        result.design.key, keys=sorted(result.keys), regions=regions
    )
    placed = locate_key_array(refitted, pa.array(result.keys, pa.binary()))
    servers = place_round_robin(len(refitted), result.servers)[placed]
    windows = result.judged_windows
    is_judged = windows >= 0
    loads = np.zeros((int(windows.max()) + 1, result.servers))
    np.add.at(loads, (windows[is_judged], servers[is_judged]), 1)
    return float(loads.max(axis=1).sum() * result.servers / is_judged.sum())


def has_outdated_splits(result: LoadResult) -> bool:
    """Return whether only splits of earlier keys are uneven, and those of later ones are not."""
    measured = result.measured_skew
    if measured.is_even or not result.design.splits.needs_sample or not can_miss_splits(result):
        return False
    excess = compute_refitted_skew(result) - measured.even_skew
    return excess <= MAX_REFITTED_EXCESS * (measured.skew - measured.even_skew)


def can_miss_splits(result: LoadResult) -> bool:
    """Return whether a load result could show that splits miss the keys."""
    is_cut = len(result.boundaries) > 1 and bool(result.keys)
    return is_cut and result.front is None and not _has_time_buckets(result)


def _has_time_buckets(result: LoadResult) -> bool:
    """Return whether buckets of time decide the region, which explains empty regions."""
    return any(
        is_time_only(result.design, part)
        and not (part.order.is_ascending or part.order.is_descending)
        for part in result.leading_parts
    )


def _is_crowded(key: Key, boundaries: Boundaries, value_count: int, used_count: int) -> bool:
    """Return whether values use far fewer regions than chance would give them.

    If an even leading part fits the boundaries, the part itself puts the values together.

    Args:
        key: the bound row key.
        boundaries: where its regions begin.
        value_count: how many came.
        used_count: how many regions they lie in.
    """
    regions = len(boundaries)
    is_few = 2 * used_count <= regions and is_improbably_few(value_count, regions, used_count)
    return is_few and not is_split_evenly(key, boundaries)


def has_region_full_of_values(result: LoadResult) -> bool:
    """Return whether the fullest region has as large a share of values as of events."""
    names = result.entity_fields
    codes = result.entity_codes if names else result.leading_ranks
    least = int(np.argmax(result.writes)), MIN_VALUE_SHARE_RATIO * result.fullest_share
    return _has_share_of_values(result.rows, names, codes, result.regions, least)


def compute_value_skew(result: LoadResult, windows: np.ndarray[Any, Any] | None = None) -> float:
    """Return the skew over servers if every value were equally busy.

    Args:
        result: the load.
        windows: the window of each event, below 0 for none; one for all events if None.

    Returns:
        The mean over the windows, weighted by their events.
    """
    codes = result.entity_codes if result.entity_fields else result.leading_ranks
    chosen = np.zeros_like(codes) if windows is None else windows
    is_judged = chosen >= 0
    numbers, chosen = np.unique(chosen[is_judged], return_inverse=True)
    regions, width = len(result.boundaries), int(codes.max(initial=0)) + 1
    values = chosen * width + codes[is_judged]
    pairs, counts = np.unique(values * regions + result.regions[is_judged], return_counts=True)
    order = np.lexsort((counts, pairs // regions))
    lasts = pairs[order[np.flatnonzero(np.diff(pairs[order] // regions, append=-1))]]
    servers = result.placements.assignments[0][lasts % regions]
    loads = np.zeros((len(numbers), result.servers))
    np.add.at(loads, (lasts // regions // width, servers), 1)
    skews = loads.max(axis=1) * result.servers / loads.sum(axis=1)
    return float(np.average(skews, weights=np.bincount(chosen)))


def _has_share_of_values(
    rows: pa.RecordBatch,
    names: Sequence[str],
    codes: np.ndarray[Any, Any],
    regions: np.ndarray[Any, Any],
    region_and_share: tuple[int, float],
) -> bool:
    """Return whether a region holds at least a given share of all different values.

    If several fields decide the region, the values of the first are checked too if they are many,
    because one of them may occur with many values of another field.

    Args:
        rows: the events.
        names: the fields that decide the region.
        codes: a number for each event, equal where they are.
        regions: the region of each.
        region_and_share: the region, and the share.
    """
    region, share = region_and_share
    code_arrays = [codes]
    if len(names) > 1:
        first = assign_row_codes(rows, names[:1])
        code_arrays += (
            [first] if first.max() + 1 >= MIN_VALUES_PER_REGION * (int(regions.max()) + 1) else []
        )
    for code_array in code_arrays:
        pairs = np.unique(np.stack([code_array, regions]), axis=1)
        if (pairs[1] == region).sum() < share * pairs.shape[1]:
            return False
    return True
