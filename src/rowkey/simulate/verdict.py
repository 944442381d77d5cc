"""How evenly the writes of a replay fall: even, warm or hot, with the skew it is based on.

It is a part of the verdict on the whole design, `rowkey.advise.DesignVerdict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, sqrt

from rowkey.hotspots import (
    WARM_RATIO,
    BusiestShares,
    Skew,
    compute_even_deviation,
    compute_even_skew,
)
from rowkey.messages import Message

JUDGED_WIDTHS_S = (10, 60, 600, 1)
"""Widths of window in the order in which they are judged by: ten seconds is what a client waits and
a MemStore bears; the next wider one where the sample is too thin for that."""
MIN_WINDOWS = 10
"""Windows of one width that show how uneven a load is from window to window."""
MIN_EQUAL_WINDOW_S = JUDGED_WIDTHS_S[0]
"""Mean seconds of windows of equal numbers of events from which they count next to those of equal
times."""
MIN_EVENTS_PER_WINDOW = 4
"""Events of a window of equal numbers below which its fullest server is mere chance."""
NOISE_DEVIATIONS = 3
"""Standard deviations by which chance may raise the skew of an even design."""
MAX_CHANCE = 0.001
"""Odds below which few events that met on one server did not meet there by chance."""
HOT_RATIO = 2.0
"""Skew over what an even design would show from which the cluster bears less than half of what it
could. On few servers no skew is that large: there it is hot from half way between an even design
and all load on one server on."""

LEVEL_NAMES = {
    "even": Message("verdict.even", "even"),
    "warm": Message("verdict.warm", "warm"),
    "hot": Message("verdict.hot", "hot"),
}
"""What users read for the levels of `classify_skew`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on how the writes fall: even, warm or hot, with the skew that decided it.

    Args:
        level: even, warm or hot.
        skew: load of the fullest server over its fair share.
        even_skew: what an even design would show.
        basis: the windows the figure is from, as a phrase.
        width_s: seconds of those windows; None if they hold equal numbers of events.
    """

    level: str
    skew: float
    even_skew: float
    basis: str
    width_s: int | None = None

    @property
    def is_hot(self) -> bool:
        """Return whether the verdict is hot."""
        return self.level == "hot"


def judge_skew(
    skews: Sequence[Skew],
    shares: BusiestShares,
    servers: int,
    events: int,
    windows: int,
    duration_s: float = 0.0,
) -> Verdict:
    """Return the verdict on the measured skew of a replay.

    It is from the first width of `JUDGED_WIDTHS_S` with figures or from windows of equal numbers of
    events, whichever is worse. Those count where they are not shorter than the narrowest of these
    widths, or nothing else has figures; a width that has only a few windows counts where they do
    not.

    Args:
        skews: the skew at each width of window.
        shares: shares of the busiest server in windows of equal numbers of events.
        servers: how many servers there are.
        events: how many there were.
        windows: how many such windows they were cut into.
        duration_s: seconds in which they came; 0 if unknown.
    """
    has_equal_windows = duration_s >= MIN_EQUAL_WINDOW_S * windows
    timed = _judge_timed_windows(skews, servers, MIN_WINDOWS if has_equal_windows else 0)
    if timed is not None and not has_equal_windows:
        return timed
    if events < MIN_EVENTS_PER_WINDOW * windows:
        return timed or _judge_few_events(shares.total, events, servers)
    even, measured = float(compute_even_skew(events / windows, servers)), shares.mean * servers
    deviation = float(compute_even_deviation(events / windows, servers))
    noise = NOISE_DEVIATIONS * deviation / sqrt(windows)  # of a mean over independent windows
    basis = Message(
        "basis.equal_windows",
        "windows of equal numbers of events",
    )
    equal = Verdict(classify_skew(measured, even, noise, servers), measured, even, basis)
    if timed is None or (measured - noise) / even > timed.skew / timed.even_skew:
        return equal
    return timed


def _judge_timed_windows(skews: Sequence[Skew], servers: int, min_windows: int) -> Verdict | None:
    """Return the verdict by windows of equal times; None if no width has enough of them."""
    by_width = {skew.width_s: skew for skew in skews}
    for width in JUDGED_WIDTHS_S:
        skew = by_width.get(width)
        if skew is None or skew.window_count < min_windows:
            continue
        if skew.server_skew is not None and skew.even_server_skew is not None:
            noise = NOISE_DEVIATIONS * (skew.even_server_deviation or 0.0)
            basis = Message("basis.windows", "windows of {width} s", width=width)
            level = classify_skew(skew.server_skew, skew.even_server_skew, noise, servers)
            return Verdict(level, skew.server_skew, skew.even_server_skew, basis, width)
    return None


def allow_for_few_entities(
    verdict: Verdict, draws: float, table_draws: float, servers: int
) -> Verdict:
    """Return the verdict on the table of a sample that has all events of some entities.

    Args:
        verdict: that on the sample.
        draws: the events of a window as independent draws, in the sample.
        table_draws: the same in the table, which has more entities.
        servers: how many servers there are.
    """
    even = float(compute_even_skew(table_draws, servers))
    skew = compute_table_skew(verdict.skew, draws, table_draws, servers)
    noise = NOISE_DEVIATIONS * float(compute_even_deviation(draws, servers))
    level = classify_skew(skew, even, noise, servers)
    return replace(verdict, level=level, skew=skew, even_skew=even)


def compute_table_skew(skew: float, draws: float, table_draws: float, places: int) -> float:
    """Return the skew of a table that is as uneven beyond chance as a sample of some entities.

    Args:
        skew: of the sample.
        draws: the events of a window as independent draws, in the sample.
        table_draws: the same in the table.
        places: the servers, or other places on which they fall.

    Returns:
        1 and above; all load on one place stays so. What chance may have done to the sample is not
        expected of the table.

    >>> compute_table_skew(8.0, 10, 1_000, 8)
    8.0
    >>> [round(compute_table_skew(skew, 40, 4_000, 8), 2) for skew in (1.9, 2.6)]
    [1.06, 2.07]
    """
    few, many = (float(compute_even_skew(one, places)) for one in (draws, table_draws))
    if skew <= few + NOISE_DEVIATIONS * float(compute_even_deviation(draws, places)):
        return many
    excess = (skew - few) / (places - few)
    return max(many + excess * (places - many), 1.0)


def expect_next_step(verdict: Verdict, servers: int) -> Verdict:
    """Return the verdict on keys of one step of a time: one server takes all of the next step."""
    basis = Message(
        "basis.next_step",
        "after the next step of the key's leading time",
    )
    skew = float(servers)
    level = classify_skew(skew, verdict.even_skew, 0.0, servers)
    return Verdict(level, skew, verdict.even_skew, basis)


def _judge_few_events(share: float, events: int, servers: int) -> Verdict:
    """Return the verdict if events are too few for windows, from all events together."""
    even, skew = float(compute_even_skew(max(events, 1), servers)), share * servers
    fullest = round(share * events)
    # At most the chance that any of the servers gets so many; exact, for the events are few.
    chance = servers * sum(
        comb(events, many) * (1 / servers) ** many * (1 - 1 / servers) ** (events - many)
        for many in range(fullest, events + 1)
    )
    level = classify_skew(skew, even, 0.0, servers) if chance < MAX_CHANCE else "even"
    basis = Message("basis.all_events", "all events together")
    return Verdict(level, skew, even, basis)


def compute_hot_threshold(even_skew: float, servers: int) -> float:
    """Return the skew from which a design is hot.

    Twice what an even design would show, or half way from there to the worst there can be, which is
    all load on one server, whichever comes first. Four servers and more reach the first.

    Args:
        even_skew: what an even design would show.
        servers: how many there are.

    >>> [compute_hot_threshold(1.0, servers) for servers in (2, 3, 4, 8)]
    [1.5, 2.0, 2.0, 2.0]
    """
    return min(HOT_RATIO * even_skew, (even_skew + servers) / 2)


def classify_skew(skew: float, even_skew: float, noise: float, servers: int) -> str:
    """Classify a skew as even, warm or hot; a skew that chance explains is even.

    Args:
        skew: load of the fullest server over its fair share.
        even_skew: what an even design would show.
        noise: how far above that chance may bring it.
        servers: how many there are.

    >>> classify_skew(1.1, 1.05, 0.1, 8), classify_skew(1.5, 1.05, 0.1, 8)
    ('even', 'warm')
    >>> classify_skew(2.5, 1.05, 0.1, 8)
    'hot'
    """
    if servers == 1 or skew <= even_skew + noise:
        return "even"
    if skew >= compute_hot_threshold(even_skew, servers):
        return "hot"
    return "warm" if skew > WARM_RATIO * even_skew else "even"
