"""The read by which keys are compared where a design declares none."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rowkey.errors import InvalidDesign
from rowkey.proposals.spreading_terms import strip_spreading_terms
from rowkey.schema import Condition, Ordering, Parameter, find_field_refs

if TYPE_CHECKING:
    from rowkey.design import Design

LATEST_ROWS = 100
"""Rows of a read of what an entity did last."""


def assume_read(design: Design) -> Design:
    """Return a design that declares no reads with one: the latest rows of one entity.

    The entity is the first field of the key that is no time. A design with reads, or whose key has
    no such field, is returned as it is.
    """
    if design.reads:
        return design
    terms = strip_spreading_terms(design.key)
    names = [ref.name for term in terms for ref in find_field_refs(term)]
    times = [name for name in names if design.fields[name].type.unit_ns is not None]
    entity = next((name for name in names if name not in times), None)
    if entity is None:
        return design
    read = {
        "name": f"latest of one {entity}" if times else f"one {entity}",
        "where": str(Condition(entity, "=", (Parameter(0),))),
        "limit": LATEST_ROWS,
    }
    if times:
        read["order"] = str(Ordering(times[0], descending=True))
    with suppress(InvalidDesign):
        return design.copy_with_options(reads=[read])
    return design
