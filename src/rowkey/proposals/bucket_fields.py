"""Which fields a bucket can be computed from: what reads give, and what has enough values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rowkey.design import Design, choose_example_values
from rowkey.errors import ReadError
from rowkey.keys import Key
from rowkey.plan import Plan, plan_read
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    MIN_VALUES_PER_REGION,
)
from rowkey.schema import Bounds, Equal, FieldFacts, Ordering


@dataclass(frozen=True, slots=True)
class ExampleRead:
    """A declared read with example bounds, planned under the present key.

    Args:
        bounds: the bounds, from example values.
        order: its order.
        plan: its plan under the present key.
    """

    name: str
    bounds: Bounds
    order: Sequence[Ordering]
    plan: Plan

    @property
    def single_value_fields(self) -> set[str]:
        """Return the fields for which the read gives exactly one value."""
        return {name for name, bound in self.bounds.items() if isinstance(bound, Equal)}

    @property
    def key_fields(self) -> tuple[str, ...]:
        """Return the fields that it gives, then those that it sorts by: a key serves it by them."""
        given = [name for name in self.bounds if name in self.single_value_fields]
        return tuple(dict.fromkeys([*given, *(one.field for one in self.order)]))


def plan_example_reads(design: Design, facts: Mapping[str, FieldFacts]) -> Iterator[ExampleRead]:
    """Yield the declared reads that can be planned, each planned with example values."""
    for read in design.reads:
        try:
            bounds = read.build_bounds(choose_example_values(read, facts))
            plan = plan_read(design.key, bounds, read.order)
        except ReadError:
            continue
        yield ExampleRead(read.name, bounds, read.order, plan)


def has_enough_values(values: int | None, servers: int) -> bool:
    """Return whether as many values fill the proposed buckets evenly; true if unknown.

    Args:
        values: the number of values that are hashed into the buckets, or None.
        servers: region servers.
    """
    return values is None or values >= MIN_VALUES_PER_REGION * BUCKETS_PER_SERVER * servers


def find_sliced_fields(key: Key) -> set[str]:
    """Return the time fields of which one row holds a whole interval."""
    return {part.time_remainder.field for part in key.parts if part.time_remainder is not None}
