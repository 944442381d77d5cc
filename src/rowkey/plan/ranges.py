"""Planning of reads: the ranges of row keys that answer a read, each with a constant prefix.

Rows of different ranges are merged by the bytes after the prefix. Salts, buckets, short lists of
values and time ranges therefore share one mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product, takewhile
from math import prod
from operator import attrgetter
from typing import NamedTuple

from rowkey.keys import Determinant, Images, Key, Part, PrefixInterval, is_null_requested
from rowkey.plan.bounds import include_range_ends, is_empty_bound
from rowkey.plan.row_order import compute_row_order, drop_repeated_orderings, has_field_order
from rowkey.schema import Bounds, Equal, OneOf, Ordering, Range

MAX_RANGES = 65_536
"""Maximum number of ranges of one read; a read that needs more gets fewer, wider ranges."""


class KeyRange(NamedTuple):
    """A range of row keys from `start`, inclusive, to `stop`, exclusive.

    Args:
        start: the first possible key.
        stop: the first key after the range, or b"".
        prefix: the common prefix of all keys; rows are merged by the bytes after it.
    """

    start: bytes
    stop: bytes
    prefix: bytes

    def has_key(self, key: bytes) -> bool:
        """Return whether a row key lies in the range."""
        return self.start <= key and (not self.stop or key < self.stop)


@dataclass(frozen=True)
class Plan:
    """The plan of a read: its key ranges, remaining conditions, and order of rows.

    Args:
        pinned_values: for each pinned part, the byte strings it has in the ranges, ascending.
        intervals: the byte intervals after the pinned parts, ascending and disjoint.
        pinned_count: number of leading parts of the key with constant bytes in each range.
        merge_prefix_count: number of pinned parts in the prefix that is ignored when rows are
            merged; the other pinned parts take part in the requested order.
        residual_fields: fields whose conditions are tested row by row after reading.
        row_order: the order of the merged rows.
        serves_order: whether that is the requested order.
        serves_backwards: whether its reverse is the requested order.
        is_full_scan: whether nothing in the key narrows the read. Without a requested order, the
            ranges then divide the table by the parts that only spread rows.
        is_point: whether every range is one row.
    """

    pinned_values: tuple[tuple[bytes, ...], ...]
    intervals: tuple[PrefixInterval, ...]
    pinned_count: int
    merge_prefix_count: int
    residual_fields: tuple[str, ...]
    row_order: tuple[Ordering, ...]
    serves_order: bool
    serves_backwards: bool
    is_full_scan: bool
    is_point: bool

    @property
    def fan_out(self) -> int:
        """Return the number of key ranges that are read for one answer."""
        return prod(map(len, self.pinned_values)) * len(self.intervals)

    @property
    def is_backwards(self) -> bool:
        """Return whether the ranges are scanned in reverse to give the requested order."""
        return self.serves_backwards and not self.serves_order

    @property
    def needs_sort(self) -> bool:
        """Return whether all rows must be sorted in memory to give the requested order."""
        return not (self.serves_order or self.serves_backwards)

    @cached_property
    def ranges(self) -> tuple[KeyRange, ...]:
        """Return the ranges of row keys, ascending and disjoint.

        Cost: about 1 µs per range, at the first access.
        """
        fronts = list(map(b"".join, product(*self.pinned_values[: self.merge_prefix_count])))
        backs = list(map(b"".join, product(*self.pinned_values[self.merge_prefix_count :])))
        if self.is_point:
            key_ranges = [
                KeyRange(front + back, front + back + b"\0", front)
                for front in fronts
                for back in backs
            ]
        else:
            key_ranges = [
                KeyRange(
                    front + back + one.low, _compute_prefix_stop(front + back + one.high), front
                )
                for front in fronts
                for back in backs
                for one in self.intervals
            ]
        return tuple(sorted(key_ranges, key=attrgetter("start")))

    def has_key(self, key: bytes) -> bool:
        """Return whether a row key lies in any of the ranges."""
        return any(one.has_key(key) for one in self.ranges)


class ReadPlanner:
    """Plans reads of one key; what depends only on the key is computed once.

    Args:
        key: the bound row key.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.trailing_fields = [
            {name for part in key.parts[index:] for name in part.fields}
            for index in range(len(key.parts))
        ]
        """For each part of the key, the fields of it and of the parts after it."""
        self._row_orders: dict[tuple[int, frozenset[int]], tuple[Ordering, ...]] = {}
        self._unbounded_images: dict[int, Images] = {}

    @cached_property
    def spreading_part_count(self) -> int:
        """Return the number of leading key parts that only spread rows."""
        return count_spreading_parts(self.key)

    def find_row_order(self, merged_count: int, constant: frozenset[int]) -> tuple[Ordering, ...]:
        """Return the order of rows merged without some leading key parts."""
        arguments = merged_count, constant
        if arguments not in self._row_orders:
            self._row_orders[arguments] = compute_row_order(self.key, *arguments)
        return self._row_orders[arguments]

    def find_images(self, index: int, bounds: Bounds) -> Images:
        """Return the images (possible bytes) of a key part under the bounds of a read."""
        part, is_last = self.key.parts[index], index == len(self.key.parts) - 1
        if not bounds.keys().isdisjoint(part.fields):
            return _find_usable_images(part, bounds, is_last=is_last)
        if index not in self._unbounded_images:
            self._unbounded_images[index] = _find_usable_images(part, {}, is_last=is_last)
        return self._unbounded_images[index]

    def plan(self, bounds: Bounds, order: Sequence[Ordering] = ()) -> Plan:
        """Plan a read with given bounds and order, as `plan_read` does.

        A field that the key's design does not have, as of an index, is tested in each row.
        """
        fields = self.key.declared_fields
        bounds = {
            name: include_range_ends(fields[name], bound) if name in fields else bound
            for name, bound in bounds.items()
        }
        wanted_order = [
            one
            for one in drop_repeated_orderings(order)
            if not _has_single_value(bounds, one.field)
        ]
        walk = _walk_key(self, bounds, set(bounds) | {ordering.field for ordering in order})
        if not walk.is_narrowed and not wanted_order:
            walk = _walk_spreading_parts(self, bounds, walk.decided_fields)
        if any(is_empty_bound(fields[one], bounds[one]) for one in bounds.keys() & fields.keys()):
            walk.exclude_all_rows(bounds)
        return _build_plan(self, walk, bounds, wanted_order)


