"""Send the actions of a batch to the servers of their regions and repeat those that failed.

Actions are sorted by row key, so the actions of one region are always consecutive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from rowkey.cells import CELL_OVERHEAD_BYTES, COUNTER_BYTES, RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.connection import PendingCall
from rowkey.hbase.errors import BusyError, FailedAction, HBaseError, MaybeApplied, OperationTimedOut
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.messages.contract import Idempotence, Request
from rowkey.hbase.requests import Append, Increment, Multi
from rowkey.hbase.requests.multi import Action, Outcome, get_action_idempotence
from rowkey.hbase.retrying_caller import Attempts, RetryingCaller

FIRST_LOOKUP_S, NEXT_LOOKUP_S = 1.0, 0.1
"""Seconds to wait for a region that is not open: the first of a round, and each further one."""
MAX_REQUESTS_PER_SERVER = 2
"""Requests in flight to one server: it works on one while the next is encoded and sent."""

ActionRange = tuple[int, int]
"""A half-open range of positions in a batch: start, stop."""


class RegionSlice(NamedTuple):
    """Consecutive actions of one region.

    Args:
        region: the region of their rows.
        start: position of the first action.
        stop: position after the last action.
    """

    region: RegionLocation
    start: int
    stop: int


class ActionBatch(ABC):
    """The reads and writes of a batch on one table, in the order of their row keys."""

    table: str

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of actions."""

    @abstractmethod
    def get_row_key(self, position: int) -> bytes:
        """Return the row key of the action at a position of the batch."""

    @abstractmethod
    def get_original_index(self, position: int) -> int:
        """Return the index, in the caller's input, of the action at a position."""

    @abstractmethod
    def can_apply_twice(self, position: int) -> bool:
        """Return whether sending the action at a position twice may apply it twice."""

    @abstractmethod
    def count_below(self, key: bytes) -> int:
        """Return the number of actions whose row key is smaller than a key."""

    @abstractmethod
    def find_request_end(self, start: int, stop: int, max_bytes: int, max_actions: int) -> int:
        """Return the end of the largest request that begins at the position `start`.

        Args:
            start: position of its first action.
            stop: position that it must not pass.
            max_bytes: most bytes; only a single action may have more.
            max_actions: most actions, 1 or more.
        """

    @abstractmethod
    def estimate_bytes(self, start: int, stop: int) -> int:
        """Return the approximate bytes of the actions `start` to `stop` in a request."""

    @abstractmethod
    def build_request(self, slices: Sequence[RegionSlice]) -> Request[Any]:
        """Build the request that sends the actions of these slices to one server."""

    @abstractmethod
    def record_outcomes(
        self, slices: Sequence[RegionSlice], answer: Any
    ) -> Iterable[tuple[int, HBaseError]]:
        """Store the outcomes in an answer; return (position, error) of each failed action."""


class _PendingRequest:
    """Slices for one server: collected, then sent as one request, then waited for."""

    def __init__(self) -> None:
        self.slices: list[RegionSlice] = []
        self.byte_count = self.action_count = 0
        self.call: PendingCall | None = None
        self.request: Request[Any] | None = None


def run_batch(caller: RetryingCaller, batch: ActionBatch) -> list[FailedAction]:
    """Run all actions of a batch, repeating those whose errors are retriable.

    The timeout starts again whenever some of the actions succeed.

    Returns:
        The actions that failed; all others are done.
    """
    failures: list[FailedAction] = []
    pending: list[ActionRange] = [(0, len(batch))] if len(batch) else []
    attempts = caller.start_attempts()
    while pending:
        batch_round = _BatchRound(caller, batch, attempts)
        pending = batch_round.send_all(pending, failures)
        if not pending:
            break
        try:
            attempts.wait_or_raise(batch_round.get_last_error())
        except (HBaseError, InvalidArgument) as error:
            failures += batch_round.build_final_failures(error)
            break
    return failures


