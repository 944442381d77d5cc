"""Connections that one client opens close no door for others."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portal.browser.servers import serve_portal
from portal.portals import LOGS, run_coroutine
from rowkey.portal import PortalSettings
from rowkey.portal.server import listener
from rowkey.portal.server.listener import PortalListener

if TYPE_CHECKING:
    from portal.browser.servers import ServedPortal

TIMEOUT_S = 20
HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n"


def ask(portal: ServedPortal, address: str) -> bytes:
    """Return the status of the portal's health, asked from an address of this machine."""
    host, _, port = portal.origin.removeprefix("http://").partition(":")
    target = (host, int(port))
    with socket.create_connection(target, TIMEOUT_S, source_address=(address, 0)) as one:
        one.sendall(HEALTHY % f"{host}:{port}".encode())
        return one.recv(1 << 16).split()[1]


@pytest.mark.parametrize(
    ("count", "begin"),
    [
        (2_000, b"GET / HTTP/1.1\r\nx-part: 1\r\n"),
        (400, b""),
        (
            400,
            b"POST /login HTTP/1.1\r\nHost: %b\r\nOrigin: http://%b\r\nContent-Length: 9\r\n\r\n",
        ),
    ],
)
def test_unfinished_requests_of_one_address_do_not_block_other_addresses(
    tmp_path: Path, count: int, begin: bytes
) -> None:
    """While an address has sent heads, nothing or bodies by half, all others are answered."""
    (tmp_path / "logs.toml").write_text(LOGS, "utf-8")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard[1] < 2 * count:
        pytest.skip(f"this process may open {hard[1]} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(hard[0], 2 * count + 500), hard[1]))
    try:
        with serve_portal(PortalSettings(tmp_path)) as portal, ExitStack() as stack:
            host = portal.origin.removeprefix("http://").encode()
            address = (host.decode().partition(":")[0], int(host.partition(b":")[2]))
            for number in range(count):
                one = stack.enter_context(socket.create_connection(address, TIMEOUT_S))
                one.sendall(begin.replace(b"%b", host))
                if number % (count // 10) == 0:
                    assert b"200" == ask(portal, "127.0.0.2")
            assert [b"200"] * 2 == [ask(portal, "127.0.0.2"), ask(portal, "127.0.0.1")]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, hard)


def open_all(*addresses: str, proxy: str = "", is_answered: bool = False) -> list[bool]:
    """Return which of the connections from some addresses stay open, in their order."""

    async def run() -> list[bool]:
        with PortalListener(socket.AF_INET) as server, ExitStack() as stack:
            server.bind(("127.0.0.1", 0))
            server.listen(300)
            server.setblocking(False)
            server.proxy_address = proxy
            clients = []
            for address in addresses:
                client = stack.enter_context(socket.socket())
                client.bind((address, 0))
                client.connect(server.getsockname())
                one, _ = server.accept()
                connection = server.find_connection(one.fileno())
                if connection is not None and is_answered:
                    connection.is_waiting = False
                stack.enter_context(one)
                clients.append(client)
                await asyncio.sleep(0)
            for client in clients:
                client.setblocking(False)
            return [not _has_ended(client) for client in clients]

    return run_coroutine(run())


def _has_ended(client: socket.socket) -> bool:
    """Return whether the other side has ended a connection."""
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


def test_the_client_with_the_most_connections_loses_its_oldest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oldest of the client with the most goes, whoever comes; not those of a proxy."""
    monkeypatch.setattr(listener, "MAX_WAITING", 4)
    greedy, other, third = "127.0.0.1", "127.0.0.2", "127.0.0.3"
    found = open_all(other, greedy, greedy, greedy, third, other)
    assert [True, False, False, True, True, True] == found
    assert all(open_all(*[greedy] * 9, other, proxy=greedy))


def test_open_streams_of_a_client_are_closed_only_for_other_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where all are answered, one client does not lose its own streams, but gives way to others."""
    monkeypatch.setattr(listener, "MAX_SHARED", 3)
    greedy, other = "127.0.0.1", "127.0.0.2"
    assert [True] * 5 == open_all(*[greedy] * 5, is_answered=True)
    assert [False, True, True, True] == open_all(*[greedy] * 3, other, is_answered=True)
