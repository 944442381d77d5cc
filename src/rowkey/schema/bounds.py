"""What a read asks of one field, once its values are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Value = Any
"""A value of a field, as Python sees it: text, a number, a date, or None."""


@dataclass(frozen=True, slots=True)
class Equal:
    """The field has this value; None asks for rows without one."""

    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field has one of these values, each listed once."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between two values; None leaves a side open. Nulls never match."""

    low: Value = None
    high: Value = None
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The field's text, or bytes, begin with these."""

    prefix: Value


Bound = Equal | OneOf | Range | StartsWith
Bounds = Mapping[str, Bound]
"""What is asked of each field; a field that is not in it is not asked about."""


def satisfies(value: Value, bound: Bound) -> bool:
    """Whether a normal value lies within a bound of normal values.

    >>> satisfies(5, Range(1, 5)), satisfies(5, Range(1, 5, with_high=False))
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
