"""The errors of HBase: their base classes, and those that the client finds itself."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from time import monotonic
from typing import Any, ClassVar, Final, NamedTuple, Self

from rowkey.errors import Closed, InvalidArgument, NotSupported, OneMistakeError, Unavailable
from rowkey.messages import pluralize, shorten_text

HBASE_PACKAGE: Final = "org.apache.hadoop.hbase."
"""Package that HBase's own classes are in, or below."""


class HBaseError(OneMistakeError):
    """The base of all errors that an HBase cluster answers, or the client raises without an answer.

    Args:
        path: the server ("host:port") or the table that the error is about.
        problem: what is wrong, with the value.
        expected: what is allowed there, or an empty string.
        remedy: what to do, or an empty string: then `advice` of the class.
        java_class: name of the Java class as the server sent it; empty for errors of the client.
        remote_message: the first line of the server's message.
        server: "host:port" that answered, or did not.
        region: full name of the region it is about.
        row: row it is about.

    Attributes:
        created_at: when it was raised, by the monotonic clock.
        java_names: full names of the Java classes that are converted to this class.
        is_retriable: whether the client retries on its own.
        is_likely_permanent: whether it retries only a few times, because it will hardly help.
        is_outcome_unknown: whether the request may have been carried out all the same.
        advice: what the reader can do, in a sentence.
    """

    java_names: ClassVar[tuple[str, ...]] = ()
    is_retriable: ClassVar[bool] = False
    is_likely_permanent: ClassVar[bool] = False
    is_outcome_unknown: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def __init__(
        self,
        path: str,
        problem: str,
        expected: str = "",
        remedy: str = "",
        *,
        java_class: str = "",
        remote_message: str = "",
        server: str | None = None,
        region: bytes | None = None,
        row: bytes | None = None,
    ) -> None:
        super().__init__(path, problem, expected, remedy or self.advice)
        self.java_class = java_class
        self.remote_message = remote_message
        self.server = server
        self.region = region
        self.row = row
        self.created_at = monotonic()

    def copy_error(self) -> Self:
        """Return a copy of the error, to raise it in another thread."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.args = self.args
        return twin


class InvalidRequest(HBaseError, InvalidArgument):
    """The request can never succeed: change it."""

    names_argument = False
    is_retriable = False
    advice = "Correct the request: sending it again cannot help."


class StaleLocationError(HBaseError, Unavailable):
    """The region is no longer on that server: look up its location again."""

    is_retriable = True
    advice = "Try again; if this lasts, check in HBase's web UI that the region is open."


class BusyError(HBaseError, Unavailable):
    """The server is the right one but cannot answer now: retry later."""

    is_retriable = True
    advice = "Wait a moment and try again."


class ServerGone(HBaseError, Unavailable):
    """The server does not answer: drop its connection and the locations of its regions.

    Whether a call in flight was carried out is unknown.

    Source: HBase 2.6.4, of three puts that timed out while a server was stopped, two were applied
        later.
    """

    is_retriable = True
    is_outcome_unknown = True
    advice = "Try again; if this lasts, check that the server runs and can be reached."


class ScannerLost(HBaseError, Unavailable):
    """The scanner cannot continue: open a new one after the last row."""

    is_retriable = True
    advice = "Scan again from the row after the last one returned."


class RetryNowError(HBaseError, Unavailable):
    """The server cut off its answer to keep it small: request the rest at once."""

    is_retriable = True
    advice = "Send the remaining actions again, fewer at a time."


class RemoteError(HBaseError, Unavailable):
    """The server sent a Java exception that this client does not know; retried a few times."""

    is_retriable = True
    is_likely_permanent = True
    is_outcome_unknown = True
    advice = "Look for this exception in the server's log, or try again later."


class ConnectionLost(ServerGone):
    """The server refused the connection or closed it, or the client dropped it."""


class UnknownHost(ServerGone):
    """The server's name has no address; it is retried a few times, since DNS may fail briefly."""

    is_likely_permanent = True
    is_outcome_unknown = False
    advice = "Check the host name, and that this machine can resolve it."


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
    advice = "Check that the address is the HBase server's RPC port, not that of its web UI."


class MalformedAnswer(ServerGone):
    """The server's answer does not follow HBase's protocol; the connection is closed."""

    is_likely_permanent = True
    advice = (
        "The request may have been carried out. Check that the address is the HBase server's RPC"
        " port, not that of its web UI; if it is, report this as a defect of rowkey."
    )

    @classmethod
    def from_wire_error(
        cls, path: str, problem: OneMistakeError, server: str | None = None
    ) -> MalformedAnswer:
        """Convert the error of decoding an answer; `path` names the server or the answer."""
        mistake = problem.mistake
        return cls(path, mistake.problem, mistake.expected, server=server)


