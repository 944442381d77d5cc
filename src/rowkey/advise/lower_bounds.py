"""What no key of some fields can go below: the load of the busiest server, servers, and reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from rowkey.advise.resources import get_capacity
from rowkey.array_libraries import np
from rowkey.hotspots import assign_row_codes, compute_least_skew
from rowkey.messages import Message
from rowkey.workload import FAIR_UTILIZATION, count_read_operations

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

SAMPLING_DEVIATIONS = 3
"""Standard deviations by which a sample of the events may show a value too often."""


@dataclass(frozen=True, slots=True)
class ReadBound:
    """What an answer of a read costs under any key of some fields, at the least.

    Args:
        name: the read.
        ranges: the ranges that it asks.
        rows: the rows that it reads, mean: those that it returns.
    """

    name: str
    ranges: int
    rows: float


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """What no key of some fields can go below, however it orders and spreads them.

    Keys with a random salt are left out, since they store one row under several keys.

    Args:
        fields: the fields.
        skew: the load of the busiest server of the writes, over its fair share.
        reason: why it cannot be less, as a sentence without its full stop; empty if it is 1.
        servers: servers that bear the writes and the reads; None without a rate of the writes.
        reads: what each declared read costs.
    """

    fields: tuple[str, ...]
    skew: float
    reason: Message | str
    servers: int | None
    reads: tuple[ReadBound, ...]


def compute_lower_bounds(simulation: Simulation, fields: Sequence[str]) -> LowerBounds:
    """Return what no key of some fields can go below.

    Args:
        simulation: a replay of the events under one such key, of which no other keeps fewer rows
            apart.
        fields: the fields.

    Cost: one sort of at most 131,072 events for each field.
    """
    skew, reason = _bound_skew(simulation, fields)
    kept = 1.0 - simulation.overwrite_count / max(simulation.operation_count, 1)
    reads = tuple(
        # Of a table of a given size, other keys may have as many rows of more values.
        ReadBound(cost.name, 1, cost.returned_rows * (kept if cost.returned_rows != limit else 1.0))
        for cost, limit in zip(
            simulation.reads, [read.limit for read in simulation.design.reads], strict=False
        )
        if not cost.error
    )
    return LowerBounds(tuple(fields), skew, reason, _bound_servers(simulation, reads), reads)


def _bound_skew(simulation: Simulation, fields: Sequence[str]) -> tuple[float, Message | str]:
    """Return the least load of the busiest server over its fair share, and why it is no less.

    Events that are equal in all fields have one key, and lie on one server: such loads cannot be
    divided, and some server holds several of the largest. Its share of all events is not more than
    the mean of the busiest server's share in windows.
    """
    rows, servers = simulation.sampled_rows, simulation.design.cluster.servers
    events, count = simulation.operation_count, rows.num_rows
    # Of a sample of some entities the verdict is that of more of them, which are more even.
    if not count or simulation.design.sample_share is not None or servers == 1:
        return 1.0, ""
    loads = np.bincount(assign_row_codes(rows, fields)).astype(float)
    if count < events:
        loads = np.maximum(loads - SAMPLING_DEVIATIONS * np.sqrt(loads), 0.0)
    held = compute_least_skew(loads, servers) * float(loads.sum()) / count / servers
    covered = [one.covered_share for one in simulation.skews if one.server_skew is not None]
    missing = 1 - min(covered, default=1.0)  # events in windows that are too thin to be judged
    skew = max((held - missing) / (1 - missing) * servers, 1.0)
    return skew, _explain_skew(loads, count, fields, servers) if round(skew, 2) > 1 else ""


def _explain_skew(
    loads: np.ndarray[Any, Any], count: int, fields: Sequence[str], servers: int
) -> Message:
    """Return why the load of the busiest server is above its fair share under every key."""
    names, share = ", ".join(fields), f"{loads.max() / count:.1%}"
    if len(loads) == 1:
        return Message(
            "bound.one_value",
            "all events have the same {fields}, so that one server takes them",
            fields=names,
        )
    if len(loads) < servers:
        return Message(
            "bound.few_values",
            "the events have {values} different values of {fields}, for {servers} servers",
            values=len(loads),
            fields=names,
            servers=servers,
        )
    if loads.max() * servers > count:
        return Message(
            "bound.entity",
            "{share} of the events have the same {fields}, so that one server takes them",
            share=share,
            fields=names,
        )
    return Message(
        "bound.integer",
        "events with the same {fields} lie on one server, and cannot be divided evenly",
        fields=names,
    )


def _bound_servers(simulation: Simulation, reads: Sequence[ReadBound]) -> int | None:
    """Return how many servers bear the operations that no key saves; None without a rate."""
    rate = simulation.design.writes.peak_rate
    if rate is None:
        return None
    rates = {read.name: read.rate or 0.0 for read in simulation.design.reads}
    operations = rate + sum(
        rates[read.name] * count_read_operations(1, read.rows) for read in reads
    )
    capacity, _ = get_capacity(simulation.design)
    return max(ceil(operations / (FAIR_UTILIZATION * capacity)), 1)
