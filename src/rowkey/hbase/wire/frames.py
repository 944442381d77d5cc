"""Encodes requests and parses answers: the preamble, the connection header, and frames."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from rowkey.errors import InvalidArgument
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    WireFormatError,
    decode_varint,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
    encode_varint,
)

PREAMBLE = b"HBas\x00P"
"""The first six bytes of a connection: name, version 0, and no Kerberos (80, "P").

Source: AuthMethod.SIMPLE.
"""

KERBEROS_PREAMBLE = b"HBas\x00Q"
"""The first six bytes of a connection with Kerberos (81, "Q"). Source: AuthMethod.KERBEROS."""

CELL_CODEC = "org.apache.hadoop.hbase.codec.KeyValueCodec"
"""The format of cell blocks in both directions. Source: the class; `wire.cellblocks` decodes it."""

CONNECTION_FAILURE_ID = -1
"""The call id of an answer that refuses the connection. Source: measured on 2.6.4."""

MAX_FRAME_BYTES = 268_435_456
"""Longest request a server reads. Source: hbase.ipc.max.request.size, 256 MiB."""

_VERSION, _MAJOR, _MINOR = "2.6.0", 2, 6
"""The client version that is announced: from 1.3 on a server answers a get with a cell block, from
1.2 on it limits the answer to a multi. Source: VersionInfoUtil; measured on 2.5.13 and 2.6.4.
"""

_NO_CALL_ID = 0xFFFFFFFF
"""-1 as a uint32, the type of call ids; of a longer number, such as -1 in ten bytes, only these
bits count. Source: RPC.proto, ResponseHeader.call_id; protobuf "Encoding".
"""


class RequestTooLong(InvalidArgument):
    """A request is longer than servers read; nothing was sent."""


class RemoteFault(NamedTuple):
    """The Java exception that a server sends instead of an answer.

    Args:
        java_class: full name of the exception's class.
        stack_trace: its stack trace; the first line is `class: message`.
        host: the region's new server, or None; only RegionMovedException has it.
        port: the port of that server, or None.
        do_not_retry: whether the server says that a retry cannot help.
    """

    java_class: str
    stack_trace: str
    host: str | None
    port: int | None
    do_not_retry: bool


class Response(NamedTuple):
    """One answer of a server: its protobuf message and cell block, or its error.

    Args:
        call_id: the request that it answers, or `CONNECTION_FAILURE_ID`.
        error: the exception of the server, or None.
        message: the answer's protobuf; empty if there is an error.
        cells: its cell block as it was sent: it may be compressed, or empty.
    """

    call_id: int
    error: RemoteFault | None
    message: bytes
    cells: bytes | memoryview


def encode_connection_header(user: str, service: str, compressor: str | None = None) -> bytes:
    """Encode the connection header: user, RPC service, and codec of cell blocks.

    The server does not answer it; for an unknown service or class it closes the connection.

    Args:
        user: effective user; left out if empty.
        service: `ClientService`, `AdminService`, `MasterService` or `ClientMetaService`.
        compressor: full name of the class that compresses cell blocks in both directions, or None.

    Source: RPC.proto, ConnectionHeader and VersionInfo.
    """
    version = encode_message(
        5,
        encode_text(1, _VERSION),
        *(encode_text(number, "") for number in range(2, 7)),
        encode_uint(7, _MAJOR),
        encode_uint(8, _MINOR),
    )
    header = b"".join(
        (
            encode_message(1, encode_text(1, user)) if user else b"",
            encode_text(2, service),
            encode_text(3, CELL_CODEC),
            encode_text(4, compressor),
            version,
        )
    )
    return len(header).to_bytes(4, "big") + header


def encode_request(
    call_id: int,
    method: str,
    param: bytes,
    cells: bytes = b"",
    timeout_ms: int | None = None,
) -> bytes:
    """Encode a request as one complete frame.

    Args:
        call_id: 0..2^32-2, different from that of every other call in flight on the connection.
        method: name of the RPC, letter case included.
        param: the request's protobuf, perhaps empty.
        cells: the cell block, compressed if the connection says so.
        timeout_ms: the time after which the server need not answer any more.

    Raises:
        RequestTooLong: it is larger than `MAX_FRAME_BYTES`.

    Source: RPC.proto, RequestHeader; request_param must be true, also for an empty param.
    """
    header = b"".join(
        (
            encode_uint(1, call_id),
            _encode_method(method),
            encode_bytes(5, encode_uint(1, len(cells))) if cells else b"",
            encode_uint(7, timeout_ms),
        )
    )
    header_length, param_length = encode_varint(len(header)), encode_varint(len(param))
    total = len(header_length) + len(header) + len(param_length) + len(param) + len(cells)
    if total > MAX_FRAME_BYTES:
        raise RequestTooLong(
            f"request {method}",
            f"the request has {total:,} bytes",
            f"at most {MAX_FRAME_BYTES:,} bytes",
            "Send fewer or smaller rows in one request.",
        )
    return b"".join((total.to_bytes(4, "big"), header_length, header, param_length, param, cells))


@cache
def _encode_method(method: str) -> bytes:
    """Encode the fields of a request header that are the same for all calls of a method."""
    return encode_text(3, method) + encode_bool(4, True)


def parse_response(frame: bytes) -> Response:
    """Parse the frame of a server's answer.

    Args:
        frame: without the 4 bytes of its length.

    Raises:
        WireFormatError: the bytes are not an answer.

    Cost: one copy of the cell block.
    Source: RPC.proto, ResponseHeader; the cell block is the last bytes of the frame.
    """
    head, at = _read_delimited(frame, 0, len(frame))
    header = ProtoMessage(head).require_fields(1)
    call_id = header.get_uint(1) & _NO_CALL_ID
    call_id = CONNECTION_FAILURE_ID if call_id == _NO_CALL_ID else call_id
    fault = header.get_message(2)
    block = header.get_message(3)
    stop = len(frame) - (block.require_fields(1).get_uint(1) if block else 0)
    if stop < at:
        raise WireFormatError(
            f"the header announces a cell block of {len(frame) - stop:,} bytes,"
            f" but only {len(frame) - at:,} bytes follow"
        )
    if fault:
        return Response(call_id, _parse_fault(fault), b"", b"")
    if at == stop:
        raise WireFormatError("no message follows the header", "a message, perhaps an empty one")
    answer, at = _read_delimited(frame, at, stop)
    if at < stop:
        raise WireFormatError(f"{stop - at:,} bytes lie between the message and the cell block")
    return Response(call_id, None, answer, frame[stop:])


def _read_delimited(frame: bytes, offset: int, stop: int) -> tuple[bytes, int]:
    """Return the length-prefixed message at an offset, and the offset after it.

    Raises:
        WireFormatError: the frame ends within the message.
    """
    if offset < stop and frame[offset] < 0x80:  # most messages; a call costs more
        size, offset = frame[offset], offset + 1
    else:
        size, offset = decode_varint(frame, offset)
    if offset + size > stop:
        raise WireFormatError(
            f"a message is {size:,} bytes long, but only {stop - offset:,} bytes are left"
        )
    return frame[offset : offset + size], offset + size


def _parse_fault(msg: ProtoMessage) -> RemoteFault:
    """Parse the exception of an answer. Source: RPC.proto, ExceptionResponse."""
    return RemoteFault(
        java_class=msg.get_text(1),
        stack_trace=msg.get_text(2),
        host=msg.get_text(3) or None,
        port=msg.get_int64(4) if msg.has_field(4) else None,
        do_not_retry=msg.get_bool(5),
    )
