"""Pauses between lookups: longer each time, never past the deadline."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.hbase.errors import OutOfTime

if TYPE_CHECKING:
    from threading import Event

    from rowkey.hbase.errors import HBaseError
    from rowkey.hbase.settings import Deadline, Settings


CHANCE = Random()  # noqa: S311 - spreads retries, guards nothing
"""Chance of its own: a thread in the background must not disturb whoever has seeded `random`."""
FEW = 5
"""Attempts at what may never succeed, such as the name of a host that nobody knows."""


class Waiting:
    """The attempts of one lookup.

    Args:
        path: the table that is looked up.
        settings: the first pause, and the longest.
        deadline: when nobody waits any more.
        closing: set when the client is closed.
    """

    def __init__(self, path: str, settings: Settings, deadline: Deadline, closing: Event) -> None:
        self._path, self._settings = path, settings
        self._deadline, self._closing = deadline, closing
        self.count = self._strange = 0

    def pause(self, what: str, last: HBaseError | None = None) -> None:
        """Wait before the next attempt, a little more or less than twice as long as before.

        Args:
            what: what is waited for, for the message.
            last: the error of this attempt, if it was one.

        Raises:
            OutOfTime: the deadline is over, or would be before the pause.
            HBaseError: this one came a few times already, and may come for ever.
            Refused: the client was closed.
        """
        self.count += 1
        if last is not None and last.few_times:
            self._strange += 1
            if self._strange >= FEW:
                raise last
        doubled = self._settings.pause_s * 2.0 ** min(self.count - 1, 20)
        pause = min(self._settings.pause_most_s, doubled) * CHANCE.uniform(0.75, 1.25)
        if pause >= self._deadline.left():
            raise OutOfTime(self._path, what, last=last, attempts=self.count) from last
        if self._closing.wait(pause):
            raise Refused("client", "it was closed amid a lookup", "an open client")
