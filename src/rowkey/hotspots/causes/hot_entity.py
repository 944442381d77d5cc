"""The cause `hot_entity`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.declared_part import has_more_values_declared
from rowkey.hotspots.heavy_values import (
    MIN_NOTABLE_LOAD,
    FieldValues,
    HotValue,
    find_heavy_values,
    is_overload,
)
from rowkey.hotspots.leading_parts import is_time_only
from rowkey.hotspots.load_result import (
    MIN_COLOCATED_SHARE,
    CauseFinding,
    LoadResult,
    compute_colocated_share,
    format_skew_floor,
)
from rowkey.hotspots.region_coverage import has_outdated_splits
from rowkey.hotspots.skew import WARM_RATIO
from rowkey.plan import plan_read
from rowkey.proposals import (
    ANOTHER_KEY,
    BUCKETS_PER_SERVER,
    MIN_VALUES_PER_REGION,
    build_bucket,
)
from rowkey.regions import Boundaries
from rowkey.schema import Equal, FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents

MIN_EVENTS_PER_WINDOW = 50
"""Mean number of sampled events in a time window from which its busiest value is reported."""
MIN_SHARE_OF_BUSIEST = 0.98
"""Load of the server of a hot value, for each operation of the busiest one, from which the value
can be why the load is uneven: spreading it elsewhere leaves the busiest server as it is."""
MIN_EXPLAINED_SHARE = 0.5
"""Share of the measured skew that values on one server must explain together to be its cause."""
MIN_SMALL_LOAD_SHARE = 2 / 3
"""Share of what was measured above a skew of 1 that values explain if their own load is small."""
MAX_NAMED_VALUES = 3
"""Values that a message names one by one."""
MIN_BURST_RATIO = 1.5
"""Share of a window that counts as a burst, over the busiest value's share by chance."""


class HotEntityCause(Cause):
    """One value takes a large share of the events, always or for a time, and lies in one region.

    Several busy values may also share one server by chance, as hashes place them; then none of
    them is too busy by itself.

    A hash of the value moves the load but does not spread it: every row of the value keeps the same
    prefix. A bucket over more fields spreads it, or `bucket(…, n, m)` for values listed as heavy.
    """

    name = "hot_entity"
    map_shape = "region"

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if a value is known to overload one region."""
        return cls.predict_from_sample(design, facts, boundaries, None)

    @classmethod
    def predict_from_sample(
        cls,
        design: Design,
        facts: Mapping[str, FieldFacts],
        boundaries: Boundaries,
        keyed_events: KeyedEvents | None,
    ) -> CauseFinding | None:
        """Return the cause for the value that overloads one region most; None if no value does."""
        heavy = list(find_heavy_values(design, facts, boundaries, keyed_events))
        if not heavy:
            return None
        top = max(heavy, key=lambda one: one.load)
        servers = design.cluster.servers
        value_text = f"{top.name} {design.fields[top.name].type.format_value(top.value)}"
        part = "all" if top.region_share == 1 else f"{top.region_share:.0%}"
        message = (
            f"{value_text} takes {top.share:.1%} of the events, and {part} of them go to one "
            "region at a time"
        )
        bound = servers * top.load
        figures = {
            "fields": [top.name],
            "value": value_text,
            "share": top.share,
            "inside": top.region_share,
        }
        return CauseFinding(
            cls.name,
            f"{message}: {_format_consequence(bound, servers)}",
            _format_row_remedy(design, [top.name]) or ANOTHER_KEY,
            bound=bound,
            evidence=figures,
            needs_key=not _format_row_remedy(design, [top.name]),
        )

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if busy values overloaded one server, always or for a time."""
        if not result.entity_fields or not result.keys:
            return None
        if result.entity_count < 2 and len(result.keys) < MIN_EVENTS_PER_WINDOW:
            return None  # a few rows of one value tell of no other, but not that there is none
        values = FieldValues(result, result.entity_fields)
        if result.entity_count < 2:  # divided by boundaries, its rows are a front
            is_cut = result.front is not None and _has_time_splits(result)
            return None if is_cut else _find_hot_values(result, values, MIN_COLOCATED_SHARE)
        return (
            _find_hot_values(result, values, MIN_COLOCATED_SHARE)
            or _find_window_bursts(result)
            or _find_divided_values(result)
        )


