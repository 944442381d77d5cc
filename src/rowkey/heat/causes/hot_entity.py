"""The cause `hot_entity`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from rowkey.errors import DeclarationError
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import TOGETHER, Evidence, Finding, together
from rowkey.heat.leading import deciding_fields, wider_bucket
from rowkey.schema import Call, Constant, FieldRef, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts, Term

STANDS_OUT = 2
"""Times what a value would take if all were as busy, below which it is only one of few."""
ENOUGH = 4
"""Values a region below which a value is busy in a window only because there are few."""
SAMPLED = 50
"""Sampled events a window of time must hold, on average, for its busiest value to be told."""
WARM = 1.25
"""Times what an even design shows from which a width is looked at for bursts."""
MOST_LISTED = 8
"""Heavy values that a proposal lists: it is for the few, not for half of all."""
SPREAD = "bucket"
"""The transform that spreads the values listed as heavy."""
UNLIKELY = 1.5
"""Times what the busiest value would take of a window by chance before a burst is seen."""


class HotEntity(Cause):
    """One value takes many of the events, of all or of those of a time, and they lie in one region.

    A hash of it moves the heat but does not spread it: every row of the value keeps one prefix. It
    is spread by a bucket over more fields, or by `bucket(…, n, m)` for the values listed as heavy.
    """

    name = "hot_entity"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        names = deciding_fields(design, facts, boundaries)
        known = facts.get(names[0]) if len(names) == 1 else None
        share = known.heaviest_share if known is not None else None
        if known is None or share is None or known.distinct is None:
            return None
        if set(names) == set(design.key.fields) and not design.layout.shares_rows:
            return None
        if share * known.distinct < STANDS_OUT:
            return None
        if not _matters(share, design.cluster.servers, len(boundaries)):
            return None
        shown = f"{names[0]} {design.fields[names[0]].type.show(known.heaviest[0][0])}"
        message = f"{shown} takes {share:.1%} of the events, and all its rows lie in one region"
        bound = design.cluster.servers * share
        heavy = [one for one in known.heaviest if _is_heavy(one[1], design.cluster.servers)]
        proposal = _proposal(design, names, heavy[:MOST_LISTED])
        figures = {"fields": list(names), "value": shown, "share": share, "proposal": proposal}
        remedy = _remedy(design, proposal)
        return Finding(cls.name, f"{message}: {_so(bound, design)}", bound, figures, remedy)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        if not evidence.entity_fields or not evidence.keys or evidence.entities < 2:
            return None
        return _over_all(evidence) or _in_windows(evidence)


@dataclass(frozen=True, slots=True)
class _Hot:
    """An entity that takes much of all events.

    Args:
        code: which it is.
        share: its share of the events.
        region: the region that holds most of its rows.
        inside: their share of its rows.
    """

    code: int
    share: float
    region: int
    inside: float


def _over_all(evidence: Evidence) -> Finding | None:
    """The entity that takes most of all events, if that is much and lies together."""
    hot = list(_hot(evidence))
    if not hot or not _matters(hot[0].share, evidence.servers, len(evidence.boundaries)):
        return None
    top = hot[0]
    shown, bound = evidence.entity(top.code), evidence.servers * top.share * top.inside
    message = (
        f"{shown} takes {top.share:.1%} of the events, {top.inside:.0%} of them in region "
        f"{top.region}: {_so(bound, evidence.design)}"
    )
    column = evidence.rows.column(evidence.entity_fields[0])
    firsts = [(evidence.entity_codes == one.code).argmax() for one in hot]
    heavy = [(column[int(row)].as_py(), one.share) for row, one in zip(firsts, hot, strict=True)]
    proposal = _proposal(evidence.design, evidence.entity_fields, heavy)
    figures = {
        "fields": list(evidence.entity_fields),
        "value": shown,
        "share": top.share,
        "region": top.region,
        "windows": None,
        "proposal": proposal,
    }
    return Finding(HotEntity.name, message, bound, figures, _remedy(evidence.design, proposal))


def _hot(evidence: Evidence) -> Iterator[_Hot]:
    """The heaviest entities whose rows lie together, though they are many; heaviest first."""
    import numpy as np

    codes, regions = evidence.entity_codes, len(evidence.boundaries)
    counts = np.bincount(codes)
    for code in np.argsort(-counts, kind="stable")[:MOST_LISTED].tolist():
        share = float(counts[code] / len(codes))
        if not _is_heavy(share, evidence.servers) or share * evidence.entities < STANDS_OUT:
            return
        is_it = codes == code
        found = np.bincount(evidence.regions[is_it], minlength=regions)
        region = int(np.argmax(found))
        inside = float(found[region] / counts[code])
        if inside >= TOGETHER and not _is_one_row(evidence, is_it):
            yield _Hot(code, share, region, inside)


def _proposal(
    design: Design, names: Sequence[str], heavy: Sequence[tuple[Any, float]]
) -> dict[str, Any] | None:
    """The same design with the heavy values over several buckets; None if no such design binds.

    It is proposed, never applied: the list of heavy values is part of the bytes of a table.

    Returns:
        The words that change: `key`, `splits`, and the values of `heavy` by field.
    """
    name = names[0]
    values = [value for value, _ in heavy if isinstance(value, str | int | float)]
    others = tuple(FieldRef(other) for other in design.key.fields if other != name)
    if len(names) > 1 or not values or len(values) < len(heavy) or not others:
        return None
    listed = [*dict.fromkeys([*design.fields[name].heavy, *values])]
    servers, share = design.cluster.servers, max(share for _, share in heavy)
    terms = design.key.terms
    place, is_bucket = _bucket_of(terms, name)
    old = terms[place]
    buckets, options = 2 * servers, {}
    declared: list[int] = []
    first: Term = FieldRef(name)
    if is_bucket and isinstance(old, Call) and isinstance(old.scalars[0], int):
        first, buckets, options = old.terms[0], old.scalars[0], old.options
        declared = [scalar for scalar in old.scalars[1:] if isinstance(scalar, int)]
    # Half a server's fair share a bucket, so that the others' load finds room beside it.
    spread = min(max([1 << max(ceil(log2(2 * servers * share)), 1), *declared]), buckets)
    new = Call(SPREAD, (first, *others), (buckets, spread), options)
    key = (*terms[:place], new, *terms[place + is_bucket :])
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    words |= {"key": print_key(key), "splits": "per_bucket"}
    words["fields"][name] |= {"heavy": listed}
    try:
        type(design)(**words)
    except DeclarationError:
        return None
    return {"key": words["key"], "splits": words["splits"], "heavy": {name: listed}}


def _bucket_of(terms: Sequence[Term], name: str) -> tuple[int, bool]:
    """Where the bucket of a field stands, or where one would: behind leading constants."""
    place = next(n for n, term in enumerate(terms) if not isinstance(term, Constant))
    term = terms[place]
    if not isinstance(term, Call) or term.kind != SPREAD or not term.terms:
        return place, False
    first = term.terms[0]
    is_whole = isinstance(first, FieldRef) and first.name == name
    return place, is_whole and (len(term.terms) == 1 or len(term.scalars) > 1)


def _remedy(design: Design, proposal: Mapping[str, Any] | None) -> str:
    """The proposal in words, or what is left where there is none."""
    if proposal is None:
        return (
            f"Spread by more fields, as {wider_bucket(design)} in front does; a read of one value "
            f"then asks every bucket."
        )
    ((name, values),) = proposal["heavy"].items()
    return (
        f'Try key = "{proposal["key"]}" and splits = "{proposal["splits"]}" with heavy = '
        f"{json.dumps(values, ensure_ascii=False)} under {name}: these values are spread, and "
        f"their reads ask several buckets; all others keep one."
    )


def _is_one_row(evidence: Evidence, chosen: np.ndarray[Any, Any]) -> bool:
    """Whether the events of an entity write one row: then the row is what is hot."""
    import numpy as np

    keys = [evidence.keys[index] for index in np.flatnonzero(chosen).tolist()]
    most = max(map(keys.count, set(keys[:8])), default=0)
    return not evidence.design.layout.shares_rows and most >= TOGETHER * len(keys)


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

    Windows of equal numbers of events are looked at first, then those windows of time that are hot
    and of which the sample holds enough.
    """
    import numpy as np

    if evidence.entities < ENOUGH * len(evidence.boundaries):
        return None
    if evidence.hurts and (found := _burst(evidence, evidence.windows, None)):
        return found
    for skew in evidence.skews:
        is_hot = (skew.servers or 0) > WARM * (skew.even_servers or 1)
        windows = evidence.time_windows(skew.width_s) if is_hot else None
        if windows is None or len(windows) < SAMPLED * len(np.unique(windows)):
            continue
        if found := _burst(evidence, windows, skew.width_s):
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
    if inside < TOGETHER or not _matters(bursts.mean, evidence.servers, len(evidence.boundaries)):
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
    shown, bound = evidence.entity(code), evidence.servers * bursts.mean
    where = f"window {window + 1} of {len(numbers)}" if width_s is None else f"{width_s} s"
    message = (
        f"Single values take much of single windows: {shown} takes {shares[worst]:.1%} of "
        f"{where} and {overall:.1%} of all events; the busiest of each window takes "
        f"{bursts.mean:.1%} of it on average, all in one region: {_so(bound, evidence.design)}"
    )
    figures = {
        "fields": list(evidence.entity_fields),
        "value": shown,
        "share": overall,
        "region": None,
        "windows": {
            "width_s": width_s,
            "worst": window,
            "worst_share": float(shares[worst]),
            "mean_share": bursts.mean,
        },
        "proposal": None,
    }
    # Others are busy at other times, so that a list of heavy values would not hold them.
    remedy = _remedy(evidence.design, None)
    return Finding(HotEntity.name, message, bound, figures, remedy)


def _so(bound: float, design: Design) -> str:
    """What follows for the servers."""
    if bound <= 1:
        return "a server bears that, but its region takes more than its share."
    return f"the skew over {design.cluster.servers} servers cannot fall below {bound:.2f}."


def _matters(share: float, servers: int, regions: int) -> bool:
    """Whether one value is more than its region's, or half its server's, fair share."""
    return share > 1.5 / max(regions, 1) and _is_heavy(share, servers)


def _is_heavy(share: float, servers: int) -> bool:
    """Whether one value is more than half its server's fair share."""
    return share > 0.5 / servers
