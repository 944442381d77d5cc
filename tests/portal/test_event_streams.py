"""Streams of events: they end with the work, with the session, and with the portal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request

from portal.portals import build_portal, open_client, run_coroutine
from rowkey.portal.server.event_streams import iterate_progress
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.tasks.process_task import ProcessTask
from rowkey.portal.tasks.task import TaskState

if TYPE_CHECKING:
    from rowkey.portal.portal import Portal


def build_request(portal: Portal, cookie: str) -> PortalRequest:
    """Return a request of a user who is logged in."""
    headers = [(b"host", b"127.0.0.1:8765"), (b"cookie", f"rowkey_session_8765={cookie}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    return PortalRequest(Request({**scope, "scheme": "http", "client": None}), portal)


@pytest.mark.parametrize("ending", ["log out", "stop"])
def test_an_event_stream_ends_with_the_session_or_the_portal(tmp_path: Path, ending: str) -> None:
    """A user who has logged out learns nothing more, and a portal that is stopped is not kept."""
    portal = build_portal(tmp_path).state.portal
    cookie = portal.sessions.exchange_token(portal.sessions.create_login_token())
    request = build_request(portal, cookie)
    end: dict[str, Callable[[], None]] = {
        "log out": lambda: portal.sessions.end_session(cookie),
        "stop": portal.end_streams,
    }
    count = 0

    def describe() -> dict[str, Any]:
        nonlocal count
        count += 1
        if count == 2:
            end[ending]()
        return {"count": count, "is_final": False}

    async def read() -> list[dict[str, Any]]:
        async with asyncio.timeout(20):
            events = iterate_progress(request, describe)
            return [json.loads(one.removeprefix("data: ")) async for one in events]

    assert [1, 2] == [one["count"] for one in run_coroutine(read())]


@pytest.mark.parametrize("kind", ["simulations", "advice"])
def test_a_task_that_ends_while_its_page_is_rendered_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A page whose task ends while its result is looked for loads itself again."""
    app = build_portal(tmp_path)
    client, portal = open_client(app), app.state.portal
    monkeypatch.setattr(portal.tasks, "_start_waiting", lambda: None)
    path = client.post(f"/{kind}", data={"design": "logs.toml"}).headers["location"]
    task: ProcessTask = portal.tasks.find(path.rpartition("/")[2])
    store = type(getattr(portal, kind))
    monkeypatch.setattr(store, "read_result", lambda *_: task.end(TaskState.DONE))
    assert 'id="progress"' in client.get(path).text
    assert task.state is TaskState.DONE
