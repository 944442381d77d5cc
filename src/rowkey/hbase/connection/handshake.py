"""How a connection begins: an address, a socket, the first words; and what a refusal means."""

from __future__ import annotations

import errno
import getpass
import os
import socket
from threading import Thread
from typing import TYPE_CHECKING, Final

from rowkey.hbase.errors import (
    AuthenticationNeeded,
    ConnectionLost,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    UnknownHost,
)
from rowkey.hbase.wire.compression import codec_class
from rowkey.hbase.wire.frames import connection_header, preamble

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline, Settings

_TLS_RECORDS: Final = (b"\x15\x03", b"\x16\x03")
"""How an alert and a handshake of TLS begin. Source: RFC 8446, 5.1."""


def shown_address(address: tuple[str, int]) -> str:
    """An address as messages name it: `host:port`, a number of IPv6 in brackets.

    >>> shown_address(("rs1", 16020)), shown_address(("::1", 16020))
    ('rs1:16020', '[::1]:16020')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def connect(address: tuple[str, int], settings: Settings, deadline: Deadline) -> socket.socket:
    """A socket to a server, not blocking; each of its addresses is tried in turn.

    Raises:
        UnknownHost: the name has no address.
        ConnectionLost: no address accepts in time.
    """
    until = deadline.sooner(settings.connect_s)
    found = _resolve(address, until)
    seconds = until.left()
    last = "has no address"
    for tried, (family, target) in enumerate(found):
        try:
            return _connect(family, target, until.left() / (len(found) - tried))
        except TimeoutError:
            last = f"does not accept connections within {seconds:.3g} s"
        except OSError as problem:
            last = f"does not accept connections: {problem.strerror or problem}"
    place = shown_address(address)
    raise ConnectionLost(place, last, server=place)


def _connect(family: int, target: tuple[str, int], seconds: float) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(max(seconds, 0.001))
        made.connect(target)
        _require_other(made)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _require_other(made: socket.socket) -> None:
    """A free port of this machine that is called from itself answers itself: nobody is there."""
    if made.getsockname() == made.getpeername():
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


def _resolve(address: tuple[str, int], until: Deadline) -> list[tuple[int, tuple[str, int]]]:
    """Families and addresses of a name; a name server that does not answer is not waited for."""
    host, port = address
    try:
        return _addresses(host, port, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        pass
    found: list[list[tuple[int, tuple[str, int]]]] = []
    problems: list[Exception] = []

    def ask() -> None:
        try:
            found.append(_addresses(host, port, 0))
        except (OSError, UnicodeError) as problem:
            problems.append(problem)

    asking = Thread(target=ask, name=f"resolve {host[:64]}", daemon=True)
    asking.start()
    asking.join(until.left())
    if found:
        return found[0]
    place = shown_address(address)
    why = getattr(problems[0], "strerror", None) or problems[0] if problems else "no answer in time"
    raise UnknownHost(place, f"the name cannot be resolved: {why}", server=place)


def _addresses(host: str, port: int, flags: int) -> list[tuple[int, tuple[str, int]]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, target) for family, _, _, _, target in found]  # type: ignore[misc]


def first_words(service: str, settings: Settings) -> bytes:
    """What a client says before its first request; no server answers it."""
    compressor = codec_class("zlib") if settings.compress else None
    return preamble() + connection_header(settings.user or _login(), service, compressor)


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number without a name
        return str(os.getuid())


def hung_up(place: str, service: str, settings: Settings) -> HeaderRefused:
    """The error of a server that closed the connection before its first answer."""
    packed = f" packed by {codec_class('zlib')}" if settings.compress else ""
    what = (
        f"hung up before its first answer; it may not offer {service},"
        f" not know KeyValueCodec{packed}, want TLS, or be no HBase server"
    )
    return HeaderRefused(place, what, server=place)


def no_answer(place: str, head: bytes, why: str, *, fresh: bool) -> HBaseError:
    """The error of bytes that are no frame.

    Args:
        place: "host:port" of the server.
        head: the first bytes that are not understood.
        why: what is wrong with them.
        fresh: whether nothing was answered on the connection before.
    """
    if fresh and head.startswith(_TLS_RECORDS):
        return AuthenticationNeeded(place, "answers with TLS", server=place)
    if fresh and head.startswith(b"HTTP/"):
        why = f"speaks HTTP: {head!r}"
    return MalformedAnswer(place, why, server=place)


def is_tls(head: bytes) -> bool:
    """Whether the first bytes that ever came are TLS and no frame of HBase.

    Derivation: as the length of a frame they mean 352 MB; a first answer is never so long.
    """
    return head.startswith(_TLS_RECORDS)
