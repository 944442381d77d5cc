"""The sorts of errors of a cluster: one class for each thing that can be done about them."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar, Self

from rowkey.errors import OneMistakeError, Refused, Unsupported


class HBaseError(OneMistakeError):
    """What a cluster answers instead of a result, or what a client makes of its silence.

    Args:
        path: the server ("host:port") or the table that the error is about.
        what: what is wrong, with the value.
        allowed: what is allowed there, or an empty string.
        remedy: what to do, or an empty string: then `advice` of the class.
        java: name of the Java class as the server sent it; empty for errors of the client.
        says: the first line of the server's message.
        server: "host:port" that answered, or did not.
        region: full name of the region it is about.
        row: row it is about.

    Attributes:
        at: when it was made, on the clock that never goes back.
        names: full names of the Java classes that are read as this class.
        retriable: whether the client tries again on its own.
        few_times: whether it does so only a few times, because it may never help.
        unclear: whether what was asked may have been done all the same.
        advice: what the reader can do, in a sentence.
    """

    names: ClassVar[tuple[str, ...]] = ()
    retriable: ClassVar[bool] = False
    few_times: ClassVar[bool] = False
    unclear: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def __init__(
        self,
        path: str,
        what: str,
        allowed: str = "",
        remedy: str = "",
        *,
        java: str = "",
        says: str = "",
        server: str | None = None,
        region: bytes | None = None,
        row: bytes | None = None,
    ) -> None:
        super().__init__(path, what, allowed, remedy or self.advice)
        self.java = java
        self.says = says
        self.server = server
        self.region = region
        self.row = row
        self.at = monotonic()

    def again(self) -> Self:
        """The same error for one more who waits: a raised one belongs to its thread."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.args = self.args
        return twin


class AskedWrongly(HBaseError, Refused):
    """Asking again gives the same answer: change what is asked."""

    retriable = False


class ElsewhereError(HBaseError, Unsupported):
    """The region is not there (any more): look up where it is."""

    retriable = True
    advice = "Look up the region again."


class BusyError(HBaseError, Unsupported):
    """The server is the right one, and cannot answer now: ask it later."""

    retriable = True
    advice = "Ask again later."


class ServerGone(HBaseError, Unsupported):
    """Nothing can be had of that server: drop its connection and its regions' locations.

    Whether a call in flight was carried out is not known.

    Source: HBase 2.6.4, of three puts given up while a server was stopped two were applied later.
    """

    retriable = True
    unclear = True
    advice = "Look up again where its regions are."


class ScannerLost(HBaseError, Unsupported):
    """The scanner cannot go on: open a new one behind the last row."""

    retriable = True
    advice = "Open a new scanner behind the last row."


class AtOnceError(HBaseError, Unsupported):
    """The answer was cut off to keep it small: ask for the rest at once."""

    retriable = True
    advice = "Ask again at once."


class RemoteError(HBaseError, Unsupported):
    """A Java class that is not known here, and that may be asked again a few times."""

    retriable = True
    few_times = True
    unclear = True
