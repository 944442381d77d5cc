"""The cause `integer_imbalance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import counted
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import is_of_time, moves_with_clock
from rowkey.heat.proposals import spread_key
from rowkey.heat.reachable import is_spread_evenly
from rowkey.regions import integer_bound
from rowkey.schema import Call, Constant, print_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts, Term

PER_BUCKET = "per_bucket"
NOTABLE = 1.1
NEARLY = 1.25
"""Times its fair share that the fullest region of a typical window may hold; above, regions are too
unequal for their number to explain anything, unless there is not one for each server."""


class IntegerImbalance(Cause):
    """The regions do not divide among the servers: some hold one more than others."""

    name = "integer_imbalance"
    looks = "server"
    needs_even = True

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        if moves_with_clock(design, facts) is not None:
            return None
        return _finding(design, facts, len(boundaries), None)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions = len(evidence.boundaries)
        if evidence.front is not None:
            return None  # however many regions there are, one is written at a time
        found = _finding(evidence.design, evidence.facts, regions, evidence.measured.skew)
        if found is None:
            return None
        over = evidence.over_even(evidence.region_shares.median, regions)
        # Servers without a region are idle however busy the others' regions are.
        least = found.evidence["bound"] if regions < evidence.servers else 1
        return found if over <= NEARLY * least else None


def _finding(
    design: Design, facts: Mapping[str, Facts], regions: int, measured: float | None
) -> Finding | None:
    servers = design.cluster.servers
    bound = integer_bound(regions, servers)
    if bound < NOTABLE:
        return None
    most = -(-regions // servers)
    those = f"some hold {most}"
    if regions < servers:
        has = "has" if servers - regions == 1 else "have"
        those = f"{servers - regions:,} {has} nothing to do"
    many = counted(regions, "region")
    was = "" if measured is None else f"; {measured:.2f} was measured"
    message = (
        f"{many} over {counted(servers, 'server')}: {those}, and regions that are all as busy "
        "come to a "
        f"skew of {bound:.2f}{was}."
    )
    figures = {"regions": regions, "servers": servers, "bound": bound}
    explained = bound if measured is None else min(bound, measured)
    remedy = _remedy(design, facts, most * servers)
    return Finding(IntegerImbalance.name, message, explained, figures, remedy)


def _remedy(design: Design, facts: Mapping[str, Facts], regions: int) -> str:
    """A number of regions that the servers divide, as the design can have it."""
    servers = design.cluster.servers
    multiple = f"or another multiple of {servers:,}"
    if design.cut.algorithm != PER_BUCKET:
        return f"Take {counted(regions, 'region')}, {multiple}."
    place, term = next(
        (n, term) for n, term in enumerate(design.key.terms) if not isinstance(term, Constant)
    )
    if not _is_numbered(design, place, term):
        found = spread_key(design, facts, beside=design.key.parts[place].fields)
        return (
            f"Take {found.words}, for the leading part has no more values: its "
            f"{counted(2 * servers, 'bucket')} divide among the servers; {found.costs}."
        )
    assert isinstance(term, Call)
    numbered = Call(term.kind, term.terms, (regions, *term.scalars[1:]), term.options)
    terms = (*design.key.terms[:place], numbered, *design.key.terms[place + 1 :])
    return f'Take key = "{print_key(terms)}", {counted(regions, "bucket")}, {multiple}.'


def _is_numbered(design: Design, place: int, term: Term) -> bool:
    """Whether the part spreads over a number of regions that is declared with it."""
    part = design.key.parts[place]
    # Remainders fall as the numbers come: another divisor may reach fewer of them.
    is_spread = (
        is_spread_evenly(design.key) and part.reach(part.cardinality or 1) == part.cardinality
    )
    is_counted = isinstance(term, Call) and term.scalars[:1] == (part.cardinality,)
    return is_counted and is_spread and not is_of_time(design, part)
