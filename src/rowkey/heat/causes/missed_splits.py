"""The cause `missed_splits`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.design import prefixes_of, toml_value
from rowkey.errors import counted
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding
from rowkey.heat.leading import leading_part, moves_with_clock, values_together
from rowkey.heat.proposals import splits_at_quantiles, spread_key
from rowkey.heat.reachable import (
    TWICE,
    can_be_missed,
    counted_regions,
    drawn_regions,
    evenly_cut,
    is_full_of_values,
    is_missed,
    is_spread_evenly,
    missed_by,
    misses,
    region_shares,
    skew_of_values,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.heat.evidence import Came
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts


class MissedSplits(Cause):
    """The boundaries lie where no keys are: regions stay empty, and the others take their load.

    Hexadecimal keys under splits made for decimal digits are the classic: 00, 10 … 90 leave 43.75 %
    of all rows to the last region. Small numbers of three or eight bytes under splits of the whole
    byte range are another: all of them lie in the first region.
    """

    name = "missed_splits"
    looks = "empty"
    of_regions = True

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        regions, servers = len(boundaries), design.cluster.servers
        if regions == 1 or moves_with_clock(design, facts) is not None:
            return None
        shares = region_shares(design.key, boundaries)
        unreachable, most = sum(share == 0 for share in shares), max(shares)
        is_even = is_spread_evenly(design.key)
        if not misses(unreachable, regions) and not (is_even and most >= TWICE / regions):
            return None
        figures = {"regions": regions, "unreachable": unreachable, "expected": most}
        many = counted(regions, "region")
        told = f"{unreachable} of {many} can hold no key." if unreachable else ""
        bound = servers / max(min(regions - unreachable, servers), 1)
        if is_even:
            told = f"{told} {most:.2%} of all keys fall into one of {many}.".strip()
            bound = max(bound, servers * most)
        return Finding(cls.name, told, bound, figures, _remedy(design, facts))

    @classmethod
    def foresee_from(
        cls,
        design: Design,
        facts: Mapping[str, Facts],
        boundaries: Boundaries,
        came: Came | None,
    ) -> Finding | None:
        """By the leading part alone, or by where the keys lie that came."""
        foreseen = cls.foresee(design, facts, boundaries)
        if len(boundaries) == 1:
            return foreseen
        if came is None:
            return foreseen or _of_bytes(design, facts, boundaries)
        found = missed_by(design, facts, boundaries, came)
        if found is None:
            return foreseen
        finding = _finding(design, facts, came.keys, (len(boundaries), *found), foreseen)
        _, fullest = found
        bound = max(finding.bound, design.cluster.servers * fullest)
        return replace(finding, bound=bound)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        regions, empty = len(evidence.boundaries), evidence.empty
        if not can_be_missed(evidence):
            return None
        foreseen = cls.foresee(evidence.design, evidence.facts, evidence.boundaries)
        is_seen = foreseen is not None and (misses(empty, regions) or evidence.hurts)
        if not is_seen and not is_missed(evidence):
            return None
        seen = (regions, empty, evidence.fullest)
        finding = _finding(evidence.design, evidence.facts, evidence.keys, seen, foreseen)
        bounds = [finding.bound, skew_of_values(evidence)]
        if is_full_of_values(evidence):
            bounds.append(evidence.servers * evidence.fullest)
        return replace(finding, bound=max(bounds))


def _of_bytes(design: Design, facts: Mapping[str, Facts], boundaries: Boundaries) -> Finding | None:
    """The same of what fills whole bytes under splits that are computed, if nothing came yet.

    Such values lie evenly, as random ones do, or are numbers that count up from the least. Where
    the splits meet only the first, and nobody said which they are, it is told as an assumption.
    """
    part, asked = leading_part(design, facts), design.cut.request
    is_given = asked.listed is not None or asked.first is not None or asked.last is not None
    if part is None or is_given or moves_with_clock(design, facts) is not None:
        return None
    width, regions = part.framing.width, len(boundaries)
    if width is None or len(part.fields) != 1:
        return None
    if part.cardinality != 256**width:
        return _of_drawn(design, facts, boundaries, part.fields[0])
    most = max(region_shares(design.key, boundaries, is_full=True))
    servers, many = design.cluster.servers, counted(regions, "region")
    if most >= TWICE / regions:
        told = f"Of values of {width} bytes, evenly spread, {most:.2%} fall into one of {many}."
        figures = {"regions": regions, "unreachable": 0, "expected": most}
        return Finding(
            MissedSplits.name, told, max(servers * most, 1.0), figures, _remedy(design, facts)
        )
    return _of_counted(design, facts, boundaries, part.fields[0])


def _of_counted(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries, name: str
) -> Finding | None:
    """The same of numbers, if they count up as those of events that are made do: assumed.

    Nothing is assumed of numbers of which some came, or that may be all of their type.
    """
    from rowkey.workload import Workload

    regions, servers = len(boundaries), design.cluster.servers
    known = values_together(design, facts, [name])
    made = Workload(design.writes, design.fields, key=design.key)
    values = made.distinct(design.fields[name]) if known is None else known
    reached = counted_regions(design, values, boundaries)
    if reached is None or not misses(regions - reached, regions):
        return None
    if values >= design.domain(name).size or (name in facts and facts[name].seen):
        return None
    its = f"its {values:,} values"
    if known is None:
        its = f"it has {values:,} values or fewer, and they"
    told = (
        f"If {its} count up as those of events that are made from the file do, {name} reaches "
        f"{reached:,} of {counted(regions, 'region')}."
    )
    figures = {"regions": regions, "unreachable": regions - reached, "assumed": True}
    bound = servers / max(min(reached, servers), 1)
    return Finding(MissedSplits.name, told, bound, figures, _remedy(design, facts))


def _of_drawn(
    design: Design, facts: Mapping[str, Facts], boundaries: Boundaries, name: str
) -> Finding | None:
    """The same of what has a range of its own within its bytes, such as addresses: assumed."""
    regions, servers = len(boundaries), design.cluster.servers
    reached = drawn_regions(design, boundaries)
    if reached is None or not misses(regions - reached, regions):
        return None
    told = (
        f"If its values come as those of events that are made from the file do, {name} reaches "
        f"{reached:,} of {counted(regions, 'region')}."
    )
    figures = {"regions": regions, "unreachable": regions - reached, "assumed": True}
    bound = servers / max(min(reached, servers), 1)
    return Finding(MissedSplits.name, told, bound, figures, _remedy(design, facts))


def _finding(
    design: Design,
    facts: Mapping[str, Facts],
    keys: Sequence[bytes],
    seen: tuple[int, int, float],
    foreseen: Finding | None,
) -> Finding:
    """What was seen of keys that came: regions, how many got none, the share of the fullest."""
    regions, empty, fullest = seen
    low, high = min(keys)[:8].hex(), max(keys)[:8].hex()
    message = (
        f"Keys lie between {low} and {high}, and the fullest of {counted(regions, 'region')} took "
        f"{fullest:.2%} of them."
    )
    if empty:
        message = f"{empty} of {counted(regions, 'region')} got no write. {message}"
    if foreseen is not None:
        message = f"{foreseen.message} {message}"
    servers = design.cluster.servers
    bound = servers / max(min(regions - empty, servers), 1)
    figures = {"regions": regions, "empty": empty, "share": fullest, "low": low, "high": high}
    return Finding(MissedSplits.name, message, bound, figures, _remedy(design, facts))


def _remedy(design: Design, facts: Mapping[str, Facts]) -> str:
    """The splits that follow the keys; where they are declared already, what no splits need."""
    declared = design.cut.algorithm
    if prefixes_of(design.key) is not None:
        if declared != "per_bucket" or design.cut.request.regions is not None:
            return 'Cut with splits = "per_bucket", at the values that the leading part can take.'
        why = "each prefix has its region already, and the values that came fall on them unevenly"
        why += ", as few do by chance"
    elif (equal := _equal_steps(design)) is not None:
        splits = toml_value({"algorithm": equal, "regions": _regions(design)})
        return f"Cut with splits = {splits}, for these bytes come evenly over their whole range."
    elif declared != "sample":
        return f"Cut with {splits_at_quantiles(design)}, at quantiles of keys that came."
    else:
        why = "these splits were made for such keys and do not meet those that came later"
    found = spread_key(design, facts)
    return f"Take {found.words}, for {why}; {found.costs}."


def _equal_steps(design: Design) -> str | None:
    """The algorithm whose equal steps meet the keys, unless they are cut so, or at quantiles."""
    asked = design.cut.request
    is_whole = asked.first is None and asked.last is None
    equal = evenly_cut(design)
    is_cut = design.cut.needs_sample or (design.cut.algorithm == equal and is_whole)
    return None if is_cut else equal


def _regions(design: Design) -> int:
    """As many regions as were asked for, two a server at the least, that the servers divide."""
    asked = design.cut.request
    listed = None if asked.listed is None else len(asked.listed) + 1
    servers = design.cluster.servers
    return max(-(-(asked.regions or listed or 0) // servers), 2) * servers
