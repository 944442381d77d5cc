"""The cause `missed_splits`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowkey import workload
from rowkey.array_libraries import np, pa
from rowkey.design import Design, count_combined_values, format_toml_value, list_key_prefixes
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import find_clock_field, find_leading_part
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.hotspots.region_coverage import (
    OVERFULL_RATIO,
    can_miss_splits,
    compute_refitted_skew,
    compute_region_shares,
    compute_value_skew,
    count_regions_of_numbers,
    count_regions_of_random_values,
    find_equal_steps,
    find_missed_splits,
    has_many_empty,
    has_missed_splits,
    has_outdated_splits,
    has_region_full_of_values,
    is_split_evenly,
    is_spread_evenly,
)
from rowkey.messages import pluralize
from rowkey.proposals import (
    ANOTHER_KEY,
    PER_BUCKET,
    format_quantile_splits,
    has_bucket_splits,
)
from rowkey.regions import Boundaries, locate_key_array
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents


MANY_REGIONS = 4_096
"""Regions that no table has more of: what so many in equal steps do not divide, none do."""


class MissedSplitsCause(Cause):
    """The splits lie where no keys are: some regions stay empty, and the others take their load.

    For example, hexadecimal keys with splits for decimal digits, 00, 10 … 90, leave 43.75 % of all
    rows in the last region. Small numbers of three or eight bytes with splits over the whole byte
    range all lie in the first region.
    """

    name = "missed_splits"
    map_shape = "empty"
    concerns_regions = True

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if keys cannot reach many regions, or crowd into one."""
        regions, servers = len(boundaries), design.cluster.servers
        if regions == 1 or find_clock_field(design, facts) is not None:
            return None
        shares = compute_region_shares(design.key, boundaries)
        unreachable, max_share = sum(share == 0 for share in shares), max(shares)
        # Quantiles follow the keys that came, whose bytes after the part are not spread evenly.
        is_even = is_spread_evenly(design.key) and not design.splits.needs_sample
        if not has_many_empty(unreachable, regions) and not (
            is_even and max_share >= OVERFULL_RATIO / regions
        ):
            return None
        figures = {"regions": regions, "unreachable": unreachable, "expected": max_share}
        region_phrase = pluralize(regions, "region")
        message = f"no key can fall into {unreachable} of {region_phrase}." if unreachable else ""
        bound = servers / max(min(regions - unreachable, servers), 1)
        if is_even:
            message = (
                f"{message} {max_share:.2%} of all keys fall into one of {region_phrase}.".strip()
            )
            bound = max(bound, servers * max_share)
        return _build_cause(design, message, bound, figures)

    @classmethod
    def predict_from_sample(
        cls,
        design: Design,
        facts: Mapping[str, FieldFacts],
        boundaries: Boundaries,
        keyed_events: KeyedEvents | None,
    ) -> CauseFinding | None:
        """Return the cause, from sampled keys or else from the bytes of the leading part."""
        prediction = cls.predict(design, facts, boundaries)
        if len(boundaries) == 1:
            return prediction
        if keyed_events is None:
            return prediction or _predict_from_bytes(design, facts, boundaries)
        empty_and_fullest = find_missed_splits(design, facts, boundaries, keyed_events)
        if empty_and_fullest is None:
            return prediction
        finding = _build_finding(
            design, keyed_events.keys, (len(boundaries), *empty_and_fullest), prediction
        )
        _, fullest = empty_and_fullest
        bound = max(finding.bound, design.cluster.servers * fullest)
        return replace(finding, bound=bound)

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if regions got no keys or too many, and only the splits explain it."""
        regions, empty = len(result.boundaries), result.empty_region_count
        if not can_miss_splits(result):
            return None
        prediction = cls.predict(result.design, result.facts, result.boundaries)
        is_seen = prediction is not None and (
            has_many_empty(empty, regions) or result.has_hot_region
        )
        # What no split of these values can mend is not for want of later ones.
        is_outdated = (
            has_outdated_splits(result) and result.least_value_skew < result.measured_skew.skew
        )
        if not is_seen and not is_outdated and not has_missed_splits(result):
            return None
        seen = (regions, empty, result.fullest_share)
        finding = _build_finding(result.design, result.keys, seen, prediction)
        explained = [finding.bound, compute_value_skew(result)]
        if has_region_full_of_values(result):
            explained.append(result.servers * result.fullest_share)
        if is_outdated:
            refitted = max(compute_refitted_skew(result), result.least_value_skew)
            message = (
                f"The splits follow earlier keys and do not fit the later ones: split at the later "
                f"ones, the skew would be {refitted:.2f}. {finding.message}"
            )
            figures = {**finding.evidence, "refitted": refitted}
            finding = replace(finding, message=message, evidence=figures)
            explained.append(result.measured_skew.skew)
        return replace(finding, bound=_compute_least_skew(result), explained=max(explained))


def _compute_least_skew(result: LoadResult) -> float:
    """Return the skew below which no larger number of such splits brings the load.

    Regions of a list stay as they are. More quantiles of earlier keys divide all but the keys
    before the first and after the last of these.
    """
    splits, key_range = result.design.splits, result.split_key_range
    if splits.needs_sample:
        if key_range is None:
            return 1.0
        low, high = key_range
        below, above = sum(map(low.__gt__, result.keys)), sum(map(high.__lt__, result.keys))
        return max(result.servers * max(below, above) / len(result.keys), 1.0)
    if splits.request.listed is not None or is_split_evenly(result.design.key, result.boundaries):
        return compute_least_skew(result.writes, result.servers)
    count = max(MANY_REGIONS, len(result.boundaries))
    finest = splits.compute_boundaries(result.design.key, regions=count)
    placed = locate_key_array(finest, pa.array(result.keys, pa.binary()))
    return compute_least_skew(np.bincount(placed), result.servers)


def _predict_from_bytes(
    design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
) -> CauseFinding | None:
    """Return the cause if the bytes of the leading part never fall into some regions.

    Such values are spread evenly, like random ones, or are numbers that count up from the least.
    If the splits fit only evenly spread values, and the values are unknown, this is assumed.
    """
    part, request = find_leading_part(design, facts), design.splits.request
    is_given = request.listed is not None or request.first is not None or request.last is not None
    if part is None or is_given or find_clock_field(design, facts) is not None:
        return None
    width, regions = part.framing.width, len(boundaries)
    if width is None or len(part.fields) != 1:
        return None
    if part.cardinality != 256**width:
        return _predict_from_random_values(design, boundaries, part.fields[0])
    max_share = max(compute_region_shares(design.key, boundaries, is_uniform=True))
    servers, region_phrase = design.cluster.servers, pluralize(regions, "region")
    if max_share >= OVERFULL_RATIO / regions:
        message = (
            f"If the values of {width} bytes are spread evenly, {max_share:.2%} of them fall "
            f"into one of {region_phrase}."
        )
        figures = {"regions": regions, "unreachable": 0, "expected": max_share}
        return _build_cause(design, message, max(servers * max_share, 1.0), figures)
    return _predict_from_numbers(design, facts, boundaries, part.fields[0])


def _predict_from_numbers(
    design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries, name: str
) -> CauseFinding | None:
    """Return the cause if leading numbers that count up would leave regions empty.

    Nothing is assumed of numbers that a sample shows, or that use the whole range of their type.
    """
    regions, servers = len(boundaries), design.cluster.servers
    known_count = count_combined_values(design.fields, facts, [name])
    generator = workload.WorkloadGenerator(design.writes, design.fields, key=design.key)
    values = generator.count_distinct(design.fields[name]) if known_count is None else known_count
    reached = count_regions_of_numbers(design, values, boundaries)
    if reached is None or not has_many_empty(regions - reached, regions):
        return None
    if values >= design.find_domain(name).size or (name in facts and facts[name].value_count):
        return None
    subject = f"the {values:,} values of {name}"
    if known_count is None:
        subject = f"{name} has at most {values:,} values and they"
    message = (
        f"If {subject} count up from the smallest, as in generated events, {name} reaches only "
        f"{reached:,} of {pluralize(regions, 'region')}."
    )
    figures = {"regions": regions, "unreachable": regions - reached, "assumed": True}
    bound = servers / max(min(reached, servers), 1)
    return _build_cause(design, message, bound, figures)


def _predict_from_random_values(
    design: Design, boundaries: Boundaries, name: str
) -> CauseFinding | None:
    """Return the cause if leading values such as addresses would leave regions empty."""
    regions, servers = len(boundaries), design.cluster.servers
    reached = count_regions_of_random_values(design, boundaries)
    if reached is None or not has_many_empty(regions - reached, regions):
        return None
    message = (
        f"If the values of {name} are distributed as in generated events, {name} reaches only "
        f"{reached:,} of {pluralize(regions, 'region')}."
    )
    figures = {"regions": regions, "unreachable": regions - reached, "assumed": True}
    bound = servers / max(min(reached, servers), 1)
    return _build_cause(design, message, bound, figures)


def _build_finding(
    design: Design,
    keys: Sequence[bytes],
    counts: tuple[int, int, float],
    prediction: CauseFinding | None,
) -> CauseFinding:
    """Return the cause from the number of regions, of empty ones, and the fullest share."""
    regions, empty, fullest = counts
    low, high = min(keys)[:8].hex(), max(keys)[:8].hex()
    message = (
        f"Keys lie between {low} and {high} in hexadecimal, and the fullest of "
        f"{pluralize(regions, 'region')} took {fullest:.2%} of them."
    )
    if empty:
        message = f"{empty} of {pluralize(regions, 'region')} got no write. {message}"
    if prediction is not None:
        message = f"{prediction.message} {message}"
    servers = design.cluster.servers
    bound = servers / max(min(regions - empty, servers), 1)
    figures = {"regions": regions, "empty": empty, "share": fullest, "low": low, "high": high}
    return _build_cause(design, message, bound, figures)


def _build_cause(
    design: Design, message: str, bound: float, figures: dict[str, Any]
) -> CauseFinding:
    """Return the cause with its remedy: splits that fit the keys, or a key that needs no splits."""
    remedy = _format_fitting_splits(design)
    return CauseFinding(
        MissedSplitsCause.name,
        message,
        remedy or ANOTHER_KEY,
        bound=bound,
        evidence=figures,
        needs_key=not remedy,
    )


def _format_fitting_splits(design: Design) -> str:
    """Return the splits that fit the keys, as a sentence; empty if none would fit better."""
    declared, regions = design.splits.algorithm, design.splits.request.regions
    prefixes = list_key_prefixes(design.key)
    if declared == PER_BUCKET and regions is not None and regions > len(prefixes or ()):
        return (
            f"Use {format_quantile_splits(design, regions)}, which splits at quantiles of "
            "sampled keys."
        )
    if prefixes is not None:
        if not has_bucket_splits(design):
            return 'Use splits = "per_bucket", which splits at the values of the leading part.'
        return ""
    if (equal := _find_equal_steps(design)) is not None:
        splits = format_toml_value({"algorithm": equal, "regions": _choose_region_count(design)})
        return (
            f"Use splits = {splits}, because the leading bytes are spread evenly over their "
            "whole range."
        )
    if declared != "sample":
        return f"Use {format_quantile_splits(design)}, which splits at quantiles of sampled keys."
    return ""


def _find_equal_steps(design: Design) -> str | None:
    """Return the split algorithm with equal steps that fits the keys; None if in use."""
    request = design.splits.request
    is_whole = request.first is None and request.last is None
    equal = find_equal_steps(design)
    is_cut = design.splits.needs_sample or (design.splits.algorithm == equal and is_whole)
    return None if is_cut else equal


def _choose_region_count(design: Design) -> int:
    """Return the requested regions, rounded up to a multiple of the servers."""
    request = design.splits.request
    listed = None if request.listed is None else len(request.listed) + 1
    servers = design.cluster.servers
    return max(-(-(request.regions or listed or 0) // servers), 2) * servers
