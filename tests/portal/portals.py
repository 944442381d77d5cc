"""Portals for the tests: a folder, an engine in memory, and requests as a browser sends them."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient

import rowkey
from rowkey.portal import PortalSettings, build_app

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from rowkey.portal.server.routes import PortalRoute

Result = TypeVar("Result")
ORIGIN = "http://127.0.0.1:8765"
OWN_PAGE = {"sec-fetch-site": "same-origin", "origin": ORIGIN}
LOGS = """\
table = "logs"
key   = "[bucket(host, 16)][host][ts]"

[fields]
host = { type = "text", max_bytes = 40 }
ts   = "timestamp_ms"
note = "text"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""


@dataclass(frozen=True)
class RawResponse:
    """What an app answers to a request that no client would send."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def send_raw(
    app: Starlette,
    method: str,
    path: str,
    headers: Iterable[tuple[str, str]],
    body: bytes = b"",
    *,
    query: bytes = b"",
    messages: Sequence[dict[str, Any]] = (),
) -> RawResponse:
    """Send a request with exactly these headers and this decoded path.

    Args:
        app: the portal.
        method: the method.
        path: the decoded path.
        headers: the headers.
        body: the body.
        query: what follows the question mark.
        messages: what the server gives the portal, in place of the body.
    """
    given = iter(messages or [{"type": "http.request", "body": body, "more_body": False}])
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query,
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
        "headers": [(name.encode(), value.encode("utf-8")) for name, value in headers],
    }

    async def receive() -> dict[str, Any]:
        message = next(given, None)
        if message is None:
            await asyncio.Event().wait()  # until the request has its answer
        return message or {}

    async def send(message: Any) -> None:
        sent.append(message)

    run_coroutine(app(scope, receive, send))
    content = b"".join(one.get("body", b"") for one in sent[1:])
    return RawResponse(sent[0]["status"], sent[0]["headers"], content)


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in the loop of a thread, as that of a test may have the loop of a browser.

    Returns:
        Its result.
    """
    result: Result = start_loop_thread().call(lambda: coroutine)
    return result


@cache
def start_loop_thread() -> BlockingPortal:
    """Return a way into a thread that runs a loop until the process ends."""
    opened = start_blocking_portal()
    atexit.register(opened.__exit__, None, None, None)
    return opened.__enter__()


def open_client(app: Starlette, *, logs_in: bool = True) -> TestClient:
    """Return a client that sends the headers of a browser on a page of the portal."""
    client = TestClient(app, base_url=ORIGIN, headers=OWN_PAGE, follow_redirects=False)
    if logs_in:
        token = app.state.portal.sessions.create_login_token()
        assert 303 == client.get("/login", params={"token": token}).status_code
    return client


def build_portal(
    folder: Path,
    url: str | None = None,
    *,
    more_routes: Sequence[PortalRoute] = (),
    **settings: Any,
) -> Starlette:
    """Return the app of a portal on a folder that has a design for logs."""
    designs = folder / "designs"
    designs.mkdir(exist_ok=True)
    (designs / "logs.toml").write_text(LOGS, encoding="utf-8")
    return build_app(PortalSettings(designs, url, **settings), more_routes)


def create_logs(url: str) -> None:
    """Create the table of the design for logs, with a row."""
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        table.put({"host": "web-1", "ts": 1, "note": "disk full"})


def digest_files(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder, by its path."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
