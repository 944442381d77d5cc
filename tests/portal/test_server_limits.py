"""A real server under clients that send too much, too slowly, or all at once."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from portal.browser.servers import serve_portal
from portal.portals import LOGS, create_logs, digest_files
from rowkey.portal import PortalSettings
from rowkey.portal.server.listener import MAX_WAITING
from rowkey.portal.server.requests import MAX_BODY_BYTES

if TYPE_CHECKING:
    from portal.browser.servers import ServedPortal

TIMEOUT_S = 30
SLOW_CLIENTS, PARALLEL_REQUESTS, MANY_HEADERS = 100, MAX_WAITING - 8, 10_000
PATHS = ("/", "/designs/logs.toml", "/tables/logs/rows", "/tables/logs/operations")


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[ServedPortal]:
    """A portal on a directory with a table."""
    folder = tmp_path / "designs"
    folder.mkdir()
    (folder / "logs.toml").write_text(LOGS, "utf-8")
    create_logs(f"rocks:{tmp_path / 'data'}")
    with serve_portal(PortalSettings(folder, f"rocks:{tmp_path / 'data'}")) as served:
        yield served


def connect(portal: ServedPortal) -> socket.socket:
    """Return a connection to a portal."""
    port = urlsplit(portal.origin).port
    assert port is not None
    return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)


def log_in(portal: ServedPortal) -> dict[str, str]:
    """Return the headers of a user who is logged in."""
    path = portal.create_login_url().removeprefix(portal.origin)
    status, headers, _ = request(portal, "GET", path)
    assert 303 == status
    return {"cookie": headers["set-cookie"].partition(";")[0], "origin": portal.origin}


def request(
    portal: ServedPortal,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Send a request, and return the status, the headers and the body of the answer."""
    connection = http.client.HTTPConnection(urlsplit(portal.origin).netloc, timeout=TIMEOUT_S)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    found = {name.lower(): value for name, value in answer.getheaders()}
    content = answer.read()
    connection.close()
    return answer.status, found, content


def test_a_body_one_byte_above_the_limit_answers_413(portal: ServedPortal) -> None:
    """One byte above the limit answers 413, with or without a length; one less does not."""
    headers = {**log_in(portal), "content-type": "application/x-www-form-urlencoded"}
    path = "/designs/logs.toml"
    for size, is_refused in ((MAX_BODY_BYTES, False), (MAX_BODY_BYTES + 1, True)):
        status, _, _ = request(portal, "POST", path, headers, b"x" * size)
        assert is_refused == (413 == status)
    pieces = iter([b"x" * (1 << 16)] * 17)
    connection = http.client.HTTPConnection(urlsplit(portal.origin).netloc, timeout=TIMEOUT_S)
    connection.request("POST", path, pieces, headers, encode_chunked=True)
    assert 413 == connection.getresponse().status
    connection.close()


def test_slow_clients_and_many_headers_block_no_other_client(portal: ServedPortal) -> None:
    """While connections send a header now and then, or ten thousand, others are answered."""
    with ExitStack() as stack:
        slow = [stack.enter_context(connect(portal)) for _ in range(SLOW_CLIENTS)]
        for number, one in enumerate(slow):
            one.sendall(b"GET / HTTP/1.1\r\nx-part: %d\r\n" % number)
        headers = log_in(portal)
        lines = b"".join(b"x-%d: 1\r\n" % number for number in range(MANY_HEADERS))
        with connect(portal) as one:
            one.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n" + lines + b"\r\n")
            assert b"400" == one.recv(1 << 16).split()[1]
        for one in slow:
            one.sendall(b"x-more: 1\r\n")
        assert 200 == request(portal, "GET", "/", headers)[0]


def test_as_many_requests_as_one_address_may_send_are_all_answered(
    portal: ServedPortal, tmp_path: Path
) -> None:
    """As many pages as one address may wait for, of a table of one process, get their answers."""
    headers = log_in(portal)
    before = digest_files(tmp_path / "designs")
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        paths = [PATHS[number % len(PATHS)] for number in range(PARALLEL_REQUESTS)]
        answers = list(pool.map(lambda path: request(portal, "GET", path, headers)[0], paths))
    assert [200] * PARALLEL_REQUESTS == answers
    assert before == digest_files(tmp_path / "designs")
