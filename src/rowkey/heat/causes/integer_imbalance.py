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


class IntegerImbalance(Cause):
    """The regions do not divide among the servers: some hold one more than others."""

    name = "integer_imbalance"

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        return _finding(len(boundaries), design.cluster.servers)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        return _finding(len(evidence.boundaries), evidence.servers)


def _finding(regions: int, servers: int) -> Finding | None:
    bound = integer_bound(regions, servers)
    if bound < NOTABLE:
        return None
    most = -(-regions // servers)
    message = (
        f"{regions:,} regions over {servers:,} servers: some hold {most}, so the skew cannot fall "
        f"below {bound:.2f}; a multiple of {servers:,} would divide evenly."
    )
    if regions < servers:
        message = (
            f"{regions:,} {'region' if regions == 1 else 'regions'} for {servers:,} servers: "
            f"{servers - regions:,} have nothing to do, so the skew cannot fall below {bound:.2f}."
        )
    figures = {"regions": regions, "servers": servers, "bound": bound}
    return Finding(IntegerImbalance.name, message, bound, figures)
