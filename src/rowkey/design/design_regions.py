"""The regions of a design: their boundaries, and how many there should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.design.design import Design
from rowkey.regions import Boundaries, Sizing, choose_region_count
from rowkey.schema import FieldFacts, RowCounts

if TYPE_CHECKING:
    from rowkey.workload import FamilySize


@dataclass(frozen=True, slots=True)
class DesignRegions:
    """The regions of a design.

    Args:
        boundaries: where they begin.
        requested_count: how many the split algorithm was asked for; None where it decides that.
        sizing: how many there should be, and why.
    """

    boundaries: Boundaries
    requested_count: int | None
    sizing: Sizing


def compute_regions(
    design: Design,
    facts: Mapping[str, FieldFacts],
    keys: Sequence[bytes] | None = None,
    counts: RowCounts | None = None,
    family_sizes: Mapping[str, FamilySize] | None = None,
) -> DesignRegions:
    """Return the regions of a design, with the count that sizing chooses where none is declared.

    Args:
        facts: what is known of its fields.
        keys: keys of a sample, ascending; taken only where the boundaries follow from them.
        counts: how many rows the events of a sample are.
        family_sizes: the measured bytes of an event in each family.

    Raises:
        InvalidDesign: with everything the algorithm lacks.
    """
    demand = design.estimate_demand(facts, counts=counts, family_sizes=family_sizes)
    cut, sizing = design.splits, choose_region_count(demand)
    wanted = sizing.regions if cut.needs_count else cut.request.regions
    used = keys if cut.needs_sample else None
    return DesignRegions(cut.compute_boundaries(design.key, used, wanted), wanted, sizing)
