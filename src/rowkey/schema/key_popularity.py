"""How often a read asks for each value of its equality conditions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, cast

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name

PopularityShape = Literal["sample", "uniform", "zipf"]

DEFAULT_EXPONENT = 0.99
"""The exponent of `zipf` without a number. Source: YCSB, whose requests have it."""
MAX_EXPONENT = 5
_ALLOWED = "sample, uniform or zipf(1.2)"
_SHAPES = ("sample", "uniform", "zipf")
_PATTERN = re.compile(r"([a-z]+) *(?:\( *([0-9]{1,3}(?:\.[0-9]{1,9})?) *\))?")


@dataclass(frozen=True, slots=True)
class KeyPopularity:
    """How often a read asks for each value, or each combination of values, that it gives.

    Args:
        shape: `sample`, as often as it has rows; `uniform`, each as often as the others; or `zipf`,
            the k-th most frequent one in proportion to 1 / k^exponent.
        exponent: of `zipf`; else unused.
    """

    shape: PopularityShape = "sample"
    exponent: float = 0.0

    def compute_shares(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the share of the answers that each value gets.

        Args:
            counts: rows of each value, at least one value. Of equal ones the first has the lower
                rank.

        Cost: a sort of the values for `zipf`.

        >>> import numpy as np
        >>> KeyPopularity("zipf", 1.0).compute_shares(np.array([10, 30, 20])).round(3).tolist()
        [0.182, 0.545, 0.273]
        """
        weights = np.ones(len(counts))
        if self.shape == "sample":
            weights = counts.astype(np.float64)
        elif self.shape == "zipf":
            order = np.argsort(-counts, kind="stable")
            weights[order] = np.arange(1, len(counts) + 1, dtype=np.float64) ** -self.exponent
        shares: np.ndarray[Any, Any] = weights / weights.sum()
        return shares

    def __str__(self) -> str:
        return f"zipf({self.exponent:g})" if self.shape == "zipf" else self.shape


def parse_key_popularity(text: str) -> KeyPopularity:
    """Return the popularity that `sample`, `uniform`, `zipf` or `zipf(1.2)` describes.

    Raises:
        InvalidArgument: the text is another one, or the exponent is out of range.

    >>> parse_key_popularity("zipf(1.2)")
    KeyPopularity(shape='zipf', exponent=1.2)
    """
    match = _PATTERN.fullmatch(text.strip()) if len(text) <= 64 else None
    name, number = (match[1], match[2]) if match else (re.split(r"\W", text[:64].strip())[0], None)
    if match is None or name not in _SHAPES or (number and name != "zipf"):
        raise InvalidArgument(
            "",
            f"{text[:64]!r} is not a popularity of values",
            _ALLOWED,
            suggest_name(name, _SHAPES),
        )
    exponent = float(number) if number else DEFAULT_EXPONENT
    if name == "zipf" and not 0 < exponent <= MAX_EXPONENT:
        raise InvalidArgument(
            "",
            f"the exponent of {text[:64]!r} is out of range",
            f"a number above 0, at most {MAX_EXPONENT}",
        )
    return KeyPopularity(cast("PopularityShape", name), exponent if name == "zipf" else 0.0)
