"""Converts the Java exception that a server sends to an error of this client."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Final

from rowkey.hbase.errors import client_errors, server_errors
from rowkey.hbase.errors.client_errors import (
    HBASE_PACKAGE,
    AuthenticationNeeded,
    HBaseError,
    InvalidRequest,
    RemoteError,
)
from rowkey.hbase.errors.server_errors import (
    AccessDenied,
    DoNotRetryIO,
    FailedSanityCheck,
    RegionMoved,
)

_MAX_TRACE_CHARS: Final = 64 << 10
"""Characters of a stack trace that are parsed: its first line is far shorter."""


def parse_remote_error(
    java_class: str,
    stack_trace: str,
    do_not_retry: bool,
    host: str | None = None,
    port: int | None = None,
    server: str | None = None,
) -> HBaseError:
    r"""Convert a Java exception that a server sent to an error of this client.

    Args:
        java_class: full name of the Java class.
        stack_trace: its text; the message is the first line without the class.
        do_not_retry: the server's flag, which is wrong for many classes; it decides only for
            unknown ones.
        host: the new server of a moved region, if sent.
        port: its port, if sent.
        server: "host:port" of the server that answered.

    Source: HBase 2.6.4, `do_not_retry` is true for UnknownScannerException and false for
        WrongRowIOException; ExceptionResponse of RPC.proto.

    >>> text = "org.apache.hadoop.hbase.TableNotFoundException: t1\n\tat java…"
    >>> print(parse_remote_error("org.apache.hadoop.hbase.TableNotFoundException", text, True))
    server: HBase answered TableNotFoundException: t1. Check the name, or create the table.
    """
    message = _extract_message(java_class, stack_trace)
    error_class = _choose_error_class(java_class, message, do_not_retry)
    simple_name = java_class.rpartition(".")[2] or "an error without a class"
    what = (
        f"HBase answered {simple_name}: {message}" if message else f"HBase answered {simple_name}"
    )
    error = error_class(
        server or "server", what, java_class=java_class, remote_message=message, server=server
    )
    if isinstance(error, RegionMoved):
        _parse_move(error, stack_trace[:_MAX_TRACE_CHARS], host, port)
    return error


def _extract_message(java_class: str, stack_trace: str) -> str:
    """Return the message of a Java exception: the first line of its trace without the class."""
    first = stack_trace[:_MAX_TRACE_CHARS].partition("\n")[0].strip()
    return first.removeprefix(java_class).removeprefix(":").strip()


def _choose_error_class(java_class: str, message: str, do_not_retry: bool) -> type[HBaseError]:
    error_class = _CLASSES_BY_JAVA_NAME.get(java_class)
    if error_class is None and java_class.startswith(
        HBASE_PACKAGE
    ):  # classes change packages by version
        error_class = _CLASSES_BY_SIMPLE_NAME.get(java_class.rpartition(".")[2])
    if error_class is None:
        return InvalidRequest if do_not_retry or _is_client_mistake(message) else RemoteError
    if error_class is AccessDenied and "uthentication is required" in message:
        return AuthenticationNeeded
    if error_class is FailedSanityCheck and "imestamp" in message[:_TIMESTAMP_PREFIX_CHARS]:
        return DoNotRetryIO
    return error_class


_TIMESTAMP_PREFIX_CHARS: Final = 40
"""Characters in which the text of an error about a timestamp, and not about the row, says so.

Source: HRegion.checkTimestamps, "Timestamp for KV is out of range"; the row check says "Requested
row out of range".
"""


_CLIENT_MISTAKE_PREFIXES: Final = (
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
"""Beginnings of the text of a java.io.IOException for a request that can never succeed.

Source: HBase 2.6.4, all with do_not_retry false.
"""


def _is_client_mistake(message: str) -> bool:
    """Return whether the message of an IOException blames the request, so no retry can help."""
    return message.startswith(_CLIENT_MISTAKE_PREFIXES)


_MOVE_PATTERNS: Final = {
    "host": re.compile(r"\bhostname=([^\s,]+)"),
    "port": re.compile(r"\bport=(\d{1,5})\b"),
    "start_code": re.compile(r"\bstartCode=(\d{1,19})\b"),
    "seqnum": re.compile(r"\blocationSeqNum=(-?\d{1,19})\b"),
}
"""Patterns of a region's new server in the text of RegionMovedException."""


def _parse_move(error: RegionMoved, text: str, host: str | None, port: int | None) -> None:
    """Set the new server of a moved region in its error, from the answer or the error's text."""
    matches = {name: pattern.search(text) for name, pattern in _MOVE_PATTERNS.items()}
    values = {name: match[1] for name, match in matches.items() if match}
    text_port = int(values["port"]) if "port" in values else None
    error.host = host or values.get("host")
    error.port = _filter_port(port) or _filter_port(text_port)
    error.start_code = int(values["start_code"]) if "start_code" in values else None
    error.seqnum = int(values["seqnum"]) if "seqnum" in values else None


def _filter_port(port: int | None) -> int | None:
    """Return a port, or None if it is not valid."""
    return port if port is not None and 0 < port < 65_536 else None


def _list_error_classes(module: ModuleType) -> list[type[HBaseError]]:
    """Return the subclasses of `HBaseError` that a module defines or imports."""
    values = vars(module).values()
    return [value for value in values if isinstance(value, type) and issubclass(value, HBaseError)]


_CLASSES_BY_JAVA_NAME: Final[dict[str, type[HBaseError]]] = {
    name: error_class
    for module in (client_errors, server_errors)
    for error_class in _list_error_classes(module)
    for name in error_class.java_names
}
_CLASSES_BY_SIMPLE_NAME: Final = {
    name.rpartition(".")[2]: error_class
    for name, error_class in _CLASSES_BY_JAVA_NAME.items()
    if name.startswith(HBASE_PACKAGE)
}
