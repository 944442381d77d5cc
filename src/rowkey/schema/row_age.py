"""How old the rows are that a read of a time range asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp
from typing import Any, Literal, cast

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name
from rowkey.schema.quantities import Duration, parse_duration

AgeShape = Literal["latest", "uniform", "exp"]

_ALLOWED = "latest, uniform or exp(1h)"
_SHAPES = ("latest", "uniform", "exp")
_PATTERN = re.compile(r"([a-z]+) *(?:\( *(\w*) *\))?")


@dataclass(frozen=True, slots=True)
class RowAge:
    """How long before the newest row the time range of a read ends.

    Args:
        shape: `latest`, it ends with the newest row; `uniform`, any age of the rows is equally
            likely; or `exp`, ages are exponentially distributed.
        mean: of `exp`, in the units of `Duration`; else None.
    """

    shape: AgeShape
    mean: Duration | None = None

    def compute_ages(
        self, chances: np.ndarray[Any, Any], oldest: int, unit_ns: int
    ) -> np.ndarray[Any, Any]:
        """Return the age that a share of the answers does not exceed, for each of some shares.

        Ages above the oldest do not occur: their share is spread over the others.

        Args:
            chances: the shares, each from 0 to 1.
            oldest: the highest age, in units of the field; at least 0.
            unit_ns: nanoseconds of a unit.

        >>> import numpy as np
        >>> RowAge("uniform").compute_ages(np.array([0.25, 0.5]), 8, 1).tolist()
        [2, 4]
        """
        ages = chances * oldest
        if self.shape == "latest":
            ages = np.zeros(len(chances))
        elif self.mean is not None:
            mean = self.mean.nanoseconds / unit_ns
            ages = -mean * np.log1p(chances * np.expm1(-oldest / mean))
        whole: np.ndarray[Any, Any] = np.clip(ages, 0, oldest).astype(np.int64)
        return whole

    def compute_share_beyond(self, oldest: int, unit_ns: int) -> float:
        """Return which share of the declared ages lies above the oldest that rows can have.

        Args:
            oldest: the highest age, in units of the field.
            unit_ns: nanoseconds of a unit.

        >>> from rowkey.schema import Duration
        >>> round(RowAge("exp", Duration(1, "h")).compute_share_beyond(3_600, 10**9), 3)
        0.368
        """
        return 0.0 if self.mean is None else exp(-oldest * unit_ns / self.mean.nanoseconds)

    def __str__(self) -> str:
        return self.shape if self.mean is None else f"{self.shape}({self.mean})"


def parse_row_age(text: str) -> RowAge:
    """Return the age that `latest`, `uniform` or `exp(1h)` describes.

    Raises:
        InvalidArgument: the text is another one, or the mean is not a length of time above 0.

    >>> print(parse_row_age("exp( 90m )"))
    exp(90m)
    """
    match = _PATTERN.fullmatch(text.strip()) if len(text) <= 64 else None
    name, argument = (match[1], match[2]) if match else (text[:64].partition("(")[0].strip(), None)
    if match is None or name not in _SHAPES or (argument is None) != (name != "exp"):
        remedy = "Give its mean, such as exp(1h)." if name == "exp" else suggest_name(name, _SHAPES)
        raise InvalidArgument("", f"{text[:64]!r} is not an age of rows", _ALLOWED, remedy)
    if argument is None:
        return RowAge(cast("AgeShape", name))
    mean = parse_duration(argument)
    if not mean.count:
        raise InvalidArgument("", f"the mean of {text!r} is zero", "more than 0, such as exp(1h)")
    return RowAge("exp", mean)