class _BatchRound:
    """One round of `run_batch`: each pending action is sent once."""

    def __init__(self, caller: RetryingCaller, batch: ActionBatch, attempts: Attempts) -> None:
        self._caller, self._batch, self._attempts = caller, batch, attempts
        self._in_flight: dict[tuple[str, int], deque[_PendingRequest]] = {}
        self._errors: dict[ActionRange, HBaseError] = {}
        self._failures: list[FailedAction] = []
        self._is_lookup_slow = False

    def send_all(
        self, pending: Iterable[ActionRange], failures: list[FailedAction]
    ) -> list[ActionRange]:
        """Send all pending actions and wait for all answers.

        Returns:
            The ranges to send again, in ascending order.
        """
        self._failures = failures
        growing: dict[tuple[str, int], _PendingRequest] = {}
        settings = self._caller.settings
        for part in self._split_by_region(pending):
            address = part.region.server.address
            size, count = self._batch.estimate_bytes(part.start, part.stop), part.stop - part.start
            request = growing.setdefault(address, _PendingRequest())
            if request.slices and (
                request.byte_count + size > settings.batch_bytes
                or request.action_count + count > settings.batch_actions
            ):
                self._send_pending(address, request)
                request = growing[address] = _PendingRequest()
            request.slices.append(part)
            request.byte_count += size
            request.action_count += count
        for address, request in growing.items():
            self._send_pending(address, request)
        for requests in self._in_flight.values():
            while requests:
                self._collect_answer(requests.popleft())
        return _merge_ranges(self._errors)

    def get_last_error(self) -> HBaseError:
        """Return the retriable error that was recorded last in this round."""
        return next(reversed(self._errors.values()))

    def build_final_failures(self, last: HBaseError | InvalidArgument) -> Iterator[FailedAction]:
        """Yield a failure with its last error for each action that is not sent again."""
        for (start, stop), error in sorted(self._errors.items(), key=itemgetter(0)):
            spent = OperationTimedOut(
                error.mistake.path, last.mistake.problem, last_error=error,
                server=error.server, region=error.region,
            )  # fmt: skip
            for position in range(start, stop):
                yield self._build_failure(position, error.region, error.server, spent)

    def _build_failure(
        self, position: int, region: bytes | None, server: str | None, error: HBaseError
    ) -> FailedAction:
        return FailedAction(
            self._batch.get_original_index(position),
            self._batch.get_row_key(position),
            region,
            server,
            error,
        )

    def _split_by_region(self, pending: Iterable[ActionRange]) -> Iterator[RegionSlice]:
        """Split ranges of actions at region boundaries and at the maximum size of a request."""
        settings = self._caller.settings
        for first, stop in pending:
            start = first
            while start < stop:
                region, begin = self._find_next_region(start, stop)
                if region is None:
                    break
                end = self._batch.count_below(region.stop) if region.stop else stop
                end = min(stop, max(end, begin + 1))
                end = self._batch.find_request_end(
                    begin, end, settings.batch_bytes, settings.batch_actions
                )
                yield RegionSlice(region, begin, end)
                start = end

    def _find_next_region(self, start: int, stop: int) -> tuple[RegionLocation | None, int]:
        """Return the next open region and the position of its first action.

        After a row whose region is not open, the search doubles its steps, since the rows between
        are mostly of the same region. Skipped actions wait for the next round.
        """
        position, step = start, 1
        while True:
            try:
                region = self._locate_region(self._batch.get_row_key(position))
            except HBaseError as error:
                if position == stop - 1 or not error.is_retriable:
                    self._record_failure((start, stop), error, None)
                    return None, stop
                position, step, last = min(position + step, stop - 1), 2 * step, error
                continue
            if position == start:
                return region, start
            begin = min(position, max(start + 1, self._batch.count_below(region.start)))
            self._record_failure((start, begin), last, None)
            return region, begin

    def _locate_region(self, row: bytes) -> RegionLocation:
        """Return the region of a row; wait only briefly if it is not open.

        Raises:
            BusyError: the region was not found in time; it may be found later.
        """
        deadline = self._attempts.deadline
        soon = deadline.shorten_to(NEXT_LOOKUP_S if self._is_lookup_slow else FIRST_LOOKUP_S)
        try:
            return self._caller.locator.locate_region(self._batch.table, row, soon)
        except OperationTimedOut as late:
            self._is_lookup_slow = True
            if deadline.is_expired:
                raise
            raise BusyError(late.mistake.path, late.mistake.problem) from late

    def _send_pending(self, address: tuple[str, int], pending: _PendingRequest) -> None:
        """Send a request to a server; first wait while the server has too many in flight."""
        in_flight = self._in_flight.setdefault(address, deque())
        while len(in_flight) >= MAX_REQUESTS_PER_SERVER:
            self._collect_answer(in_flight.popleft())
        pending.request = self._batch.build_request(pending.slices)
        region = pending.slices[0].region
        try:
            deadline = self._attempts.deadline
            pending.call = self._caller.send_request(
                region.server.address, pending.request, region.name, deadline
            )
        except HBaseError as error:
            self._record_lost_request(pending, error, was_sent=False)
        else:
            in_flight.append(pending)

    def _collect_answer(self, pending: _PendingRequest) -> None:
        """Wait for the answer to a request and record the outcome of each of its actions."""
        assert pending.call is not None
        assert pending.request is not None
        try:
            answer = self._caller.wait_for_answer(pending.call, pending.request, self._attempts)
        except HBaseError as error:
            self._record_lost_request(pending, error, was_sent=True)
            return
        parts, last_error, failure_count = iter(pending.slices), None, 0
        part = next(parts)
        for position, failure in self._batch.record_outcomes(pending.slices, answer):
            while not part.start <= position < part.stop:
                part = next(parts)
            if failure is not last_error:  # the error of a region is repeated for each action
                self._caller.invalidate_on_error(failure, part.region)
            last_error, failure_count = failure, failure_count + 1
            self._record_failure(
                (position, position + 1),
                self._classify_error(position, failure, was_sent=True),
                part.region,
            )
        if failure_count < pending.action_count:
            self._attempts.restart_budget()

    def _record_lost_request(
        self, pending: _PendingRequest, error: HBaseError, *, was_sent: bool
    ) -> None:
        """Record the error of a request that was not answered for each of its actions."""
        for part in pending.slices:
            self._caller.invalidate_on_error(error, part.region)
            counts = any(map(self._batch.can_apply_twice, range(part.start, part.stop)))
            if not (counts and was_sent and error.is_outcome_unknown):
                self._record_failure((part.start, part.stop), error, part.region)
                continue
            for position in range(part.start, part.stop):
                own_error = self._classify_error(position, error, was_sent=was_sent)
                self._record_failure((position, position + 1), own_error, part.region)

    def _classify_error(self, position: int, error: HBaseError, *, was_sent: bool) -> HBaseError:
        """Return `MaybeApplied` for an action that must not be repeated, else the error itself."""
        if was_sent and error.is_outcome_unknown and self._batch.can_apply_twice(position):
            what = "the answer to the batch was lost, so the change may be applied or not"
            return MaybeApplied(error.mistake.path, what, server=error.server)
        return error

    def _record_failure(
        self, action_range: ActionRange, error: HBaseError, region: RegionLocation | None
    ) -> None:
        """Record failed actions: those with a retriable error go into the next round."""
        if error.is_retriable:
            self._errors[action_range] = error
            return
        name, server = (None, None) if region is None else (region.name, str(region.server))
        self._failures += [
            self._build_failure(position, name, server, error) for position in range(*action_range)
        ]


