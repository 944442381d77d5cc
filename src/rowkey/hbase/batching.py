"""Many actions at once: cut by regions, put together by servers, asked again one by one.

The actions stand in the order of their row keys, so whatever regions there are, those of a region
stand side by side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.hbase.errors import Failure, HBaseError, MaybeApplied, ServerGone, SomeFailed
from rowkey.hbase.messages.contract import Repeating

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.hbase.calling import Attempts, Caller
    from rowkey.hbase.connection import Call
    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request

AHEAD = 2
"""Parcels on their way to one server: it works on one while the next is made and sent."""

Stretch = tuple[int, int]
"""Actions from the first place to the one behind the last."""


class Part(NamedTuple):
    """Actions of one region.

    Args:
        region: where they belong.
        start: the first of them.
        stop: the one behind the last.
    """

    region: Region
    start: int
    stop: int


class Batch(ABC):
    """Actions of one table, in the order of their row keys."""

    table: str

    @abstractmethod
    def __len__(self) -> int:
        """How many actions there are."""

    @abstractmethod
    def row(self, place: int) -> bytes:
        """The row key of an action."""

    @abstractmethod
    def below(self, key: bytes) -> int:
        """How many actions have a row key below this one."""

    @abstractmethod
    def fit(self, start: int, stop: int, size: int, count: int) -> int:
        """Where a request ends that takes as many actions from `start` on as are allowed.

        Args:
            start: the first one.
            stop: the one behind the last.
            size: most bytes, passed only by a single action.
            count: most actions, 1 or more.
        """

    @abstractmethod
    def size(self, start: int, stop: int) -> int:
        """Bytes of some actions in a request, about."""

    @abstractmethod
    def request(self, parts: Sequence[Part]) -> Request[Any]:
        """The request that holds some parts."""

    @abstractmethod
    def settle(self, parts: Sequence[Part], answer: Any) -> Iterable[tuple[int, HBaseError]]:
        """Keep what an answer gives; tell the actions that failed, ascending, and their errors."""


class _Parcel:
    """Parts for one server, while they grow into a request and while that is under way."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.size = self.count = 0
        self.call: Call | None = None
        self.request: Request[Any] | None = None


def run_batch(caller: Caller, batch: Batch) -> None:
    """Have all actions done, each as often as its errors allow.

    Its budget begins anew whenever some of the actions are done.

    Raises:
        SomeFailed: with all that failed; the others are applied.
    """
    failures: list[Failure] = []
    todo: list[Stretch] = [(0, len(batch))] if len(batch) else []
    attempts = caller.attempts(caller.deadline())
    while todo:
        again, worst = _Round(caller, batch, attempts).go(todo, failures)
        if not again or worst is None:
            break
        try:
            attempts.failed(worst)
        except HBaseError as error:
            failures += [
                Failure(place, batch.row(place), None, worst.server, error)
                for start, stop in again
                for place in range(start, stop)
            ]
            break
        todo = again
    if failures:
        raise SomeFailed(batch.table, failures, len(batch))


