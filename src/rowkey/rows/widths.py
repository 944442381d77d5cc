"""How many bytes a field's value takes by itself, measured, declared or guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.keys import Field, FieldType
    from rowkey.schema import Facts

UNKNOWN_TEXT_BYTES = 16
"""Taken for the mean of a text of which nothing is known, and said so where it matters."""


def mean_bytes(declared: Field, facts: Facts | None) -> float:
    """Mean bytes of a field's value by itself: measured, declared, or from its type."""
    if facts is not None and facts.bytes_mean is not None:
        return facts.bytes_mean
    if declared.words.mean_bytes is not None:
        return declared.words.mean_bytes
    return own_bytes(declared.type)


def own_bytes(kind: FieldType) -> float:
    """Bytes of a value of the type by itself: its width, or a guess for text and bytes."""
    framing = kind.own().framing
    if framing.most is None:
        return float(max(framing.least, UNKNOWN_TEXT_BYTES))
    return (framing.least + framing.most) / 2