def _has_time_splits(result: LoadResult) -> bool:
    """Return whether the splits divide the rows of a single value by time."""
    parts = result.design.key.parts
    times = (n for n, part in enumerate(parts) if is_time_only(result.design, part))
    (prefix, *others) = dict.fromkeys(result.take_leading_bytes(next(times, len(parts))))
    splits = result.boundaries.splits
    return not others and any(len(one) > len(prefix) and one.startswith(prefix) for one in splits)


def _find_hot_values(
    result: LoadResult, values: FieldValues, min_region_share: float
) -> CauseFinding | None:
    """Return the cause for busy values that overload one server, each in one region."""
    hot = list(values.find_hot_values(min_region_share))
    met = _select_busiest_server(result, hot)
    if not met or not _is_cause(result, met):
        return None
    if not _reaches_busiest_server(result, values, met[0]):
        return None
    top, servers = met[0], result.servers
    load = servers * sum(one.load for one in met)
    bound = min(result.least_value_skew, result.measured_skew.skew)
    explained = max(_add_other_load(load, servers), bound)
    excess = result.measured_skew.skew - 1
    if load < MIN_NOTABLE_LOAD and explained - 1 < MIN_SMALL_LOAD_SHARE * excess:
        return None
    so = _format_consequence(load, servers, bound)
    figures = {
        "fields": list(values.names),
        "value": values.format_value(top.code),
        "share": top.share,
        "region": top.region,
        "met": [{"value": values.format_value(one.code), "share": one.share} for one in met[1:]],
        "windows": None,
    }
    remedy = _format_row_remedy(result.design, values.names)
    return CauseFinding(
        HotEntityCause.name,
        f"{_format_hot_values(result, values, met)}: {so}",
        remedy or ANOTHER_KEY,
        bound=bound,
        evidence=figures,
        explained=explained,
        needs_key=not remedy,
    )


def _find_divided_values(result: LoadResult) -> CauseFinding | None:
    """Return the cause for busy values that overload one server from several regions.

    Several fields are searched one by one, if a value of the field narrows a read to key ranges.
    """
    names = result.entity_fields
    if has_outdated_splits(result):
        return None  # splits of the later keys would divide the rows of each value
    finding = _find_hot_values(result, FieldValues(result, names), 0.0)
    for name in names if len(names) > 1 and finding is None else ():
        if not plan_read(result.design.key, {name: Equal(_pick_value(result, name))}).is_full_scan:
            finding = finding or _find_hot_values(result, FieldValues(result, (name,)), 0.0)
    return finding


def _pick_value(result: LoadResult, name: str) -> Any:
    """Return one of the sampled values of a field."""
    values = FieldValues(result, (name,))
    first = values.get_first_value(0)
    return None if first is None else result.design.fields[name].normalize(first)


def _format_hot_values(
    result: LoadResult, values: FieldValues, hot_values: Sequence[HotValue]
) -> str:
    """Return the clause that names hot values, their shares, and their region or server."""
    top = hot_values[0]
    top_text = values.format_value(top.code)
    if len(hot_values) == 1:
        return (
            f"{top_text} takes {top.share:.1%} of the {result.events_text}, "
            f"{top.region_share:.0%} of them in region {top.region}"
        )
    value_texts = [
        f"{values.format_value(one.code)} {one.share:.1%}"
        for one in hot_values[1 : MAX_NAMED_VALUES + 1]
    ]
    if remaining_count := len(hot_values) - 1 - len(value_texts):
        value_texts.append(f"{remaining_count} more")
    regions = {one.region for one in hot_values}
    where = f"region {top.region}" if len(regions) == 1 else f"server {_find_server(result, top)}"
    listed = (
        ", ".join(value_texts[:-1]) + (" and " if len(value_texts) > 1 else "") + value_texts[-1]
    )
    return (
        f"{top_text} takes {top.share:.1%} of the {result.events_text} and shares {where} with "
        f"{listed}: {sum(one.load for one in hot_values):.1%} together"
    )


