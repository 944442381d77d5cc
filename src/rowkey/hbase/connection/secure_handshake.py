"""Makes a connection secure before its first request: TLS first, then Kerberos inside it."""

from __future__ import annotations

import select
import socket
import ssl
from typing import Final

from rowkey.hbase.connection.gssapi import GssContext, GssError
from rowkey.hbase.connection.handshake import build_frame_error, format_address, is_tls
from rowkey.hbase.connection.secure_socket import SaslLayer, SecureSocket, TlsLayer
from rowkey.hbase.errors import AuthenticationFailed, ConnectionLost
from rowkey.hbase.settings import PROTECTIONS, Deadline, Settings
from rowkey.hbase.wire.frames import KERBEROS_PREAMBLE

_MAX_TOKEN_BYTES: Final = 1 << 20
"""Bytes of one token of the handshake. A ticket with many groups of Active Directory has 64 KB."""

_SWITCH_TO_SIMPLE: Final = (-88).to_bytes(4, "big", signed=True)
"""What a server without Kerberos answers. Source: SaslUtil.SWITCH_TO_SIMPLE_AUTH."""

_MAX_MESSAGE: Final = 0xFFFFFF.to_bytes(3, "big")
"""The longest message that the client takes, which servers do not heed. Source: RFC 4752, 3.1."""

_WRONG_HOST_CODES: Final = (62, 64)
"""The name, or the address, is not in the certificate. Source: OpenSSL, X509_V_ERR_*_MISMATCH."""


def secure_connection(
    sock: socket.socket, address: tuple[str, int], settings: Settings, deadline: Deadline
) -> socket.socket:
    """Return a socket on which the connection header can be sent, protected as the settings say.

    Raises:
        AuthenticationFailed: a ticket, key, certificate or setting is missing or wrong.
        AuthenticationNeeded: the server speaks TLS, and the client does not.
        ConnectionLost: the server, or the KDC, did not answer in time.
        Unavailable: the library of Kerberos is missing.
    """
    if not settings.tls and settings.auth == "simple":
        return sock
    return _Handshake(SecureSocket(sock), address, settings, deadline).run()


