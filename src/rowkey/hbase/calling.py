"""One call with its retries: on the region of a row, on a server, on the master.

Each error says by its class what to do (`rowkey.hbase.errors`); here it is done, until the answer
comes or the budget of the operation is spent.
"""

from __future__ import annotations

from random import Random
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from rowkey import forks
from rowkey.errors import Refused
from rowkey.hbase.errors import (
    AtOnceError,
    CallTimedOut,
    ElsewhereError,
    HBaseError,
    MalformedAnswer,
    MaybeApplied,
    NotMaster,
    OutOfTime,
    PleaseHold,
    RegionMoved,
    ServerGone,
    ServerNotRunningYet,
)
from rowkey.hbase.messages.contract import Repeating
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import Server
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from rowkey.hbase.connection import Call, Servers
    from rowkey.hbase.locations import Locations, Region
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.registry import Registry
    from rowkey.hbase.settings import Settings

A = TypeVar("A")

CHANCE = Random()  # noqa: S311 - spreads retries, guards nothing
"""Chance of its own: a thread in the background must not disturb whoever has seeded `random`."""
FEW_TIMES = 5
"""Tries of what may pass, but is most often for ever: `HBaseError.few_times`."""


class Caller:
    """Sends requests where they belong, and does what their errors ask for.

    Args:
        registry: where master and hbase:meta are.
        servers: the connections.
        locations: where the regions are.
        settings: budgets and pauses.
    """

    def __init__(
        self, registry: Registry, servers: Servers, locations: Locations, settings: Settings
    ) -> None:
        self.registry, self.servers = registry, servers
        self.locations, self.settings = locations, settings
        self._master: Server | None = None
        self.reset_in_child()
        forks.register(self)

    def reset_in_child(self) -> None:
        """In a forked child: wait for nobody whom the parent would wake."""
        self._closing = Event()

    def deadline(self) -> Deadline:
        """The end of an operation that begins now."""
        return Deadline.after(self.settings.operation_s)

    def on_row(
        self, table: str, row: bytes, request: Request[A], deadline: Deadline | None = None
    ) -> A:
        """The answer of the region that holds a row.

        Raises:
            AskedWrongly: the request can never succeed.
            MaybeApplied: an answer was lost, and asking again could count twice.
            OutOfTime: the budget is spent; it tells the last error.
        """
        attempts = self.attempts(deadline or self.deadline())
        lost: list[Server] = []
        try:
            return self._on_row(table, row, request, attempts, lost)
        except (HBaseError, Refused) as error:
            if lost and not isinstance(error, MaybeApplied):
                raise _maybe(request, lost[0]) from error
            raise

    def _on_row(
        self, table: str, row: bytes, request: Request[A], attempts: Attempts, lost: list[Server]
    ) -> A:
        """As `on_row`; notes the servers at which an answer to a guarded request was lost."""
        while True:
            region: Region | None = None
            try:
                region = self.locations.locate(table, row, attempts.deadline)
                if lost and region.server != lost[-1]:
                    self._require_dead(lost[-1], request, attempts.deadline)
                call = self.on_region(region, request, attempts.deadline)
            except HBaseError as error:
                self.heed(error, region)
                attempts.failed(error)
                continue
            try:
                return self.answer(call, request, attempts)
            except HBaseError as error:
                self.heed(error, region)
                if error.unclear and request.repeating is Repeating.COUNTS:
                    raise _maybe(request, region.server) from error
                if error.unclear and request.repeating is Repeating.GUARDED:
                    lost.append(region.server)
                attempts.failed(error)

    def on_region(self, region: Region, request: Request[A], deadline: Deadline) -> Call:
        """One attempt on a region, sent without waiting for the answer."""
        return self._send(region.server.address, request, region.name, deadline)

    def on_server(
        self, address: tuple[str, int], request: Request[A], deadline: Deadline | None = None
    ) -> A:
        """The answer of a server; what is not there for a while is asked again."""
        attempts = self.attempts(deadline or self.deadline())
        while True:
            try:
                call = self._send(address, request, b"", attempts.deadline)
                return self.answer(call, request, attempts)
            except HBaseError as error:
                self._drop(address, error)
                attempts.failed(error)

    def on_master(self, request: Request[A], deadline: Deadline | None = None) -> A:
        """The answer of the active master; while there is none, the next one is waited for.

        A request that makes something carries a nonce, so that asking twice makes one.
        """
        attempts = self.attempts(deadline or self.deadline())
        while True:
            try:
                master = self._master or self.registry.master(attempts.deadline)
                self._master = master
                call = self._send(master.address, request, b"", attempts.deadline)
                return self.answer(call, request, attempts)
            except HBaseError as error:
                if error.retriable and self._master is not None:
                    self._drop(self._master.address, error)
                    self._master = None if isinstance(error, _OTHER_MASTER) else self._master
                attempts.failed(error)

    def _send(
        self, address: tuple[str, int], request: Request[A], region: bytes, deadline: Deadline
    ) -> Call:
        if self._closing.is_set():
            raise Refused("client", "it is closed", "an open client")
        until = deadline if request.slow else self._attempt(deadline)
        connection = self.servers.connection(address, request.service, until)
        param, cells = request.encode(region)
        return connection.send(request.method, param, cells, deadline=until)

    def answer(self, call: Call, request: Request[A], attempts: Attempts) -> A:
        """The answer to a call, waited for no longer than one attempt may take.

        Raises:
            MalformedAnswer: it is none to this request.
        """
        until = attempts.deadline if request.slow else self._attempt(attempts.deadline)
        response = call.result(until)
        try:
            return request.decode(response)
        except Malformed as problem:
            raise MalformedAnswer(request.method, str(problem)) from problem

    def _attempt(self, deadline: Deadline) -> Deadline:
        return deadline.sooner(self.settings.call_s)

    def heed(self, error: HBaseError, region: Region | None) -> None:
        """Forget what an error shows to be wrong.

        A hint to a former home of the region, which a server may give, is not taken.
        """
        if region is None:
            return
        if isinstance(error, RegionMoved) and (error.seqnum or 0) > region.seqnum and error.host:
            home = Server(error.host, error.port or 0, error.start_code or 0)
            self.locations.moved(region, home, error.seqnum or 0)
        elif isinstance(error, ElsewhereError | ServerNotRunningYet):
            self.locations.forget(region)
        elif isinstance(error, ServerGone):
            self.locations.forget_server(region.server.address)
            self._drop(region.server.address, error)

    def _drop(self, address: tuple[str, int], error: HBaseError) -> None:
        # A call that took too long has cut its own connection; the others may be sound.
        if isinstance(error, ServerGone | ServerNotRunningYet) and not isinstance(
            error, CallTimedOut
        ):
            self.servers.drop(address, error)

    def _require_dead(self, lost_at: Server, request: Request[A], deadline: Deadline) -> None:
        """Let a guarded request go to a region's new server only if the old one has died.

        Nonces are in the log that a dead server leaves, so that who recovers it knows them; a
        region that only moved takes none along. One that was recovered and has moved since cannot
        be told from one that was recovered: then the request may be applied twice.

        Raises:
            MaybeApplied: the server is not known to have died.
        """
        status = self.on_master(GetClusterStatus((Option.SERVERS, Option.DEAD_SERVERS)), deadline)
        successor = (
            one.address == lost_at.address and one.start_code > lost_at.start_code
            for one in status.servers
        )
        if lost_at not in status.dead and not any(successor):
            raise _maybe(request, lost_at)

    def attempts(self, deadline: Deadline) -> Attempts:
        """The attempts of one operation."""
        return Attempts(self.settings, deadline, self._closing)

    def close(self) -> None:
        """Let nobody wait or ask any more."""
        self._closing.set()


