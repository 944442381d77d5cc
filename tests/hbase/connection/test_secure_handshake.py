"""Handshakes with servers that are set up otherwise than the client, without Kerberos."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import pytest

from rowkey.hbase.connection import secure_handshake
from rowkey.hbase.connection.gssapi import GssError
from rowkey.hbase.connection.secure_handshake import secure_connection
from rowkey.hbase.errors import (
    AuthenticationFailed,
    AuthenticationNeeded,
    ConnectionLost,
    HBaseError,
)
from rowkey.hbase.settings import Deadline, Settings

PREAMBLE = b"HBas\0\x51"
FIRST = PREAMBLE + b"\0\0\0\x05token"


class _FakeContext:
    """A context that is complete after one answer, and wraps nothing."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self.is_complete = False

    def step(self, token: bytes = b"") -> bytes:
        self.is_complete = token == b"proof"
        return b"" if token else b"token"

    def wrap(self, data: bytes, *, encrypts: bool) -> bytes:
        return bytes([encrypts]) + data

    def unwrap(self, token: bytes, *, is_encrypted: bool = False) -> bytes:
        if is_encrypted:
            raise GssError("not encrypted", "")
        return token


def _message(data: bytes) -> bytes:
    """Return a token of the server after its status, success."""
    return bytes(4) + len(data).to_bytes(4, "big") + data


@contextmanager
def _serve(talk: Callable[[socket.socket], None]) -> Iterator[socket.socket]:
    """Yield a socket to a server in a thread; it hangs up when it has said all."""
    ours, theirs = socket.socketpair()

    def run() -> None:
        with theirs, suppress(OSError):
            talk(theirs)

    thread = Thread(target=run)
    thread.start()
    yield ours
    ours.close()
    thread.join(10)
    assert not thread.is_alive()


def _secure(talk: Callable[[socket.socket], None], **settings: Any) -> None:
    """Make a connection secure, and close it."""
    with _serve(talk) as ours:
        limits = Settings(connect_timeout_s=2.0, **settings)
        secure_connection(ours, ("localhost", 1), limits, Deadline.from_now(2.0)).close()


@pytest.fixture(autouse=True)
def _fake_kerberos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secure_handshake, "GssContext", _FakeContext)


@pytest.mark.parametrize(
    ("answer", "kind", "what"),
    [
        (bytes(4) + b"\xff\xff\xff\xa8", AuthenticationFailed, "does not use Kerberos"),
        (bytes(4) + b"\xff\xff\xff\x00", AuthenticationFailed, "-256 bytes"),
        (
            b"\0\0\0\x01\0\0\0\x02ab\0\0\0\x0cwrong ticket",
            AuthenticationFailed,
            "refused the ticket: wrong ticket",
        ),
        (b"\x15\x03\x03\0\x02\x02\x46", AuthenticationNeeded, "answers with TLS"),
        (b"\0\0", ConnectionLost, "closed the connection during authentication"),
        (_message(b"proof") + _message(b"\x05\0\0\0"), AuthenticationFailed,
         "offers the protection authentication, privacy, not integrity"),
    ],
)  # fmt: skip
def test_a_server_that_is_set_up_otherwise_is_explained(
    answer: bytes, kind: type[HBaseError], what: str
) -> None:
    """No answer lets the client go on with less protection than was asked for."""

    def talk(theirs: socket.socket) -> None:
        theirs.recv(1 << 16)
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        while theirs.recv(1 << 16):
            pass

    with pytest.raises(kind, match=what):
        _secure(talk, auth="kerberos", protection="integrity")


@pytest.mark.parametrize(
    ("protection", "choice"),
    [
        ("authentication", b"\0\x01\0\0\0"),
        ("integrity", b"\0\x02\xff\xff\xff"),
        ("privacy", b"\0\x04\xff\xff\xff"),
        ("privacy,integrity", b"\0\x04\xff\xff\xff"),
    ],
)
def test_the_bytes_of_a_handshake_are_those_of_rfc_4752(protection: str, choice: bytes) -> None:
    """Preamble, token, an empty token, and the choice of protection with no user."""
    received = bytearray()

    def talk(theirs: socket.socket) -> None:
        theirs.sendall(_message(b"proof") + _message(b"\x07\x01\0\0"))
        while data := theirs.recv(1 << 16):
            received.extend(data)

    _secure(talk, auth="kerberos", protection=protection)
    assert FIRST + b"\0\0\0\0" + b"\0\0\0\x05" + choice == bytes(received)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"\0\0\0\x20not a record of TLS, but a frame", "does not speak TLS"),
        (b"", "closed the connection during the handshake of TLS"),
    ],
)
def test_a_server_without_tls_is_never_spoken_to_in_plain_text(answer: bytes, what: str) -> None:
    """The client sends the first message of TLS, and nothing else."""
    received = bytearray()

    def talk(theirs: socket.socket) -> None:
        received.extend(theirs.recv(1 << 16))
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        while data := theirs.recv(1 << 16):
            received.extend(data)

    with pytest.raises(AuthenticationFailed, match=what):
        _secure(talk, tls=True, auth="kerberos")
    assert received.startswith(b"\x16\x03")
    assert b"HBas" not in received


def test_a_silent_server_ends_the_handshake_at_its_deadline() -> None:
    """A handshake takes no longer than opening a connection may."""

    def talk(theirs: socket.socket) -> None:
        while theirs.recv(1 << 16):
            pass

    with (
        _serve(talk) as ours,
        pytest.raises(ConnectionLost, match="did not answer during authentication"),
    ):
        secure_connection(ours, ("localhost", 1), Settings(auth="kerberos"), Deadline.from_now(0.1))
