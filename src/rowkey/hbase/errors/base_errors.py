"""The base classes of the errors of a cluster, one for each way to handle them."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar, Self

from rowkey.errors import InvalidArgument, OneMistakeError, Unavailable


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
