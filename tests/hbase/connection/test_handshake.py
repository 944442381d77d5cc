import getpass
import socket
from contextlib import closing

import pytest

from hbase.fakes import FakeServer, answer_each
from rowkey.hbase.connection import ServerConnection
from rowkey.hbase.connection.handshake import build_handshake, connect_socket
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.settings import Deadline, Settings

RECORDED_BYTES = bytes.fromhex(
    "4842617300500000005d0a080a06726f776b6579120d436c69656e74536572766963651a2b6f72672e617061"
    "6368652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f6465632a150a05322e362e"
    "3012001a0022002a00320038024006"
)
"""Source: facts of the protocol, 3.11; servers of 2.5.13, 2.6.4 and 3.0.0-alpha-4."""


def build_deadline() -> Deadline:
    """Return a deadline that no working test reaches."""
    return Deadline.from_now(30)


def test_the_handshake_has_the_recorded_bytes() -> None:
    """The bytes of the handshake are those that servers of three versions accepted."""
    assert RECORDED_BYTES == build_handshake("ClientService", Settings(user="rowkey"))


def test_a_user_id_without_a_name_is_sent_as_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.setattr("os.getuid", lambda: 4711)
    assert b"\x0a\x06\x0a\x044711" in build_handshake("ClientService", Settings())


def test_each_address_of_a_host_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that refuses does not hide the next one of the same name."""
    with FakeServer(answer_each(lambda _: b"here")) as server:
        port = server.address[1]
        real = socket.getaddrinfo

        def both(host: str, port: int, **about: int) -> object:
            if about["flags"]:
                raise socket.gaierror(socket.EAI_NONAME, f"{host} is no number")
            return [
                *real("127.0.0.2", port, type=socket.SOCK_STREAM),
                *real("127.0.0.1", port, type=socket.SOCK_STREAM),
            ]

        monkeypatch.setattr(socket, "getaddrinfo", both)
        address = ("rs1.example", port)
        with closing(
            ServerConnection.open(address, "ClientService", Settings(), build_deadline())
        ) as line:
            assert (
                b"here"
                == line.send("Get", b"", deadline=build_deadline()).result(build_deadline()).message
            )


def test_a_socket_connected_to_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket connected to its own port is refused, since requests would be echoed."""
    real = socket.socket

    class Same(real):  # type: ignore[valid-type, misc]
        """A socket bound to the port that it will connect to."""

        def connect(self, address: tuple[str, int]) -> None:
            """Bind to the target's port and connect to it."""
            self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.bind(address)
            super().connect(address)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()
    monkeypatch.setattr(socket, "socket", Same)
    with pytest.raises(ConnectionLost, match="Connection refused"):
        connect_socket(free, Settings(), build_deadline())


def test_a_refused_connection_leaves_no_socket_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()
    with pytest.raises(
        ConnectionLost, match=rf"127\.0\.0\.1:{free[1]}: the server does not accept"
    ):
        connect_socket(free, Settings(), build_deadline())
