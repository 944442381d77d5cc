"""The number of attempts of an operation and its last error."""

from __future__ import annotations

from threading import Event

import pytest

from rowkey.hbase import Settings
from rowkey.hbase.errors import NotServingRegion, OperationTimedOut
from rowkey.hbase.retrying_caller import Attempts
from rowkey.hbase.settings import Deadline

LAST_ERROR = NotServingRegion("localhost:16020", "the region is not online")


def test_an_operation_ends_if_the_next_pause_exceeds_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An operation ends with the server's error if the next pause exceeds its time."""
    settings = Settings(retry_pause_s=60.0, max_retry_pause_s=60.0)
    attempts = Attempts(settings, Deadline.from_now(30.0), Event())
    attempts.wait_or_raise(LAST_ERROR)  # a region that is elsewhere is looked for at once
    monkeypatch.setattr(Event, "wait", lambda *_: pytest.fail("it waits for nothing"))
    with pytest.raises(
        OperationTimedOut, match=r"used up its time \(2 attempts\)\. Last error: .*not online"
    ):
        attempts.wait_or_raise(LAST_ERROR)
