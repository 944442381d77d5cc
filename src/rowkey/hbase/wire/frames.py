"""What goes over a connection: its first words, then frames of a request or an answer each."""

from __future__ import annotations

from typing import NamedTuple

from rowkey.errors import Refused
from rowkey.hbase.wire.proto import (
    Malformed,
    Message,
    flag,
    message,
    read_varint,
    text,
    uint,
    varint,
)

SIMPLE = 80
"""The auth byte of a connection without Kerberos. Source: AuthMethod.SIMPLE."""

CODEC = "org.apache.hadoop.hbase.codec.KeyValueCodec"
"""How cell blocks are written, both ways. Source: the class; `wire.cellblocks` reads it."""

CONNECTION_FAILURE = -1
"""The call of an answer that is to no call: the connection is refused. Source: measured, 2.6.4."""

FRAME_BYTES_MOST = 268_435_456
"""Longest request a server reads. Source: hbase.ipc.max.request.size, 256 MiB."""

_VERSION, _MAJOR, _MINOR = "2.6.0", 2, 6
"""Who we say we are: from 1.3 on a server answers a get with a cell block, from 1.2 on it bounds
a multi. Source: VersionInfoUtil; measured on 2.5.13 and 2.6.4.
"""

_NO_CALL = 0xFFFFFFFF
"""-1 as the uint32 that call ids are; of a longer number, such as -1 in ten bytes, these bits are
read. Source: RPC.proto, ResponseHeader.call_id; protobuf "Encoding".
"""


class RequestTooLong(Refused):
    """A request is longer than servers read; nothing was written."""


class RemoteFault(NamedTuple):
    """What a server says went wrong.

    Args:
        java: full name of the class of its exception.
        trace: its stack trace; the first line is `class: message`.
        host: where else to ask, or None; only RegionMovedException has it.
        port: of that host, or None.
        do_not_retry: what the server thinks of trying again.
        overloaded: the server has too much to do.
    """

    java: str
    trace: str
    host: str | None
    port: int | None
    do_not_retry: bool
    overloaded: bool


class Response(NamedTuple):
    """One answer.

    Args:
        call_id: the request it answers, or `CONNECTION_FAILURE`.
        error: what went wrong, or None.
        message: the answer's protobuf; empty if there is an error.
        cells: the cell block beside it, as it was sent: perhaps compressed, perhaps empty.
    """

    call_id: int
    error: RemoteFault | None
    message: bytes
    cells: bytes | memoryview


def preamble(auth: int = SIMPLE) -> bytes:
    r"""The first six bytes of a connection: the name, version 0, how to authenticate.

    >>> preamble()
    b'HBas\x00P'
    """
    return b"HBas\x00" + bytes((auth,))


def connection_header(user: str, service: str, compressor: str | None = None) -> bytes:
    """What follows the preamble: who speaks, to which service, how cells are written.

    The server does not answer it; what it does not know it answers by closing the connection.

    Args:
        user: effective user; empty: none is named.
        service: `ClientService`, `AdminService`, `MasterService` or `ClientMetaService`.
        compressor: full name of the class that packs the cell blocks of both ways, or None.

    Source: RPC.proto, ConnectionHeader and VersionInfo.
    """
    version = message(
        5,
        text(1, _VERSION),
        *(text(number, "") for number in range(2, 7)),
        uint(7, _MAJOR),
        uint(8, _MINOR),
    )
    header = b"".join(
        (
            message(1, text(1, user)) if user else b"",
            text(2, service),
            text(3, CODEC),
            text(4, compressor),
            version,
        )
    )
    return len(header).to_bytes(4, "big") + header


def request(
    call_id: int,
    method: str,
    param: bytes,
    cells: bytes = b"",
    timeout_ms: int | None = None,
    priority: int | None = None,
) -> bytes:
    """A whole frame that asks for something.

    Args:
        call_id: 0..2^32-2, of no other call in flight on this connection.
        method: name of the RPC, letter case included.
        param: the request's protobuf, perhaps empty.
        cells: the cell block, compressed if the connection says so.
        timeout_ms: after which the server need not answer any more.
        priority: of the call; 0 if None.

    Raises:
        RequestTooLong: it is larger than `FRAME_BYTES_MOST`.

    Source: RPC.proto, RequestHeader; request_param must be true, also for an empty param.
    """
    header = b"".join(
        (
            uint(1, call_id),
            text(3, method),
            flag(4, True),
            message(5, uint(1, len(cells))) if cells else b"",
            uint(6, priority),
            uint(7, timeout_ms),
        )
    )
    before, between = varint(len(header)), varint(len(param))
    total = len(before) + len(header) + len(between) + len(param) + len(cells)
    if total > FRAME_BYTES_MOST:
        what = f"a request of {total:,} bytes"
        raise RequestTooLong("", what, f"up to {FRAME_BYTES_MOST:,}")
    return b"".join((total.to_bytes(4, "big"), before, header, between, param, cells))


def response(frame: bytes) -> Response:
    """The answer that a frame holds.

    Args:
        frame: without the 4 bytes of its length.

    Raises:
        Malformed: the bytes are no answer.

    Cost: one copy of the cell block.
    Source: RPC.proto, ResponseHeader; the cell block is the last bytes of the frame.
    """
    head, at = _delimited(frame, 0, len(frame))
    header = Message(head)
    call_id = header.uint(1) & _NO_CALL
    call_id = CONNECTION_FAILURE if call_id == _NO_CALL else call_id
    fault = header.message(2)
    block = header.message(3)
    stop = len(frame) - (block.uint(1) if block else 0)
    if stop < at:
        raise Malformed(f"a cell block of {len(frame) - stop:,} bytes in {len(frame) - at:,}")
    if fault:
        return Response(call_id, _fault(fault), b"", b"")
    answer = _delimited(frame, at, stop)[0] if at < stop else b""
    return Response(call_id, None, answer, frame[stop:])


def _delimited(frame: bytes, at: int, stop: int) -> tuple[bytes, int]:
    """The message that begins with its length, and the place behind it."""
    size, at = read_varint(frame, at)
    if at + size > stop:
        raise Malformed(f"a message of {size:,} bytes where {stop - at:,} are left")
    return frame[at : at + size], at + size


def _fault(sent: Message) -> RemoteFault:
    """Source: RPC.proto, ExceptionResponse."""
    return RemoteFault(
        java=sent.text(1),
        trace=sent.text(2),
        host=sent.text(3) or None,
        port=sent.int64(4) if sent.has(4) else None,
        do_not_retry=sent.flag(5),
        overloaded=sent.flag(6),
    )
