"""Why reads fall on one server more than on others, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rowkey.messages import Message
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from rowkey.plan import DeclaredRead
    from rowkey.simulate import ReadLoad, Simulation

MIN_EXPLAINED_SHARE = 1 / 3
"""Share of what the busiest server takes above its fair share from which a value explains it."""


class ReadHotSpot(NamedTuple):
    """Why one server takes more of a read than others.

    Args:
        message: the reason, as a clause.
        remedy: what to do about it, as a sentence.
    """

    message: str
    remedy: str


def find_read_hot_spot(
    simulation: Simulation, read: DeclaredRead, load: ReadLoad
) -> ReadHotSpot | None:
    """Return why a read falls on one server more than on others; None if it is not known.

    Args:
        simulation: a replay of the design's events.
        read: the read.
        load: where it falls.
    """
    return _find_newest_region(simulation, read, load) or _find_popular_value(
        simulation, read, load
    )


def _find_newest_region(
    simulation: Simulation, read: DeclaredRead, load: ReadLoad
) -> ReadHotSpot | None:
    """Return that a read asks for the newest rows if their region is the busiest."""
    import pyarrow.compute as pc

    operators = {
        field: {one.operator for one in read.conditions if one.field == field}
        for field in read.tested_fields
        if read.fields[field].type.unit_ns is not None
    }
    for field, tests in operators.items():
        if not tests <= {">", ">="}:
            continue
        times = simulation.sampled_rows.column(field)
        newest_row = pc.index(times, pc.max(times)).as_py()
        newest_key = simulation.sampled_keys[newest_row]
        if simulation.boundaries.locate_key(newest_key) == load.regions.busiest_place:
            message = Message(
                "read_hot_spot.newest",
                "it asks for the newest rows, and region {region} holds them",
                region=load.regions.busiest_place,
            )
            remedy = Message(
                "read_hot_spot.newest_remedy",
                "Put another field, or a bucket of it, before {field} in the key: the newest rows "
                "then lie in several regions, each of which the read asks.",
                field=field,
            )
            return ReadHotSpot(message, remedy)
    return None


def _find_popular_value(
    simulation: Simulation, read: DeclaredRead, load: ReadLoad
) -> ReadHotSpot | None:
    """Return that one value of a field is asked for too often, by its share of sampled rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    row_servers = simulation.replay.placements.assignments[0][simulation.load_result.regions]
    rows = simulation.sampled_rows.filter(pa.array(row_servers == load.servers.busiest_place))
    surplus = load.servers.busiest_share[0] - 1 / len(load.servers.operations)
    found: list[tuple[float, str, object]] = []
    for field in _list_given_fields(read):
        values = pc.value_counts(rows.column(field))
        if len(values):
            place = int(np.argmax(values.field("counts").to_numpy()))
            value, count = values.field("values")[place], values.field("counts")[place].as_py()
            found.append((_estimate_cost_share(simulation, read, field, count), field, value))
    share, field, value = max(found, key=lambda one: one[:2], default=(0.0, "", None))
    if share < MIN_EXPLAINED_SHARE * surplus or not share:
        return None
    rows_with_value = pc.equal(simulation.sampled_rows.column(field), value)
    total_share = (pc.sum(rows_with_value).as_py() or 0) / len(row_servers)
    message = Message(
        "read_hot_spot.popular",
        "one {field} takes {share} of the sampled rows, and is asked for as often",
        field=field,
        share=f"{total_share:.0%}",
    )
    remedy = Message(
        "read_hot_spot.popular_remedy",
        "Cache the answers for this {field}, or spread its rows over several buckets, each of "
        "which the read then asks; more servers do not help.",
        field=field,
    )
    return ReadHotSpot(message, remedy)


def _estimate_cost_share(
    simulation: Simulation, read: DeclaredRead, field: str, count: int
) -> float:
    """Return the share of a read's work that answers for one value take.

    It is asked for as often as it has rows. Without a limit each answer returns all of these.

    Args:
        simulation: a replay of the design's events.
        read: the read.
        field: the field whose value it gives.
        count: the sampled rows with that value.
    """
    import numpy as np
    import pyarrow.compute as pc

    counts = pc.value_counts(simulation.sampled_rows.column(field)).field("counts").to_numpy()
    power = 2.0 if read.limit is None else 1.0
    return float(count**power / (counts.astype(np.float64) ** power).sum())


def _list_given_fields(read: DeclaredRead) -> list[str]:
    """Return the fields, except times, whose value each answer is asked for with."""
    return [
        one.field
        for one in read.conditions
        if one.operator in ("=", "in")
        and any(isinstance(operand, Parameter) for operand in one.operands)
        and read.fields[one.field].type.unit_ns is None
    ]
