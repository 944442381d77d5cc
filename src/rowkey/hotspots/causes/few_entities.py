"""The cause `few_entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.design import count_combined_values
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import find_deciding_fields, find_leading_part
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.hotspots.region_coverage import (
    compute_value_skew,
    count_reachable_regions,
    find_missed_splits,
    has_missed_splits,
)
from rowkey.hotspots.skew import compute_even_skew, is_improbably_few
from rowkey.messages import pluralize
from rowkey.proposals import (
    MIN_VALUES_PER_REGION,
    has_enough_values,
    propose_salted_key,
    propose_spread_key,
)
from rowkey.regions import compute_server_imbalance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import FieldFacts
    from rowkey.workload import KeyedEvents


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
        values = count_combined_values(design, facts, names)
        regions = count_reachable_regions(design.key, boundaries)
        if not names or values is None or not _is_too_few(values, regions):
            return None
        sampled_count = max(facts[name].value_count if name in facts else 0 for name in names)
        if sampled_count and not _has_seen_all(values, regions, sampled_count):
            return None
        servers = design.cluster.servers
        # In key order each value has its regions; a hash places the values at random.
        part = find_leading_part(design, facts)
        is_kept = part is not None and (part.order.is_ascending or part.order.is_descending)
        bound = (
            compute_server_imbalance(values, servers)
            if is_kept
            else float(compute_even_skew(values, servers))
        )
        upto = "up to " if len(names) > 1 else ""
        message = _format_message(
            names,
            f"{upto}{values:,}",
            regions,
            _format_empty_regions(values, regions, is_ordered=is_kept),
        )
        figures = {"fields": list(names), "values": values, "regions": regions, "used": None}
        return CauseFinding(cls.name, message, bound, figures, _format_remedy(design, facts, names))

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
        if result.front is not None or (result.measured_skew.is_even and not result.has_hot_region):
            return None
        regions = count_reachable_regions(result.design.key, result.boundaries)
        if not _is_too_few(values, regions) or has_missed_splits(result):
            return None
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
        bound = min(compute_value_skew(result), result.measured_skew.skew)
        remedy = _format_remedy(result.design, result.facts, names)
        return CauseFinding(cls.name, message, max(bound, 1.0), figures, remedy)


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
        left = f"{empty:,} or more regions stay empty" if empty > 0 else "the load is uneven"
        return f"all rows of a value lie in one region, so {left}."
    empty_mean = regions * (1 - 1 / regions) ** values
    return f"hashed values leave {empty_mean:.1f} of them empty on average."


def _format_remedy(design: Design, facts: Mapping[str, FieldFacts], names: Sequence[str]) -> str:
    """Return the remedy: a bucket computed from more fields, or a salt if they have few values."""
    values = count_combined_values(design, facts, design.key.fields)
    if set(names) < set(design.key.fields) and has_enough_values(values, design.cluster.servers):
        proposal = propose_spread_key(design, facts, insufficient_fields=names)
    else:
        proposal = propose_salted_key(design)
    effect = f"which spreads the rows of each value; {proposal.cost_phrase}"
    return f"Use {proposal.toml_text}, {effect}."
