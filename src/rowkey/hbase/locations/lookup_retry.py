"""Pauses between the attempts of a region lookup."""

from __future__ import annotations

from random import Random
from threading import Event

from rowkey.hbase.errors import ClientClosed, HBaseError, OperationTimedOut
from rowkey.hbase.settings import Deadline, Settings

JITTER_RANDOM = Random()  # noqa: S311 - spreads retries, guards nothing
"""A generator of its own: background threads must not draw from one that a user has seeded."""
LIKELY_PERMANENT_ATTEMPTS = 5
"""Attempts at what will hardly ever succeed, such as a host name without an address."""


class LookupRetry:
    """Counts the attempts of one region lookup, and pauses between them.

    Args:
        path: the table that is looked up.
        settings: the first pause, and the longest.
        deadline: when the lookup must end.
        close_event: set when the client is closed.
    """

    def __init__(
        self, path: str, settings: Settings, deadline: Deadline, close_event: Event
    ) -> None:
        self._path, self._settings = path, settings
        self._deadline, self._close_event = deadline, close_event
        self.count = self._likely_permanent_count = 0

    def pause_or_raise(self, what: str, last_error: HBaseError | None = None) -> None:
        """Pause before the next attempt, or raise an error if the deadline is too near.

        Args:
            what: why the region is not found yet, for the message.
            last_error: the error of this attempt, if it was one.

        Raises:
            OperationTimedOut: the deadline has passed, or would pass during the pause.
            HBaseError: this one came a few times already, and is likely permanent.
            ClientClosed: the client was closed.
        """
        self.count += 1
        if last_error is not None and last_error.is_likely_permanent:
            self._likely_permanent_count += 1
            if self._likely_permanent_count >= LIKELY_PERMANENT_ATTEMPTS:
                raise last_error
        doubled = self._settings.retry_pause_s * 2.0 ** min(self.count - 1, 20)
        pause = min(self._settings.max_retry_pause_s, doubled) * JITTER_RANDOM.uniform(0.75, 1.25)
        if pause >= self._deadline.get_remaining_s():
            raise OperationTimedOut(
                self._path, what, last_error=last_error, attempts=self.count
            ) from last_error
        if self._close_event.wait(pause):
            raise ClientClosed("the client was closed during a region lookup")