class _Handshake:
    """The messages of one connection before its header.

    Args:
        sock: the connected socket.
        address: host and port.
        settings: what is asked for.
        deadline: when to give up.
    """

    def __init__(
        self, sock: SecureSocket, address: tuple[str, int], settings: Settings, deadline: Deadline
    ) -> None:
        self._socket, self._host, self._settings = sock, address[0], settings
        self._host_port = format_address(address)
        self._deadline = deadline.shorten_to(settings.connect_timeout_s)
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def run(self) -> SecureSocket:
        """Return the socket with its layers of protection."""
        try:
            if self._settings.tls:
                self._start_tls()
            if self._settings.auth == "kerberos":
                self._authenticate()
        except OSError as problem:
            self._socket.close()
            what = f"the connection broke during authentication: {problem.strerror or problem}"
            raise self._build_lost(what) from None
        except BaseException:
            self._socket.close()
            raise
        return self._socket

    def _start_tls(self) -> None:
        """Complete the handshake of TLS.

        Raises:
            AuthenticationFailed: one side does not trust the other, or the server has no TLS.
        """
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self._build_tls_context().wrap_bio(incoming, outgoing, server_hostname=self._host)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                self._socket.sendall(outgoing.read())
                received = self._receive(1 << 16)
                if not received:
                    what = "the server closed the connection during the handshake of TLS"
                    remedy = (
                        "Check that it has hbase.server.netty.tls.enabled; if it asks for a client"
                        " certificate, set cert_file."
                    )
                    raise self._build_failed(what, remedy) from None
                incoming.write(received)
            except ssl.SSLCertVerificationError as problem:
                raise self._build_certificate_error(problem) from None
            except ssl.SSLError as problem:
                raise self._build_tls_error(problem) from None
            else:
                break
        self._socket.sendall(outgoing.read())
        self._socket.add_layer(TlsLayer(tls, incoming, outgoing))

    def _build_tls_context(self) -> ssl.SSLContext:
        """Return the context of TLS, which checks certificates and host names.

        Raises:
            AuthenticationFailed: a file of the settings cannot be read.
        """
        settings = self._settings
        name = "ca_file"
        try:
            context = ssl.create_default_context(cafile=settings.ca_file or None)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            if settings.cert_file:
                name = "cert_file"
                context.load_cert_chain(settings.cert_file, settings.key_file or None)
        except (OSError, ValueError) as problem:  # SSLError is an OSError
            reason = getattr(problem, "strerror", None) or problem
            path = getattr(settings, name)
            what = f"{name} {path} cannot be used: {reason}"
            raise self._build_failed(what, "Name a readable file in the format PEM.") from None
        return context

    def _build_certificate_error(
        self, problem: ssl.SSLCertVerificationError
    ) -> AuthenticationFailed:
        """Return the error for a certificate of the server that is not valid."""
        if problem.verify_code in _WRONG_HOST_CODES:
            what = f"the certificate of the server is not for {self._host}"
            remedy = "Use a name that the certificate has, or a certificate with this name."
        else:
            what = f"the certificate of the server is not trusted: {problem.verify_message}"
            remedy = "Set ca_file to the PEM file of the authority that signed it."
        return self._build_failed(what, remedy)

    def _build_tls_error(self, problem: ssl.SSLError) -> AuthenticationFailed:
        """Return the error for a failed handshake of TLS."""
        reason = (problem.reason or str(problem)).replace("_", " ").lower()
        if "wrong version number" in reason or "record" in reason:
            remedy = "Set tls=false if the cluster has no TLS."
            return self._build_failed("the server does not speak TLS", remedy)
        return self._build_failed(f"the handshake of TLS failed: {reason}", "")

    def _authenticate(self) -> None:
        """Complete the handshake of SASL, and add its protection if one was agreed on."""
        principal = self._settings.server_principal.replace("_HOST", self._host.lower())
        try:
            settings = self._settings
            context = GssContext(principal, settings.principal, settings.keytab)
            token = context.step()
            self._socket.sendall(KERBEROS_PREAMBLE)
            while True:
                self._send_token(token)
                answer = self._receive_token()
                if context.is_complete:
                    break
                token = context.step(answer)
            number, encrypts = self._choose_protection(context.unwrap(answer))
            choice = bytes([number]) + (_MAX_MESSAGE if number > 1 else bytes(3))
            self._send_token(context.wrap(choice, encrypts=False))
        except GssError as problem:
            if problem.is_temporary:
                raise self._build_lost(problem.problem, problem.remedy) from None
            raise self._build_failed(problem.problem, problem.remedy) from None
        if number > 1:
            self._socket.add_layer(SaslLayer(context, encrypts=encrypts))

    def _choose_protection(self, offer: bytes) -> tuple[int, bool]:
        """Return the bit of the first wanted protection that the server offers.

        Also return whether it encrypts.

        Raises:
            AuthenticationFailed: the server offers none that is wanted.
        """
        offered = offer[0] if len(offer) == 4 else 0
        wanted = [name.strip() for name in self._settings.protection.split(",")]
        for name in wanted:
            if PROTECTIONS[name] & offered:
                return PROTECTIONS[name], name == "privacy"
        names = ", ".join(name for name, bit in PROTECTIONS.items() if bit & offered)
        what = f"the server offers the protection {names or 'none'}, not {', '.join(wanted)}"
        remedy = "Set protection to hbase.rpc.protection of the servers' hbase-site.xml."
        raise self._build_failed(what, remedy)

    def _send_token(self, token: bytes) -> None:
        self._socket.sendall(len(token).to_bytes(4, "big") + token)

    def _receive_token(self) -> bytes:
        """Return the next token of the server.

        Raises:
            AuthenticationFailed: the server refuses, or has no Kerberos.
        """
        status = self._receive_exactly(4)
        if is_tls(status):
            raise build_frame_error(self._host_port, status, "", is_first=True)
        if any(status):
            java_class, message = self._receive_text(), self._receive_text()
            what = f"the server refused the ticket: {message or java_class}"
            remedy = "Compare server_principal and protection with the servers' hbase-site.xml."
            raise self._build_failed(what, remedy)
        head = self._receive_exactly(4)
        size = int.from_bytes(head, "big", signed=True)
        if head == _SWITCH_TO_SIMPLE:
            what = "the server does not use Kerberos"
            raise self._build_failed(what, "Remove auth=kerberos, or check the address.")
        if not 0 <= size <= _MAX_TOKEN_BYTES:
            raise self._build_failed(f"a token of the server has {size:,} bytes", "")
        return self._receive_exactly(size)

    def _receive_text(self) -> str:
        size = int.from_bytes(self._receive_exactly(4), "big")
        return self._receive_exactly(min(size, _MAX_TOKEN_BYTES)).decode(errors="replace")

    def _receive_exactly(self, size: int) -> bytes:
        """Return so many bytes of the server.

        Raises:
            ConnectionLost: they do not come.
        """
        data = b""
        while len(data) < size:
            part = self._receive(size - len(data))
            if not part:
                raise self._build_lost("the server closed the connection during authentication")
            data += part
        return data

    def _receive(self, size: int) -> bytes:
        """Return at most so many bytes, as soon as some come; none at the end.

        Raises:
            ConnectionLost: none come until the deadline.
        """
        buffer = bytearray(size)
        while True:
            try:
                return bytes(buffer[: self._socket.recv_into(buffer)])
            except BlockingIOError:
                if not self._poll.poll(self._deadline.get_remaining_s() * 1000):
                    what = "the server did not answer during authentication"
                    raise self._build_lost(what) from None

    def _build_lost(self, what: str, remedy: str = "") -> ConnectionLost:
        return ConnectionLost(self._host_port, what, remedy=remedy, server=self._host_port)

    def _build_failed(self, what: str, remedy: str) -> AuthenticationFailed:
        return AuthenticationFailed(self._host_port, what, remedy=remedy, server=self._host_port)
