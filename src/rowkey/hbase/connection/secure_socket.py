"""A socket whose bytes are protected by TLS, by Kerberos, or by both."""

from __future__ import annotations

import select
import socket
import ssl
from collections import deque
from threading import Lock
from typing import Any, Final, Protocol

from rowkey.hbase.connection.gssapi import GssContext, GssError

_CHUNK_BYTES: Final = 60_000
"""Most bytes of one message of a client. Source: the servers' SASL buffer is 65,536 bytes, and a
token of AES has 76 bytes more than its data.
"""

_SEND_POLL_MS: Final = 1_000

_RECEIVE_BYTES: Final = 256 << 10
_MAX_TOKEN_BYTES: Final = (1 << 30) + 1024
"""Bytes: a server wraps each answer as one token, and no answer is longer than 1 GiB."""


class Layer(Protocol):
    """A protection of bytes, apart from any socket."""

    def protect(self, data: bytes) -> bytes:
        """Return the bytes to send for these bytes of the client."""

    def unprotect(self, data: bytes) -> bytes:
        """Return the bytes of the server that are complete, given the next received bytes.

        Raises:
            ConnectionError: the received bytes are not valid.
        """


class TlsLayer:
    """The records of TLS.

    Args:
        tls: a TLS connection whose handshake is complete.
        incoming: what it reads from.
        outgoing: what it writes to.
    """

    def __init__(
        self, tls: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO
    ) -> None:
        self._tls, self._incoming, self._outgoing = tls, incoming, outgoing

    def protect(self, data: bytes) -> bytes:
        """Return the records of these bytes, after those that TLS itself has to send."""
        self._tls.write(data)
        return self._outgoing.read()

    def unprotect(self, data: bytes) -> bytes:
        """Return the clear bytes of all complete records."""
        self._incoming.write(data)
        clear = []
        try:
            while part := self._tls.read(_RECEIVE_BYTES):
                clear.append(part)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass  # the end of the connection follows
        except ssl.SSLError as problem:
            raise ConnectionAbortedError(f"TLS failed: {problem.reason}") from None
        return b"".join(clear)


class SaslLayer:
    """Messages of SASL: the length in four bytes, then a token of GSS-API.

    Several frames may be in one message, and one frame in several.

    Args:
        context: the complete context.
        encrypts: whether messages are encrypted (privacy) or only signed (integrity).

    Source: HBase 2.6, SaslWrapHandler and SaslUnwrapHandler, which the server uses for its answers
        too; RFC 4752, 3.3.
    """

    def __init__(self, context: GssContext, *, encrypts: bool) -> None:
        self._context, self._encrypts = context, encrypts
        self._received = bytearray()

    def protect(self, data: bytes) -> bytes:
        """Return the message of these bytes."""
        token = self._context.wrap(data, encrypts=self._encrypts)
        return len(token).to_bytes(4, "big") + token

    def unprotect(self, data: bytes) -> bytes:
        """Return the clear bytes of all complete messages."""
        received = self._received
        received += data
        clear, at = [], 0
        while len(received) - at >= 4:
            size = int.from_bytes(received[at : at + 4], "big")
            if not 0 < size <= _MAX_TOKEN_BYTES:
                raise ConnectionAbortedError(f"a message of SASL has {size:,} bytes")
            if len(received) < at + 4 + size:
                break
            token = bytes(received[at + 4 : at + 4 + size])
            try:
                clear.append(self._context.unwrap(token, is_encrypted=self._encrypts))
            except GssError as problem:
                raise ConnectionAbortedError(problem.problem) from None
            at += 4 + size
        del received[:at]
        return b"".join(clear)


class SecureSocket(socket.socket):
    """A non-blocking socket that protects what it sends, and takes it off what it receives.

    One thread may send while another receives.

    Args:
        sock: the connected socket, which this one replaces.
    """

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock.family, sock.type, sock.proto, fileno=sock.detach())
        self.setblocking(False)
        self._layers: list[Layer] = []  # the outermost first
        self._lock = Lock()
        self._unsent = b""
        self._owed_bytes = 0
        self._clear: deque[memoryview] = deque()
        self._poll = select.poll()
        self._poll.register(self, select.POLLOUT)

    @property
    def has_pending(self) -> bool:
        """Whether received bytes are left, of which the kernel knows nothing."""
        return bool(self._clear)

    def send(self, data: Any, flags: int = 0) -> int:
        """Send bytes; return how many need not be passed again.

        Bytes that are protected cannot be taken back. While the kernel has not taken all of them
        the last byte counts as not sent, so that the caller calls again.

        Raises:
            BlockingIOError: the kernel takes nothing now.
        """
        sent_bytes = 0
        if self._owed_bytes:
            self._flush(flags)
            if self._unsent:
                raise BlockingIOError
            self._owed_bytes, sent_bytes = 0, 1
        with memoryview(data) as whole:
            while sent_bytes < len(whole):
                if not self._poll.poll(0):
                    break
                chunk = bytes(whole[sent_bytes : sent_bytes + _CHUNK_BYTES])
                self._unsent = self._protect(chunk)
                self._flush(flags)
                sent_bytes += len(chunk)
                if self._unsent:
                    self._owed_bytes = 1
                    return sent_bytes - 1
        if not sent_bytes and len(data):
            raise BlockingIOError
        return sent_bytes

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of a few bytes; wait while the kernel takes none."""
        while data:
            try:
                data = data[self.send(data, flags) :]
            except BlockingIOError:
                self._poll.poll(_SEND_POLL_MS)

    def add_layer(self, layer: Layer) -> None:
        """Protect what is sent from now on also by this layer, inside of the others."""
        self._layers.append(layer)

    def _protect(self, data: bytes) -> bytes:
        """Return the bytes to send, protected by all layers.

        Raises:
            ConnectionError: a layer fails.
        """
        with self._lock:
            try:
                for layer in reversed(self._layers):
                    data = layer.protect(data)
            except GssError as problem:
                raise ConnectionAbortedError(problem.problem) from None
        return data

    def _flush(self, flags: int) -> None:
        """Send as many protected bytes as the kernel takes."""
        try:
            while self._unsent:
                self._unsent = self._unsent[super().send(self._unsent, flags) :]
        except BlockingIOError:
            pass

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Receive clear bytes into a buffer; return how many, 0 at the end.

        Raises:
            BlockingIOError: no complete message is there.
            ConnectionError: a message is not valid.
        """
        if not self._clear:
            data = super().recv(_RECEIVE_BYTES, flags)
            if not data:
                return 0
            with self._lock:
                for layer in self._layers:
                    data = layer.unprotect(data)
            if not data:
                raise BlockingIOError
            self._clear.append(memoryview(data))
        part = self._clear.popleft()
        count = min(len(part), nbytes or len(buffer))
        buffer[:count] = part[:count]
        if count < len(part):
            self._clear.appendleft(part[count:])
        return count
