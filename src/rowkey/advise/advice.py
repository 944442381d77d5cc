"""Better keys for a design: which of the judged ones are proposed, and what each is best at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any, Literal

from rowkey.design import build_index, find_companion_obstacle
from rowkey.plan import count_spreading_parts
from rowkey.schema import format_key
from rowkey.workload import SkippedRows

if TYPE_CHECKING:
    from rowkey.advise.judgement import JudgedDesign
    from rowkey.advise.lower_bounds import LowerBounds
    from rowkey.findings import Finding

    Cost = Callable[[JudgedDesign], float]

Strength = Literal["balanced", "writes", "reads", "size", "nearest"]
STRENGTHS: tuple[Strength, ...] = ("balanced", "writes", "reads", "size", "nearest")
"""What a proposed design is best at, the most wanted first."""
MIN_GAIN = 0.05
"""Share of a cost that a proposed key saves at least, where its verdict is no better."""

ASSUMED_READS_WEIGHT = 0.25
"""What reads that nobody declares count for. Derivation: a key that asks 16 ranges instead of one
is no better unless the busiest server takes less than half: log(2) / log(16)."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A proposed design.

    Args:
        strengths: what it is best at among the keys that were judged, the declared one included.
        judged: the design with its judgement.
    """

    strengths: tuple[Strength, ...]
    judged: JudgedDesign


@dataclass(frozen=True, slots=True)
class RefusedKey:
    """A key that was judged and is not proposed.

    Args:
        key: the key.
        reason: why, as a sentence without its full stop.
    """

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """Better keys for a design.

    Args:
        declared: the design as it is.
        picks: the proposed designs, the most balanced first; empty if none is better.
        tables: the main table and further ones, each with the reads that it serves, where less is
            poor or fair than with any single table, or where something is poor and the reads cost
            less than half; else empty. Each event is written to all of them.
        refused: keys that were judged, by the first events or by all, and not proposed.
        bounds: what no key of the fields that were tried can go below.
        candidate_count: keys whose reads were estimated.
        trial_count: keys whose writes were replayed, by the first events or by all.
        assumptions: what was assumed of the sample, as sentences.
        skipped_rows: rows of the sample that were no events.
        is_complete: whether the search ended by itself. If it was interrupted, the figures are of
            the first events, and other keys may be better.
    """

    declared: JudgedDesign
    picks: tuple[Pick, ...]
    tables: tuple[JudgedDesign, ...]
    refused: tuple[RefusedKey, ...]
    bounds: LowerBounds
    candidate_count: int
    trial_count: int
    assumptions: tuple[str, ...]
    skipped_rows: SkippedRows
    is_complete: bool = True

    @property
    def recommendation(self) -> tuple[JudgedDesign, ...]:
        """Return what to use: several tables, or a more balanced design; empty if neither."""
        balanced = tuple(one.judged for one in self.picks if "balanced" in one.strengths)
        return self.tables or balanced

    @property
    def companion_obstacle(self) -> str | None:
        """Return why the first table cannot have the others as companions; None if it can."""
        if not self.tables:
            return None
        main, *others = (one.design for one in self.tables)
        return find_companion_obstacle(main, {one.table: one for one in others})

    def estimate_index_bytes(self, further: JudgedDesign) -> float | None:
        """Return the bytes that an event adds if a further table is an index of the first one.

        None if it cannot be one: it has no other fields than those of its key, or no table can be a
        companion of another.
        """
        index = None if self.companion_obstacle is not None else build_index(further.design)
        if index is None or further is self.tables[0]:
            return None
        return index.layout.estimate_event_bytes(further.simulation.key_bytes, further.facts)


SIZE_RULES = frozenset({"RK412", "RK802"})
"""The rules on block indexes and regions, which the size of the table decides more than its key."""


def choose_picks(declared: JudgedDesign, judged: Sequence[JudgedDesign]) -> list[Pick]:
    """Return the designs to propose, the most balanced first, each with what it is best at.

    Args:
        declared: the design as it is.
        judged: designs with other keys.
    """
    allowed = [one for one in judged if not find_objection(declared, one)]
    rivals = [*allowed, declared]  # which may be better in one measure than all others
    least_costs = {name: min(map(cost, rivals)) for name, cost in _COSTS.items()}
    found: dict[int, list[Strength]] = {}
    for strength in _list_measured(declared, STRENGTHS) if allowed else ():
        competing = allowed if strength == "nearest" else rivals
        measures = map(_build_measure(strength, declared, least_costs), competing)
        winner = min(enumerate(measures), key=lambda entry: entry[1])[0]
        if winner < len(allowed):
            found.setdefault(winner, []).append(strength)
    return [Pick(tuple(strengths), allowed[at]) for at, strengths in found.items()]


def _build_measure(
    strength: Strength, declared: JudgedDesign, least_costs: Mapping[str, float]
) -> Callable[[JudgedDesign], tuple[float, ...]]:
    """Return the figures by which designs are compared for one strength: the least is the best."""

    def measure(one: JudgedDesign) -> tuple[float, ...]:
        rank = one.verdict.rank
        excess = sum(
            log(cost(one) / least_costs[name])
            * (1 if name in _list_measured(declared, _COSTS) else ASSUMED_READS_WEIGHT)
            for name, cost in _COSTS.items()
        )
        excess += MIN_GAIN * bool(count_spreading_parts(one.design.key))  # it has to be worth it
        # A salt is the last resort: a put that is sent again may store a row twice.
        is_salted = one.design.key.is_salted
        # A scan of one row opens all files that a get skips by their Bloom filters.
        scan_count = sum(not read.is_get for read in one.simulation.reads)
        if strength == "balanced":
            return *rank, is_salted, scan_count, excess
        if strength == "nearest":
            return *rank, is_salted, _count_changes(declared, one), scan_count, excess
        cost = _COSTS[strength](one) / least_costs[strength]
        # What costs hardly more than the least is as good, and may be better in all else.
        return int(log(cost) / log(1 + MIN_GAIN)), *rank, is_salted, scan_count, excess

    return measure


_COSTS: dict[str, Cost] = {
    "writes": lambda one: round(one.write_harm, 3),
    "reads": lambda one: max(one.read_cost, 1e-9),
    "size": lambda one: max(one.event_bytes, 1.0),
}
"""What designs are compared by; each is above 0."""


def find_objection(declared: JudgedDesign, judged: JudgedDesign) -> str:
    """Return why a design is not proposed; an empty string if nothing speaks against it."""
    old, new = declared.verdict, judged.verdict
    if new.decisive.rank > old.decisive.rank:
        return f"its verdict is worse: {new.decisive.message}"
    if new.rank > old.rank:
        return "more of its writes and reads are poor than under the declared key"
    if warning := find_new_warning(declared.warning_codes, judged.warnings):
        return format_warning(warning)
    costs = [_COSTS[name] for name in _list_measured(declared, _COSTS)]
    is_cheaper = any(cost(judged) < (1 - MIN_GAIN) * cost(declared) for cost in costs)
    if new.rank == old.rank and not is_cheaper and not _is_more_even_for_free(declared, judged):
        return "nothing is better than under the declared key"
    return ""


def _is_more_even_for_free(declared: JudgedDesign, judged: JudgedDesign) -> bool:
    """Return whether writes that may matter one day are more even, and nothing else costs more."""
    return (
        declared.write_harm > 1
        and judged.write_cost < (1 - MIN_GAIN) * declared.write_cost
        and all(cost(judged) <= (1 + MIN_GAIN) * cost(declared) for cost in _COSTS.values())
    )


def _list_measured(declared: JudgedDesign, names: Iterable[Any]) -> list[Any]:
    """Return the strengths or costs that are measured: those of reads only if some are declared."""
    return [one for one in names if one != "reads" or declared.simulation.design.reads]


def find_new_warning(known_codes: Collection[str], warnings: Iterable[Finding]) -> Finding | None:
    """Return the first warning that the declared design has not; None if there is none.

    Args:
        known_codes: the codes of the warnings on the declared design.
        warnings: those on another one.
    """
    return next(
        (one for one in warnings if one.code not in known_codes and one.code not in SIZE_RULES),
        None,
    )


def format_warning(warning: Finding) -> str:
    """Return a warning as the reason why a key is refused."""
    return f"{warning.code}: {warning.message}"


def refuse_key(declared: JudgedDesign, judged: JudgedDesign) -> RefusedKey:
    """Return the key of a design that is not proposed, with the reason.

    Args:
        declared: the design as it is.
        judged: the design that is not proposed.
    """
    reason = find_objection(declared, judged) or (
        f"other proposed keys are better, or at most {MIN_GAIN:.0%} worse, in every measure"
    )
    return RefusedKey(format_key(judged.design.key.terms), reason.removesuffix("."))


def _count_changes(declared: JudgedDesign, judged: JudgedDesign) -> int:
    """Return in how many places two keys differ."""
    old, new = declared.design.key.terms, judged.design.key.terms
    kept = [old.index(term) for term in new if term in old]
    moved_count = sum(one > other for one, other in pairwise(kept))
    return len(old) + len(new) - 2 * len(kept) + moved_count
