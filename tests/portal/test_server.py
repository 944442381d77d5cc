from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from portal.portals import LOGS
from portal.test_simulate import wait_until
from rowkey.errors import Unavailable
from rowkey.portal import PortalSettings, run_server

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_portal_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """A real server prints a link that logs in once, checks hosts, and logs no token."""
    (tmp_path / "logs.toml").write_text(LOGS, "utf-8")
    command = [sys.executable, "-c", START, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
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
            os.kill(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert url.query.partition("=")[2] not in errors


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


def test_streams_of_pages_end(tmp_path: Path) -> None:
    """A page that is closed is not counted any more, and an open one does not hold up the end."""
    command = [sys.executable, "-c", STREAM, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
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
        os.kill(process.pid, signal.SIGINT)
        assert b"data: " in streams[1][1].read()
        streams[1][0].close()
        _, errors = process.communicate(timeout=30)
    assert "graceful" not in errors, "the server had to cancel the stream"


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    """A port that another program has is refused before a link is printed."""
    links: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = PortalSettings(tmp_path, port=other.getsockname()[1])
        with pytest.raises(Unavailable, match="--port 0 for any free one"):
            run_server(settings, opens_browser=False, report=links.append)
    assert [] == links
