"""Which fields identify an event alone, as declared or as a sample shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.keys import Field
    from rowkey.schema import FieldFacts

MIN_UNIQUE_VALUES = 1_000
"""Sampled values without a repeat from which a field is taken to be unique."""


def is_unique(field: Field, facts: FieldFacts | None) -> bool:
    """Return whether a field identifies a row, as declared, or as no sampled event repeats it.

    A declaration that the sample contradicts does not count. Times and numbers with a fraction are
    measured: that they do not repeat is no rule.
    """
    if facts is None or not facts.exact or not facts.value_count:
        return field.declaration.unique
    if facts.distinct_count != facts.value_count or facts.null_share:
        return False
    is_identity = field.type.unit_ns is None and not is_measured(field)
    return field.declaration.unique or (is_identity and facts.value_count >= MIN_UNIQUE_VALUES)


def list_unique_fields(
    design: Design, facts: Mapping[str, FieldFacts], names: Collection[str]
) -> list[str]:
    """Return those of some fields that identify an event alone.

    A read that sorts or limits the rows of a value, or asks for a range of them, says that there
    are several: unless the field is declared as unique, the sample is too short to show them.
    """
    several = {
        name
        for read in design.reads
        if read.order or (read.limit or 1) > 1 or len(read.conditions) > len(read.equality_fields)
        for name in read.equality_fields
    }
    return [
        name
        for name, field in design.fields.items()
        if name in names
        and (field.declaration.unique or name not in several)
        and is_unique(field, facts.get(name))
    ]


def is_measured(field: Field) -> bool:
    """Return whether a field holds numbers with a fraction, which measure and identify nothing."""
    arrow_type = field.type.build_arrow_type()
    return bool(pa.types.is_floating(arrow_type) or pa.types.is_decimal(arrow_type))