def _merge_ranges(ranges: Iterable[ActionRange]) -> list[ActionRange]:
    """Return ranges in order, adjacent ones merged."""
    merged: list[ActionRange] = []
    for start, stop in sorted(ranges):
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return merged


ACTION_OVERHEAD_BYTES = 32
"""Approximate bytes of an action without its cells: protobuf tags, lengths and the row key."""

_SINGLE_CELL_OVERHEAD_BYTES = ACTION_OVERHEAD_BYTES + CELL_OVERHEAD_BYTES + 16
"""Approximate bytes of an action of one cell without its row key (stored twice) and value."""


class RowActionBatch(ActionBatch):
    """A batch of reads and writes of rows, and the outcome of each.

    Args:
        table: the table's name.
        actions: the actions; those of the same row keep their order.
        nonce_group: number of the client, which completes the nonces of the actions.
        sync: whether writes are on the disks before they are acknowledged.

    Attributes:
        outcomes: the outcome of each action, in the order given.
    """

    def __init__(
        self,
        table: str,
        actions: Sequence[Action],
        nonce_group: int = 0,
        *,
        sync: bool = False,
    ) -> None:
        self.table, self._nonce_group, self._sync = table, nonce_group, sync
        rows = [action.row for action in actions]
        self._sorted_indexes = sorted(range(len(rows)), key=rows.__getitem__)
        self._rows = [rows[position] for position in self._sorted_indexes]
        self._actions = [actions[position] for position in self._sorted_indexes]
        self._byte_offsets = list(accumulate(map(_estimate_action_bytes, self._actions), initial=0))
        self.outcomes: list[Outcome] = [None] * len(actions)

    def __len__(self) -> int:
        return len(self._rows)

    def get_row_key(self, position: int) -> bytes:
        return self._rows[position]

    def get_original_index(self, position: int) -> int:
        return self._sorted_indexes[position]

    def can_apply_twice(self, position: int) -> bool:
        return get_action_idempotence(self._actions[position]) is Idempotence.NOT_IDEMPOTENT

    def count_below(self, key: bytes) -> int:
        return bisect_left(self._rows, key)

    def find_request_end(self, start: int, stop: int, max_bytes: int, max_actions: int) -> int:
        last = min(stop, start + max_actions)
        end = (
            bisect_right(self._byte_offsets, self._byte_offsets[start] + max_bytes, start, last + 1)
            - 1
        )
        return max(start + 1, end)

    def estimate_bytes(self, start: int, stop: int) -> int:
        return self._byte_offsets[stop] - self._byte_offsets[start]

    def build_request(self, slices: Sequence[RegionSlice]) -> Multi:
        regions = [(part.region.name, self._actions[part.start : part.stop]) for part in slices]
        return Multi(regions, self._nonce_group, self._sync)

    def record_outcomes(
        self, slices: Sequence[RegionSlice], answer: list[Outcome]
    ) -> Iterator[tuple[int, HBaseError]]:
        positions = (position for part in slices for position in range(part.start, part.stop))
        for position, outcome in zip(positions, answer, strict=True):
            if isinstance(outcome, HBaseError):
                yield position, outcome
            elif outcome is not None:
                self.outcomes[self._sorted_indexes[position]] = outcome


