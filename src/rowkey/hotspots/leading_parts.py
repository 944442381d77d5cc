"""The leading parts of a key: those that decide the region of a row, and how they move in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.keys import Key, Part
from rowkey.plan import count_spreading_parts
from rowkey.proposals import has_only_times
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts

MIN_ORDERED_SHARE = 0.5
"""Share of times not below all before them, under which rows are taken to be in another order; with
three of ten events late it is still 0.7."""
MIN_RULE_SHARE = 0.75
"""Share of events that must follow an order for it to be recognised; late events may break it."""
MIN_ALONE_SHARE = 0.9
"""Share of a stretch from which one value fills it, as in a run or a batch."""
CLOCK_ARRIVALS = frozenset({"clock", "per", "sequential"})
"""Arrival modes in which the time of an event is the time of its arrival."""
RANDOM_ARRIVAL = "random"
"""The arrival mode in which the order of a file with times says nothing."""
MAX_STRETCHES = 50
"""Stretches of a sample that are compared with each other."""
MIN_STRETCH_EVENTS = 20
"""Fewest events of a stretch whose middle half is meaningful."""
MAX_FRONT_SPREAD = 0.1
"""Share of all keys that half of a stretch may span in a front. Half of a stretch of unordered
events spans nearly half of all keys; in a front that is cut into 50 stretches, a hundredth."""
NEWEST_PARTS, MIN_NEWEST_SHARE = 10, 0.5
"""Values are a front if their newest tenth takes half of all events. This agrees with a replay, in
which half of a stretch must lie within a tenth of all keys."""
MAX_WRAP_S = 10
"""Seconds within which a counter that wraps around must reach all its values to make no front: the
verdict is based on windows of ten seconds."""
MAX_FEW_VALUES = 256
"""Values of a leading part up to which its newest rows are as many fronts: those of one byte."""
MIN_STEP_SHARE = 0.9
"""Share of events within one step of a time from which they show nothing of the next step."""
MIN_TRAVEL_SHARE = 0.5
"""Share of all keys that the middle of the stretches must travel; a hot value does not move."""


def find_leading_part(design: Design, facts: Mapping[str, FieldFacts]) -> Part | None:
    """Return the first key part that differs between keys; None if all are constant.

    Args:
        design: the design.
        facts: the facts of its fields.
    """
    return next(_list_varying_parts(design, facts), None)


def _list_varying_parts(design: Design, facts: Mapping[str, FieldFacts]) -> Iterator[Part]:
    """Yield the key parts that differ between keys."""
    time = design.writes.time
    for part in design.key.parts:
        distinct_counts = [facts[name].distinct_count for name in part.fields if name in facts]
        is_one_value = bool(part.fields) and distinct_counts == [1] * len(part.fields)
        if time is not None and part.fields == (time.name,):
            is_one_value = False  # all events of a sample may be of one day, but more days come
        if part.cardinality != 1 and not is_one_value:
            yield part


def is_time_only(design: Design, part: Part) -> bool:
    """Return whether a key part is computed from times alone."""
    return bool(part.fields) and has_only_times(design.fields, part.fields)


def list_entity_fields(design: Design, part: Part) -> tuple[str, ...]:
    """Return the fields of a key part that are not times."""
    return tuple(name for name in part.fields if design.fields[name].type.unit_ns is None)


def find_deciding_fields(
    design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
) -> tuple[str, ...]:
    """Return the fields whose values alone decide the region; none if a time decides too.

    Times that follow them are left out: at any moment all rows of one value go to one region.

    Args:
        design: the design.
        facts: the facts of its fields.
        boundaries: where its regions begin; the length of these keys decides how many parts count.

    Returns:
        Nothing where times, or chance, spread the rows.
    """
    parts = list(_list_deciding_parts(design, boundaries))
    for part in parts:
        if part.cardinality != 1 and (
            not part.fields or list_entity_fields(design, part) != part.fields
        ):
            return ()
    names = dict.fromkeys(name for part in parts for name in part.fields)
    return tuple(name for name in names if name not in facts or facts[name].distinct_count != 1)


def find_deciding_entities(
    design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
) -> tuple[str, ...]:
    """Return the fields, except times, that help to decide the region.

    Args:
        design: the design.
        facts: the facts of its fields.
        boundaries: where its regions begin; the length of these keys decides how many parts count.
    """
    parts = _list_deciding_parts(design, boundaries)
    names = dict.fromkeys(name for part in parts for name in list_entity_fields(design, part))
    return tuple(name for name in names if name not in facts or facts[name].distinct_count != 1)


def _list_deciding_parts(design: Design, boundaries: Boundaries) -> Iterator[Part]:
    """Yield the key parts that decide the region, up to the first time."""
    # Trailing zero bytes of a split decide nothing: a key that is equal up to them is longer.
    splits = [(split, 0, len(split.rstrip(b"\0"))) for split in boundaries.splits]
    for part in design.key.parts:
        if is_time_only(design, part):
            return
        yield part
        splits = [(split, _find_end(part, split, at), stop) for split, at, stop in splits]
        splits = [one for one in splits if one[1] < one[2]]
        if not splits:
            return


def _find_end(part: Part, split: bytes, at: int) -> int:
    """Return where a part ends in a split, which may be cut within it."""
    try:
        return part.find_end(split, at)
    except InvalidArgument:
        return len(split)


def take_leading_bytes(
    key: Key, count: int, rows: pa.RecordBatch, keys: Sequence[bytes]
) -> list[bytes]:
    """Return the bytes of the first parts of each row key.

    Args:
        key: the key of the design.
        count: how many parts.
        rows: the rows.
        keys: the row key of each.
    """
    parts = key.parts[:count]
    widths = [part.framing.width for part in parts]
    if None not in widths:
        width = sum(width for width in widths if width is not None)
        return [key_bytes[:width] for key_bytes in keys]
    if key.is_salted or key.has_coded_fields:
        cut = key.split_pieces if key.is_decodable else lambda key_bytes: [key_bytes]
        return [b"".join(cut(key_bytes)[:count]) for key_bytes in keys]
    return key.encode_parts(key.build_columns(rows), parts).tolist()


def is_within_one_step(
    design: Design, facts: Mapping[str, FieldFacts], rows: pa.RecordBatch, keys: Sequence[bytes]
) -> bool:
    """Return whether keys begin with a time, nearly all in one step of it, such as one hour.

    Regions may divide the keys of this step. Those of the next step all follow it, so one region
    takes them.

    Args:
        design: the design.
        facts: the facts of its fields.
        rows: events.
        keys: the row key of each.
    """
    part, name = find_leading_part(design, facts), find_clock_field(design, facts)
    if part is None or name is None:
        return False
    field = design.fields[name]
    is_time = field.type.unit_ns is not None or field is design.writes.time  # a date has no unit
    if part.residue(name).is_empty and not is_time:
        return False  # most events have one value, which is no step of a clock
    count = design.key.parts.index(part) + 1
    steps = Counter(take_leading_bytes(design.key, count, rows, keys))
    return bool(steps) and max(steps.values()) >= MIN_STEP_SHARE * len(keys)


def find_clock_field(design: Design, facts: Mapping[str, FieldFacts]) -> str | None:
    """Return the field at the front of the key that follows the clock; None if none does.

    Args:
        design: the design.
        facts: the facts of its fields, from a sample in the order of its file or declared.
    """
    part = find_leading_part(design, facts)
    return None if part is None else _find_rising_field(design, facts, part)


def find_bucket_clock_field(design: Design, facts: Mapping[str, FieldFacts]) -> str | None:
    """Return the field behind the buckets or salts of a key that follows the clock; None if none.

    In each bucket the newest rows are then the last ones, or the first. A leading part of few
    values, such as a status, is like a bucket.

    Args:
        design: the design.
        facts: the facts of its fields.
    """
    count = count_spreading_parts(design.key)
    spreading = design.key.parts[:count]
    parts = [part for part in _list_varying_parts(design, facts) if part not in spreading]
    if not count and len(parts) > 1 and (parts[0].cardinality or inf) <= MAX_FEW_VALUES:
        count, parts = 1, parts[1:]
    return _find_rising_field(design, facts, parts[0]) if count and parts else None


def _compute_rise(facts: FieldFacts) -> float | None:
    """Return the share of values below the greatest that are no lower than all before them.

    The greatest is never lower: a status that most events have would seem to rise.
    """
    rising, valued = facts.rising_share, 1 - facts.null_share
    greatest = next((n for one, n in facts.heaviest_values if one == facts.maximum), 0.0)
    if rising is None or greatest >= valued:
        return rising
    return (rising * valued - greatest) / (valued - greatest)


def _find_rising_field(design: Design, facts: Mapping[str, FieldFacts], part: Part) -> str | None:
    """Return the field of a key part if it is sorted and its values follow the clock."""
    if len(part.fields) != 1 or not (part.order.is_ascending or part.order.is_descending):
        return None
    name = part.fields[0]
    writes = design.writes
    is_time = writes.time is design.fields[name]
    distinct = design.fields[name].declaration.distinct
    if not is_time and distinct is not None and distinct <= MAX_FEW_VALUES:
        return None  # so few values come again and again, as the rows of a counter
    if writes.is_sorted or (not is_time and is_in_another_order(design, facts)):
        return name if is_time else None
    is_drawn = writes.arrival == RANDOM_ARRIVAL and writes.time is not None
    rising_share = _compute_rise(facts[name]) if name in facts and not is_drawn else None
    if rising_share is not None:
        if rising_share >= MIN_RULE_SHARE:
            return name
        if not is_time or writes.is_sorted is False:
            return None  # else the file is in another order than the events were
    if is_time:
        return name if writes.arrival in CLOCK_ARRIVALS else None
    draw = writes.distributions.get(name)
    share = (
        None
        if draw is None
        else draw.compute_newest_share(_count_values(design, facts, name), NEWEST_PARTS)
    )
    counts_up = (
        writes.arrival == "sequential" if draw is None else (share or 0.0) >= MIN_NEWEST_SHARE
    )
    is_free = writes.arrival != "per" or writes.entity != name
    is_front = (
        counts_up and is_free and not (draw is None and _has_short_cycle(design, facts, name))
    )
    return name if is_front else None


def is_in_another_order(design: Design, facts: Mapping[str, FieldFacts]) -> bool:
    """Return whether a sample is in no order of time, so that it is replayed sorted by it.

    Not if its order is declared to be that of arrival.

    Args:
        design: the design.
        facts: the facts of its fields, from a sample in the order of its file.
    """
    writes = design.writes
    time_facts = None if writes.time is None else facts.get(writes.time.name)
    if writes.is_sorted is not None or time_facts is None or time_facts.rising_share is None:
        return False
    return writes.arrival in CLOCK_ARRIVALS and time_facts.rising_share < MIN_ORDERED_SHARE


def _has_short_cycle(design: Design, facts: Mapping[str, FieldFacts], name: str) -> bool:
    """Return whether a counter field wraps around too soon to make a moving front."""
    rate = design.writes.rate
    return rate is not None and _count_values(design, facts, name) <= rate * MAX_WRAP_S


def estimate_front_share(
    design: Design, facts: Mapping[str, FieldFacts], name: str, boundaries: Boundaries
) -> float:
    """Estimate the share of events that the region of the newest keys takes.

    Args:
        design: the design.
        facts: the facts of its fields.
        name: the field that moves.
        boundaries: where regions begin; as if each held as many of the values.
    """
    draw = design.writes.distributions.get(name)
    regions = len(boundaries) if len(boundaries) > 1 else design.cluster.servers
    share = None
    if draw is not None:
        share = draw.compute_newest_share(_count_values(design, facts, name), regions)
    return 1.0 if share is None else share


def _count_values(design: Design, facts: Mapping[str, FieldFacts], name: str) -> int:
    """Return how many values a field has, or how many its type allows."""
    field_facts = facts.get(name)
    count = field_facts.distinct_count if field_facts is not None else None
    return count or design.find_domain(name).size


@dataclass(frozen=True, slots=True)
class KeyFront:
    """A front of keys: they rise or fall as events arrive.

    Args:
        direction: rise or fall.
        steps: share of the steps from stretch to stretch that go this way.
        spread: share of all keys that half of a typical stretch spans.
        is_stationary: whether all that came lies within one step of what moves, such as a day.
    """

    direction: str
    steps: float
    spread: float
    is_stationary: bool = False


def find_front(ranks: np.ndarray[Any, Any], *, has_times: bool = True) -> KeyFront | None:
    """Return how keys rise or fall as events arrive; None if they do not move.

    Late events, and those slightly out of order, do not hide it, because only half of each stretch
    of events counts. For times that is the half with the narrowest span, because late events all
    lie on one side of the front. For other values it is the middle half, because the narrowest half
    may be one busy value. Keys do not move if one value is the median of most stretches while other
    values occur throughout.

    Args:
        ranks: the rank of each sampled event's leading bytes among all, in the order of arrival;
            equal bytes have equal ranks.
        has_times: whether the leading bytes hold times.

    >>> import numpy as np
    >>> find_front(np.arange(1_000))
    KeyFront(direction='rise', steps=1.0, spread=0.01, is_stationary=False)
    >>> find_front(np.arange(1_000) * 617 % 1_000) is None
    True
    """
    count = min(MAX_STRETCHES, len(ranks) // MIN_STRETCH_EVENTS)
    if count < 2:
        return None
    places = _rank_positions(ranks)
    half = _measure_narrowest_half if has_times else _measure_middle_half
    halves = np.array([half(some) for some in np.array_split(places, count)])
    spread = float(np.median(halves[:, 2] - halves[:, 0]))
    middles = halves[:, 1]
    steps = np.diff(middles)
    up, down = float((steps >= 0).mean()), float((steps <= 0).mean())
    narrow = min(max(MAX_FRONT_SPREAD, 1.5 / count), 0.3)
    if spread > narrow or np.ptp(middles) < MIN_TRAVEL_SHARE or max(up, down) < MIN_RULE_SHARE:
        return None
    if not has_times and _has_busy_middle(places, middles):
        return None
    return KeyFront("rise" if up >= down else "fall", max(up, down), round(spread, 9))


def _has_busy_middle(places: np.ndarray[Any, Any], middles: np.ndarray[Any, Any]) -> bool:
    """Return whether one busy value, not movement, is the median of most stretches.

    A large batch is alone in its stretches, and there is none of it in others.
    """
    values, counts = np.unique(middles, return_counts=True)
    busy = values[counts.argmax()]
    shares = np.array([(some == busy).mean() for some in np.array_split(places, len(middles))])
    is_held = middles == busy
    is_alone = shares[is_held].mean() >= MIN_ALONE_SHARE
    is_elsewhere = shares[~is_held].mean() > 1 - MIN_ALONE_SHARE
    return is_held.mean() > 0.5 and bool(not is_alone or is_elsewhere)


def _measure_middle_half(places: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Return the start, median and stop of the middle half of some positions."""
    low, middle, high = np.quantile(places, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


def _measure_narrowest_half(places: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Return the start, median and stop of the narrowest interval with half the positions."""
    ordered = np.sort(places)
    many = len(ordered) // 2 + 1
    first = int(np.argmin(ordered[many - 1 :] - ordered[: len(ordered) - many + 1]))
    inside = ordered[first : first + many]
    return float(inside[0]), float(np.median(inside)), float(inside[-1])


def _rank_positions(ranks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the relative rank of each value, from 0 to 1; equal values share a rank."""
    counts = np.bincount(ranks)
    before = np.cumsum(counts) - counts
    return np.asarray(((before + counts / 2) / len(ranks))[ranks])
