"""Mean sizes of field values: measured, declared or estimated from the type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.keys import Field, FieldType
    from rowkey.schema import FieldFacts

DEFAULT_TEXT_BYTES = 16
"""Taken for the mean of a text of which nothing is known, and said so where it matters."""


def estimate_mean_bytes(field: Field, facts: FieldFacts | None) -> float:
    """Return the mean bytes of a field's value: measured, declared, or from its type."""
    if facts is not None and facts.mean_bytes is not None:
        return facts.mean_bytes
    if field.declaration.mean_bytes is not None:
        return field.declaration.mean_bytes
    return estimate_plain_bytes(field.type)


def estimate_plain_bytes(field_type: FieldType) -> float:
    """Return the bytes of a value of a type: its width, or an estimate for text and bytes."""
    framing = field_type.build_plain_codec().framing
    if framing.max_bytes is None:
        return float(max(framing.min_bytes, DEFAULT_TEXT_BYTES))
    return (framing.min_bytes + framing.max_bytes) / 2
