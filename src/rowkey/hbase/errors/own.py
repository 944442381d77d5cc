"""Errors that no server sends: what a client says of silence, of broken connections, of batches."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from rowkey.errors import Unsupported, printable
from rowkey.hbase.errors.answers import HBASE
from rowkey.hbase.errors.sorts import AskedWrongly, HBaseError, ServerGone

if TYPE_CHECKING:
    from collections.abc import Iterable


class ConnectionLost(ServerGone):
    """The server refused the connection, closed it or cut it."""


class UnknownHost(ServerGone):
    """The server's name has no address; names come and go, so it is tried again a few times."""

    few_times = True
    unclear = False
    advice = "Check the name, and that this machine can resolve it."


class CallTimedOut(ServerGone):
    """No answer in time; what was done of the call is not known.

    One that has waited for `Settings.call_s` closes its connection.
    """


class HeaderRefused(ServerGone):
    """The server hung up before its first answer: so it does when the header is not to its liking.

    A server that dies looks the same, so it is tried again, but only a few times.

    Source: HBase 2.6.4, a wrong service, codec or compressor is answered by a bare EOF.
    """

    few_times = True
    advice = "Check that the address is the HBase server's own port, not its web page's."


class MalformedAnswer(ServerGone):
    """What the server sent is no answer of HBase; the connection is closed."""

    few_times = True
    advice = "Check that the address is the HBase server's own port, not its web page's."


class FatalConnection(AskedWrongly):
    """The server refused the whole connection."""

    names = (
        f"{HBASE}ipc.FatalConnectionException",
        f"{HBASE}ipc.WrongVersionException",
        f"{HBASE}ipc.EmptyServiceNameException",
        f"{HBASE}ipc.UnknownServiceException",
    )


class AuthenticationNeeded(HBaseError, Unsupported):
    """The cluster wants Kerberos, a token or TLS, which this client does not speak."""

    names = (f"{HBASE}ipc.BadAuthException",)
    advice = "Ask a cluster without security, or go through its Thrift or REST server."


class OutOfTime(HBaseError, Unsupported, TimeoutError):
    """The time or the attempts of an operation are used up.

    Args:
        path: the table or the server.
        what: what took too long.
        last: the error of the last attempt, if there was one.
        attempts: how many attempts there were.
        about: `server`, `region` and `row`, as of every error here.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An empty one; of the two builtin errors it is, only this one can make it."""
        return TimeoutError.__new__(cls)

    def __init__(
        self,
        path: str,
        what: str,
        *,
        last: HBaseError | None = None,
        attempts: int = 0,
        **about: Any,
    ) -> None:
        told = f"{what} ({attempts} attempts)" if attempts else what
        super().__init__(path, told, remedy=f"Last: {last}" if last else "", **about)
        self.last = last
        self.attempts = attempts


class MaybeApplied(HBaseError, Unsupported):
    """A change was sent twice and may count twice: its number does not protect it after a move.

    Source: HBase 2.6.4, an increment retried after its region moved was applied twice.
    """

    advice = "Read the row to see what it holds."


class Failure(NamedTuple):
    """One action of a batch that failed.

    Args:
        index: its place in the batch, from 0.
        row: its row.
        region: full name of the region, or None if it was never found.
        server: "host:port", or None.
        error: what is wrong with it.
    """

    index: int  # type: ignore[assignment]  # an action of a batch is found by its index
    row: bytes
    region: bytes | None
    server: str | None
    error: HBaseError


_GROUPS_SHOWN: Final = 5
"""Groups of failures that a text names; `failures` has all."""


class SomeFailed(HBaseError, Unsupported):
    """Some actions of a batch failed; the others are applied.

    Args:
        path: the table.
        failures: those that failed, any order.
        count: how many actions the batch had.
    """

    def __init__(self, path: str, failures: Iterable[Failure], count: int) -> None:
        self.failures = tuple(sorted(failures, key=lambda one: one.index))
        self.count = count
        what = f"{len(self.failures):,} of {count:,} actions failed, the others are applied"
        super().__init__(path, what, remedy="\n".join(self._sentences()))
        self.args = ("\n".join((f"{printable(path)}: {what}.", *self._sentences())),)

    def _sentences(self) -> list[str]:
        grouped = sorted(self.failures, key=_group)
        groups = [list(some) for _, some in groupby(grouped, key=_group)]
        lines = [_sentence(one) for one in sorted(groups, key=len, reverse=True)]
        left_out = len(lines) - _GROUPS_SHOWN
        more = [f"… and {left_out:,} more groups"] if left_out > 0 else []
        return lines[:_GROUPS_SHOWN] + more


def _group(failure: Failure) -> tuple[str, str, bytes]:
    return (type(failure.error).__name__, failure.server or "", failure.region or b"")


def _sentence(group: list[Failure]) -> str:
    first = group[0]
    place = f"{first.server or 'no server'}, region {first.region!r}"
    return f"{len(group):,} on {place}, first index {first.index} row {first.row!r}: {first.error}"
