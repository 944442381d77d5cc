"""The cause `integer_imbalance`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rowkey.design import Design
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import find_clock_field
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.messages import pluralize
from rowkey.proposals import ANOTHER_KEY, PER_BUCKET
from rowkey.regions import Boundaries, choose_first_regions, compute_server_imbalance
from rowkey.schema import FieldFacts

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
        return _build_finding(design, len(boundaries), None)

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if uneven numbers of regions explain the measured skew."""
        regions = len(result.boundaries)
        if result.front is not None:
            return None  # however many regions there are, one is written at a time
        if result.measured_skew.is_even:
            return None  # what hardly shows is no harm, and needs no other number of regions
        demand = result.demand or result.design.estimate_demand(result.facts)
        found = _build_finding(
            result.design, regions, result.measured_skew.skew, choose_first_regions(demand)
        )
        if found is None:
            return None
        least = compute_least_skew(result.writes, result.servers)
        finding = replace(found, bound=min(found.bound, least), explained=found.bound)
        measured_ratio = result.compare_to_even(result.region_shares.mean, regions)
        # Servers without a region are idle however busy the others' regions are.
        expected_ratio = finding.evidence["bound"] if regions < result.servers else 1
        return finding if measured_ratio <= MAX_REGION_EXCESS * expected_ratio else None


def _build_finding(
    design: Design, regions: int, measured_skew: float | None, first_regions: int = 0
) -> CauseFinding | None:
    """Return the cause if a number of regions does not divide among the servers.

    Args:
        design: the design.
        regions: how many regions it has.
        measured_skew: the skew of a replay; None without one.
        first_regions: how many it should begin with; 0 if that is unknown.
    """
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
    needs_key = design.splits.algorithm == PER_BUCKET  # a region for each value in front
    count = max_regions * servers
    if regions < servers:
        count = max(count, -(-first_regions // servers) * servers)
    more = f"Use {pluralize(count, 'region')}, or another multiple of {servers:,}."
    return CauseFinding(
        IntegerImbalanceCause.name,
        message,
        ANOTHER_KEY if needs_key else more,
        bound=explained,
        evidence=figures,
        needs_key=needs_key,
    )
