"""Errors that the client raises itself: timeouts, broken connections, failed batches."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from rowkey.errors import Closed, NotSupported, Unavailable
from rowkey.hbase.errors.base_errors import HBaseError, InvalidRequest, ServerGone
from rowkey.hbase.errors.server_errors import HBASE_PACKAGE
from rowkey.messages import shorten_text

if TYPE_CHECKING:
    from collections.abc import Iterable


class ConnectionLost(ServerGone):
    """The server refused the connection, or closed it."""


class UnknownHost(ServerGone):
    """The server's name has no address; it is retried a few times, since DNS may fail briefly."""

    is_likely_permanent = True
    is_outcome_unknown = False
    advice = "Check the name, and that this machine can resolve it."


class CallTimedOut(ServerGone):
    """No answer came in time; whether the server carried out the call is unknown.

    A call that has waited for `Settings.call_timeout_s` closes its connection.
    """


class HeaderRefused(ServerGone):
    """The server closed the connection before its first answer, as it does for a wrong header.

    A server that dies does the same, so the call is retried a few times.

    Source: HBase 2.6.4, a wrong service, codec or compressor is answered by a bare EOF.
    """

    is_likely_permanent = True
    advice = "Check that the address is the HBase server's own port, not its web page's."


class MalformedAnswer(ServerGone):
    """The server's answer is not HBase's protocol; the connection is closed."""

    is_likely_permanent = True
    advice = "Check that the address is the HBase server's own port, not its web page's."


class FatalConnection(InvalidRequest):
    """The server refused the connection for good."""

    java_names = (
        f"{HBASE_PACKAGE}ipc.FatalConnectionException",
        f"{HBASE_PACKAGE}ipc.WrongVersionException",
        f"{HBASE_PACKAGE}ipc.EmptyServiceNameException",
        f"{HBASE_PACKAGE}ipc.UnknownServiceException",
    )


class AuthenticationNeeded(HBaseError, NotSupported):
    """The cluster requires Kerberos, a token or TLS, which this client does not support."""

    java_names = (f"{HBASE_PACKAGE}ipc.BadAuthException",)
    advice = "Ask a cluster without security, or go through its Thrift or REST server."


class OperationTimedOut(HBaseError, Unavailable, TimeoutError):
    """An operation has used up its time or its attempts.

    Args:
        path: the table or the server.
        problem: what took too long.
        last_error: the error of the last attempt, if there was one.
        attempts: how many attempts there were.
        about: `server`, `region` and `row`, as every error here has them.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Create the object by `TimeoutError`, the only one of its builtin bases that can."""
        return TimeoutError.__new__(cls)

    def __init__(
        self,
        path: str,
        problem: str,
        *,
        last_error: HBaseError | None = None,
        attempts: int = 0,
        **about: Any,
    ) -> None:
        text = f"{problem} ({attempts} attempts)" if attempts else problem
        remedy = f"Last error: {last_error}" if last_error else ""
        super().__init__(path, text, remedy=remedy, **about)
        self.last_error = last_error
        self.attempts = attempts


class ClientClosed(HBaseError, Closed):
    """The client is closed, or was closed during the call."""

    advice = "Connect again."

    def __init__(self, problem: str = "it is closed") -> None:
        super().__init__("client", problem, "an open client")


class MaybeApplied(HBaseError, Unavailable):
    """The answer to a change was lost: it may be applied or not, and a retry could apply it twice.

    Source: HBase 2.6.4, an increment retried after its region moved was applied twice.
    """

    advice = "Read the row to see what it holds."


class FailedAction(NamedTuple):
    """One action of a batch that failed.

    Args:
        index: its index in the batch, from 0.
        row: its row.
        region: full name of the region, or None if it was never found.
        server: "host:port", or None.
        error: why it failed.
    """

    index: int  # type: ignore[assignment]  # an action of a batch is found by its index
    row: bytes
    region: bytes | None
    server: str | None
    error: HBaseError


_MAX_GROUPS_SHOWN: Final = 5
"""Groups of failures that the text lists; `failures` has all."""


class PartialBatchFailure(HBaseError, Unavailable):
    """Some actions of a batch failed; the others are applied.

    Args:
        path: the table.
        failures: the actions that failed, in any order.
        action_count: how many actions the batch had.
    """

    def __init__(self, path: str, failures: Iterable[FailedAction], action_count: int) -> None:
        self.failures = tuple(sorted(failures, key=lambda one: one.index))
        self.count = action_count
        what = f"{len(self.failures):,} of {action_count:,} actions failed, the others are applied"
        super().__init__(path, what, remedy="\n".join(self._format_groups()))
        self.args = ("\n".join((f"{shorten_text(path)}: {what}.", *self._format_groups())),)

    def _format_groups(self) -> list[str]:
        """Return one line for each group of failures of the same error, server and region."""
        grouped = sorted(self.failures, key=_get_group_key)
        groups = [list(some) for _, some in groupby(grouped, key=_get_group_key)]
        lines = [_format_group(one) for one in sorted(groups, key=len, reverse=True)]
        left_out = len(lines) - _MAX_GROUPS_SHOWN
        more = [f"… and {left_out:,} more groups"] if left_out > 0 else []
        return lines[:_MAX_GROUPS_SHOWN] + more


def _get_group_key(failure: FailedAction) -> tuple[str, str, bytes]:
    return (type(failure.error).__name__, failure.server or "", failure.region or b"")


def _format_group(group: list[FailedAction]) -> str:
    first = group[0]
    place = f"{first.server or 'no server'}, region {first.region!r}"
    return f"{len(group):,} on {place}, first index {first.index} row {first.row!r}: {first.error}"
