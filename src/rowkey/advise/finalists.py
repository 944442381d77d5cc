"""The keys of a design that are judged: the most promising candidates of which no rule warns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from math import log
from typing import TYPE_CHECKING

from rowkey.advise.advice import RefusedKey, format_warning
from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.findings import Finding
from rowkey.lint import RULES
from rowkey.proposals import apply_proposal
from rowkey.schema import format_key

if TYPE_CHECKING:
    from rowkey.advise.judgement import JudgedDesign
    from rowkey.proposals import Candidate

    Costs = tuple[float, float, float]
    CandidateCosts = tuple[Costs, int, Candidate]
    Kind = tuple[str, ...]

MAX_REFUSALS, MAX_CHECKED = 3, 100
"""Keys with one warning after which no other key with the same term in front is checked, nor, if it
is not about writes, one with the same order of fields and number of buckets; and keys with warnings
after which none is."""
COST_STEP = 1.2
"""Ratio of two costs that differ enough to prefer the lower one by an estimate."""


class Finalists:
    """The keys of a design that are judged by many events.

    Of the keys that a salt or a bucket of the same fields spreads only the best is taken: the first
    events may mislead about writes, so keys of several kinds are judged.

    Args:
        design: the design.
        judge: returns a design judged, or the finding because of which it is not proposed.
        judged: the list to which each judged key is added.
        count: how many keys to judge at most.
    """

    def __init__(
        self,
        design: Design,
        judge: Callable[[Design], JudgedDesign | Finding],
        judged: list[JudgedDesign],
        count: int,
    ) -> None:
        self._design = design
        self._judge = judge
        self._judged = judged
        self._count = count
        self._own_key = format_key(design.key.terms), design.splits.algorithm
        self._kinds: set[Kind] = set()
        self._refused: dict[Kind, RefusedKey] = {}
        self._refusals: Counter[tuple[object, str]] = Counter()
        self._hopeless: set[object] = set()

    def choose(self, costs: Sequence[CandidateCosts]) -> None:
        """Judge the best candidate by each cost alone, then the best by all of them together.

        Args:
            costs: candidates, each with estimates of its costs (of writes, reads and bytes) and of
                how many reads are poor.
        """
        *single_orders, common_order = _order_candidates(costs)
        for order in single_orders:
            for candidate in order:
                if self._is_full or self._try(candidate):
                    break
        for candidate in common_order:
            if self._is_full:
                break
            self._try(candidate)

    def list_refused(self) -> Iterator[RefusedKey]:
        """Yield one refused key of each kind of which none was judged."""
        yield from (one for kind, one in self._refused.items() if kind not in self._kinds)

    @property
    def _is_full(self) -> bool:
        """Return whether enough keys were judged, or too many refused."""
        return len(self._kinds) >= self._count or self._refusals.total() >= 2 * MAX_CHECKED

    def _try(self, candidate: Candidate) -> bool:
        """Judge a candidate unless a rule warns of it; return whether one of its kind is judged."""
        if candidate.kind in self._kinds:
            return True
        groups = {candidate.leading_term, (candidate.tail, candidate.bucket_count)}
        if (candidate.key, candidate.splits) == self._own_key or groups & self._hopeless:
            return False
        with suppress(InvalidDesign):
            judged = self._judge(apply_proposal(self._design, candidate))
            if not isinstance(judged, Finding):
                self._judged.append(judged)
                self._kinds.add(candidate.kind)
                return True
            refused = RefusedKey(candidate.key, format_warning(judged))
            self._refused.setdefault(candidate.kind, refused)
            if judged.code in _list_write_codes():
                groups = {candidate.leading_term}  # where writes go does not depend on what follows
            reasons = [(group, judged.code) for group in groups]
            self._refusals.update(reasons)
            self._hopeless |= {one[0] for one in reasons if self._refusals[one] == MAX_REFUSALS}
        return False


@cache
def _list_write_codes() -> frozenset[str]:
    """Return the codes of the rules whose findings a replay of the writes measures."""
    return frozenset(rule.code for rule in RULES.values() if rule.measured_by == "writes")


def _order_candidates(costs: Sequence[CandidateCosts]) -> list[list[Candidate]]:
    """Return candidates, the best first: by each cost, by poor reads, and by all costs together."""
    entries = [((*map(_round_cost, one), poor), one, candidate) for one, poor, candidate in costs]
    entries.sort(key=lambda entry: (sum(entry[0][:-1]), entry[1]))
    orders = [sorted(entries, key=lambda entry: entry[0][place]) for place in range(4)]
    return [[candidate for *_, candidate in order] for order in (*orders, entries)]


def _round_cost(cost: float) -> int:
    """Return a cost on a scale of steps of a fifth: what differs by less is no better."""
    return round(log(max(cost, 1.0), COST_STEP))
