"""How often an operation is tried again, and what its end tells."""

from __future__ import annotations

from threading import Event

import pytest

from rowkey.hbase import Settings
from rowkey.hbase.calling import Attempts
from rowkey.hbase.errors import NotServingRegion, OutOfTime
from rowkey.hbase.settings import Deadline

SAID = NotServingRegion("localhost:16020", "the region is not online")


def test_a_pause_that_outlasts_the_operation_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the last attempt had no time, and the error would tell of nothing but that."""
    settings = Settings(pause_s=60.0, pause_most_s=60.0)
    attempts = Attempts(settings, Deadline.after(30.0), Event())
    attempts.failed(SAID)  # a region that is elsewhere is looked for at once
    monkeypatch.setattr(Event, "wait", lambda *_: pytest.fail("it waits for nothing"))
    with pytest.raises(OutOfTime, match=r"time is used up \(2 attempts\)\. Last: .*not online"):
        attempts.failed(SAID)
