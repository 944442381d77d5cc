"""Opens sockets, builds the first bytes of a connection, and explains why a server refused it."""

from __future__ import annotations

import errno
import getpass
import os
import socket
from threading import Thread
from typing import Final

from rowkey.hbase.errors import (
    AuthenticationNeeded,
    ConnectionLost,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    UnknownHost,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.compression import CODEC_CLASS
from rowkey.hbase.wire.frames import PREAMBLE, encode_connection_header

_TLS_RECORDS: Final = (b"\x15\x03", b"\x16\x03")
"""The first bytes of an alert and of a handshake of TLS. Source: RFC 8446, 5.1."""


def format_address(address: tuple[str, int]) -> str:
    """Return `host:port`, with an IPv6 address in brackets.

    >>> format_address(("rs1", 16020)), format_address(("::1", 16020))
    ('rs1:16020', '[::1]:16020')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def connect_socket(
    address: tuple[str, int], settings: Settings, deadline: Deadline
) -> socket.socket:
    """Return a non-blocking socket connected to a server; its addresses are tried in turn.

    Raises:
        UnknownHost: the name has no address.
        ConnectionLost: no address accepts in time.
    """
    until = deadline.shorten_to(settings.connect_timeout_s)
    targets = _resolve_address(address, until)
    limit_s = until.get_remaining_s()
    reason = "the host name has no address"
    for index, (family, target) in enumerate(targets):
        share_s = until.get_remaining_s() / (len(targets) - index)
        try:
            return _connect_target(family, target, share_s)
        except TimeoutError:
            reason = f"the server does not accept connections within {limit_s:.3g} s"
        except OSError as problem:
            reason = f"the server does not accept connections: {problem.strerror or problem}"
    host_port = format_address(address)
    raise ConnectionLost(host_port, reason, server=host_port)


def _connect_target(family: int, target: tuple[str, int], timeout_s: float) -> socket.socket:
    """Return a non-blocking socket that is connected to one address."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(max(timeout_s, 0.001))
        sock.connect(target)
        _reject_self_connection(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


def _reject_self_connection(sock: socket.socket) -> None:
    """Raise an error for a socket that is connected to itself, as a free local port can be."""
    if sock.getsockname() == sock.getpeername():
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


def _resolve_address(
    address: tuple[str, int], deadline: Deadline
) -> list[tuple[int, tuple[str, int]]]:
    """Resolve a host name to (address family, address) pairs, until the deadline.

    Raises:
        UnknownHost: the name cannot be resolved in time.
    """
    host, port = address
    try:
        return _look_up_addresses(host, port, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        pass
    results: list[list[tuple[int, tuple[str, int]]]] = []
    problems: list[Exception] = []

    def resolve() -> None:
        """Resolve the name in a thread, and record the addresses or the error."""
        try:
            results.append(_look_up_addresses(host, port, 0))
        except (OSError, UnicodeError) as problem:
            problems.append(problem)

    resolver = Thread(target=resolve, name=f"resolve {host[:64]}", daemon=True)
    resolver.start()
    resolver.join(deadline.get_remaining_s())
    if results:
        return results[0]
    host_port = format_address(address)
    why = getattr(problems[0], "strerror", None) or problems[0] if problems else "no answer in time"
    raise UnknownHost(host_port, f"the host name cannot be resolved: {why}", server=host_port)


def _look_up_addresses(host: str, port: int, flags: int) -> list[tuple[int, tuple[str, int]]]:
    """Return the address family and address of each result of `getaddrinfo`."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, target) for family, _, _, _, target in addresses]  # type: ignore[misc]


def build_handshake(service: str, settings: Settings) -> bytes:
    """Return the bytes that a client sends before its first request; no server answers them."""
    compressor = CODEC_CLASS if settings.compress else None
    if settings.auth == "kerberos":  # the preamble is sent, and the ticket names the user
        return encode_connection_header("", service, compressor)
    return PREAMBLE + encode_connection_header(
        settings.user or _find_login_name(), service, compressor
    )


def _find_login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number without a name
        return str(os.getuid())


def build_hangup_error(host_port: str, service: str, settings: Settings) -> HeaderRefused:
    """Return the error for a server that closed the connection before its first answer."""
    codec = f" compressed by {CODEC_CLASS}" if settings.compress else ""
    what = (
        f"the server closed the connection before its first answer; it may not offer {service},"
        f" not know KeyValueCodec{codec}, require TLS, or not be an HBase server"
    )
    return HeaderRefused(host_port, what, server=host_port)


def build_frame_error(host_port: str, head: bytes, reason: str, *, is_first: bool) -> HBaseError:
    """Return the error for received bytes that are not a frame of HBase.

    Args:
        host_port: "host:port" of the server.
        head: the first of these bytes.
        reason: what is wrong with them.
        is_first: whether they are the first bytes that the server sent.
    """
    if is_first and head.startswith(_TLS_RECORDS):
        return AuthenticationNeeded(host_port, "the server answers with TLS", server=host_port)
    if is_first and head.startswith(b"HTTP/"):
        reason = f"the server answers with HTTP: {head!r}"
    return MalformedAnswer(host_port, reason, server=host_port)


def is_tls(head: bytes) -> bool:
    """Return whether the first bytes of a server are TLS and not a frame of HBase.

    Derivation: as the length of a frame they mean 352 MB; a first answer is never that long.
    """
    return head.startswith(_TLS_RECORDS)
