"""What a simulation comes to, in one word and the figure behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.heat import even_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.heat import Shares, Skew

JUDGED_S = (10, 60, 600, 1)
"""Widths of window in the order in which they are judged by: ten seconds is what a client waits and
a MemStore bears; the next wider one where the sample is too thin for that."""
WARM, HOT = 1.25, 2.0
"""Skew over what an even design would show: above 1.25 the cluster bears a fifth less than it
could, from 2 on less than half."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a design under a workload.

    Args:
        word: even, warm or hot.
        skew: load of the fullest server over its fair share.
        even: what an even design would show.
        basis: the windows the figure is from, as a phrase.
    """

    word: str
    skew: float
    even: float
    basis: str

    @property
    def is_hot(self) -> bool:
        """Whether more than half of the cluster is wasted."""
        return self.word == "hot"


def judge(skews: Sequence[Skew], shares: Shares, servers: int, per_window: float) -> Verdict:
    """The verdict.

    Args:
        skews: the skew at each width of window.
        shares: shares of the busiest server in windows of equal numbers of events.
        servers: how many servers there are.
        per_window: events in such a window.
    """
    by_width = {skew.width_s: skew for skew in skews}
    for width in JUDGED_S:
        skew = by_width.get(width)
        if skew is not None and skew.servers is not None and skew.even_servers is not None:
            noise = 3 * (skew.spread_servers or 0.0)
            basis = f"windows of {width} s"
            return _verdict(skew.servers, skew.even_servers, noise, basis)
    even = float(even_share(max(per_window, 1), servers))
    basis = "windows of equal numbers of events, for no width of time holds enough"
    return _verdict(shares.median * servers, even, 0.0, basis)


def _verdict(skew: float, even: float, noise: float, basis: str) -> Verdict:
    over = skew / even
    word = "even"
    if skew > even + noise:
        word = "hot" if over >= HOT else "warm" if over > WARM else "even"
    return Verdict(word, skew, even, basis)