class _Round:
    """Everything that is to be done, sent once."""

    def __init__(self, caller: Caller, batch: Batch, attempts: Attempts) -> None:
        self._caller, self._batch, self._attempts = caller, batch, attempts
        self._under_way: dict[tuple[str, int], deque[_Parcel]] = {}
        self._again: list[Stretch] = []
        self._worst: HBaseError | None = None
        self._failures: list[Failure] = []

    def go(
        self, todo: Iterable[Stretch], failures: list[Failure]
    ) -> tuple[list[Stretch], HBaseError | None]:
        """Send it, and wait for all answers.

        Returns:
            What is to be done again, ascending, and the last error that asks for it.
        """
        self._failures = failures
        growing: dict[tuple[str, int], _Parcel] = {}
        settings = self._caller.settings
        for part in self._parts(todo):
            address = part.region.server.address
            parcel = growing.setdefault(address, _Parcel())
            parcel.parts.append(part)
            parcel.size += self._batch.size(part.start, part.stop)
            parcel.count += part.stop - part.start
            # A part is cut so that it fits; the parcel is sent when the next might not.
            if parcel.size * 2 > settings.batch_bytes or parcel.count * 2 > settings.batch_actions:
                self._send(address, growing.pop(address))
        for address, parcel in growing.items():
            self._send(address, parcel)
        for parcels in self._under_way.values():
            while parcels:
                self._collect(parcels.popleft())
        return sorted(self._again), self._worst

    def _parts(self, todo: Iterable[Stretch]) -> Iterator[Part]:
        """What is to be done, cut where regions end and where a request would be too large."""
        settings, deadline = self._caller.settings, self._attempts.deadline
        for first, stop in todo:
            start = first
            while start < stop:
                try:
                    row = self._batch.row(start)
                    region = self._caller.locations.locate(self._batch.table, row, deadline)
                except HBaseError as error:
                    self._fail((start, stop), error, None)
                    break
                end = self._batch.below(region.stop) if region.stop else stop
                end = min(stop, max(end, start + 1))
                end = self._batch.fit(start, end, settings.batch_bytes, settings.batch_actions)
                yield Part(region, start, end)
                start = end

    def _send(self, address: tuple[str, int], parcel: _Parcel) -> None:
        """Send a parcel, once there is room on the way to its server."""
        parcels = self._under_way.setdefault(address, deque())
        while len(parcels) >= AHEAD:
            self._collect(parcels.popleft())
        parcel.request = self._batch.request(parcel.parts)
        region = parcel.parts[0].region
        try:
            deadline = self._attempts.deadline
            parcel.call = self._caller.on_region(region, parcel.request, deadline)
        except HBaseError as error:
            self._lose(parcel, error, sent=False)
        else:
            parcels.append(parcel)

    def _collect(self, parcel: _Parcel) -> None:
        """Wait for the answer to a parcel, and sort what came of it."""
        assert parcel.call is not None
        assert parcel.request is not None
        try:
            answer = self._caller.answer(parcel.call, parcel.request, self._attempts)
        except HBaseError as error:
            self._lose(parcel, error, sent=True)
            return
        parts, seen, failed = iter(parcel.parts), None, 0
        part = next(parts)
        for place, wrong in self._batch.settle(parcel.parts, answer):
            while not part.start <= place < part.stop:
                part = next(parts)
            if wrong is not seen:  # what is wrong with a region is said of each of its actions
                self._caller.heed(wrong, part.region)
            seen, failed = wrong, failed + 1
            self._fail((place, place + 1), wrong, part.region)
        if failed < parcel.count:
            self._attempts.progressed()

    def _lose(self, parcel: _Parcel, error: HBaseError, *, sent: bool) -> None:
        """Note that nothing is known of a whole parcel."""
        assert parcel.request is not None
        found = error
        if sent and isinstance(error, ServerGone) and _counts(parcel.request):
            what = "the answer to a batch that counts was lost"
            found = MaybeApplied(error.mistake.path, what, server=error.server)
        for part in parcel.parts:
            self._caller.heed(error, part.region)
            self._fail((part.start, part.stop), found, part.region)

    def _fail(self, stretch: Stretch, error: HBaseError, region: Region | None) -> None:
        """Note actions that failed: for the next round, or for ever."""
        if error.retriable:
            self._worst = error
            start, stop = stretch
            if self._again and self._again[-1][1] == start:
                start = self._again.pop()[0]
            self._again.append((start, stop))
            return
        name, server = (None, None) if region is None else (region.name, str(region.server))
        self._failures += [
            Failure(place, self._batch.row(place), name, server, error) for place in range(*stretch)
        ]


def _counts(request: Request[Any]) -> bool:
    return request.repeating is not Repeating.HARMLESS
