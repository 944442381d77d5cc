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
        is_latest = read.age is not None and read.age.shape == "latest"
        if not (tests <= {">", ">="} or (is_latest and field in read.time_ranges)):
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
    found: list[tuple[float, str, object, int]] = []
    for field in _list_given_fields(read):
        values = pc.value_counts(rows.column(field))
        if len(values):
            place = int(np.argmax(values.field("counts").to_numpy()))
            value, count = values.field("values")[place], values.field("counts")[place].as_py()
            is_limited = read.limit is not None
            share = _estimate_cost_share(simulation, read, field, count, is_limited=is_limited)
            found.append((share, field, value, count))
    share, field, value, count = max(found, key=lambda one: one[:2], default=(0.0, "", None, 0))
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
    if read.keys.shape != "sample":
        if len(read.parameter_fields) > 1:  # the shares are those of combinations of values
            return None
        message = Message(
            "read_hot_spot.asked",
            "it asks for one {field} in {share} of the answers, by keys = {keys}",
            field=field,
            share=f"{_estimate_cost_share(simulation, read, field, count, is_limited=True):.0%}",
            keys=f'"{read.keys}"',
        )
    remedy = Message(
        "read_hot_spot.popular_remedy",
        "Cache the answers for this {field}, or spread its rows over several buckets, each of "
        "which the read then asks; more servers do not help.",
        field=field,
    )
    return ReadHotSpot(message, remedy)


def _estimate_cost_share(
    simulation: Simulation, read: DeclaredRead, field: str, count: int, *, is_limited: bool
) -> float:
    """Return the share of a read's work that answers for one value take.

    It is asked for as often as the read's `keys` say. Without a limit each answer returns all of
    its rows.

    Args:
        simulation: a replay of the design's events.
        read: the read.
        field: the field whose value it gives.
        count: the sampled rows with that value.
        is_limited: whether an answer costs as much for each value.
    """
    import pyarrow.compute as pc

    counts = pc.value_counts(simulation.sampled_rows.column(field)).field("counts").to_numpy()
    shares = read.keys.compute_shares(counts)
    costs = shares if is_limited else shares * counts
    return float(costs[(counts == count).argmax()] / costs.sum())


def _list_given_fields(read: DeclaredRead) -> list[str]:
    """Return the fields, except times, whose value each answer is asked for with."""
    return [
        one.field
        for one in read.conditions
        if one.operator in ("=", "in")
        and any(isinstance(operand, Parameter) for operand in one.operands)
        and read.fields[one.field].type.unit_ns is None
    ]
