"""The cause `hot_entity`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.design import toml_value
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import ENOUGH, TOGETHER, Evidence, Finding, floor, together
from rowkey.heat.heavy import MOST_LISTED, NOTABLE, Hot, Values, heavy_values, is_heavy, matters
from rowkey.heat.leading import is_of_time
from rowkey.heat.proposals import proposed_spread, spread_key, wider_bucket
from rowkey.plan import plan_read
from rowkey.schema import Equal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.heat.evidence import Came
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

SAMPLED = 50
"""Sampled events a window of time must hold, on average, for its busiest value to be told."""
WARM = 1.25
"""Times what an even design shows from which a width is looked at for bursts."""
HALF = 0.5
"""Share of the measured skew that values which met must make up together to be its cause."""
SHOWN = 3
"""Values that a message names one by one."""
UNLIKELY = 1.5
"""Times what the busiest value would take of a window by chance before a burst is seen."""


class HotEntity(Cause):
    """One value takes many of the events, of all or of those of a time, and they lie in one region.

    Or several busy values have met on one server, as hashes have it: none is too busy by itself.

    A hash of it moves the heat but does not spread it: every row of the value keeps one prefix. It
    is spread by a bucket over more fields, or by `bucket(…, n, m)` for the values listed as heavy.
    """

    name = "hot_entity"
    looks = "region"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        return cls.foresee_from(design, facts, boundaries, None)

    @classmethod
    def foresee_from(
        cls,
        design: Design,
        facts: Mapping[str, Facts],
        boundaries: Boundaries,
        came: Came | None,
    ) -> Finding | None:
        """The value whose fullest region takes most, if that is too much for a server."""
        heavy = list(heavy_values(design, facts, boundaries, came))
        if not heavy:
            return None
        top = max(heavy, key=lambda one: one.load)
        servers = design.cluster.servers
        shown = f"{top.name} {design.fields[top.name].type.show(top.value)}"
        lie = "all its rows lie" if top.inside == 1 else f"{top.inside:.0%} of its rows lie"
        message = f"{shown} takes {top.share:.1%} of the events, and {lie} in one region"
        bound = servers * top.load
        listed = [one for one in facts[top.name].heaviest if is_heavy(one[1], servers)]
        proposal = proposed_spread(design, facts, [top.name], listed[:MOST_LISTED])
        figures = {
            "fields": [top.name],
            "value": shown,
            "share": top.share,
            "inside": top.inside,
            "proposal": proposal,
        }
        remedy = _remedy(design, facts, [top.name], proposal)
        return Finding(cls.name, f"{message}: {_so(bound, servers)}", bound, figures, remedy)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        if not evidence.entity_fields or not evidence.keys:
            return None
        if evidence.entities < 2 and len(evidence.keys) < SAMPLED:
            return None  # a few rows of one value tell of no other, but not that there is none
        values = Values(evidence, evidence.entity_fields)
        if evidence.entities < 2:  # divided by boundaries, its rows are a front
            is_cut = evidence.front is not None and _is_cut(evidence)
            return None if is_cut else _over_all(evidence, values, TOGETHER)
        return _over_all(evidence, values, TOGETHER) or _in_windows(evidence) or _divided(evidence)


def _is_cut(evidence: Evidence) -> bool:
    """Whether boundaries were made to divide the rows of the one value by the times behind it."""
    parts = evidence.design.key.parts
    times = (n for n, part in enumerate(parts) if is_of_time(evidence.design, part))
    (prefix, *others) = dict.fromkeys(evidence.lead_pieces(next(times, len(parts))))
    splits = evidence.boundaries.splits
    return not others and any(len(one) > len(prefix) and one.startswith(prefix) for one in splits)


def _over_all(evidence: Evidence, values: Values, least: float) -> Finding | None:
    """The busy values that load one server most, if they load it too much and lie together."""
    hot = list(values.hot(least))
    met = _met(evidence, hot)
    if not met or not _are_to_blame(evidence, met):
        return None
    top, servers = met[0], evidence.servers
    load = servers * sum(one.load for one in met)
    so = _so(load, servers, evidence.measured.skew)
    heavy = [one for one in hot if one in met or is_heavy(one.share, servers)]
    listed = [(values.first(one.code), one.share) for one in heavy]
    proposal = proposed_spread(evidence.design, evidence.facts, values.names, listed)
    figures = {
        "fields": list(values.names),
        "value": values.show(top.code),
        "share": top.share,
        "region": top.region,
        "met": [{"value": values.show(one.code), "share": one.share} for one in met[1:]],
        "windows": None,
        "proposal": proposal,
    }
    remedy = _remedy(evidence.design, evidence.facts, values.names, proposal)
    bound = min(load, evidence.measured.skew)
    return Finding(HotEntity.name, f"{_told(evidence, values, met)}: {so}", bound, figures, remedy)


def _divided(evidence: Evidence) -> Finding | None:
    """The same of values whose rows boundaries or a spread divide, but not far enough.

    Of several fields each is asked for itself, where it narrows the rows to a part of the key.
    """
    names = evidence.entity_fields
    found = _over_all(evidence, Values(evidence, names), 0.0)
    for name in names if len(names) > 1 and found is None else ():
        if not plan_read(evidence.design.key, {name: Equal(_any(evidence, name))}).is_full_scan:
            found = found or _over_all(evidence, Values(evidence, (name,)), 0.0)
    return found


def _any(evidence: Evidence, name: str) -> Any:
    """One of the values of a field."""
    values = Values(evidence, (name,))
    first = values.first(0)
    return None if first is None else evidence.design.fields[name].normal(first)


def _told(evidence: Evidence, values: Values, met: Sequence[Hot]) -> str:
    """What the entities that met take, as a sentence without its end."""
    top = met[0]
    shown = values.show(top.code)
    if len(met) == 1:
        return (
            f"{shown} takes {top.share:.1%} of the events, {top.inside:.0%} of them in region "
            f"{top.region}"
        )
    named = [f"{values.show(one.code)} {one.share:.1%}" for one in met[1 : SHOWN + 1]]
    if more := len(met) - 1 - len(named):
        named.append(f"{more} more")
    regions = {one.region for one in met}
    where = (
        f"region {top.region}"
        if len(regions) == 1
        else f"regions of server {_server(evidence, top)}"
    )
    listed = ", ".join(named[:-1]) + (" and " if len(named) > 1 else "") + named[-1]
    return (
        f"{shown} takes {top.share:.1%} of the events and has met with {listed} in {where}, "
        f"{sum(one.load for one in met):.1%} together"
    )


def _server(evidence: Evidence, one: Hot) -> int:
    """The server of the region that an entity lies in."""
    return int(evidence.placements.tables[0][one.region])


def _met(evidence: Evidence, hot: Sequence[Hot]) -> list[Hot]:
    """Those of the busy entities that load one server most, heaviest first."""
    by_server: dict[int, list[Hot]] = {}
    for one in hot:
        by_server.setdefault(_server(evidence, one), []).append(one)
    return max(by_server.values(), key=lambda some: sum(one.load for one in some), default=[])


def _are_to_blame(evidence: Evidence, met: Sequence[Hot]) -> bool:
    """Whether one of them is too much by itself, or all of them explain what was measured."""
    servers, measured = evidence.servers, evidence.measured
    if matters(met[0].load, servers, len(evidence.boundaries)):
        return True
    load = servers * sum(one.load for one in met)
    return not measured.is_even and load >= max(NOTABLE, HALF * measured.skew)


def _remedy(
    design: Design,
    facts: Mapping[str, Facts],
    names: Sequence[str],
    proposal: Mapping[str, Any] | None,
) -> str:
    """The proposal in words, or what is left where there is none."""
    opening = design.layout.opening
    if opening is not None and set(names) >= set(design.key.fields):
        more = [field.name for field in opening.fields]
        return (
            f"All of it is one row, which no bucket spreads: put {' and '.join(more)} into the key "
            f"and {wider_bucket(design, more)} in front; a read of one value then asks every "
            "bucket."
        )
    if proposal is None:
        found = spread_key(design, facts, beside=names)
        return f"Take {found.words}, which spreads by more fields; {found.costs}."
    ((name, values),) = proposal["heavy"].items()
    return (
        f"Try key = {toml_value(proposal['key'])} and splits = {toml_value(proposal['splits'])} "
        f"with heavy = {json.dumps(values, ensure_ascii=False)} under {name}: these values are "
        f"spread, and their reads ask several buckets; all others keep one."
    )


@dataclass(frozen=True, slots=True)
class _Bursts:
    """The busiest entity of each window.

    Args:
        codes: which it is.
        counts: its events.
        sizes: all events of the window.
    """

    codes: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]

    @property
    def mean(self) -> float:
        """Its share of a window, on average."""
        return float(self.counts.sum() / self.sizes.sum())


def _busiest(codes: np.ndarray[Any, Any], windows: np.ndarray[Any, Any]) -> _Bursts:
    """The busiest entity of each window."""
    import numpy as np

    width = int(codes.max()) + 1
    pairs, counts = np.unique(windows * width + codes, return_counts=True)
    order = np.lexsort((counts, pairs // width))
    lasts = np.flatnonzero(np.diff(pairs[order] // width, append=-1))
    chosen = order[lasts]
    _, sizes = np.unique(windows, return_counts=True)
    return _Bursts(pairs[chosen] % width, counts[chosen], sizes)


def _in_windows(evidence: Evidence) -> Finding | None:
    """The entities that take much of single windows, though none takes much of all.

    The windows of the verdict are looked at first, then those of equal numbers of events, then
    other windows of time that are hot; windows of time only where the sample holds enough of each.
    """
    import numpy as np

    if evidence.entities < ENOUGH * len(evidence.boundaries):
        return None
    hot = [s.width_s for s in evidence.skews if (s.servers or 0) > WARM * (s.even_servers or 1)]
    judged = evidence.measured.width_s
    widths = [*(width for width in hot if width == judged), None]
    for width in (*widths, *(width for width in hot if width != judged)):
        if width is None:
            found = _burst(evidence, evidence.windows, None) if evidence.hurts else None
        else:
            windows = evidence.time_windows(width)
            is_thin = windows is None or len(windows) < SAMPLED * len(np.unique(windows))
            found = None if windows is None or is_thin else _burst(evidence, windows, width)
        if found is not None:
            return found
    return None


def _burst(
    evidence: Evidence, windows: np.ndarray[Any, Any], width_s: int | None
) -> Finding | None:
    """The bursts of entities in some windows, if they are more than chance and lie together."""
    import numpy as np

    codes = evidence.entity_codes
    bursts = _busiest(codes, windows)
    shuffled = np.random.default_rng(0).permutation(codes)
    if bursts.mean < UNLIKELY * _busiest(shuffled, windows).mean:
        return None
    numbers, places = np.unique(windows, return_inverse=True)
    is_busiest = codes == bursts.codes[places]
    inside = together(windows[is_busiest], evidence.regions[is_busiest])
    if inside < TOGETHER or not matters(bursts.mean, evidence.servers, len(evidence.boundaries)):
        return None
    return _burst_finding(evidence, bursts, numbers, width_s)


def _burst_finding(
    evidence: Evidence, bursts: _Bursts, numbers: np.ndarray[Any, Any], width_s: int | None
) -> Finding:
    import numpy as np

    shares = bursts.counts / bursts.sizes
    is_full = bursts.sizes >= bursts.sizes.mean() / 2
    worst = int(np.argmax(np.where(is_full, shares, 0)))
    code, window = int(bursts.codes[worst]), int(numbers[worst])
    overall = float((evidence.entity_codes == code).mean())
    shown, load = evidence.entity(code), evidence.servers * bursts.mean
    where = f"window {window + 1} of {len(numbers)}" if width_s is None else f"{width_s} s"
    which = "such windows" if width_s is None else f"windows of {width_s} s"
    so = _so(load, evidence.servers, evidence.skew_at(width_s) or 0.0, f", in {which}")
    message = (
        f"Single values take much of single windows: {shown} takes {shares[worst]:.1%} of "
        f"{where} and {overall:.1%} of all events; the busiest of each window takes "
        f"{bursts.mean:.1%} of it on average, all in one region: {so}"
    )
    figures = {
        "fields": list(evidence.entity_fields),
        "value": shown,
        "share": overall,
        "region": None,
        "met": [],
        "windows": {
            "width_s": width_s,
            "worst": window,
            "worst_share": float(shares[worst]),
            "mean_share": bursts.mean,
        },
        "proposal": None,
    }
    # Others are busy at other times, so that a list of heavy values would not hold them.
    remedy = _remedy(evidence.design, evidence.facts, evidence.entity_fields, None)
    bound = min(load, evidence.measured.skew)
    return Finding(HotEntity.name, message, bound, figures, remedy)


def _so(load: float, servers: int, measured: float = math.inf, where: str = "") -> str:
    """What a load, over a server's fair share, means for the servers."""
    if load <= 1:
        return "a server bears that, but its region takes more than its share."
    return f"{floor(load, servers, measured, where)}."
