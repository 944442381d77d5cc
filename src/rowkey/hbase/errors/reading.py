"""From the Java class and text that a server sends to the error that says what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rowkey.hbase.errors import answers, own, sorts
from rowkey.hbase.errors.answers import (
    HBASE,
    AccessDenied,
    DoNotRetryIO,
    FailedSanityCheck,
    RegionMoved,
)
from rowkey.hbase.errors.own import AuthenticationNeeded
from rowkey.hbase.errors.sorts import AskedWrongly, HBaseError, RemoteError

if TYPE_CHECKING:
    from types import ModuleType

_LONGEST_LINE: Final = 64 << 10
"""Characters of a stack trace that are looked at: its first line is far shorter."""


def from_remote(
    java_class: str,
    stack_trace: str,
    do_not_retry: bool,
    host: str | None = None,
    port: int | None = None,
    server: str | None = None,
) -> HBaseError:
    r"""The error for what a server sent: the class decides, `do_not_retry` only if it is unknown.

    Args:
        java_class: full name of the Java class.
        stack_trace: its text; the message is the first line, less the class.
        do_not_retry: the server's own word, wrong for many classes.
        host: server that a moved region went to, if sent.
        port: its port, if sent.
        server: "host:port" of the server that answered.

    Source: HBase 2.6.4, `do_not_retry` is true for UnknownScannerException and false for
        WrongRowIOException; ExceptionResponse of RPC.proto.

    >>> text = "org.apache.hadoop.hbase.TableNotFoundException: t1\n\tat java…"
    >>> print(from_remote("org.apache.hadoop.hbase.TableNotFoundException", text, True))
    server: TableNotFoundException: t1. Check its name, or create it.
    """
    says = _message(java_class, stack_trace)
    kind = _kind(java_class, says, do_not_retry)
    simple = java_class.rpartition(".")[2] or "an error without a class"
    what = f"{simple}: {says}" if says else simple
    error = kind(server or "server", what, java=java_class, says=says, server=server)
    if isinstance(error, RegionMoved):
        _read_move(error, stack_trace[:_LONGEST_LINE], host, port)
    return error


def _message(java_class: str, stack_trace: str) -> str:
    first = stack_trace[:_LONGEST_LINE].partition("\n")[0].strip()
    return first.removeprefix(java_class).removeprefix(":").strip()


def _kind(java_class: str, says: str, do_not_retry: bool) -> type[HBaseError]:
    known = _BY_NAME.get(java_class)
    if known is None and java_class.startswith(HBASE):  # classes change packages by version
        known = _BY_SIMPLE_NAME.get(java_class.rpartition(".")[2])
    if known is None:
        return AskedWrongly if do_not_retry or _is_our_mistake(says) else RemoteError
    if known is AccessDenied and "uthentication is required" in says:
        return AuthenticationNeeded
    if known is FailedSanityCheck and "imestamp" in says[:_TIMESTAMP_WITHIN]:
        return DoNotRetryIO
    return known


_TIMESTAMP_WITHIN: Final = 40
"""Characters within which the text names the timestamp as what is wrong, and not the row.

Source: HRegion.checkTimestamps, "Timestamp for KV is out of range"; the row check says "Requested
row out of range".
"""


_OUR_MISTAKES: Final = (
    "Row length ",
    "Row buffer is null",
    "Family cannot be null",
    "versions must be positive",
    "maxStamp is smaller than minStamp",
    "startRow's length must be",
    "stopRow's length must be",
    "For input string",
    "Illegal character code",
    "Illegal first character",
    "Table qualifier must not be empty",
)
"""How the text of a java.io.IOException begins that can never succeed.

Source: HBase 2.6.4, all with do_not_retry false.
"""


def _is_our_mistake(says: str) -> bool:
    return says.startswith(_OUR_MISTAKES)


_MOVE: Final = {
    "host": re.compile(r"\bhostname=([^\s,]+)"),
    "port": re.compile(r"\bport=(\d{1,5})\b"),
    "start_code": re.compile(r"\bstartCode=(\d{1,19})\b"),
    "seqnum": re.compile(r"\blocationSeqNum=(-?\d{1,19})\b"),
}
"""Where a region went, as the text of RegionMovedException tells it."""


def _read_move(error: RegionMoved, text: str, host: str | None, port: int | None) -> None:
    found = {name: pattern.search(text) for name, pattern in _MOVE.items()}
    told = {name: match[1] for name, match in found.items() if match}
    told_port = int(told["port"]) if "port" in told else None
    error.host = host or told.get("host")
    error.port = _legal_port(port) or _legal_port(told_port)
    error.start_code = int(told["start_code"]) if "start_code" in told else None
    error.seqnum = int(told["seqnum"]) if "seqnum" in told else None


def _legal_port(port: int | None) -> int | None:
    return port if port is not None and 0 < port < 65_536 else None


def _classes(module: ModuleType) -> list[type[HBaseError]]:
    found = vars(module).values()
    return [one for one in found if isinstance(one, type) and issubclass(one, HBaseError)]


_BY_NAME: Final[dict[str, type[HBaseError]]] = {
    name: kind
    for module in (sorts, answers, own)
    for kind in _classes(module)
    for name in kind.names
}
_BY_SIMPLE_NAME: Final = {
    name.rpartition(".")[2]: kind for name, kind in _BY_NAME.items() if name.startswith(HBASE)
}
