"""Mean sizes of field values: measured, declared or estimated from the type."""

from __future__ import annotations

from rowkey.keys import Field, FieldType
from rowkey.schema import FieldFacts

DEFAULT_TEXT_BYTES = 16
"""Assumed mean bytes of a text of which nothing is known; reports name the assumption."""


def estimate_mean_bytes(field: Field, facts: FieldFacts | None) -> float:
    """Return the mean bytes of a field's values: measured, declared, or from its type."""
    if facts is not None and facts.mean_bytes is not None:
        return facts.mean_bytes
    if field.declaration.mean_bytes is not None:
        return field.declaration.mean_bytes
    return _estimate_type_bytes(field.type)


def _estimate_type_bytes(field_type: FieldType) -> float:
    """Return the mean bytes of a value by its type: its width, or an estimate for text."""
    framing = field_type.build_plain_codec().framing
    if framing.max_bytes is None:
        return float(max(framing.min_bytes, DEFAULT_TEXT_BYTES))
    return (framing.min_bytes + framing.max_bytes) / 2