def _find_server(result: LoadResult, hot_value: HotValue) -> int:
    """Return the server that holds the region of a hot value."""
    return int(result.placements.assignments[0][hot_value.region])


def _select_busiest_server(result: LoadResult, hot_values: Sequence[HotValue]) -> list[HotValue]:
    """Return the hot values on the busiest of the servers that have some, heaviest first."""
    by_server: dict[int, list[HotValue]] = {}
    for one in hot_values:
        by_server.setdefault(_find_server(result, one), []).append(one)
    return by_server[max(by_server, key=result.server_loads.__getitem__)] if by_server else []


def _reaches_busiest_server(result: LoadResult, values: FieldValues, hot_value: HotValue) -> bool:
    """Return whether a hot value is on the busiest server, or on one nearly as busy."""
    loads = result.server_loads
    busiest = int(loads.argmax())
    if loads[_find_server(result, hot_value)] >= MIN_SHARE_OF_BUSIEST * loads[busiest]:
        return True
    servers = result.placements.assignments[0][result.regions]
    return bool(((servers == busiest) & (values.codes == hot_value.code)).any())


def _is_cause(result: LoadResult, hot_values: Sequence[HotValue]) -> bool:
    """Return whether hot values overload their server or explain the measured skew."""
    servers, measured = result.servers, result.measured_skew
    if is_overload(hot_values[0].load, servers, len(result.boundaries)):
        return True
    load = servers * sum(one.load for one in hot_values)
    return not measured.is_even and load >= max(
        MIN_NOTABLE_LOAD, MIN_EXPLAINED_SHARE * measured.skew
    )


def _format_row_remedy(design: Design, names: Sequence[str]) -> str:
    """Return the remedy where all events of a value are in one row; empty if they are in many."""
    opening = design.layout.qualifier_prefix
    if opening is None or not set(names) >= set(design.key.fields):
        return ""
    added = [field.name for field in opening.fields]
    fields = " and ".join(added)
    arrow_type = design.fields[names[0]].type.build_arrow_type()
    if len(names) == 1 and (pa.types.is_integer(arrow_type) or pa.types.is_string(arrow_type)):
        servers = design.cluster.servers
        bucket = build_bucket([*names, *added], BUCKETS_PER_SERVER * servers, servers)
        return (
            f"All events of the value are in one row, which no bucket spreads: put {fields} into "
            f"the key, list the value as heavy under {names[0]}, and put [{bucket}] in front; a "
            f"read of this value then asks {servers:,} buckets, and one of another value one."
        )
    return (
        f"All events of the value are in one row, which no bucket spreads: put {fields} into the "
        "key, and all of its fields into a bucket in front; a read of one value then asks every "
        "bucket."
    )


@dataclass(frozen=True, slots=True)
class _Bursts:
    """The busiest value of each window.

    Args:
        codes: the value's number.
        counts: its events.
        sizes: all events of the window.
    """

    codes: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]

    @property
    def mean_share(self) -> float:
        """Return the mean share of a window that its busiest value takes."""
        return float(self.counts.sum() / self.sizes.sum())


