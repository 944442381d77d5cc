"""How hot a table is now, from the intervals between its counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from rowkey.heat import PER_SERVER, even_share, even_spread
from rowkey.simulate import word_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.observe.counting import Interval, What

IDLE, THIN, UNKNOWN = "idle", "thin", "unknown"
"""Words beside even, warm and hot: nothing happened, too little did, or nobody knows how much."""


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


def standing(intervals: Sequence[Interval], what: What) -> Standing:
    """How evenly the load of some intervals lay over the servers.

    An interval in which the rate of some region is not known tells nothing: what is missing may be
    the largest.

    Args:
        intervals: in the order of time.
        what: writes or reads.
    """
    servers = len(intervals[-1].servers) if intervals else 0
    known = [one for one in intervals if one.is_known(what)]
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


def _windows(known: Sequence[Interval], what: What) -> Iterator[dict[str, int]]:
    """Loads by server of windows that hold enough operations, each of one interval or of several.

    What is left at the end, too little for a window, is not looked at.
    """
    held: dict[str, int] = {}
    for interval in known:
        loads = interval.by_server(what)
        held = {name: held.get(name, 0) + load for name, load in loads.items()} | {
            name: load for name, load in held.items() if load and name not in loads
        }
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
