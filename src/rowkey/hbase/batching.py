"""Many actions at once: cut by regions, put together by servers, asked again one by one.

The actions stand in the order of their row keys, so whatever regions there are, those of a region
stand side by side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.errors import Refused
from rowkey.hbase.errors import BusyError, Failure, HBaseError, MaybeApplied, OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.hbase.calling import Attempts, Caller
    from rowkey.hbase.connection import Call
    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request

LOOK_UP_S, LATER_S = 1.0, 0.1
"""Seconds that a region which is not open may keep the others waiting: the first, and each more."""
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
    def index(self, place: int) -> int:
        """The number that an action had among those given."""

    @abstractmethod
    def counts(self, place: int) -> bool:
        """Whether an action that is sent twice may count twice."""

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


def run_batch(caller: Caller, batch: Batch) -> list[Failure]:
    """Have all actions done, each as often as its errors allow.

    Its budget begins anew whenever some of the actions are done.

    Returns:
        Those that failed; all others are done.
    """
    failures: list[Failure] = []
    todo: list[Stretch] = [(0, len(batch))] if len(batch) else []
    attempts = caller.attempts(caller.deadline())
    while todo:
        round_ = _Round(caller, batch, attempts)
        again = round_.go(todo, failures)
        if not again:
            break
        try:
            attempts.failed(round_.last_error())
        except (HBaseError, Refused) as error:
            failures += round_.given_up(error)
            break
        todo = again
    return failures


class _Round:
    """Everything that is to be done, sent once."""

    def __init__(self, caller: Caller, batch: Batch, attempts: Attempts) -> None:
        self._caller, self._batch, self._attempts = caller, batch, attempts
        self._under_way: dict[tuple[str, int], deque[_Parcel]] = {}
        self._errors: dict[Stretch, HBaseError] = {}
        self._failures: list[Failure] = []
        self._is_late = False

    def go(self, todo: Iterable[Stretch], failures: list[Failure]) -> list[Stretch]:
        """Send it, and wait for all answers.

        Returns:
            What is to be done again, ascending.
        """
        self._failures = failures
        growing: dict[tuple[str, int], _Parcel] = {}
        settings = self._caller.settings
        for part in self._parts(todo):
            address = part.region.server.address
            size, count = self._batch.size(part.start, part.stop), part.stop - part.start
            parcel = growing.setdefault(address, _Parcel())
            if parcel.parts and (
                parcel.size + size > settings.batch_bytes
                or parcel.count + count > settings.batch_actions
            ):
                self._send(address, parcel)
                parcel = growing[address] = _Parcel()
            parcel.parts.append(part)
            parcel.size += size
            parcel.count += count
        for address, parcel in growing.items():
            self._send(address, parcel)
        for parcels in self._under_way.values():
            while parcels:
                self._collect(parcels.popleft())
        return _joined(self._errors)

    def last_error(self) -> HBaseError:
        """An error that asks for another round."""
        return next(reversed(self._errors.values()))

    def given_up(self, last: HBaseError | Refused) -> Iterator[Failure]:
        """What is not done again, and why not: the last error of each action is told beside it."""
        for (start, stop), error in sorted(self._errors.items(), key=itemgetter(0)):
            spent = OutOfTime(
                error.mistake.path, last.mistake.what, last=error,
                server=error.server, region=error.region,
            )  # fmt: skip
            for place in range(start, stop):
                yield self._failure(place, error.region, error.server, spent)

    def _failure(
        self, place: int, region: bytes | None, server: str | None, error: HBaseError
    ) -> Failure:
        return Failure(self._batch.index(place), self._batch.row(place), region, server, error)

    def _parts(self, todo: Iterable[Stretch]) -> Iterator[Part]:
        """What is to be done, cut where regions end and where a request would be too large."""
        settings = self._caller.settings
        for first, stop in todo:
            start = first
            while start < stop:
                region, begin = self._next_region(start, stop)
                if region is None:
                    break
                end = self._batch.below(region.stop) if region.stop else stop
                end = min(stop, max(end, begin + 1))
                end = self._batch.fit(begin, end, settings.batch_bytes, settings.batch_actions)
                yield Part(region, begin, end)
                start = end

    def _next_region(self, start: int, stop: int) -> tuple[Region | None, int]:
        """The next region that is open, and the first of the actions that it holds.

        Behind a row whose region is not open, rows further and further away are asked for: most
        often those between are of the same region. What is passed over waits for the next round.
        """
        place, step = start, 1
        while True:
            try:
                region = self._locate(self._batch.row(place))
            except HBaseError as error:
                if place == stop - 1:
                    self._fail((start, stop), error, None)
                    return None, stop
                place, step, last = min(place + step, stop - 1), 2 * step, error
                continue
            if place == start:
                return region, start
            begin = min(place, max(start + 1, self._batch.below(region.start)))
            self._fail((start, begin), last, None)
            return region, begin

    def _locate(self, row: bytes) -> Region:
        """The region of a row; one that is not open keeps the others waiting only for a moment.

        Raises:
            BusyError: it is not known in time, but may be later.
        """
        deadline = self._attempts.deadline
        soon = deadline.sooner(LATER_S if self._is_late else LOOK_UP_S)
        try:
            return self._caller.locations.locate(self._batch.table, row, soon)
        except OutOfTime as late:
            self._is_late = True
            if deadline.expired:
                raise
            raise BusyError(late.mistake.path, late.mistake.what) from late

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
            self._fail((place, place + 1), self._found(place, wrong, sent=True), part.region)
        if failed < parcel.count:
            self._attempts.progressed()

    def _lose(self, parcel: _Parcel, error: HBaseError, *, sent: bool) -> None:
        """Note that nothing is known of a whole parcel."""
        for part in parcel.parts:
            self._caller.heed(error, part.region)
            counts = any(map(self._batch.counts, range(part.start, part.stop)))
            if not (counts and sent and error.unclear):
                self._fail((part.start, part.stop), error, part.region)
                continue
            for place in range(part.start, part.stop):
                found = self._found(place, error, sent=sent)
                self._fail((place, place + 1), found, part.region)

    def _found(self, place: int, error: HBaseError, *, sent: bool) -> HBaseError:
        """The error of one action: one that counts is not sent twice if it may have been done."""
        if sent and error.unclear and self._batch.counts(place):
            what = "it was sent, and whether it was done is not known"
            return MaybeApplied(error.mistake.path, what, server=error.server)
        return error

    def _fail(self, stretch: Stretch, error: HBaseError, region: Region | None) -> None:
        """Note actions that failed: for the next round, or for ever."""
        if error.retriable:
            self._errors[stretch] = error
            return
        name, server = (None, None) if region is None else (region.name, str(region.server))
        self._failures += [self._failure(place, name, server, error) for place in range(*stretch)]


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Stretches in their order, those that touch made one."""
    found: list[Stretch] = []
    for start, stop in sorted(stretches):
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found
