"""The cause `moving_front`."""

from __future__ import annotations

from collections.abc import Mapping

from rowkey.design import Design, count_combined_values
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import estimate_front_share, find_clock_field
from rowkey.hotspots.load_result import COUNTER_TYPE, CauseFinding, LoadResult
from rowkey.proposals import ANOTHER_KEY
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts

SORTED_ARRIVAL = "bulk_sorted"
IMPORT_REMEDY = "Shuffle the rows before they are loaded, or use a bulk load of HFiles."


class MovingFrontCause(Cause):
    """Keys rise or fall with time, so all writes go to the last, or the first, region in use.

    Splitting does not help: the writes move on and leave every region half full and idle. An import
    in key order does the same with any key; shuffle its rows.
    """

    name = "moving_front"
    map_shape = "front"
    needs_boundaries = False

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if keys start with a time or are imported in key order."""
        is_import = design.writes.arrival == SORTED_ARRIVAL and not design.key.is_salted
        field = find_clock_field(design, facts)
        if field is None and not is_import:
            return None
        what = (
            _format_import_reason()
            if is_import
            else f"the key begins with {field}, which moves with the clock"
        )
        field_facts = facts.get(field or "")
        share = 1.0 if field is None else estimate_front_share(design, facts, field, boundaries)
        takes = "all writes, whatever the number of regions"
        if share < 1:
            takes = f"{share:.0%} of the writes, because the newest values are the most frequent"
        skew = max(design.cluster.servers * share, 1.0)
        rising = field_facts.rising_share if field_facts is not None else None
        remedy = IMPORT_REMEDY if is_import else _format_counter_remedy(design, facts)
        return CauseFinding(
            cls.name,
            f"{what}: at any moment one region takes {takes}.",
            remedy or ANOTHER_KEY,
            bound=skew,
            evidence={"field": field, "rising": rising},
            needs_key=not remedy,
        )

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if keys rose or fell as events arrived."""
        front = result.front
        if front is None:
            return None
        fields = result.leading_fields
        names = " and ".join(fields)
        times = [name for name in fields if result.design.fields[name].type.unit_ns is not None]
        why = f"they begin with {names}, which moves with {'time' if times else 'arrival'}"
        if result.design.writes.arrival == SORTED_ARRIVAL:
            why = _format_import_reason()
        regions = result.placements.regions
        alone = "; more regions would not change that" if regions == 1 else ""
        load = (
            f"at any moment half of the events lie within {_format_share(front.spread)} of all "
            f"keys, and the busiest region took {result.region_shares.mean:.0%} of the events of a "
            f"window on average{alone}"
        )
        if front.is_stationary:
            moving = find_clock_field(result.design, result.facts) or names
            why = f"they begin with {moving}, which moves with the clock"
            load = (
                "all of these events lie within one step of that time, and from the next step on "
                "all events go to one region"
            )
        message = f"Keys {front.direction} as events arrive, because {why}: {load}."
        figures = {
            "fields": list(fields),
            "direction": front.direction,
            "steps": front.steps,
            "spread": front.spread,
            "share": result.region_shares.mean,
        }
        is_import = result.design.writes.arrival == SORTED_ARRIVAL
        least_share = 1.0 if front.is_stationary else _find_least_share(result)
        bound = 1.0 if is_import else max(result.servers * least_share, 1.0)
        remedy = IMPORT_REMEDY if is_import else _format_counter_remedy(result.design, result.facts)
        return CauseFinding(
            cls.name,
            message,
            remedy or ANOTHER_KEY,
            bound=bound,
            evidence=figures,
            explained=result.measured_skew.skew,
            needs_key=not remedy,
        )


def _format_counter_remedy(design: Design, facts: Mapping[str, FieldFacts]) -> str:
    """Return the remedy for counters of which too few are written at a time; else empty.

    A bucket does not spread fewer rows than there are servers, however it is computed.
    """
    names = [name for name in design.key.fields if design.fields[name] is not design.writes.time]
    columns = [one for name, one in design.fields.items() if name not in design.key.fields]
    rows = count_combined_values(design.fields, facts, names) if names else 1
    are_counters = bool(columns) and all(one.type.name == COUNTER_TYPE for one in columns)
    if not are_counters or rows is None or rows >= design.cluster.servers:
        return ""
    has = "counter is" if rows == 1 else "counters are"
    return (
        f"Only {rows:,} {has} written at a time, which no bucket spreads over "
        f"{design.cluster.servers:,} servers: add up the events before they are written; if that "
        "is not enough, add a field for the writer that counts to the key, and read a counter by "
        "adding up its rows."
    )


def _find_least_share(result: LoadResult) -> float:
    """Return the share of events that one region takes, however many regions there are.

    Boundaries from a list or from earlier keys can divide what lies between them, but not the keys
    after the last of them, or before the first where keys fall. Equal steps over all bytes are too
    wide for keys that move.
    """
    splits, front = result.design.splits, result.front
    if splits.needs_sample or splits.request.listed is not None:
        region = 0 if front is not None and front.direction == "fall" else -1
        return float(result.writes[region] / max(result.writes.sum(), 1))
    return result.region_shares.mean


def _format_share(share: float) -> str:
    """Return a share of all keys as a percentage, never rounded down to 0%.

    >>> _format_share(0.0123), _format_share(0.0), _format_share(0.00049)
    ('1.2%', 'less than 0.1%', 'less than 0.1%')
    """
    return f"{share:.1%}" if share >= 0.001 else "less than 0.1%"


def _format_import_reason() -> str:
    """Return the clause that says that rows are imported in the order of their keys."""
    return "rows are imported in the order of their keys"
