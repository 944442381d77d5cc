"""The cause `integer_imbalance`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import find_clock_field, is_time_only
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.hotspots.region_coverage import is_spread_evenly
from rowkey.messages import pluralize
from rowkey.proposals import (
    BUCKETS_PER_SERVER,
    PER_BUCKET,
    propose_bucket_count,
    propose_spread_key,
)
from rowkey.regions import compute_server_imbalance
from rowkey.schema import Constant, FunctionCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import FieldFacts, Term

MIN_NOTABLE_SKEW = 1.1
MAX_REGION_EXCESS = 1.25
"""Load of the fullest region, as a multiple of its fair share, above which regions are too unequal
for their number to explain the skew, unless there are fewer regions than servers."""


class IntegerImbalanceCause(Cause):
    """The number of regions is no multiple of the servers, so some servers hold one region more."""

    name = "integer_imbalance"
    map_shape = "server"
    needs_even_load = True

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if the servers do not divide the number of regions."""
        if find_clock_field(design, facts) is not None:
            return None
        return _build_finding(design, facts, len(boundaries), None)

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if uneven numbers of regions explain the measured skew."""
        regions = len(result.boundaries)
        if result.front is not None:
            return None  # however many regions there are, one is written at a time
        if result.measured_skew.is_even:
            return None  # what hardly shows is no harm, and needs no other number of regions
        found = _build_finding(result.design, result.facts, regions, result.measured_skew.skew)
        if found is None:
            return None
        least = compute_least_skew(result.writes, result.servers)
        finding = replace(found, bound=min(found.bound, least), explained=found.bound)
        measured_ratio = result.compare_to_even(result.region_shares.mean, regions)
        # Servers without a region are idle however busy the others' regions are.
        expected_ratio = finding.evidence["bound"] if regions < result.servers else 1
        return finding if measured_ratio <= MAX_REGION_EXCESS * expected_ratio else None


def _build_finding(
    design: Design, facts: Mapping[str, FieldFacts], regions: int, measured_skew: float | None
) -> CauseFinding | None:
    """Return the cause if a number of regions does not divide among the servers."""
    servers = design.cluster.servers
    bound = compute_server_imbalance(regions, servers)
    if bound < MIN_NOTABLE_SKEW:
        return None
    max_regions = -(-regions // servers)
    effect = f"some servers hold {max_regions}"
    if regions < servers:
        has = "has" if servers - regions == 1 else "have"
        effect = f"{pluralize(servers - regions, 'server')} {has} nothing to do"
    regions_text = pluralize(regions, "region")
    measurement = "" if measured_skew is None else f"; {measured_skew:.2f} was measured"
    message = (
        f"{regions_text} {'does' if regions == 1 else 'do'} not divide evenly among "
        f"{pluralize(servers, 'server')}: {effect}, so "
        f"equally busy regions give a skew of {bound:.2f}{measurement}."
    )
    figures = {"regions": regions, "servers": servers, "bound": bound}
    explained = bound if measured_skew is None else min(bound, measured_skew)
    remedy, needs_key = _format_remedy(design, facts, max_regions * servers)
    return CauseFinding(
        IntegerImbalanceCause.name, message, explained, figures, remedy, needs_key=needs_key
    )


def _format_remedy(
    design: Design, facts: Mapping[str, FieldFacts], regions: int
) -> tuple[str, bool]:
    """Return the remedy, a multiple of the servers as the number of regions.

    Args:
        design: the design.
        facts: the facts of its fields.
        regions: the least such number.

    Returns:
        A sentence, and whether it needs another key.
    """
    servers = design.cluster.servers
    multiple = f"or another multiple of {servers:,}"
    if design.splits.algorithm != PER_BUCKET:
        return f"Use {pluralize(regions, 'region')}, {multiple}.", False
    place, term = next(
        (n, term) for n, term in enumerate(design.key.terms) if not isinstance(term, Constant)
    )
    if not _has_declared_count(design, place, term):
        proposal = propose_spread_key(
            design, facts, insufficient_fields=design.key.parts[place].fields
        )
        return (
            f"Use {proposal.toml_text}, because the leading part has no more values; its "
            f"{pluralize(BUCKETS_PER_SERVER * servers, 'bucket')} divide evenly among the servers; "
            f"{proposal.cost_phrase}."
        ), True
    count_proposal = propose_bucket_count(design, place, regions)
    text = f"Use {count_proposal.toml_text}, {pluralize(regions, 'bucket')}, {multiple}."
    return text, False


def _has_declared_count(design: Design, place: int, term: Term) -> bool:
    """Return whether the key term declares the number of buckets or salts it spreads over."""
    part = design.key.parts[place]
    # The values of a remainder depend on the numbers: another divisor may reach fewer of them.
    is_spread = (
        is_spread_evenly(design.key)
        and part.count_reachable(part.cardinality or 1) == part.cardinality
    )
    is_counted = isinstance(term, FunctionCall) and term.scalars[:1] == (part.cardinality,)
    return is_counted and is_spread and not is_time_only(design, part)
