from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from uvicorn.server import ServerState

from command_server import CODE, find_command, start_fork
from portal.portals import LOGS, run_coroutine
from portal.test_simulate import wait_until
from portal.tls_files import create_tls_files
from rowkey.errors import Unavailable
from rowkey.portal import PortalSettings, build_app, run_server
from rowkey.portal.server.listener import PortalListener
from rowkey.portal.server.protocol import PortalProtocol
from rowkey.portal.server.server import bind_listener, build_server

START = """\
import sys, json
from pathlib import Path
from rowkey.portal import PortalSettings, run_server
run_server(
    PortalSettings(Path(sys.argv[1]), port=0), opens_browser=False,
    report=lambda url: print(json.dumps(url), flush=True),
)
"""


def send_lines(port: int, *lines: str) -> bytes:
    """Send a request of exactly these lines, and return the first line of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        return connection.recv(65_536).split(b"\r\n")[0]


def test_the_printed_link_of_a_real_server_logs_in_once(tmp_path: Path) -> None:
    """A real server prints a link that logs in once, checks hosts, and logs no token."""
    (tmp_path / "logs.toml").write_text(LOGS, "utf-8")
    with start_fork(START, str(tmp_path), stderr=subprocess.PIPE) as (process, number):
        assert process.stdout is not None
        url = urlsplit(json.loads(process.stdout.readline()))
        port = url.port or 0
        try:
            own = f"Host: 127.0.0.1:{port}"
            healthy, evil = "GET /healthz HTTP/1.1", "Host: evil.com"
            answers = [
                send_lines(port, healthy, *hosts) for hosts in ([own], [evil], [], [own, own])
            ]
            assert [b"200", b"400", b"400", b"400"] == [line.split()[1] for line in answers]
            climb = send_lines(port, "GET /static/..%2f..%2fapp.py HTTP/1.1", own)
            assert b"401" == climb.split()[1]
            browser = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            browser.request("GET", f"{url.path}?{url.query}")
            login = browser.getresponse()
            login.read()
            cookie = str(login.getheader("set-cookie")).partition(";")[0]
            browser.request("GET", "/", headers={"cookie": cookie})
            page = browser.getresponse()
            assert (303, 200, True) == (login.status, page.status, b"logs.toml" in page.read())
            browser.close()
        finally:
            os.kill(number, signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert url.query.partition("=")[2] not in errors
    state = tmp_path / ".rowkey-portal"
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    status = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert b"?? logs.toml\n" == subprocess.run(status, check=True, capture_output=True).stdout
    assert (0o700, 0o600) == tuple(one.stat().st_mode & 0o777 for one in (state, state / "lock"))


@pytest.mark.parametrize("earlier", ["", "signal.getsignal = lambda _: None  # of C code\n"])
def test_an_interrupt_before_the_server_listens_is_no_error(tmp_path: Path, earlier: str) -> None:
    """Ctrl-C in the moment in which the URL is printed is no error, and leaves no warning."""
    interrupt = "lambda _: os.kill(os.getpid(), signal.SIGINT)"
    code = (
        "import os, pathlib, signal, sys\n"
        "from rowkey.portal import PortalSettings, run_server\n"
        f"{earlier}"
        "settings = PortalSettings(pathlib.Path(sys.argv[1]), port=0)\n"
        f"run_server(settings, opens_browser=False, report={interrupt})\n"
        "print('ended')\n"
    )
    command, environment = [find_command(), str(tmp_path)], {**os.environ, CODE: code}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (0, "ended\n", "") == (done.returncode, done.stdout, done.stderr)


HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"


async def answer_slowly(_: Any, receive: Any, send: Any) -> None:
    """Read a request, and answer it after 200 ms."""
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.2)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """Return what a server sends until it closes or resets the connection."""
    content = b""
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            content += piece
    return content


async def exchange(*pieces: bytes, pause_s: float = 0.0) -> bytes:
    """Send pieces to a server that answers slowly, and return all that it answers."""
    config = uvicorn.Config(answer_slowly, lifespan="off", log_config=None)
    with PortalListener(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        protocol = partial(
            PortalProtocol, listener, config=config, server_state=ServerState(), app_state={}
        )
        async with await asyncio.get_running_loop().create_server(protocol, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            answer = asyncio.create_task(asyncio.wait_for(read_all(reader), 20))
            for piece in pieces:
                if not answer.done():
                    writer.write(piece)
                    await asyncio.sleep(pause_s)
            try:
                return await answer
            finally:
                writer.close()


STREAM = """\
import sys, json
from pathlib import Path
import rowkey
from rowkey.portal import PortalSettings, run_server
table = rowkey.open(rowkey.Design("logs", "[id]", fields={"id": "u64"}), "memory:streams")
run_server(
    PortalSettings(Path(sys.argv[1]), "memory:streams", port=0), opens_browser=False,
    report=lambda url: print(json.dumps(url), flush=True),
)
"""


def test_open_streams_do_not_delay_the_end_of_the_server(tmp_path: Path) -> None:
    """A page that is closed is not counted any more, and an open one does not hold up the end."""
    with start_fork(STREAM, str(tmp_path), stderr=subprocess.PIPE) as (process, number):
        assert process.stdout is not None
        url = urlsplit(json.loads(process.stdout.readline()))
        browser = http.client.HTTPConnection("127.0.0.1", url.port, timeout=20)
        browser.request("GET", f"{url.path}?{url.query}")
        login = browser.getresponse()
        login.read()
        headers = {"cookie": str(login.getheader("set-cookie")).partition(";")[0]}

        def count_viewers() -> str:
            browser.request("GET", "/metrics", headers=headers)
            text = browser.getresponse().read().decode()
            return text.partition("\nrowkey_portal_live_viewers ")[2].partition("\n")[0]

        streams = []
        for _ in range(2):
            stream = http.client.HTTPConnection("127.0.0.1", url.port, timeout=20)
            stream.request("GET", "/tables/logs/live/events", headers=headers)
            response = stream.getresponse()
            assert b": the table" == response.readline()[:11]
            streams.append((stream, response))
        assert "2" == count_viewers()
        streams[0][1].close()
        streams[0][0].close()
        wait_until(lambda: count_viewers() == "1")
        browser.close()
        os.kill(number, signal.SIGINT)
        assert b"data: " in streams[1][1].read()
        streams[1][0].close()
        _, errors = process.communicate(timeout=30)
    assert "graceful" not in errors, "the server had to cancel the stream"


def test_a_port_in_use_is_reported_before_a_link_is_printed(tmp_path: Path) -> None:
    """A port that another program has is refused before a link is printed."""
    links: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = PortalSettings(tmp_path, port=other.getsockname()[1])
        with pytest.raises(Unavailable, match="--port 0 for any free one"):
            run_server(settings, opens_browser=False, report=links.append)
    assert [] == links


@pytest.mark.parametrize("pieces", [[], [HEAD], [b"GET"], [BODY], [BODY, b"a"]])
def test_a_connection_without_a_request_is_closed(
    monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]
) -> None:
    """A client that sends nothing, or not the rest, is not waited for."""
    for name in ("MAX_HEAD_S", "MAX_SILENCE_S"):
        monkeypatch.setattr(f"rowkey.portal.server.protocol.{name}", 0.05)
    assert b"" == run_coroutine(exchange(*pieces))


def test_a_request_head_that_arrives_slowly_is_not_given_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A head ends in its time, also the second one of a connection; a slow answer is waited for."""
    monkeypatch.setattr("rowkey.portal.server.protocol.MAX_HEAD_S", 0.3)
    drops = [b"X-Part: 1\r\n"] * 500
    begin_s = time.monotonic()
    assert b"" == run_coroutine(exchange(HEAD, *drops, pause_s=0.02))
    answer = run_coroutine(exchange(HEAD + b"\r\n" + HEAD, *drops, pause_s=0.02))
    assert (1, b"ok") == (answer.count(b"HTTP/1.1 200"), answer[-2:])
    assert time.monotonic() - begin_s < 9


def test_tls_is_offered_only_with_secure_ciphers(tmp_path: Path) -> None:
    """TLS is of version 1.2 at least, with authenticated encryption and forward secrecy."""
    certificate, key = create_tls_files(tmp_path)
    settings = PortalSettings(tmp_path, certificate_file=certificate, key_file=key)
    with bind_listener(replace(settings, port=0)) as listener:
        server = build_server(build_app(settings), settings, listener)
    context = server.config.ssl
    assert context is not None
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    names = [one["name"] for one in context.get_ciphers()]
    assert [] == [one for one in names if not re.match("TLS_|ECDHE-.*(GCM|CHACHA20)", one)]
