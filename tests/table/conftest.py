"""What tests of tables share."""

from __future__ import annotations

import pytest


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a clock that stands still be known to do so after 2 ms, not after the usual 100.

    More than the three looks that a clock of `table.machine` takes to move.
    """
    monkeypatch.setattr("rowkey.engines.ordering.row_clock.MAX_IDLE_POLLS", 4)
