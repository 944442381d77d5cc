from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client, run_coroutine
from rowkey.boottime import read_boottime_s
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.engines.contract import Store
from rowkey.errors import Unavailable
from rowkey.portal.live.history import LiveHistory
from rowkey.portal.live.watch import WATCHED_S, LiveWatch
from rowkey.portal.screens.live import iterate_live_events
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.tables.engine_session import EngineSession
from rowkey.table import drop_table

if TYPE_CHECKING:
    from starlette.applications import Starlette


class CountedCalls:
    """Counts the readings of counters, by table, and fails those of some."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.counts: dict[str, int] = {}
        self.broken: set[str] = set()
        read = Store.list_open_regions
        servers = MemoryEngine.list_servers

        def count(store: Any, wait_s: float | None = None) -> Any:
            name = store._table.name
            self.counts[name] = self.counts.get(name, 0) + 1
            assert wait_s is not None
            assert wait_s <= 5, "a reading has a time limit"
            if name in self.broken:
                raise Unavailable(name, "some of its regions are on no server")
            return read(store, wait_s)

        def count_servers(engine: Any, wait_s: float | None = None) -> list[str]:
            self.counts["servers"] = self.counts.get("servers", 0) + 1
            return servers(engine, wait_s)

        patch.setattr(Store, "list_open_regions", count)
        patch.setattr(MemoryEngine, "list_servers", count_servers)


class SteppedWatch:
    """The watch of a portal with a clock that only goes on when it is told to.

    Args:
        app: the portal.
    """

    def __init__(self, app: Starlette) -> None:
        self.now_s = 0.0
        portal = app.state.portal
        portal.live._clock = self.get_time
        portal.live._list_due_s = 0.0
        self.watch: LiveWatch = portal.live

    def get_time(self) -> float:
        """Return the seconds that have gone by."""
        return self.now_s

    def run(self, seconds: int, act: Callable[[], object] = lambda: None) -> None:
        """Let time go by, and read what is due in each second."""
        for _ in range(seconds):
            while not self.watch.read_due():
                pass
            self.now_s += 1.0
            act()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> CountedCalls:
    """Counts readings of counters."""
    return CountedCalls(monkeypatch)


def build_request(app: Starlette, cookie: str) -> PortalRequest:
    """Return a request with the cookie of a session."""
    headers = [(b"cookie", cookie.encode()), (b"host", b"127.0.0.1:8765")]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    scope |= {"server": ("127.0.0.1", 8765), "scheme": "http"}
    return PortalRequest(Request(scope), app.state.portal)


def count_calls_of_viewers(
    folder: Path, count: int, patch: pytest.MonkeyPatch, calls: CountedCalls
) -> dict[str, int]:
    """Return the readings of a minute in which some pages show a table."""
    url = f"memory:{folder}{count}"
    create_logs(url)
    app = build_portal(folder, url)
    stepped = SteppedWatch(app)
    patch.setattr(LiveWatch, "is_running", True)
    client = open_client(app)
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())

    async def follow() -> None:
        async with AsyncExitStack() as stack:
            streams = [
                await stack.enter_async_context(
                    aclosing(iterate_live_events(build_request(app, cookie), "logs"))  # type: ignore[type-var]
                )
                for _ in range(count)
            ]
            for stream in streams:
                assert (await anext(stream)).startswith(":")
            assert count == stepped.watch.viewer_count
            stepped.run(60)
            events = [await anext(stream) for stream in streams]
            assert 1 == len(set(events))
            assert "verdicts" in events[0]

    calls.counts.clear()
    run_coroutine(follow())
    assert 0 == stepped.watch.viewer_count
    return dict(calls.counts)


def test_fifty_open_pages_read_a_table_as_often_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: CountedCalls
) -> None:
    """With 50 open pages a table is read as often as with one: every two seconds."""
    one, fifty = (count_calls_of_viewers(tmp_path, count, monkeypatch, calls) for count in (1, 50))
    assert {"logs": 30, "servers": 30} == one == fifty


def test_a_live_stream_ends_with_the_session_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who has logged out sees no more figures on a page that stayed open."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    monkeypatch.setattr(LiveWatch, "is_running", True)
    ((name, value),) = open_client(app).cookies.items()
    request = build_request(app, f"{name}={value}")

    events: list[str] = []

    async def follow() -> None:
        stream = iterate_live_events(request, "logs")
        events.append(await anext(stream))
        app.state.portal.sessions.end_session(request.cookie)
        events.extend([event async for event in stream])

    run_coroutine(follow())
    assert 1 == len(events)
    assert 0 == app.state.portal.live.viewer_count


def test_a_table_without_an_open_page_is_read_once_a_minute(
    tmp_path: Path, calls: CountedCalls
) -> None:
    """Pages that are loaded cause no reading, and neither does one that was left."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    stepped, client = SteppedWatch(app), open_client(app)
    for _ in range(5):
        stepped.run(60)
        assert 200 == client.get("/tables/logs/live").status_code == client.get("/live").status_code
    assert {"logs": 5, "servers": 5} == calls.counts
    with stepped.watch.view("logs"):
        stepped.run(10)
    stepped.run(50)
    assert 10 == calls.counts["logs"]


