"""Bounds on the values of one field: the conditions of a read after its parameters are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Value = Any
"""A field's value as a Python object: text, a number, a date, or None."""


@dataclass(frozen=True, slots=True)
class Equal:
    """The field equals a value; None matches rows in which the field is null."""

    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field equals one of several distinct values."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between two values; None leaves an end open, and nulls never match."""

    low: Value = None
    high: Value = None
    includes_low: bool = True
    includes_high: bool = True


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The field's text or bytes begin with a prefix."""

    prefix: Value


Bound = Equal | OneOf | Range | StartsWith
Bounds = Mapping[str, Bound]
"""Field name to the bound on that field; fields without a condition are absent."""


def is_within_bound(value: Value, bound: Bound) -> bool:
    """Return whether a normalized value lies within a bound of normalized values.

    >>> is_within_bound(5, Range(1, 5)), is_within_bound(5, Range(1, 5, includes_high=False))
    (True, False)
    """
    match bound:
        case Equal(wanted):
            return bool(value == wanted)
        case OneOf(values):
            return value in values
        case StartsWith(prefix):
            return value is not None and value[: len(prefix)] == prefix
        case Range(low, high, with_low, with_high):
            if value is None:
                return False
            above = low is None or value > low or (with_low and value == low)
            below = high is None or value < high or (with_high and value == high)
            return bool(above and below)
