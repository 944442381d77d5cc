"""Which regions keys can lie in at all, told from the bytes that the leading part can take."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rowkey.regions import Boundaries, next_prefix

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.keys import Alphabet, Key, Part

TWICE = 2.0
"""Times its fair share that a region takes of evenly spread keys before the splits miss them."""
DEEP = 8
"""Bytes of a boundary that are looked at."""


def region_shares(key: Key, boundaries: Boundaries, *, is_full: bool = False) -> list[float]:
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
        return [float(boundaries.locate_one(prefix) == n) for n in range(len(boundaries))]
    points = None if is_full else part.images({}).points
    if points is not None:
        return _of_points([prefix + point for point in points], boundaries)
    if not (part.alphabet.even or is_full):
        first = [prefix + bytes([byte]) for byte in part.opens.values]
        return [float(share > 0) for share in _of_points(first, boundaries)]
    marks = [_place(prefix, part.alphabet, split) for split in boundaries.splits]
    return [stop - start for start, stop in pairwise([0.0, *marks, 1.0])]


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


def is_spread_evenly(key: Key) -> bool:
    """Whether the values of the leading part come about equally often, whatever the rows hold."""
    _, part = _behind_constants(key)
    if part is None or part.order.ascends or part.order.descends:
        return False
    return part.alphabet.even or part.images({}).points is not None


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
    shares = [0.0] * len(boundaries)
    splits = frozenset(boundaries.splits)
    for point in points:
        first = boundaries.locate_one(point)
        after = next_prefix(point)
        last = len(boundaries) - 1 if after is None else boundaries.locate_one(after)
        if after is not None and after in splits:
            last -= 1
        for region in range(first, last + 1):
            shares[region] += 1 / len(points) / (last + 1 - first)
    return shares


def _place(prefix: bytes, alphabet: Alphabet, split: bytes) -> float:
    """Share of the keys that lie before a boundary, if every byte of the alphabet were as likely.

    >>> from rowkey.keys import Alphabet
    >>> _place(b"", Alphabet(b"0123456789abcdef"), b"90")
    0.5625
    """
    if split[: len(prefix)] != prefix:
        return float(split > prefix)
    share, width = 0.0, 1.0
    for byte in split[len(prefix) : len(prefix) + DEEP]:
        width /= len(alphabet.values)
        share += width * sum(value < byte for value in alphabet.values)
        if byte not in alphabet.values:
            break
    return share
