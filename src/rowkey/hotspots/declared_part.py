"""Which part of its table a sample is, as far as the design declares it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from rowkey.hotspots.load_result import find_indivisible_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.hotspots.time_density import TimeDensity
    from rowkey.schema import FieldFacts

MIN_GROWTH = 1.5
"""Times those of the sample from which on a declared rate, or number of values, is another."""


@dataclass(frozen=True, slots=True)
class DeclaredPart:
    """A part of a table.

    Args:
        field: the field of which it has some values, with all their events; empty if it has some
            events of all values.
        share: how much of the values, or of the events, it has.
    """

    field: str
    share: float


def find_declared_part(
    design: Design,
    rows: pa.RecordBatch,
    density: TimeDensity | None,
    grows: str | None,
) -> DeclaredPart | None:
    """Return which part of the table a sample is declared to be; None if all of its values.

    Where the declared rate is that of more entities, the sample has their share of it. They are
    values of the field of the key that has most.

    Args:
        design: the design.
        rows: a uniform sample of the events.
        density: how densely its events lie in time; None if they do not arrive by the clock.
        grows: what makes the declared rate higher than that of the sample: `entities` or `rows`;
            None where nothing says it.
    """
    part = design.sample_part
    if design.sample_share is not None:
        return DeclaredPart(part if part in rows.schema.names else "", design.sample_share)
    if grows != "entities" or density is None or density.sample_factor <= MIN_GROWTH:
        return None
    share = 1 / density.sample_factor
    names = [one for one in find_indivisible_fields(design) if one != density.field]
    if part in rows.schema.names or not names:
        return DeclaredPart(part, share) if part in names else None
    return DeclaredPart(max(names, key=lambda one: len(rows.column(one).unique())), share)


def find_part_of_distinct(
    design: Design,
    rows: pa.RecordBatch,
    density: TimeDensity | None,
    grows: str | None,
) -> DeclaredPart | None:
    """Return which part a sample of a lower rate has of the values that `distinct` declares.

    It is that of the field of the key of which it lacks most; None if it has all. For the
    arguments see `find_declared_part`.
    """
    if grows == "rows" or density is None or density.sample_factor <= MIN_GROWTH:
        return None
    shares = {
        name: len(rows.column(name).unique()) / distinct
        for name in find_indivisible_fields(design)
        if (distinct := design.fields[name].declaration.distinct)
    }
    if not shares:
        return None
    name = min(shares, key=lambda one: shares[one])
    return DeclaredPart(name, min(max(shares[name], 1 / density.sample_factor), 1.0))


def count_declared_values(design: Design, name: str) -> float:
    """Return how many values of a field its table has at most, as declared or listed."""
    field = design.fields[name]
    listed = field.type.possible_values
    return min(field.declaration.distinct or inf, inf if listed is None else len(listed))


def count_table_values(design: Design, name: str, sampled_count: int) -> float | None:
    """Return how many values of a field a table has, as far as its design declares it.

    None if it has more than the sample, and nothing says how many.

    Args:
        design: the design.
        name: the field.
        sampled_count: how many values of it the sample has.
    """
    declaration = design.fields[name].declaration
    if declaration.distinct:
        return declaration.distinct
    most = count_declared_values(design, name)
    if name == design.sample_part and design.sample_share is not None:
        return max(min(sampled_count / design.sample_share, most), sampled_count)
    if design.declaration.writes.grows == "entities" and most == inf:
        return None
    return sampled_count


def has_more_values_declared(
    design: Design, facts: Mapping[str, FieldFacts], names: Iterable[str]
) -> bool:
    """Return whether a design declares that its table has more values of some fields than a sample.

    Args:
        design: the design.
        facts: the facts of its fields, from the sample.
        names: these fields.
    """
    for name in names:
        found = facts[name].distinct_count if name in facts else None
        values = count_table_values(design, name, found) if found else found
        if found and (values is None or values >= MIN_GROWTH * found):
            return True
    return False
