"""What a simulation comes to, in one word and the figure behind it."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from rowkey.heat import even_share, even_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.heat import Shares, Skew

JUDGED_S = (10, 60, 600, 1)
"""Widths of window in the order in which they are judged by: ten seconds is what a client waits and
a MemStore bears; the next wider one where the sample is too thin for that."""
FEWEST = 4
"""Events of a window of equal numbers below which its fullest server is a throw of dice."""
CHANCE = 0.001
"""Odds below which few events that met on one server did not meet there by chance."""
WARM, HOT = 1.25, 2.0
"""Skew over what an even design would show: above 1.25 the cluster bears a fifth less than it
could, from 2 on less than half. On few servers no skew is that large: there it is hot from half way
between an even design and all load on one server on."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a design under a workload.

    Args:
        word: even, warm or hot.
        skew: load of the fullest server over its fair share.
        even: what an even design would show.
        basis: the windows the figure is from, as a phrase.
        width_s: seconds of those windows; None if they hold equal numbers of events.
    """

    word: str
    skew: float
    even: float
    basis: str
    width_s: int | None = None

    @property
    def is_hot(self) -> bool:
        """Whether half of what the servers could bear, or of what can go wrong, is lost."""
        return self.word == "hot"


def judge(
    skews: Sequence[Skew], shares: Shares, servers: int, events: int, windows: int
) -> Verdict:
    """The verdict.

    Args:
        skews: the skew at each width of window.
        shares: shares of the busiest server in windows of equal numbers of events.
        servers: how many servers there are.
        events: how many there were.
        windows: how many such windows they were cut into.
    """
    by_width = {skew.width_s: skew for skew in skews}
    for width in JUDGED_S:
        skew = by_width.get(width)
        if skew is not None and skew.servers is not None and skew.even_servers is not None:
            noise = 3 * (skew.spread_servers or 0.0)
            basis = f"windows of {width} s"
            word = word_of(skew.servers, skew.even_servers, noise, servers)
            return Verdict(word, skew.servers, skew.even_servers, basis, width)
    if events < FEWEST * windows:
        return _of_few(shares.total, events, servers)
    even, measured = float(even_share(events / windows, servers)), shares.median * servers
    # Half of all windows of an even design never exceed its mean by its standard deviation.
    noise = float(even_spread(events / windows, servers))
    basis = "windows of equal numbers of events, for no width of time holds enough"
    return Verdict(word_of(measured, even, noise, servers), measured, even, basis)


def _of_few(share: float, events: int, servers: int) -> Verdict:
    """The verdict on events that are too few for windows, from all of them together."""
    even, skew = float(even_share(max(events, 1), servers)), share * servers
    fullest = round(share * events)
    # At most the chance that any of the servers gets so many; exact, for the events are few.
    chance = servers * sum(
        comb(events, many) * (1 / servers) ** many * (1 - 1 / servers) ** (events - many)
        for many in range(fullest, events + 1)
    )
    word = word_of(skew, even, 0.0, servers) if chance < CHANCE else "even"
    return Verdict(word, skew, even, "all events together, which are too few for windows")


def hot_from(even: float, servers: int) -> float:
    """The skew from which a design is hot.

    Twice what an even design would show, or half way from there to the worst there can be, which is
    all load on one server, whichever comes first. Four servers and more reach the first.

    Args:
        even: what an even design would show.
        servers: how many there are.

    >>> [hot_from(1.0, servers) for servers in (2, 3, 4, 8)]
    [1.5, 2.0, 2.0, 2.0]
    """
    return min(HOT * even, (even + servers) / 2)


def word_of(skew: float, even: float, noise: float, servers: int) -> str:
    """Even, warm or hot; what chance may be is even, and one server has nothing to spread.

    Args:
        skew: load of the fullest server over its fair share.
        even: what an even design would show.
        noise: how far above that chance may bring it.
        servers: how many there are.

    >>> word_of(1.1, 1.05, 0.1, 8), word_of(1.5, 1.05, 0.1, 8), word_of(2.5, 1.05, 0.1, 8)
    ('even', 'warm', 'hot')
    """
    if servers == 1 or skew <= even + noise:
        return "even"
    if skew >= hot_from(even, servers):
        return "hot"
    return "warm" if skew > WARM * even else "even"
