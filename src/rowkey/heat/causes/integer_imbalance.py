"""The cause `integer_imbalance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.regions import integer_bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

NOTABLE = 1.1
NEARLY = 1.25
"""Times what whole numbers explain that the fullest region of a typical window may hold; above,
another cause does."""


class IntegerImbalance(Cause):
    """The regions do not divide among the servers: some hold one more than others."""

    name = "integer_imbalance"
    needs_even = True

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        return _finding(len(boundaries), design.cluster.servers)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions = len(evidence.boundaries)
        found = _finding(regions, evidence.servers)
        if found is None:
            return None
        over = evidence.over_even(evidence.region_shares.median, regions)
        return found if over <= NEARLY * found.bound else None


def _finding(regions: int, servers: int) -> Finding | None:
    bound = integer_bound(regions, servers)
    if bound < NOTABLE:
        return None
    most = -(-regions // servers)
    message = (
        f"{regions:,} regions over {servers:,} servers: some hold {most}, so the skew cannot fall "
        f"below {bound:.2f}."
    )
    if regions < servers:
        message = (
            f"{regions:,} {'region' if regions == 1 else 'regions'} for {servers:,} servers: "
            f"{servers - regions:,} have nothing to do, so the skew cannot fall below {bound:.2f}."
        )
    figures = {"regions": regions, "servers": servers, "bound": bound}
    remedy = f"Take {most * servers:,} regions, or another multiple of {servers:,}."
    return Finding(IntegerImbalance.name, message, bound, figures, remedy)