_OTHER_MASTER = (ServerGone, NotMaster, PleaseHold, ServerNotRunningYet)
"""After these another master may be the active one."""


def _maybe(request: Request[A], server: Server) -> MaybeApplied:
    """The error of a request that counts and whose answer was lost."""
    return MaybeApplied(str(server), f"the answer to {request.method} was lost")


class Attempts:
    """Counts the attempts of one operation, and waits between them.

    Args:
        settings: pauses and the most attempts.
        deadline: when the operation ends.
        closing: set when the client is closed.
    """

    def __init__(self, settings: Settings, deadline: Deadline, closing: Event) -> None:
        self.settings, self.deadline, self._closing = settings, deadline, closing
        self.count = 0
        self._few = 0

    def failed(self, error: HBaseError) -> None:
        """Wait before the next attempt, or give up.

        A region that is elsewhere is looked for at once, the first time; all else waits twice as
        long as the time before, and a little more or less, so that many do not come back together.
        A pause that would outlast the operation ends it, so that its error tells what a server
        said, and not that a last attempt had no time.

        Raises:
            HBaseError: this one, if another attempt cannot succeed.
            OutOfTime: time or attempts are spent.
        """
        self.count += 1
        self._few += error.few_times
        if not error.retriable or self._few >= FEW_TIMES:
            raise error
        pause_s = self._pause_s(error)
        late = self.deadline.left() <= (pause_s or 0.0)
        if late or self.count >= self.settings.attempts:
            spent = "time is" if late else "attempts are"
            path, what = error.mistake.path, f"an operation's {spent} used up"
            raise OutOfTime(path, what, last=error, attempts=self.count) from error
        if pause_s is not None and self._closing.wait(pause_s):
            raise Refused("client", "it was closed amid an operation", "an open client")

    def progressed(self) -> None:
        """Begin anew: some of what is to be done is done."""
        self.count = self._few = 0
        self.deadline = Deadline.after(self.settings.operation_s)

    def _pause_s(self, error: HBaseError) -> float | None:
        if isinstance(error, AtOnceError) or (isinstance(error, ElsewhereError) and self.count < 2):
            return None
        longest = self.settings.pause_most_s
        pause = min(longest, self.settings.pause_s * 2.0 ** min(self.count - 1, 20))
        return pause * CHANCE.uniform(0.75, 1.25)
