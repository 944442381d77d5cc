"""Fixtures of the tests of tables."""

from __future__ import annotations

import pytest


@pytest.fixture
def short_clock_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Detect a stopped clock after 2 ms instead of 100 ms.

    More than the three looks that a clock of `table.machine` takes to move.
    """
    monkeypatch.setattr("rowkey.engines.ordering.row_clock.MAX_IDLE_POLLS", 4)
