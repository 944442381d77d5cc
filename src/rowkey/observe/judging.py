"""How hot a table is now, from the intervals between its counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING

from rowkey.heat import PER_SERVER, even_share, even_spread
from rowkey.simulate import word_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.observe.counting import Interval, RegionRate, What

IDLE, THIN, UNKNOWN = "idle", "thin", "unknown"
"""Words beside even, warm and hot: nothing happened, too little did, or nobody knows how much."""
NEGLIGIBLE = 0.02
"""Share of an interval's operations that may lie where the rate is not known, by what was done
there before: in a large table some region moves in every interval."""
BELIEVED = 2
"""Intervals for which a rate is believed that is not known any more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How evenly load lies over the servers.

    Args:
        word: even, warm or hot; idle if there was none, thin if too little to tell, unknown if no
            interval is known whole.
        events: operations in the intervals that are known whole.
        servers: region servers.
        skew: load of the fullest server over its fair share, mean of all windows by their load;
            None where the word is none of the first three.
        even: what an even design would show with as many operations.
        windows: windows it is from: intervals, or some together that hold enough operations.
        fullest: the fullest server of the last window.
        why: why there is no figure, or an empty string.
    """

    word: str
    events: int
    servers: int
    skew: float | None = None
    even: float | None = None
    windows: int = 0
    fullest: str = ""
    why: str = ""

    @property
    def is_hot(self) -> bool:
        """Whether half of what the servers could bear is lost."""
        return self.word == "hot"

    @property
    def is_uneven(self) -> bool:
        """Whether there is something to explain."""
        return self.word in {"warm", "hot"}


def standing(
    intervals: Sequence[Interval], what: What, known: Sequence[Interval] | None = None
) -> Standing:
    """How evenly the load of some intervals lay over the servers.

    Args:
        intervals: in the order of time.
        what: writes or reads.
        known: those of them that tell it, if they are known already.
    """
    servers = len(intervals[-1].servers) if intervals else 0
    known = telling(intervals, what) if known is None else known
    if not known:
        return Standing(UNKNOWN, 0, servers, why=_why(intervals))
    events = sum(one.total(what) for one in known)
    if not events:
        return Standing(IDLE, 0, servers, why=f"no {what}")
    windows = list(_windows(known, what))
    if not windows:
        why = f"{events:,} {what} are fewer than {PER_SERVER} for each of {servers} servers"
        return Standing(THIN, events, servers, why=why)
    return _judged(windows, events)


def telling(intervals: Sequence[Interval], what: What) -> list[Interval]:
    """Those of some intervals that tell how load lies.

    One in which the rate of a region is not known tells nothing, for what is missing may be the
    largest; unless the regions that are not known did next to nothing just before.

    Args:
        intervals: in the order of time.
        what: writes or reads.
    """
    found: list[Interval] = []
    for number, one in enumerate(intervals):
        lost = [region for region in one.regions if region.count(what) is None]
        before = intervals[max(number - BELIEVED, 0) : number] if lost else ()
        lacking = _rate(lost, before, what) * one.length_s
        if not lost or lacking < NEGLIGIBLE * one.total(what):
            found.append(one)
    return found


def _rate(regions: Sequence[RegionRate], before: Sequence[Interval], what: What) -> float:
    """What some regions did in a second when they were last known; infinite if one was not."""
    rates = {
        (region.start, region.stop): many / one.length_s
        for one in before
        for region in one.regions
        if (many := region.count(what)) is not None
    }
    return sum(rates.get((region.start, region.stop), inf) for region in regions)


def _windows(known: Sequence[Interval], what: What) -> Iterator[dict[str, int]]:
    """Loads by server of windows that hold enough operations, each of one interval or of several.

    A window has the same servers from its beginning to its end: one that was restarted goes by
    another name, and is not two. What is left, too little for a window, is not looked at.
    """
    held: dict[str, int] = {}
    for interval in known:
        loads = interval.by_server(what)
        same = held.keys() == loads.keys()
        held = {name: load + held[name] if same else load for name, load in loads.items()}
        if sum(held.values()) >= PER_SERVER * len(held):
            yield held
            held = {}


def _judged(windows: Sequence[Mapping[str, int]], events: int) -> Standing:
    """The figures of some windows and the word that they come to."""
    totals = [sum(loads.values()) for loads in windows]
    seen = sum(totals)
    skew = even = variance = 0.0
    for loads, total in zip(windows, totals, strict=True):
        servers = len(loads)
        skew += max(loads.values()) * servers / seen
        even += float(even_share(total, servers)) * total / seen
        variance += (float(even_spread(total, servers)) * total / seen) ** 2
    last = windows[-1]
    word = word_of(skew, even, 3 * sqrt(variance), len(last))
    fullest = max(last, key=lambda name: last[name])
    return Standing(word, events, len(last), skew, even, len(windows), fullest)


def _why(intervals: Sequence[Interval]) -> str:
    """Why no interval is known."""
    if not intervals:
        return "the regions were counted once; a rate needs two counts"
    lacking = [region.why for region in intervals[-1].regions if region.why]
    return f"{len(lacking)} of {len(intervals[-1].regions)} regions: {lacking[0]}"
