"""What stands at the front of a key: the parts that decide where load goes, and how they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np

    from rowkey.design import Design
    from rowkey.keys import Part
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

MOSTLY = 0.75
"""Share of events that must follow a rule before it is said to hold; late ones may break it."""
ALONE = 0.9
"""Share of a stretch from which on a value has it to itself, as a run or a batch has."""
WITH_THE_CLOCK = frozenset({"clock", "per", "sequential"})
"""Arrivals under which the time of an event is the time at which it comes."""
STRETCHES = 50
"""Stretches of a sample that are compared with each other."""
LEAST = 20
"""Events of the shortest stretch whose middle half means something."""
NARROW = 0.1
"""Share of all keys within which half of a stretch must lie for a front to be seen: of events in no
order half span nearly a half, of a front cut into 50 stretches a hundredth."""
TENTHS, HALF = 10, 0.5
"""Values of which the newest come most are a front if the newest tenth takes half of all: the same
as what is seen of a replay, where half of a stretch must lie within a tenth."""
WRAPPED_S = 10
"""Seconds within which numbers that count up have come back to the first, so that all regions were
written: windows of ten seconds are those that a verdict goes by."""
TRAVELLED = 0.5
"""Share of all keys that the middle of the stretches must travel; a hot value stands still."""


def leading_part(design: Design, facts: Mapping[str, Facts]) -> Part | None:
    """The first part that is not the same in all keys; None if every part is.

    Args:
        design: the design.
        facts: what is known of its fields.
    """
    return next(_varying(design, facts), None)


def _varying(design: Design, facts: Mapping[str, Facts]) -> Iterator[Part]:
    for part in design.key.parts:
        known = [facts[name].distinct for name in part.fields if name in facts]
        is_one_value = bool(part.fields) and known == [1] * len(part.fields)
        if part.cardinality != 1 and not is_one_value:
            yield part


def is_of_time(design: Design, part: Part) -> bool:
    """Whether times alone decide the part."""
    return bool(part.fields) and all(design.fields[n].type.tick is not None for n in part.fields)


def entities(design: Design, part: Part) -> tuple[str, ...]:
    """The fields of a part that are no times."""
    return tuple(name for name in part.fields if design.fields[name].type.tick is None)


def deciding_fields(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
) -> tuple[str, ...]:
    """The fields whose values decide the region, where they are no times.

    Times behind them are left out: at any moment they send all rows of one value to one place.

    Args:
        design: the design.
        facts: what is known of its fields.
        boundaries: how deep into the keys they look decides how many parts count.

    Returns:
        Nothing where times, or chance, spread the rows.
    """
    parts = list(_deciding(design, boundaries))
    for part in parts:
        if part.cardinality != 1 and (not part.fields or entities(design, part) != part.fields):
            return ()
    names = dict.fromkeys(name for part in parts for name in part.fields)
    return tuple(name for name in names if name not in facts or facts[name].distinct != 1)


def deciding_entities(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
) -> tuple[str, ...]:
    """The fields that are no times and help to decide the region, whatever else spreads the rows.

    Args:
        design: the design.
        facts: what is known of its fields.
        boundaries: how deep into the keys they look decides how many parts count.
    """
    parts = _deciding(design, boundaries)
    names = dict.fromkeys(name for part in parts for name in entities(design, part))
    return tuple(name for name in names if name not in facts or facts[name].distinct != 1)


def _deciding(design: Design, boundaries: Boundaries) -> Iterator[Part]:
    """The parts as deep as boundaries look into the keys, up to the first time."""
    depth = 0
    # Zeros that end a split decide nothing: a key that comes so far is longer than they are.
    deciding = max((len(split.rstrip(b"\0")) for split in boundaries.splits), default=0)
    for part in design.key.parts:
        if is_of_time(design, part):
            return
        yield part
        if part.framing.width is None or (depth := depth + part.framing.width) >= deciding:
            return


def moves_with_clock(design: Design, facts: Mapping[str, Facts]) -> str | None:
    """The field whose values rise as events come and that the key begins with; None if none does.

    Args:
        design: the design.
        facts: what is known of its fields, from a sample in the order of its file or declared.
    """
    part = leading_part(design, facts)
    if part is None or len(part.fields) != 1 or not (part.order.ascends or part.order.descends):
        return None
    name = part.fields[0]
    writes, known = design.writes, facts.get(name)
    is_time = writes.time is design.fields[name]
    if writes.sort:
        return name if is_time else None
    if known is not None and known.rising is not None:
        return name if known.rising >= MOSTLY else None
    if is_time:
        return name if writes.arrival in WITH_THE_CLOCK else None
    draw = writes.draws.get(name)
    share = None if draw is None else draw.newest_share(_values(design, facts, name), TENTHS)
    counts_up = writes.arrival == "sequential" if draw is None else (share or 0.0) >= HALF
    is_free = writes.arrival != "per" or writes.entity != name
    is_front = counts_up and is_free and not (draw is None and _wraps(design, facts, name))
    return name if is_front else None


def _wraps(design: Design, facts: Mapping[str, Facts], name: str) -> bool:
    """Whether what counts up begins anew within the time over which load is looked at."""
    rate = design.writes.rate
    return rate is not None and _values(design, facts, name) <= rate * WRAPPED_S


def share_of_front(
    design: Design, facts: Mapping[str, Facts], name: str, boundaries: Boundaries
) -> float:
    """Share of a moment's events that the region at the front takes, if keys begin with a field.

    Args:
        design: the design.
        facts: what is known of its fields.
        name: the field that moves.
        boundaries: where regions begin; as if each held as many of the values.
    """
    draw = design.writes.draws.get(name)
    regions = len(boundaries) if len(boundaries) > 1 else design.cluster.servers
    share = None
    if draw is not None:
        share = draw.newest_share(_values(design, facts, name), regions)
    return 1.0 if share is None else share


def _values(design: Design, facts: Mapping[str, Facts], name: str) -> int:
    """How many values a field has; the most its type has where nothing tells."""
    known = facts.get(name)
    told = known.distinct if known is not None else None
    return told or design.domain(name).size


def values_together(design: Design, facts: Mapping[str, Facts], names: Iterable[str]) -> int | None:
    """How many values some fields can have together; None where that is not known.

    Args:
        design: the design.
        facts: what is known of its fields.
        names: the fields.
    """
    total = 1
    for name in names:
        listed = design.fields[name].type.listed_values
        count = facts[name].distinct if name in facts else None
        if count is None and listed is not None:
            count = len(listed)
        if count is None:
            return None
        total *= count
    return total


@dataclass(frozen=True, slots=True)
class Front:
    """Keys that move as events come.

    Args:
        direction: rise or fall.
        steps: share of the steps from stretch to stretch that go this way.
        spread: share of all keys that half of a typical stretch spans.
        is_standing: whether all that came lies within one step of what moves, such as a day.
    """

    direction: str
    steps: float
    spread: float
    is_standing: bool = False


def front_of(ranks: np.ndarray[Any, Any], *, by_time: bool = True) -> Front | None:
    """The front that keys form, or None if they form none.

    Late events, and those that are out of order by little, do not hide it: only half of each
    stretch of events is looked at. Of times that is the half that spans least, for late ones all
    lie on one side of the front; of other values the middle half, for the half that spans least may
    be one busy value. Nor do keys move where the middle of most stretches is one value that stands
    beside others all the time.

    Args:
        ranks: the rank of each sampled event's leading bytes among all, in the order of arrival;
            equal bytes have equal ranks.
        by_time: whether the leading bytes hold times.

    >>> import numpy as np
    >>> front_of(np.arange(1_000))
    Front(direction='rise', steps=1.0, spread=0.01, is_standing=False)
    >>> front_of(np.arange(1_000) * 617 % 1_000) is None
    True
    """
    import numpy as np

    count = min(STRETCHES, len(ranks) // LEAST)
    if count < 2:
        return None
    places = _places(ranks)
    half = _narrowest_half if by_time else _middle_half
    halves = np.array([half(some) for some in np.array_split(places, count)])
    spread = float(np.median(halves[:, 2] - halves[:, 0]))
    middles = halves[:, 1]
    steps = np.diff(middles)
    up, down = float((steps >= 0).mean()), float((steps <= 0).mean())
    narrow = min(max(NARROW, 1.5 / count), 0.3)
    if spread > narrow or np.ptp(middles) < TRAVELLED or max(up, down) < MOSTLY:
        return None
    if not by_time and _is_beside(places, middles):
        return None
    return Front("rise" if up >= down else "fall", max(up, down), round(spread, 9))


def _is_beside(places: np.ndarray[Any, Any], middles: np.ndarray[Any, Any]) -> bool:
    """Whether one value is the middle of most stretches, and others come beside it."""
    import numpy as np

    values, counts = np.unique(middles, return_counts=True)
    busy, stretches = values[counts.argmax()], np.array_split(places, len(middles))
    held = [some for some, middle in zip(stretches, middles, strict=True) if middle == busy]
    is_alone = float((np.concatenate(held) == busy).mean()) >= ALONE
    return len(held) > len(middles) / 2 and not is_alone


def _middle_half(places: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Where the middle half of some places begins, its middle, and where it ends."""
    import numpy as np

    low, middle, high = np.quantile(places, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


def _narrowest_half(places: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """The same of those half of them that span least."""
    import numpy as np

    ordered = np.sort(places)
    many = len(ordered) // 2 + 1
    first = int(np.argmin(ordered[many - 1 :] - ordered[: len(ordered) - many + 1]))
    inside = ordered[first : first + many]
    return float(inside[0]), float(np.median(inside)), float(inside[-1])


def _places(ranks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where each stands among all, 0..1; equal ranks stand in the middle of each other."""
    import numpy as np

    counts = np.bincount(ranks)
    before = np.cumsum(counts) - counts
    return np.asarray(((before + counts / 2) / len(ranks))[ranks])
