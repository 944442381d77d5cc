"""Checks of mutations."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rowkey.cells import LATEST, Cell, RowCells, check_mutation
from rowkey.errors import InvalidArgument

INVALID_TIMESTAMPS: list[Any] = [
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


@pytest.mark.parametrize("timestamp", INVALID_TIMESTAMPS, ids=repr)
def test_an_invalid_timestamp_is_refused(timestamp: Any) -> None:
    """A timestamp that is out of range, or not an int but equal to one, is refused."""
    with pytest.raises(InvalidArgument, match="timestamp"):
        check_mutation(RowCells(b"r", [Cell("d", b"q", timestamp, b"v")]), ["d"])


@pytest.mark.parametrize("timestamp", [0, 1, LATEST - 1, LATEST, True])
def test_validation_accepts_valid_timestamps_and_returns_whether_one_is_latest(
    timestamp: int,
) -> None:
    """A check accepts every time from 1970 on, and returns whether a cell has LATEST."""
    cells = [Cell("d", b"q", timestamp, b"v"), Cell("d", b"r", 5, b"v")]
    assert (timestamp == LATEST) == check_mutation(RowCells(b"r", cells), ["d"])


@pytest.mark.parametrize("family", ["d", np.str_("d")])
def test_any_nonempty_text_is_a_family_name_if_no_families_are_known(family: str) -> None:
    """Without known families, every text that is not empty may be a family's name."""
    assert not check_mutation(RowCells(b"r", [Cell(family, b"q", 1, b"v")]))


@pytest.mark.parametrize(
    "family", ["", "\ud800", None, 5, b"d", ["d"], np.array(["d", "e"])], ids=repr
)
def test_a_family_name_that_hbase_cannot_store_is_refused(family: Any) -> None:
    """What is no text, an empty one or half a character is refused with what is allowed."""
    with pytest.raises(InvalidArgument, match=r"family: .*; expected a text .* encoded as UTF-8"):
        check_mutation(RowCells(b"r", [Cell(family, b"q", 1, b"v")]))
