"""Which part of its table a sample is, as far as the design declares it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, prod

from rowkey.array_libraries import pa
from rowkey.design import Design
from rowkey.hotspots.load_result import find_indivisible_fields
from rowkey.hotspots.time_density import TimeDensity
from rowkey.schema import FieldFacts

MIN_GROWTH = 1.5
"""Times those of the sample from which on a declared rate, or number of values, is another."""


MIN_ENTITIES = 20
"""Values of a field from which on they may be the entities that become more: fewer are kinds."""
MIN_ENTITY_EVENTS = 2
"""Mean events of a value from which on they can come together, and more of them be the reason of a
higher rate; the number of an event does not."""


@dataclass(frozen=True, slots=True)
class DeclaredGrowth:
    """How many times as many values fields have in the table as in a sample, as far as declared.

    Args:
        factors: these factors by fields; of several together, for combinations of their values.
        entity: the fields whose values are taken to be more where nothing says how many there are;
            None if none is.
        diluted_fields: the fields whose values are as busy as in the sample and no busier, so that
            none keeps a great share of all events.
        listed_fields: the fields that list their values: more events bring no more of them than the
            sample has.
    """

    factors: Mapping[tuple[str, ...], float]
    entity: tuple[str, ...] | None = None
    diluted_fields: frozenset[tuple[str, ...]] = frozenset()
    listed_fields: frozenset[str] = frozenset()


def measure_declared_growth(
    design: Design, rows: pa.RecordBatch, density: TimeDensity | None, grows: str | None
) -> DeclaredGrowth:
    """Return by which factors the table has more values of fields than a sample of it.

    What `distinct` of some fields leaves of the declared rate is more values of the entity. That is
    the field of which the sample has a part; where the declared rate is that of more entities, the
    one of most values in the key. If none has many, all of them together: of a few measures of a
    few machines there are more machines with these measures, or more measures of them.

    Args:
        design: the design.
        rows: a uniform sample of the events.
        density: how densely its events lie in time; None if they do not arrive by the clock.
        grows: what makes the declared rate higher than that of the sample: `entities` or `rows`;
            None where nothing says it.
    """
    part, time = design.sample_part, None if density is None else density.field
    most = 1.0 if density is None else density.sample_factor
    declared = {name: _count_declared_values(design, name) for name in design.fields}
    counts = {
        name: max(len(rows.column(name).unique()), 1)
        for name in rows.schema.names
        if name != time
        and (name == part or name in design.layout.identity_fields or declared[name] < inf)
    }
    listed = frozenset(
        name
        for name in counts
        if design.fields[name].type.possible_values is not None and name != part
    )
    factors: dict[tuple[str, ...], float] = {}
    for name, count in counts.items():
        if declared[name] < inf:
            is_fixed = name in listed
            factors[name,] = 1.0 if is_fixed else max(min(declared[name] / count, most), 1.0)
    entity: tuple[str, ...] | None = None
    if part in counts:
        entity = (part,)
    elif grows == "entities":
        repeated = tuple(
            name
            for name in sorted(design.layout.identity_fields)
            if name in counts
            and (name,) not in factors
            and MIN_ENTITY_EVENTS * counts[name] <= rows.num_rows
        )
        many = [name for name in repeated if counts[name] >= MIN_ENTITIES]
        entity = (max(many, key=lambda name: counts[name]),) if many else repeated
    if entity is not None and entity not in factors:
        factors[entity] = max(most / prod(factors.values()), 1.0)
    diluted = frozenset(
        (name,)
        for name, count in counts.items()
        if name == part
        or (
            grows == "entities"
            and factors.get((name,), 1.0) >= MIN_GROWTH
            and count >= MIN_ENTITIES
        )
    )
    return DeclaredGrowth(factors, entity, diluted, listed)


@dataclass(frozen=True, slots=True)
class DeclaredPart:
    """A part of a table.

    Args:
        fields: the fields of which it has some values, with all their events; none if it has some
            events of all values.
        share: how much of the values, or of the events, it has.
        copies: values of the table for each one of the part; 1 if the others lie where these do.
    """

    fields: tuple[str, ...]
    share: float
    copies: float


def find_declared_part(
    design: Design, rows: pa.RecordBatch, density: TimeDensity | None, growth: DeclaredGrowth
) -> DeclaredPart | None:
    """Return which part of the table a sample is declared to be; None if it is of all of it.

    Where a higher rate is declared, it has its share of it, of the values of the key that are
    declared to become most.

    Args:
        design: the design.
        rows: a uniform sample of the events.
        density: how densely its events lie in time; None if they do not arrive by the clock.
        growth: how many times as many values its fields have in the table.
    """
    part, share = design.sample_part, design.sample_share
    held = find_indivisible_fields(design)
    if share is not None:
        if part not in rows.schema.names:
            return DeclaredPart((), share, 1.0)
        most = _count_declared_values(design, part) / max(len(rows.column(part).unique()), 1)
        copies = min(1 / share, max(most, 1.0)) if part in held else 1.0
        return DeclaredPart((part,), share, copies)
    if density is None or density.sample_factor <= MIN_GROWTH:
        return None
    factors = {
        fields: factor
        for fields, factor in growth.factors.items()
        if factor > 1 and not {*fields}.isdisjoint(held)
    }
    if not factors:
        return DeclaredPart(growth.entity or (), 1 / density.sample_factor, 1.0)
    fields = max(factors, key=lambda one: factors[one])
    of_key = tuple(name for name in fields if name in held)
    return DeclaredPart(of_key, 1 / density.sample_factor, factors[fields])


def _count_declared_values(design: Design, name: str) -> float:
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
    most, is_part = _count_declared_values(design, name), name == design.sample_part
    if is_part and design.sample_share is not None:
        return max(min(sampled_count / design.sample_share, most), sampled_count)
    if (is_part or design.declaration.writes.grows == "entities") and most == inf:
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
