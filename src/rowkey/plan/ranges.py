"""Which stretches of the key space answer a read: ranges, each with a constant prefix.

Rows of different ranges are merged by what follows the prefix, so salts, buckets, short lists of
values and stretches of time are one mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product, takewhile
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from rowkey.keys import Images, Interval, Key, Part, Source, asks_for_null
from rowkey.plan.asked import is_empty
from rowkey.plan.ordering import once_each, orders_from, tells_order
from rowkey.schema import Bounds, Equal, OneOf, Ordering, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_RANGES = 65_536
"""Ranges of one read; a read that would need more is left as fewer, wider ones."""


class KeyRange(NamedTuple):
    """Row keys from `start` up to but without `stop`; an empty `stop` is the end of the table.

    Args:
        start: the first possible key.
        stop: the first key behind the range, or b"".
        prefix: the bytes all keys of the range begin with; they are merged by what follows.
    """

    start: bytes
    stop: bytes
    prefix: bytes

    def holds(self, key: bytes) -> bool:
        """Whether a row key lies in the range."""
        return self.start <= key and (not self.stop or key < self.stop)


@dataclass(frozen=True)
class Plan:
    """How a read runs.

    Args:
        pieces: for each pinned part, the byte strings it has in the ranges, ascending.
        intervals: what the ranges hold behind those bytes, ascending, apart from each other.
        pinned: how many leading parts of the key have constant bytes in each range.
        merged: how many of them are the prefix that rows are merged without; the others are left
            in where the order asked for goes by them.
        residual: fields whose conditions are tested row by row after reading.
        orders: the order in which merged rows come: field and whether it descends.
        serves_order: whether the order asked for is that order, forwards.
        serves_backwards: whether it is that order, backwards.
        is_full_scan: whether nothing in the key narrows the read; without an order asked for, its
            ranges then part the table by what only spreads, and pin nothing else.
        is_point: whether every range is one row.
    """

    pieces: tuple[tuple[bytes, ...], ...]
    intervals: tuple[Interval, ...]
    pinned: int
    merged: int
    residual: tuple[str, ...]
    orders: tuple[Ordering, ...]
    serves_order: bool
    serves_backwards: bool
    is_full_scan: bool
    is_point: bool

    @property
    def fan_out(self) -> int:
        """How many ranges are read for one answer."""
        return prod(map(len, self.pieces)) * len(self.intervals)

    @property
    def is_backwards(self) -> bool:
        """Whether the ranges are read from their ends, so that rows come in the order asked for."""
        return self.serves_backwards and not self.serves_order

    @property
    def needs_sort(self) -> bool:
        """Whether rows come in the order asked for neither way: all of them are read and sorted."""
        return not (self.serves_order or self.serves_backwards)

    @cached_property
    def ranges(self) -> tuple[KeyRange, ...]:
        """Where its rows lie, ascending, apart from each other.

        Cost: a range takes about 1 µs; until they are asked for, they are not listed.
        """
        fronts = list(map(b"".join, product(*self.pieces[: self.merged])))
        backs = list(map(b"".join, product(*self.pieces[self.merged :])))
        if self.is_point:
            found = [
                KeyRange(front + back, front + back + b"\0", front)
                for front in fronts
                for back in backs
            ]
        else:
            found = [
                KeyRange(front + back + one.low, _stop(front + back + one.high), front)
                for front in fronts
                for back in backs
                for one in self.intervals
            ]
        return tuple(sorted(found, key=attrgetter("start")))

    def holds(self, key: bytes) -> bool:
        """Whether a row key lies in any of the ranges."""
        return any(one.holds(key) for one in self.ranges)


@dataclass(slots=True)
class _Walk:
    """The state of a walk over the parts of a key."""

    pieces: list[tuple[bytes, ...]] = field(default_factory=list)
    intervals: tuple[Interval, ...] = (Interval(),)
    narrowed: bool = False
    decided: set[str] = field(default_factory=set)

    def has_room(self, count: int) -> bool:
        """Whether the ranges stay few enough if each is divided into so many."""
        return prod(map(len, self.pieces)) * count <= MOST_RANGES

    def exclude_all(self, bounds: Bounds) -> None:
        """Leave no range: no row can meet the bounds, whatever the key says of their fields."""
        self.intervals, self.narrowed, self.decided = (), True, set(bounds)
        if self.pieces:
            self.pieces[-1] = ()


def plan_read(key: Key, bounds: Bounds, order: Sequence[Ordering] = ()) -> Plan:
    """The plan of a read.

    Args:
        key: the bound row key.
        bounds: what is asked of each field, in normal values.
        order: the order asked for, most significant first.

    Returns:
        Ranges that hold every row within the bounds; rows of them that are not are told by the
        residual fields alone.

    Cost: one set of images per part of the key.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Equal
    >>> key = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})
    >>> plan_read(key, {"host": Equal("web-1")}).fan_out
    1
    """
    asked = [one for one in once_each(order) if not _is_single(bounds, one.field)]
    walk = _walked(key, bounds, set(bounds) | {ordering.field for ordering in order})
    if not walk.narrowed and not asked:
        walk = _whole(key, bounds, walk.decided)
    if any(is_empty(key.all_fields[name], bound) for name, bound in bounds.items()):
        walk.exclude_all(bounds)
    return _planned(key, walk, bounds, asked)


def _walked(key: Key, bounds: Bounds, wanted: set[str]) -> _Walk:
    """A walk from the first part on, as far as the parts are pinned and anything wanted is left."""
    walk = _Walk()
    for index, part in enumerate(key.parts):
        is_last = index == len(key.parts) - 1
        images = _usable(part, bounds, is_last=is_last)
        whole = _usable(part, {}, is_last=is_last)
        later = {name for after in key.parts[index:] for name in after.fields}
        if not wanted & later or not _enumerate(walk, part, images, bounds):
            _finish(walk, part, images, whole, bounds)
            break
        walk.narrowed |= images.points != whole.points
    return walk


def _whole(key: Key, bounds: Bounds, decided: set[str]) -> _Walk:
    """A walk over all that only spreads: the ranges of a scan of all rows.

    A condition that the whole key space satisfies stays decided.
    """
    walk = _Walk()
    for part in key.parts[: spreading(key)]:
        if not _enumerate(walk, part, part.images({}), {}):
            break
    walk.decided = decided & set(bounds)
    return walk


def spreading(key: Key) -> int:
    """How many leading parts only spread rows.

    They are chance, or computed from fields that stand whole behind them, or in stretches whose
    rest is in the qualifiers; constants among them count as well.

    >>> from rowkey.keys import bind_key
    >>> spreading(bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"}))
    1
    """
    count = 0
    for index, part in enumerate(key.parts):
        if part.cardinality == 1:
            continue
        if not _only_spreads(part, key.parts[index + 1 :]):
            break
        count = index + 1
    return count


def _only_spreads(part: Part, behind: Sequence[Part]) -> bool:
    """Whether a part has listed values that tell nothing the parts behind it do not."""
    whole = {name for one in behind for name in one.fields if one.residue(name).nothing}
    # What a stretch of time leaves of its field stands in the qualifiers of the row.
    whole |= {one.rest.field for one in behind if one.rest is not None}
    told = part.source is Source.CHANCE or set(part.fields) <= whole
    return told and not tells_order(part) and part.images({}).points is not None


def _usable(part: Part, bounds: Bounds, *, is_last: bool) -> Images:
    """The part's images, as far as they bound whole keys.

    Bytes without an end run into the next part: an upper bound of theirs is none of the key.
    """
    images = part.images(bounds)
    if part.framing.closed or is_last:
        return images
    if any(isinstance(bounds.get(name), Range) for name in part.fields):
        return Images.anything(exact=False)
    roots = _roots(images.points or ())
    if images.points is None or len(roots) == len(images.points):
        return images.inexact()
    return Images(None, tuple(Interval(root, root) for root in roots), exact=False)


def _roots(points: Sequence[bytes]) -> list[bytes]:
    """The byte strings, ascending, that begin with no other: what begins with them covers all.

    >>> _roots([b"a", b"ab", b"b"])
    [b'a', b'b']
    """
    roots: list[bytes] = []
    for point in points:
        if not roots or not point.startswith(roots[-1]):
            roots.append(point)
    return roots


def _enumerate(walk: _Walk, part: Part, images: Images, bounds: Bounds) -> bool:
    """Divide every range by the part's points, if it has points and not too many."""
    if images.points is None or not walk.has_room(len(images.points)):
        return False
    walk.pieces.append(images.points)
    _decide(walk, part, images, bounds)
    return True


def _finish(walk: _Walk, part: Part, images: Images, whole: Images, bounds: Bounds) -> None:
    """Turn the first part that is not pinned into ranges behind the prefixes.

    Args:
        walk: how far the key was walked.
        part: the first part that is not pinned.
        images: what it can take under the bounds.
        whole: what it can take at all.
        bounds: what is asked of each field.
    """
    if images.points is not None or not images.bounded:
        return
    walk.narrowed |= images.intervals != whole.intervals
    walk.intervals = _apart(images.intervals)
    if walk.has_room(len(walk.intervals)):
        _decide(walk, part, images, bounds)
    else:
        walk.intervals = (Interval(walk.intervals[0].low, walk.intervals[-1].high),)


def _apart(intervals: Sequence[Interval]) -> tuple[Interval, ...]:
    """The intervals that hold anything and do not begin with what another begins with.

    >>> _apart([Interval(b"a", b"a"), Interval(b"ab", b"ab"), Interval(b"c", b"b")])
    (Interval(low=b'a', high=b'a'),)
    """
    roots = set(_roots(sorted({one.low for one in intervals if one.low == one.high})))
    kept = [one for one in intervals if one.low != one.high or one.low in roots]
    return tuple(one for one in kept if not (stop := _stop(one.high)) or one.low < stop)


def _decide(walk: _Walk, part: Part, images: Images, bounds: Bounds) -> None:
    """Note the conditions that the ranges already imply."""
    if images.exact:
        walk.decided.update(name for name in part.fields if name in bounds)


def _stop(prefix: bytes) -> bytes:
    """The first key behind all that begin with a prefix; empty if there is none."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


def _planned(key: Key, walk: _Walk, bounds: Bounds, asked: Sequence[Ordering]) -> Plan:
    pinned = len(walk.pieces)
    merged = _merged(key, walk, bounds, asked)
    orders = orders_from(key, merged, _constant(walk))
    natural = _natural(orders, bounds, asked)
    return Plan(
        pieces=tuple(walk.pieces),
        intervals=walk.intervals,
        pinned=pinned,
        merged=merged,
        residual=tuple(name for name in bounds if name not in walk.decided),
        orders=orders,
        serves_order=natural == list(asked),
        serves_backwards=_serves_backwards(key, natural, bounds, asked),
        is_full_scan=not walk.narrowed,
        is_point=pinned == len(key.parts),
    )


def _merged(key: Key, walk: _Walk, bounds: Bounds, asked: Sequence[Ordering]) -> int:
    """How many pinned parts to merge without: the most that leave the order asked for.

    All of them, where none do; where none is asked for, those that only spread, or are the same in
    all ranges: rows then come in the order of the key.
    """
    if not asked:
        moot = (n < spreading(key) or len(points) < 2 for n, points in enumerate(walk.pieces))
        return sum(1 for _ in takewhile(bool, moot))
    for count in range(len(walk.pieces), -1, -1):
        natural = _natural(orders_from(key, count, _constant(walk)), bounds, asked)
        if natural == list(asked) or _serves_backwards(key, natural, bounds, asked):
            return count
    return len(walk.pieces)


def _constant(walk: _Walk) -> frozenset[int]:
    """The pinned parts that have the same bytes in all ranges, by their places in the key."""
    return frozenset(place for place, points in enumerate(walk.pieces) if len(points) < 2)


def _natural(
    orders: Sequence[Ordering], bounds: Bounds, asked: Sequence[Ordering]
) -> list[Ordering]:
    """As much of the order in which rows come as was asked for, without what has one value."""
    return [one for one in orders if not _is_single(bounds, one.field)][: len(asked)]


def _serves_backwards(
    key: Key, natural: list[Ordering], bounds: Bounds, asked: Sequence[Ordering]
) -> bool:
    flipped = [Ordering(one.field, not one.descending) for one in asked]
    return bool(asked) and natural == flipped and not _has_nulls(key, bounds, asked)


def _is_single(bounds: Bounds, name: str) -> bool:
    """Whether a field has one value in every row of the answer, so that ordering by it is moot."""
    return isinstance(bounds.get(name), Equal)


def _has_nulls(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> bool:
    """Whether rows of the answer may lack a field of the order: nulls come first both ways."""
    nullable = [one.field for one in order if key.all_fields[one.field].nullable]
    return any(
        name not in bounds or (isinstance(bounds[name], OneOf) and asks_for_null(bounds, name))
        for name in nullable
    )