def _estimate_action_bytes(action: Action) -> int:
    if isinstance(action, RowCells):  # first, as most are
        row, cells = action
        if len(cells) == 1:
            family, qualifier, _, value, _, _ = cells[0]
            own = 2 * len(row) + len(family) + len(qualifier) + len(value)
            return _SINGLE_CELL_OVERHEAD_BYTES + own
        cell_bytes = sum([len(cell[0]) + len(cell[1]) + len(cell[3]) for cell in cells])
        overhead = len(cells) * (CELL_OVERHEAD_BYTES + 16 + len(row))
        return ACTION_OVERHEAD_BYTES + len(row) + cell_bytes + overhead
    if isinstance(action, Append):
        sizes = [len(qualifier) + len(piece) for _, qualifier, piece in action.pieces]
    elif isinstance(action, Increment):
        sizes = [len(qualifier) + COUNTER_BYTES for _, qualifier, _ in action.amounts]
    else:
        sizes = []
    overhead = ACTION_OVERHEAD_BYTES + len(action.row)
    return overhead + sum(sizes) + len(sizes) * (CELL_OVERHEAD_BYTES + 16)


def split_into_waves(
    mutations: Sequence[RowCells],
) -> Iterator[tuple[Sequence[RowCells], Sequence[int]]]:
    """Split mutations into waves in which no row occurs twice, since a server would reorder them.

    Returns:
        The mutations of each wave and their indexes in the input.

    Cost: 50 ns a mutation where all rows differ.

    Source: HRegion.doMiniBatchMutate writes puts and deletes of a batch together, with one
        timestamp.

    >>> rows = [RowCells(b"a", ()), RowCells(b"b", ()), RowCells(b"a", ())]
    >>> [numbers for _, numbers in split_into_waves(rows)]
    [[0, 1], [2]]
    """
    if len({mutation[0] for mutation in mutations}) == len(mutations):
        if mutations:
            yield mutations, range(len(mutations))
        return
    last_wave_by_row: dict[bytes, int] = {}
    waves: list[list[int]] = []
    for index, mutation in enumerate(mutations):
        wave = last_wave_by_row[mutation[0]] = last_wave_by_row.get(mutation[0], -1) + 1
        if wave == len(waves):
            waves.append([])
        waves[wave].append(index)
    for indexes in waves:
        yield [mutations[index] for index in indexes], indexes