def test_an_unreadable_table_shows_a_remark_and_others_go_on(
    tmp_path: Path, calls: CountedCalls
) -> None:
    """What cannot be read is said on its page, and other tables go on."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    with rowkey.open(rowkey.Design.loads(LOGS.replace('"logs"', '"more"')), url):
        app = build_portal(tmp_path, url)
        stepped, client = SteppedWatch(app), open_client(app)
        stepped.run(1)
        read_ms = stepped.watch.get_live_load("logs").at_ms
        calls.broken.add("logs")
        stepped.run(121)
        assert read_ms == stepped.watch.get_live_load("logs").at_ms
        assert "are on no server" in client.get("/tables/logs/live").text
        assert "are on no server" not in client.get("/tables/more/live").text
        assert (2, 3) == (stepped.watch.failure_count, calls.counts["more"])
        calls.broken.clear()
        stepped.run(121)
        assert "are on no server" not in client.get("/tables/logs/live").text


def test_created_and_dropped_tables_appear_and_disappear_on_live_pages(tmp_path: Path) -> None:
    """A new table has a page at once, is read within a minute, and is gone when it is dropped."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    stepped, client = SteppedWatch(app), open_client(app)
    stepped.run(1)
    with rowkey.open(rowkey.Design.loads(LOGS.replace('"logs"', '"more"')), url):
        assert 200 == client.get("/tables/more/live").status_code
        stepped.run(60)
        assert ["logs", "more"] == [one.name for one in stepped.watch.list_tables() if one.live]
    drop_table("more", url)
    stepped.run(61)
    assert ["logs"] == [one.name for one in stepped.watch.list_tables()]
    assert 404 == client.get("/tables/more/live").status_code


def test_load_that_cannot_be_stored_on_a_full_disk_is_still_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load that cannot be stored is shown all the same, with the reason."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    stepped, client = SteppedWatch(app), open_client(app)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LiveHistory, "add", fail)
    with stepped.watch.view("logs"):
        stepped.run(5)
    page = client.get("/tables/logs/live").text
    assert ["No space left" in page, "Counters read at" in page] == [True, True]


def test_the_live_watch_does_not_keep_an_engine_of_one_process_open(tmp_path: Path) -> None:
    """The portal does not keep such an engine from others to read its counters, and says so."""
    url = f"rocks:{tmp_path}/db"
    create_logs(url)
    app = build_portal(tmp_path, url)
    with open_client(app) as client, ExitStack() as stack:
        for path in ("/tables/logs/live", "/live"):
            assert "the load of its own steps" in client.get(path).text
        stack.enter_context(rowkey.open(rowkey.Design.loads(LOGS), url))
        app.state.portal.live.read_due()
        with app.state.portal.engines.share() as engine:
            assert engine is None


def test_an_engine_of_one_process_is_not_read_while_no_step_has_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as no step has such an engine open, the portal begins no reading of its tables."""
    url = f"rocks:{tmp_path}/db"
    create_logs(url)
    app = build_portal(tmp_path, url)
    assert "logs" in open_client(app).get("/").text
    live, calls = app.state.portal.live, []
    monkeypatch.setattr(EngineSession, "call", lambda _, work, limit_s: calls.append(limit_s))
    assert [WATCHED_S] * 3 == [live.read_due() for _ in range(3)]
    assert [] == calls
    with app.state.portal.engines.open():
        assert 0 == live.read_due()
    assert 1 == len(calls)


def test_the_live_watch_uses_a_clock_that_runs_during_a_suspend(tmp_path: Path) -> None:
    """The watch and its readings have the clock that does not stop in a suspend."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    live = build_portal(tmp_path, url).state.portal.live
    while not live.read_due():
        pass
    reader = live.find("logs").reader
    assert reader is not None
    assert abs(read_boottime_s() - reader._clock()) < 1
    assert read_boottime_s is live._clock


def test_the_load_of_a_step_on_an_engine_of_one_process_is_counted(tmp_path: Path) -> None:
    """What a step of the portal writes to such an engine is counted, and still shown later."""
    url = f"rocks:{tmp_path}/db"
    create_logs(url)
    portal = build_portal(tmp_path, url).state.portal
    with portal.engines.open_table("logs") as table, portal.live.follow_step("logs"):
        for at in range(2_000):
            table.put({"host": f"web-{at}", "ts": at, "note": "x"})
    live = portal.live.get_live_load("logs")
    assert 2_000 == live.intervals[-1].sum_operations("writes")
    portal.live.read_due()
    assert live is portal.live.get_live_load("logs")


def test_the_live_watch_starts_and_ends_with_the_app(tmp_path: Path) -> None:
    """It starts and ends with the app, and a stream ends with it."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    with open_client(app):
        assert app.state.portal.live.is_running
    assert not app.state.portal.live.is_running
    assert open_client(app).get("/tables/logs/live/events").text.startswith(":")
