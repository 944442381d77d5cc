"""Which stretches of the key space answer a read: ranges, each with a constant prefix.

Rows of different ranges are merged by what follows the prefix, so salts, buckets, short lists of
values and stretches of time are one mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.keys import Images, Key, Part
from rowkey.schema import Bounds, Equal, Ordering, Range

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
    ranges: list[KeyRange] = field(default_factory=list)


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
    open_range = any(isinstance(bounds.get(name), Range) for name in part.fields)
    return Images.anything(exact=False) if open_range else images.inexact()


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
    walk.ranges = [
        KeyRange(prefix + interval.low, _stop(prefix + interval.high), prefix)
        for prefix in walk.prefixes
        for interval in images.intervals
    ]


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
    ranges = walk.ranges or [KeyRange(p, _stop(p), p) for p in walk.prefixes]
    is_point = walk.pinned == len(key.parts) and not walk.ranges
    if is_point:
        ranges = [KeyRange(p, p + b"\0", p) for p in walk.prefixes]
    orders = orders_behind(key, walk.pinned)
    asked = [one for one in order if not _is_single(bounds, one.field)]
    flipped = [Ordering(one.field, not one.descending) for one in asked]
    natural = list(orders[: len(asked)])
    if not walk.narrowed and not asked:
        ranges = [KeyRange(b"", b"", b"")]
    return Plan(
        ranges=tuple(sorted(ranges, key=lambda one: one.start)),
        pinned=walk.pinned,
        residual=tuple(name for name in bounds if name not in walk.decided),
        orders=orders,
        serves_order=natural == asked,
        serves_backwards=bool(asked) and natural == flipped,
        is_full_scan=not walk.narrowed,
        is_point=is_point,
    )


def _is_single(bounds: Bounds, name: str) -> bool:
    """Whether a field has one value in every row of the answer, so that ordering by it is moot."""
    return isinstance(bounds.get(name), Equal)


def orders_behind(key: Key, pinned: int) -> tuple[Ordering, ...]:
    """The order of rows that are merged by what follows the first `pinned` parts."""
    orders: list[Ordering] = []
    for index, part in enumerate(key.parts[pinned:], pinned):
        if len(part.fields) != 1 or not (part.order.ascends or part.order.descends):
            if part.cardinality == 1:
                continue
            break
        if not part.framing.closed and index < len(key.parts) - 1:
            break
        name = part.fields[0]
        if name not in {one.field for one in orders}:
            orders.append(Ordering(name, part.order.descends))
        if not part.order.is_strict:
            following = key.parts[index + 1 : index + 2]
            if not following or following[0].fields != part.fields:
                break
    return tuple(orders)