@dataclass(slots=True)
class _KeyWalk:
    """The state of planning a read while it goes through the key part by part."""

    pinned_values: list[tuple[bytes, ...]] = field(default_factory=list)
    intervals: tuple[PrefixInterval, ...] = (PrefixInterval(),)
    is_narrowed: bool = False
    decided_fields: set[str] = field(default_factory=set)

    def can_divide(self, count: int) -> bool:
        """Return whether each range can be divided by `count` without exceeding the limit."""
        return prod(map(len, self.pinned_values)) * count <= MAX_RANGES

    def exclude_all_rows(self, bounds: Bounds) -> None:
        """Remove all ranges, because no row can meet the bounds."""
        self.intervals, self.is_narrowed, self.decided_fields = (), True, set(bounds)
        if self.pinned_values:
            self.pinned_values[-1] = ()


def plan_read(key: Key, bounds: Bounds, order: Sequence[Ordering] = ()) -> Plan:
    """Plan one read of a key; use a `ReadPlanner` to plan many reads of one key.

    Args:
        key: the bound row key.
        bounds: the bound of each field, in normalized values.
        order: the requested order, most significant field first.

    Returns:
        A plan whose ranges hold every row within the bounds. Rows in the ranges that are not within
        the bounds fail a condition on a residual field.

    Cost: one set of images per part of the key.

    >>> from rowkey.keys import bind_key
    >>> from rowkey.schema import Equal
    >>> key = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})
    >>> plan_read(key, {"host": Equal("web-1")}).fan_out
    1
    """
    return ReadPlanner(key).plan(bounds, order)


def _walk_key(planner: ReadPlanner, bounds: Bounds, read_fields: set[str]) -> _KeyWalk:
    """Go through the key parts as long as the bounds fix their bytes, and collect the ranges."""
    walk = _KeyWalk()
    for index, part in enumerate(planner.key.parts):
        images, all_images = planner.find_images(index, bounds), planner.find_images(index, {})
        if read_fields.isdisjoint(planner.trailing_fields[index]) or not _enumerate_points(
            walk, part, images, bounds
        ):
            _apply_intervals(walk, part, images, all_images, bounds)
            break
        walk.is_narrowed |= images.points != all_images.points
    return walk


