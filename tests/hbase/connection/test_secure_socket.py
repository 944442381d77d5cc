"""Sockets whose bytes are protected, without Kerberos: a context of the test stands for it."""

from __future__ import annotations

import socket
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.hbase.connection.gssapi import GssError
from rowkey.hbase.connection.secure_socket import SaslLayer, SecureSocket


class _FakeContext:
    """A context whose tokens are the bytes between two marks, so that a wrong cut is seen."""

    def wrap(self, data: bytes, *, encrypts: bool) -> bytes:
        return b"<" + bytes(byte ^ 0x55 if encrypts else byte for byte in data) + b">"

    def unwrap(self, token: bytes, *, is_encrypted: bool = False) -> bytes:
        if token[:1] != b"<" or token[-1:] != b">":
            raise GssError("A token had an invalid signature", "")
        return bytes(byte ^ 0x55 if is_encrypted else byte for byte in token[1:-1])


def _build_layer(*, encrypts: bool = True) -> SaslLayer:
    context: Any = _FakeContext()
    return SaslLayer(context, encrypts=encrypts)


def test_a_sasl_message_is_its_length_and_its_token() -> None:
    """These are the bytes of HBase's SaslWrapHandler around a token."""
    assert b"\0\0\0\x04<ab>" == _build_layer(encrypts=False).protect(b"ab")
    assert b"\0\0\0\x04<47>" == _build_layer().protect(b"ab")


@given(
    st.lists(st.binary(max_size=40), max_size=8),
    st.lists(st.integers(0, 400), max_size=12),
    st.booleans(),
)
def test_messages_are_read_wherever_the_stream_is_cut(
    parts: list[bytes], cuts: list[int], encrypts: bool
) -> None:
    """The clear bytes do not depend on how the network divides the messages."""
    layer, reader = _build_layer(encrypts=encrypts), _build_layer(encrypts=encrypts)
    stream = b"".join(map(layer.protect, parts))
    bounds = [0, *sorted(cuts), len(stream)]
    found = [
        reader.unprotect(stream[start:stop]) for start, stop in pairwise(bounds) if start < stop
    ]
    assert b"".join(parts) == b"".join(found)


@pytest.mark.parametrize(
    ("received", "what"),
    [
        (b"\0\0\0\x04(47>", "invalid signature"),
        (b"\0\0\0\0", "0 bytes"),
        (b"\xff\xff\xff\xff", "4,294,967,295 bytes"),
    ],
)
def test_a_message_that_is_not_valid_breaks_the_connection(received: bytes, what: str) -> None:
    """A changed token and an impossible length are errors of the connection, never bytes."""
    with pytest.raises(ConnectionError, match=what):
        _build_layer().unprotect(received)


def test_a_blocked_sender_owes_the_last_byte_until_all_is_sent() -> None:
    """A caller that sends the rest until nothing is left has sent every message whole, once."""
    ours, theirs = socket.socketpair()
    data = bytes(range(256)) * 8_000
    with SecureSocket(ours) as secure, theirs:
        secure.add_layer(_build_layer())
        theirs.setblocking(False)
        reader, received, rest, blocked = _build_layer(), bytearray(), memoryview(data), 0
        while rest or len(received) < len(data):
            try:
                rest = rest[secure.send(rest) :] if rest else rest
            except BlockingIOError:
                blocked += 1
            try:
                received += reader.unprotect(theirs.recv(50_000))
            except BlockingIOError:
                continue
        assert bytes(received) == data
        assert blocked


def test_bytes_that_are_left_after_a_receive_are_pending() -> None:
    """A token may hold more than the buffer: the kernel says nothing of the rest."""
    ours, theirs = socket.socketpair()
    with SecureSocket(ours) as secure, theirs:
        secure.add_layer(_build_layer())
        message = _build_layer().protect(b"abcde")
        theirs.sendall(message[:7])
        buffer = bytearray(3)
        with pytest.raises(BlockingIOError):
            secure.recv_into(buffer)
        theirs.sendall(message[7:])
        assert (3, b"abc", True) == (secure.recv_into(buffer), bytes(buffer), secure.has_pending)
        assert (2, b"de", False) == (
            secure.recv_into(buffer),
            bytes(buffer[:2]),
            secure.has_pending,
        )
