"""What may be written: what is no moment is refused, however equal to one it is."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rowkey.cells import LATEST, Cell, RowCells, check_mutation
from rowkey.errors import Refused

NO_MOMENT: list[Any] = [
    -1,
    LATEST + 1,
    1.0,
    None,
    "1",
    Decimal(LATEST),
    Fraction(LATEST),
    np.int64(LATEST),
    np.float64(LATEST),
    np.array([1, 2]),
]


@pytest.mark.parametrize("timestamp", NO_MOMENT, ids=repr)
def test_what_is_no_moment_is_refused(timestamp: Any) -> None:
    """A number of another type would be refused only when some of a batch is sent already."""
    with pytest.raises(Refused, match="timestamp"):
        check_mutation(RowCells(b"r", [Cell("d", b"q", timestamp, b"v")]), ["d"])


@pytest.mark.parametrize("timestamp", [0, 1, LATEST - 1, LATEST])
def test_a_moment_is_taken(timestamp: int) -> None:
    """From 1970 on, and now."""
    assert check_mutation(RowCells(b"r", [Cell("d", b"q", timestamp, b"v")]), ["d"]) is None  # type: ignore[func-returns-value]
