"""How the writes of one row are divided among several, which a read adds up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rowkey.proposals.key_proposal import PER_BUCKET
from rowkey.proposals.spreading_terms import (
    BUCKETS_PER_SERVER,
    MIN_VALUES_PER_REGION,
    build_bucket,
    is_heavy,
)
from rowkey.proposals.unique_fields import is_measured

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.keys import Field
    from rowkey.schema import FieldFacts


def format_row_division(design: Design, facts: Mapping[str, FieldFacts]) -> str:
    """Return how to divide the writes of a row, as an order: by a field, or by the writer.

    Args:
        design: the design.
        facts: what is known of its fields.
    """
    buckets = BUCKETS_PER_SERVER * design.cluster.servers
    for name, field in design.fields.items():
        if name not in design.key.fields and _can_divide(field, facts.get(name), design, buckets):
            term = build_bucket([name], buckets)
            return (
                f'put [{term}] in front of the key, with splits = "{PER_BUCKET}", and allow that '
                f"events that differ only in {name} share a row"
            )
    return "add a field to the key, such as the number of the writer"


def _can_divide(field: Field, facts: FieldFacts | None, design: Design, buckets: int) -> bool:
    """Return whether the events of any row have enough values of a field for some buckets.

    The values are those that are declared: amounts that a sample shows identify no writer.
    """
    if field.type.unit_ns is not None or is_measured(field) or field.declaration.at is not None:
        return False
    share = None if facts is None else facts.heaviest_share
    if share is not None and is_heavy(share, design.cluster.servers):
        return False
    distinct = field.declaration.distinct or 0
    return field.declaration.unique or distinct >= MIN_VALUES_PER_REGION * buckets