class OverwrittenAnswer(HBaseError, Unavailable):
    """The answer to an increment or append has the cells of another request; the change was made.

    A request with a nonce is sent again: the server then answers with the cells that it has stored.

    Source: HBase 2.6.4 under a debugger. CallRunner.run frees the memory of a request before it
        encodes the answer, and the first increment of a column is answered by the request's own
        cell (HRegion.reckonDelta): then its buffer has the reference count 0, and a request that
        arrives in between may overwrite it.
    """

    is_retriable = True
    is_outcome_unknown = True
    advice = "Read the row to see its new values."

    @classmethod
    def from_row(cls, row: bytes) -> OverwrittenAnswer:
        """Return the error of a change of a row."""
        return cls(f"row key {row.hex()}", "the answer has the cells of another request", row=row)


class FatalConnection(InvalidRequest):
    """The server refused the connection for good."""

    java_names = (
        f"{HBASE_PACKAGE}ipc.FatalConnectionException",
        f"{HBASE_PACKAGE}ipc.WrongVersionException",
        f"{HBASE_PACKAGE}ipc.EmptyServiceNameException",
        f"{HBASE_PACKAGE}ipc.UnknownServiceException",
    )
    advice = "Check that the address is that of an HBase master or region server."


class AuthenticationNeeded(HBaseError, NotSupported):
    """The server requires Kerberos or TLS, for which the client is not set."""

    java_names = (f"{HBASE_PACKAGE}ipc.BadAuthException",)
    advice = (
        "Set site= to the folder of the cluster's hbase-site.xml, or auth=kerberos, or tls=true."
    )


class AuthenticationFailed(HBaseError, Unavailable):
    """Kerberos or TLS failed: a ticket, a key, a certificate or a setting is missing or wrong."""

    advice = "Compare the settings of the client with the cluster's hbase-site.xml."


class OperationTimedOut(HBaseError, Unavailable, TimeoutError):
    """An operation has used up its time or its attempts.

    Args:
        path: the table or the server.
        problem: what took too long.
        last_error: the error of the last attempt, if there was one.
        attempts: how many attempts there were.
        remedy: what to do; by default the last error, or `advice`.
        about: `server`, `region` and `row`, as every error here has them.
    """

    advice = "Try again later, or allow more time (operation_timeout_s or wait_s)."

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
        remedy: str = "",
        **about: Any,
    ) -> None:
        text = f"{problem} ({pluralize(attempts, 'attempt')})" if attempts else problem
        remedy = f"Last error: {last_error}" if last_error else remedy
        super().__init__(path, text, remedy=remedy, **about)
        self.last_error = last_error
        self.attempts = attempts


class ClientClosed(HBaseError, Closed):
    """The client is closed, or was closed during the call."""

    advice = "Open a new client by connect()."

    def __init__(self, problem: str = "the client is closed") -> None:
        super().__init__("client", problem)


class MaybeApplied(HBaseError, Unavailable):
    """The answer to a change was lost: it may be applied or not, and a retry could apply it twice.

    Source: HBase 2.6.4, an increment retried after its region moved was applied twice.
    """

    advice = "Read the row to see whether the change is there, before you repeat it."


class FailedAction(NamedTuple):
    """One action of a batch that failed.

    Args:
        index: its index in the batch, from 0.
        row: its row key.
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
        self.failures = tuple(sorted(failures, key=lambda failure: failure.index))
        self.count = action_count
        what = f"{len(self.failures):,} of {action_count:,} actions failed, the others are applied"
        lines = [*self._format_groups(), "Send the failed actions again; `failures` lists them."]
        super().__init__(path, what, remedy="\n".join(lines))
        self.args = ("\n".join((f"{shorten_text(path)}: {what}.", *lines)),)

    def _format_groups(self) -> list[str]:
        """Return a line for each of the largest groups of failures by error, server and region."""
        grouped = sorted(self.failures, key=_get_group_key)
        groups = [list(some) for _, some in groupby(grouped, key=_get_group_key)]
        lines = [_format_group(one) for one in sorted(groups, key=len, reverse=True)]
        left_out = len(lines) - _MAX_GROUPS_SHOWN
        more = [f"… and {left_out:,} more groups"] if left_out > 0 else []
        return lines[:_MAX_GROUPS_SHOWN] + more


def _get_group_key(failure: FailedAction) -> tuple[str, str, bytes]:
    """Return the error class, server and region of a failure, by which the text groups them."""
    return (type(failure.error).__name__, failure.server or "", failure.region or b"")


def _format_group(group: list[FailedAction]) -> str:
    """Return one line about failures of the same error, server and region."""
    first = group[0]
    where = f"{first.server or 'no server'}, region {first.region!r}"
    count = pluralize(len(group), "action")
    return f"{count} on {where}, first index {first.index}, row {first.row!r}: {first.error}"
