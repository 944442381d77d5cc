"""Which stretches of the key space answer a read: ranges, each with a constant prefix.

Rows of different ranges are merged by what follows the prefix, so salts, buckets, short lists of
values and stretches of time are one mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.keys import Images, Interval, Key, Part, asks_for_null
from rowkey.schema import Bounds, Equal, OneOf, Ordering, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_RANGES = 65_536
"""Ranges of one read; a read that would need more is left as fewer, wider ones."""


@dataclass(frozen=True, slots=True)
class KeyRange:
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


@dataclass(frozen=True, slots=True)
class Plan:
    """How a read runs.

    Args:
        ranges: where its rows lie, ascending, apart from each other.
        pinned: how many leading parts of the key have constant bytes in each range.
        residual: fields whose conditions are tested row by row after reading.
        orders: the order in which merged rows come: field and whether it descends.
        serves_order: whether the order asked for is that order, forwards.
        serves_backwards: whether it is that order, backwards.
        is_full_scan: whether nothing in the key narrows the read.
        is_point: whether every range is one row.
    """

    ranges: tuple[KeyRange, ...]
    pinned: int
    residual: tuple[str, ...]
    orders: tuple[Ordering, ...]
    serves_order: bool
    serves_backwards: bool
    is_full_scan: bool
    is_point: bool

    @property
    def fan_out(self) -> int:
        """How many ranges are read for one answer."""
        return len(self.ranges)

    def holds(self, key: bytes) -> bool:
        """Whether a row key lies in any of the ranges."""
        return any(one.holds(key) for one in self.ranges)


@dataclass(slots=True)
class _Walk:
    """The state of a walk over the parts of a key."""

    prefixes: list[bytes] = field(default_factory=lambda: [b""])
    pinned: int = 0
    narrowed: bool = False
    decided: set[str] = field(default_factory=set)
    ranges: list[KeyRange] | None = None


def plan_read(key: Key, bounds: Bounds, order: Sequence[Ordering] = ()) -> Plan:
    """The plan of a read.

    Args:
        key: the bound row key.
        bounds: what is asked of each field, in normal values.
        order: the order asked for, most significant first.

    Returns:
        Ranges that hold every row within the bounds; rows of them that are not are told by the
        residual fields alone.

    Cost: one set of images per part of the key; as many ranges as it finds.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Equal
    >>> key = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})
    >>> plan_read(key, {"host": Equal("web-1")}).fan_out
    1
    """
    walk = _Walk()
    wanted = set(bounds) | {ordering.field for ordering in order}
    for index, part in enumerate(key.parts):
        is_last = index == len(key.parts) - 1
        images = _usable(part, bounds, is_last=is_last)
        later = {name for after in key.parts[index:] for name in after.fields}
        if not wanted & later or not _enumerate(walk, part, images, bounds, is_last=is_last):
            if images.points is None or len(images.points) * len(walk.prefixes) <= MOST_RANGES:
                _finish(walk, part, images, bounds)
            break
    return _planned(key, walk, bounds, order)


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


def _enumerate(walk: _Walk, part: Part, images: Images, bounds: Bounds, *, is_last: bool) -> bool:
    """Extend every prefix by every point, if the part has points and not too many."""
    if images.points is None or len(images.points) * len(walk.prefixes) > MOST_RANGES:
        return False
    walk.prefixes = [prefix + point for prefix in walk.prefixes for point in images.points]
    walk.pinned += 1
    _decide(walk, part, images, bounds)
    if is_last and not part.framing.closed:
        walk.ranges = [KeyRange(p, p + b"\0", p) for p in walk.prefixes]
    return True


def _finish(walk: _Walk, part: Part, images: Images, bounds: Bounds) -> None:
    """Turn the first part that is not pinned into ranges behind the prefixes."""
    if images.points is not None or not images.bounded:
        return
    _decide(walk, part, images, bounds)
    found = [
        KeyRange(prefix + interval.low, _stop(prefix + interval.high), prefix)
        for prefix in walk.prefixes
        for interval in images.intervals
    ]
    walk.ranges = [one for one in found if not one.stop or one.start < one.stop]


def _decide(walk: _Walk, part: Part, images: Images, bounds: Bounds) -> None:
    """Note the conditions that the ranges already imply, and whether they exclude any key."""
    walk.narrowed |= images != part.images({})
    if images.exact:
        walk.decided.update(name for name in part.fields if name in bounds)


def _stop(prefix: bytes) -> bytes:
    """The first key behind all that begin with a prefix; empty if there is none."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


def _planned(key: Key, walk: _Walk, bounds: Bounds, order: Sequence[Ordering]) -> Plan:
    ranges = walk.ranges
    if ranges is None:
        ranges = [KeyRange(p, _stop(p), p) for p in walk.prefixes]
    is_point = walk.pinned == len(key.parts) and walk.ranges is None
    if is_point:
        ranges = [KeyRange(p, p + b"\0", p) for p in walk.prefixes]
    orders = orders_behind(key, walk.pinned)
    asked = [one for one in order if not _is_single(bounds, one.field)]
    flipped = [Ordering(one.field, not one.descending) for one in asked]
    natural = [one for one in orders if not _is_single(bounds, one.field)][: len(asked)]
    if not walk.narrowed and not asked:
        ranges = [KeyRange(b"", b"", b"")]
    return Plan(
        ranges=tuple(sorted(ranges, key=lambda one: one.start)),
        pinned=walk.pinned,
        residual=tuple(name for name in bounds if name not in walk.decided),
        orders=orders,
        serves_order=natural == asked,
        serves_backwards=bool(asked) and natural == flipped and not _has_nulls(key, bounds, asked),
        is_full_scan=not walk.narrowed,
        is_point=is_point,
    )


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


def orders_behind(key: Key, pinned: int) -> tuple[Ordering, ...]:
    """The order of rows that are merged by what follows the first `pinned` parts."""
    orders: list[Ordering] = []
    for index, part in enumerate(key.parts[pinned:], pinned):
        if part.cardinality == 1:
            continue
        if not _tells_order(part) or not (part.framing.closed or part is key.parts[-1]):
            break
        name = part.fields[0]
        if name in {one.field for one in orders}:
            continue
        if not _is_completed(key.parts[index:]):
            break
        orders.append(Ordering(name, part.order.descends))
    return tuple(orders)


def _tells_order(part: Part) -> bool:
    """Whether one field decides the part's place, or the reverse of it."""
    return len(part.fields) == 1 and (part.order.ascends or part.order.descends)


def _is_completed(parts: Sequence[Part]) -> bool:
    """Whether the first part orders its field whole, alone or with those behind it.

    A stretch of time does if the time itself follows at once, the same way round; or if it ends the
    key and the rest of the time opens the qualifier.
    """
    first = parts[0]
    for part in parts:
        if part.fields != first.fields or part.order.descends != first.order.descends:
            return False
        if not _tells_order(part) or not (part.framing.closed or part is parts[-1]):
            return False
        if part.order.is_strict:
            return True
    return first.rest is not None and len(parts) == 1
