"""The cause `few_entities`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.design import Design, count_combined_values
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.declared_part import count_table_values, has_more_values_declared
from rowkey.hotspots.leading_parts import (
    find_deciding_entities,
    find_deciding_fields,
    find_leading_part,
)
from rowkey.hotspots.load_result import CauseFinding, LoadResult, format_row_remedy
from rowkey.hotspots.region_coverage import (
    compute_value_skew,
    count_reachable_regions,
    find_missed_splits,
    has_missed_splits,
)
from rowkey.hotspots.skew import compute_even_skew, is_improbably_few
from rowkey.messages import pluralize
from rowkey.proposals import ANOTHER_KEY, MIN_VALUES_PER_REGION
from rowkey.regions import Boundaries, compute_server_imbalance
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents


MAX_SHARE_AT_A_TIME = 0.5
"""Share of all values up to which those of a typical window are few at a time."""

MIN_EXPLAINED_AT_A_TIME = 0.6
"""Share of what was measured above a skew of 1 that the values of a window explain if they are
equally busy; with less, it matters more how busy they are."""


class FewEntitiesCause(Cause):
    """The leading fields have too few different values to fill the regions, hashed or not."""

    name = "few_entities"
    map_shape = "empty"

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if the leading fields are known to have too few values."""
        names = find_deciding_fields(design, facts, boundaries)
        values = count_combined_values(design.fields, facts, names)
        regions = count_reachable_regions(design.key, boundaries)
        if not names or values is None or not _is_too_few(values, regions):
            return None
        if has_more_values_declared(design, facts, names):
            values = _count_declared_values(design, facts, names)
            if values is None or not _is_too_few(values, regions):
                return None
        sampled_count = max(facts[name].value_count if name in facts else 0 for name in names)
        if sampled_count and not _has_seen_all(values, regions, sampled_count):
            return None
        servers = design.cluster.servers
        # In key order each value has its regions; a hash places the values at random.
        part = find_leading_part(design, facts)
        is_kept = part is not None and (part.order.is_ascending or part.order.is_descending)
        bound = compute_server_imbalance(values, servers)
        explained = bound if is_kept else float(compute_even_skew(values, servers))
        upto = "up to " if len(names) > 1 else ""
        message = _format_message(
            names,
            f"{upto}{values:,}",
            regions,
            _format_empty_regions(values, regions, is_ordered=is_kept),
        )
        figures = {"fields": list(names), "values": values, "regions": regions, "used": None}
        return CauseFinding(
            cls.name,
            message,
            _format_remedy(design, facts, names),
            bound=bound,
            evidence=figures,
            explained=explained,
            needs_key=True,
        )

    @classmethod
    def predict_from_sample(
        cls,
        design: Design,
        facts: Mapping[str, FieldFacts],
        boundaries: Boundaries,
        keyed_events: KeyedEvents | None,
    ) -> CauseFinding | None:
        """Return the predicted cause, unless sampled keys show that the splits are to blame."""
        finding = cls.predict(design, facts, boundaries)
        if (
            finding is not None
            and keyed_events is not None
            and find_missed_splits(design, facts, boundaries, keyed_events)
        ):
            return None
        return finding

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if too few leading values occurred to fill the regions evenly."""
        names, values = result.entity_fields, result.entity_count
        if not names or len(names) < len(result.leading_fields):
            return None
        if not {*find_deciding_entities(result.design, result.facts, result.boundaries)} <= {
            *names
        }:
            return None  # the regions divide the rows of a value
        if result.front is not None or (result.measured_skew.is_even and not result.has_hot_region):
            return None
        regions = count_reachable_regions(result.design.key, result.boundaries)
        if has_missed_splits(result):
            return None
        if has_more_values_declared(result.design, result.facts, names):
            declared = _count_declared_values(result.design, result.facts, names)
            if declared is None or not _is_too_few(declared, regions):
                return None
        at_a_time = _find_few_at_a_time(result, regions)
        if at_a_time is not None or not _is_too_few(values, regions):
            return at_a_time
        if not _has_seen_all(values, regions, len(result.keys)):
            return None
        used_count = len(result.boundaries) - result.empty_region_count
        count_text = (
            "all regions were"
            if used_count == len(result.boundaries)
            else f"{used_count:,} regions were"
        )
        count_text = "one region was" if used_count == 1 else count_text
        consequence = f"{count_text} written, because so few values cannot fill them evenly."
        message = _format_message(names, f"{values:,}", regions, consequence)
        figures = {"fields": list(names), "values": values, "regions": regions, "used": used_count}
        return _build_finding(result, message, figures, compute_value_skew(result))


def _count_declared_values(
    design: Design, facts: Mapping[str, FieldFacts], names: Sequence[str]
) -> int | None:
    """Return how many combinations of values some fields have in the table; None if unknown."""
    values = 1.0
    for name in names:
        found = count_combined_values(design.fields, facts, [name])
        count = None if found is None else count_table_values(design, name, found)
        if count is None:
            return None
        values *= count
    return round(values)


def _find_few_at_a_time(result: LoadResult, regions: int) -> CauseFinding | None:
    """Return the cause if there are many values, but few of them in a typical window."""
    windows = result.judged_windows
    is_judged = windows >= 0
    if result.measured_skew.is_even or not is_judged.any():
        return None
    pairs = np.unique(np.stack([windows, result.entity_codes])[:, is_judged], axis=1)
    value_counts = np.bincount(pairs[0])[np.unique(pairs[0])]
    values = int(np.median(value_counts))
    events = int(is_judged.sum()) // len(value_counts)
    is_part = values <= MAX_SHARE_AT_A_TIME * result.entity_count
    if not is_part or not _is_too_few(values, regions):
        return None
    if not _has_seen_all(values, regions, events):
        return None
    names, width_s = result.entity_fields, result.measured_skew.width_s
    of_windows = (
        f"the {len(value_counts):,} windows of equal numbers of events"
        if width_s is None
        else f"windows of {width_s} s"
    )
    has = "has" if len(names) == 1 else "have together"
    message = (
        f"{' and '.join(names)} {has} {pluralize(result.entity_count, 'value')}, but only "
        f"{values:,} at a time, as the median of {of_windows}: so few cannot fill "
        f"{pluralize(regions, 'region')} evenly."
    )
    figures = {
        "fields": list(names),
        "values": values,
        "regions": regions,
        "used": len(result.boundaries) - result.empty_region_count,
        "all_values": result.entity_count,
        "width_s": width_s,
    }
    explained = compute_value_skew(result, windows)
    if explained - 1 < MIN_EXPLAINED_AT_A_TIME * (result.measured_skew.skew - 1):
        return None
    return _build_finding(result, message, figures, explained)


def _build_finding(
    result: LoadResult, message: str, figures: dict[str, Any], explained: float
) -> CauseFinding:
    """Return the cause with its bound and its remedy."""
    return CauseFinding(
        FewEntitiesCause.name,
        message,
        _format_remedy(result.design, result.facts, result.entity_fields),
        bound=result.least_value_skew,
        evidence=figures,
        explained=explained,
        needs_key=True,
    )


def _format_remedy(design: Design, facts: Mapping[str, FieldFacts], names: Sequence[str]) -> str:
    """Return the remedy: another key; or more rows, where each of the few values is one."""
    has_one_row_each = {*names} >= {*design.key.fields} and not design.layout.has_shared_rows
    return format_row_remedy(design, facts) if has_one_row_each else ANOTHER_KEY


def _is_too_few(values: int, regions: int) -> bool:
    """Return whether a number of values is too small to fill a number of regions evenly."""
    return regions > 1 and values < MIN_VALUES_PER_REGION * regions


def _has_seen_all(values: int, regions: int, events: int) -> bool:
    """Return whether the sampled events probably show all values that there are."""
    return is_improbably_few(events, MIN_VALUES_PER_REGION * regions, min(values, events))


def _format_message(names: Sequence[str], values: str, regions: int, consequence: str) -> str:
    """Return the sentence that compares the number of values with the number of regions."""
    has = "has" if len(names) == 1 else "have together"
    plural = "value" if values == "1" else "values"
    return (
        f"{' and '.join(names)} {has} {values} {plural} for {pluralize(regions, 'region')}: "
        f"{consequence}"
    )


def _format_empty_regions(values: int, regions: int, *, is_ordered: bool) -> str:
    """Return the clause that says how many regions stay empty."""
    if is_ordered:
        empty = regions - values
        left = f"{empty:,} or more regions get none of them" if empty > 0 else "the load is uneven"
        return f"the writes of a value go to one region at a time, so {left}."
    empty_mean = regions * (1 - 1 / regions) ** values
    return f"hashed values leave {empty_mean:.1f} of them empty on average."