def _find_bursts(codes: np.ndarray[Any, Any], windows: np.ndarray[Any, Any]) -> _Bursts:
    """Return the busiest value of each window."""
    width = int(codes.max()) + 1
    pairs, counts = np.unique(windows * width + codes, return_counts=True)
    order = np.lexsort((counts, pairs // width))
    lasts = np.flatnonzero(np.diff(pairs[order] // width, append=-1))
    chosen = order[lasts]
    _, sizes = np.unique(windows, return_counts=True)
    return _Bursts(pairs[chosen] % width, counts[chosen], sizes)


def _find_window_bursts(result: LoadResult) -> CauseFinding | None:
    """Return the cause for values that take much of single time windows.

    The windows of the verdict are searched first, then those of equal numbers of events, then
    other time windows that are hot. Time windows need enough sampled events in each.
    """
    if result.entity_count < MIN_VALUES_PER_REGION * len(result.boundaries):
        return None
    # Of more values some write in each window.
    is_part = has_more_values_declared(result.design, result.facts, result.entity_fields)
    if is_part and result.measured_skew.is_even:
        return None
    hot = [
        s.width_s
        for s in result.skews
        if (s.server_skew or 0) > WARM_RATIO * (s.even_server_skew or 1)
    ]
    judged = result.measured_skew.width_s
    widths = [*(width for width in hot if width == judged), None]
    for width in (*widths, *(width for width in hot if width != judged)):
        if width is None:
            finding = _check_bursts(result, result.windows, None) if result.has_hot_region else None
        else:
            windows = result.assign_time_windows(width)
            is_thin = windows is None or len(windows) < MIN_EVENTS_PER_WINDOW * len(
                np.unique(windows)
            )
            finding = None if windows is None or is_thin else _check_bursts(result, windows, width)
        if finding is not None:
            return finding
    return None


def _check_bursts(
    result: LoadResult, windows: np.ndarray[Any, Any], width_s: int | None
) -> CauseFinding | None:
    """Return the cause for bursts in time windows if they exceed chance; else None."""
    codes = result.entity_codes
    bursts = _find_bursts(codes, windows)
    shuffled = np.random.default_rng(0).permutation(codes)
    if bursts.mean_share < MIN_BURST_RATIO * _find_bursts(shuffled, windows).mean_share:
        return None
    numbers, places = np.unique(windows, return_inverse=True)
    is_busiest = codes == bursts.codes[places]
    inside = compute_colocated_share(windows[is_busiest], result.regions[is_busiest])
    if inside < MIN_COLOCATED_SHARE or not is_overload(
        bursts.mean_share, result.servers, len(result.boundaries)
    ):
        return None
    return _build_burst_finding(result, bursts, numbers, width_s)


def _build_burst_finding(
    result: LoadResult, bursts: _Bursts, numbers: np.ndarray[Any, Any], width_s: int | None
) -> CauseFinding:
    """Return the cause for values that burst in single time windows."""
    shares = bursts.counts / bursts.sizes
    is_full = bursts.sizes >= bursts.sizes.mean() / 2
    worst = int(np.argmax(np.where(is_full, shares, 0)))
    code, window = int(bursts.codes[worst]), int(numbers[worst])
    overall = float((result.entity_codes == code).mean())
    value_text, load = result.format_entity(code), result.servers * bursts.mean_share
    place = f"window {window + 1} of {len(numbers)}"
    place = place if width_s is None else f"a window of {width_s} s"
    which = "such windows" if width_s is None else f"windows of {width_s} s"
    bound = min(result.least_value_skew, result.measured_skew.skew)
    is_floor = width_s == result.measured_skew.width_s and bound >= MIN_NOTABLE_LOAD
    so = _format_consequence(
        min(load, bound) if is_floor else load,
        result.servers,
        bound if is_floor else 0.0,
        f", in {which}",
    )
    message = (
        f"Values burst in single windows: {value_text} takes {shares[worst]:.1%} of the events in "
        f"{place}, but {overall:.1%} of all {result.events_text}; on average the busiest value "
        f"takes {bursts.mean_share:.1%} of its window, all in one region: {so}"
    )
    figures = {
        "fields": list(result.entity_fields),
        "value": value_text,
        "share": overall,
        "region": None,
        "met": [],
        "windows": {
            "width_s": width_s,
            "worst": window,
            "worst_share": float(shares[worst]),
            "mean_share": bursts.mean_share,
        },
    }
    remedy = _format_row_remedy(result.design, result.entity_fields)
    explained = max(_add_other_load(load, result.servers), bound)
    return CauseFinding(
        HotEntityCause.name,
        message,
        remedy or ANOTHER_KEY,
        bound=bound,
        evidence=figures,
        explained=explained,
        needs_key=not remedy,
    )


def _add_other_load(load: float, servers: int) -> float:
    """Return the load of a server with hot values, which has its share of all others too.

    >>> _add_other_load(4.0, 8)
    4.5
    """
    return load + 1 - load / servers


def _format_consequence(
    load: float, servers: int, least_skew: float = math.inf, windows_phrase: str = ""
) -> str:
    """Return the clause on what the load of hot values means for the servers."""
    if load <= 1:
        return "one server can bear this load, but the region takes more than its fair share."
    return f"{format_skew_floor(load, servers, least_skew, windows_phrase)}."