def _walk_spreading_parts(
    planner: ReadPlanner, bounds: Bounds, decided_fields: set[str]
) -> _KeyWalk:
    """Go through the key parts that only spread rows, for the ranges of a full scan.

    A condition that the whole key space satisfies stays decided.
    """
    walk = _KeyWalk()
    for part in planner.key.parts[: planner.spreading_part_count]:
        if not _enumerate_points(walk, part, part.images({}), {}):
            break
    walk.decided_fields = decided_fields & set(bounds)
    return walk


def count_spreading_parts(key: Key) -> int:
    """Return how many leading key parts only spread rows.

    Such a part is random, or computed from fields that later parts hold in full, or from a time of
    which a later part holds the slice and the qualifier the remainder. Constants in between count.

    >>> from rowkey.keys import bind_key
    >>> fields = {"host": "text", "ts": "timestamp_ms"}
    >>> count_spreading_parts(bind_key("[bucket(host, 16)][host][ts]", fields))
    1
    """
    count = 0
    for index, part in enumerate(key.parts):
        if part.cardinality == 1:
            continue
        if not _is_only_spreading(part, key.parts[index + 1 :]):
            break
        count = index + 1
    return count


def _is_only_spreading(part: Part, later_parts: Sequence[Part]) -> bool:
    """Return whether a key part adds nothing to the values of the later parts."""
    held_fields = {
        name for later in later_parts for name in later.fields if later.residue(name).is_empty
    }
    # The qualifiers of the row hold the remainder of a time slice.
    held_fields |= {
        later.time_remainder.field for later in later_parts if later.time_remainder is not None
    }
    is_redundant = part.determined_by is Determinant.CHANCE or set(part.fields) <= held_fields
    return is_redundant and not has_field_order(part) and part.images({}).points is not None


def _find_usable_images(part: Part, bounds: Bounds, *, is_last: bool) -> Images:
    """Return the images of a key part, as far as they bound whole row keys.

    The end of a part without a terminator or fixed length cannot be seen in a key, whose next part
    follows at once. So its images are no longer exact; a range of a field gives no bound at all;
    and where one possible value begins with another, all become prefixes.
    """
    images = part.images(bounds)
    if part.framing.is_self_delimiting or is_last:
        return images
    if any(isinstance(bounds.get(name), Range) for name in part.fields):
        return Images.build_unbounded(exact=False)
    roots = _keep_shortest_prefixes(images.points or ())
    if images.points is None or len(roots) == len(images.points):
        return images.to_inexact()
    return Images(None, tuple(PrefixInterval(root, root) for root in roots), exact=False)


def _keep_shortest_prefixes(points: Sequence[bytes]) -> list[bytes]:
    """Return the ascending byte strings that do not start with another one of them.

    >>> _keep_shortest_prefixes([b"a", b"ab", b"b"])
    [b'a', b'b']
    """
    roots: list[bytes] = []
    for point in points:
        if not roots or not point.startswith(roots[-1]):
            roots.append(point)
    return roots


def _enumerate_points(walk: _KeyWalk, part: Part, images: Images, bounds: Bounds) -> bool:
    """Divide each range by the possible bytes of a part; return False if there are too many."""
    if images.points is None or not walk.can_divide(len(images.points)):
        return False
    walk.pinned_values.append(images.points)
    _mark_decided(walk, part, images, bounds)
    return True


def _apply_intervals(
    walk: _KeyWalk, part: Part, images: Images, unbounded_images: Images, bounds: Bounds
) -> None:
    """Narrow the ranges by the byte intervals of the first key part that is not pinned.

    Args:
        walk: how far the key was walked.
        part: the first part that is not pinned.
        images: what it can take under the bounds.
        unbounded_images: what it can take at all.
        bounds: what is asked of each field.
    """
    if images.points and images.points != unbounded_images.points:
        # They are too many to divide each range by; what lies between them is filtered.
        images = Images.from_prefixes(images.points[0], images.points[-1], exact=False)
    if images.points is not None or not images.is_bounded:
        return
    walk.is_narrowed |= images.intervals != unbounded_images.intervals
    walk.intervals = _drop_covered_intervals(images.intervals)
    if walk.can_divide(len(walk.intervals)):
        _mark_decided(walk, part, images, bounds)
    else:
        walk.intervals = (PrefixInterval(walk.intervals[0].low, walk.intervals[-1].high),)


def _drop_covered_intervals(intervals: Sequence[PrefixInterval]) -> tuple[PrefixInterval, ...]:
    """Return the intervals that are neither empty nor covered by another one.

    >>> texts = [(b"a", b"a"), (b"ab", b"ab"), (b"c", b"b")]
    >>> _drop_covered_intervals([PrefixInterval(low, high) for low, high in texts])
    (PrefixInterval(low=b'a', high=b'a'),)
    """
    roots = set(
        _keep_shortest_prefixes(sorted({one.low for one in intervals if one.low == one.high}))
    )
    kept = [one for one in intervals if one.low != one.high or one.low in roots]
    return tuple(
        one for one in kept if not (stop := _compute_prefix_stop(one.high)) or one.low < stop
    )


def _mark_decided(walk: _KeyWalk, part: Part, images: Images, bounds: Bounds) -> None:
    """Record the conditions that the ranges already imply."""
    if images.exact:
        walk.decided_fields.update(name for name in part.fields if name in bounds)


def _compute_prefix_stop(prefix: bytes) -> bytes:
    """Return the first key after all keys with a prefix; empty at the table's end."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


def _build_plan(
    planner: ReadPlanner, walk: _KeyWalk, bounds: Bounds, order: Sequence[Ordering]
) -> Plan:
    """Return the plan after all key parts were processed."""
    key, pinned = planner.key, len(walk.pinned_values)
    merged = _count_merge_prefix(planner, walk, bounds, order)
    orders = planner.find_row_order(merged, _find_constant_parts(walk))
    natural = _trim_row_order(orders, bounds, order)
    return Plan(
        pinned_values=tuple(walk.pinned_values),
        intervals=walk.intervals,
        pinned_count=pinned,
        merge_prefix_count=merged,
        residual_fields=tuple(name for name in bounds if name not in walk.decided_fields),
        row_order=orders,
        serves_order=natural == list(order),
        serves_backwards=_is_served_backwards(key, natural, bounds, order),
        is_full_scan=not walk.is_narrowed,
        is_point=pinned == len(key.parts),
    )


def _count_merge_prefix(
    planner: ReadPlanner, walk: _KeyWalk, bounds: Bounds, order: Sequence[Ordering]
) -> int:
    """Return how many pinned parts the merge of ranges must ignore to give the order.

    All of them, if no number gives it. If no order is asked for, those that only spread, or are the
    same in all ranges: rows then come in the order of the key.
    """
    if not order:
        moot = (
            n < planner.spreading_part_count or len(points) < 2
            for n, points in enumerate(walk.pinned_values)
        )
        return sum(1 for _ in takewhile(bool, moot))
    for count in range(len(walk.pinned_values), -1, -1):
        natural = _trim_row_order(
            planner.find_row_order(count, _find_constant_parts(walk)), bounds, order
        )
        if natural == list(order) or _is_served_backwards(planner.key, natural, bounds, order):
            return count
    return len(walk.pinned_values)


def _find_constant_parts(walk: _KeyWalk) -> frozenset[int]:
    """Return the positions of the pinned parts that are the same in all ranges."""
    return frozenset(place for place, points in enumerate(walk.pinned_values) if len(points) < 2)


def _trim_row_order(
    row_order: Sequence[Ordering], bounds: Bounds, order: Sequence[Ordering]
) -> list[Ordering]:
    """Return the order of the rows as far as it can be compared to the requested one."""
    return [one for one in row_order if not _has_single_value(bounds, one.field)][: len(order)]


def _is_served_backwards(
    key: Key, row_order: list[Ordering], bounds: Bounds, order: Sequence[Ordering]
) -> bool:
    """Return whether reverse scans give the requested order."""
    flipped = [Ordering(one.field, not one.descending) for one in order]
    return bool(order) and row_order == flipped and not _has_nulls(key, bounds, order)


def _has_single_value(bounds: Bounds, name: str) -> bool:
    """Return whether a field has the same value in every row of the answer."""
    return isinstance(bounds.get(name), Equal)


def _has_nulls(key: Key, bounds: Bounds, order: Sequence[Ordering]) -> bool:
    """Return whether a field of the requested order may be null."""
    nullable = [one.field for one in order if key.declared_fields[one.field].nullable]
    return any(
        name not in bounds or (isinstance(bounds[name], OneOf) and is_null_requested(bounds, name))
        for name in nullable
    )
