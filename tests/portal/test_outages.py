from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client
from portal.test_data import JSON
from portal.test_hostile_text import PageReader
from portal.test_live_alerts import run_receiver
from portal.test_live_watch import SteppedWatch
from portal.test_metrics import parse_metrics
from portal.test_routes import fill_path, list_routes
from portal.test_simulate import wait_until
from rowkey.engines import RegionAvailability
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.engines.contract import Store
from rowkey.errors import Unavailable
from rowkey.portal.live import alert_writer, watch
from rowkey.portal.live.watched_table import Reading
from rowkey.portal.tables import engine_session
from rowkey.render import LANGUAGES

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

PAGE_LIMIT_S = 2.0
"""Seconds that a page may take while every call of the engine hangs, on a busy machine."""
ENGINE_CALLS = (
    "check_reachable",
    "list_tables",
    "list_servers",
    "has_table",
    "open_table",
    "create_table",
)
STREAMS = {"/tables/{name}/live/events", "/tables/{name}/operations/events"}


class Outage:
    """Makes the calls of an engine in memory hang or fail, as those of a cluster do.

    Args:
        patch: replaces the calls.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.is_well = Event()
        self.is_well.set()
        self.hangs = True
        self.closed_count = 0
        for name in ENGINE_CALLS:
            patch.setattr(MemoryEngine, name, self._spoil(getattr(MemoryEngine, name)))
        for name in ("list_open_regions", "count_open_regions"):
            patch.setattr(Store, name, self._spoil(getattr(Store, name)))
        count = Store.count_open_regions

        def count_some(store: Any, wait_s: float | None = None) -> RegionAvailability:
            found = count(store, wait_s)
            return found._replace(open=found.total - self.closed_count)

        patch.setattr(Store, "count_open_regions", count_some)

    def _spoil(self, call: Any) -> Any:
        """Return a call that does not answer during the outage."""

        def answer(*arguments: Any, **named: Any) -> Any:
            if not self.is_well.is_set():
                if not self.hangs:
                    raise Unavailable("zk1:2181", "the connection was refused")
                self.is_well.wait(30)
            return call(*arguments, **named)

        return answer

    def begin(self, *, hangs: bool) -> None:
        """Let no call be answered from now on."""
        self.hangs = hangs
        self.is_well.clear()


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    """An engine that can be made to hang; it is well again at the end."""
    for name, value in (("LIST_LIMIT_S", 0.5), ("READ_LIMIT_S", 0.5), ("LIST_S", 0.1)):
        monkeypatch.setattr(watch, name, value)
    monkeypatch.setattr(watch, "LIST_RETRY_S", 0)
    monkeypatch.setattr(alert_writer, "DOWN_STEADY_MS", 0)
    monkeypatch.setattr(engine_session, "ANSWER_LIMIT_S", 0.4)
    found = Outage(monkeypatch)
    yield found
    found.is_well.set()


@contextmanager
def run_portal(folder: Path, **settings: Any) -> Iterator[tuple[Starlette, TestClient]]:
    """Run a portal with its watch, on an engine in memory with one table."""
    url = f"memory:{folder}"
    create_logs(url)
    app = build_portal(folder, url, **settings)
    with open_client(app) as client:
        live = app.state.portal.live
        wait_until(lambda: "regions" in getattr(live.find("logs"), "read_s", ()))
        wait_until(lambda: "load" in live.find("logs").read_s)
        yield app, client


def test_every_page_answers_at_once_while_the_engine_hangs(tmp_path: Path, outage: Outage) -> None:
    """Every page answers at once while every call of the engine hangs."""
    with run_portal(tmp_path) as (app, client):
        assert 200 == client.get("/tables/logs/operations").status_code  # which is known then
        outage.begin(hangs=True)
        wait_until(lambda: app.state.portal.live.condition == "down")
        found = {}
        for route in list_routes(app):
            if route.method != "GET" or route.path in STREAMS:
                continue
            name = "logs.toml" if "designs" in route.path else "logs"
            began_s = time.monotonic()
            status = client.get(fill_path(route, name)).status_code
            found[route.path] = (status, time.monotonic() - began_s < PAGE_LIMIT_S)
        assert {} == {path: one for path, one in found.items() if not one[1]}
        statuses = {path: status for path, (status, _) in found.items()}
        shown = ("/", "/live", "/designs/{name}", "/tables/{name}/live", "/tables/{name}/load")
        assert dict.fromkeys(shown, 200) == {path: statuses[path] for path in shown}
        assert 200 == statuses["/tables/{name}/operations"] == statuses["/metrics"]
        assert 503 == statuses["/tables/{name}/rows"] == statuses["/tables/{name}/rows.csv"]
        assert 500 not in statuses.values()


@pytest.mark.parametrize("path", ["/", "/designs/logs.toml", "/live", "/tables/logs/live"])
def test_pages_answer_at_once_in_the_first_second_of_an_outage(
    tmp_path: Path, outage: Outage, path: str
) -> None:
    """A page that shows states answers at once also in the first second of an outage."""
    with run_portal(tmp_path) as (_, client):
        outage.begin(hangs=True)
        began_s = time.monotonic()
        assert 200 == client.get(path).status_code
        assert time.monotonic() - began_s < PAGE_LIMIT_S


@pytest.mark.parametrize("is_changed", [True, False])
def test_a_page_reloads_until_its_table_has_been_read(
    tmp_path: Path, outage: Outage, monkeypatch: pytest.MonkeyPatch, is_changed: bool
) -> None:
    """Where a reading takes longer than a page, the page is not left with what it was before."""
    monkeypatch.setattr(watch, "READ_LIMIT_S", 30.0)
    monkeypatch.setattr(watch, "STEP_WAIT_S", 0.2)
    path = "/tables/logs/operations"
    with run_portal(tmp_path) as (app, client):
        if is_changed:
            assert "refresh" not in client.get(path).headers
            app.state.portal.live.note_change("logs")
        outage.begin(hangs=True)
        answer = client.get(path)
        assert (200, "1") == (answer.status_code, answer.headers["refresh"])
        assert is_changed is ("logs is being read" not in answer.text)
        if not is_changed:
            assert 503 == client.get(path, headers=JSON).status_code
        outage.is_well.set()
        wait_until(lambda: "refresh" not in client.get(path).headers)
        assert 200 == client.get(path).status_code


def test_the_list_of_tables_shows_the_state_after_a_step(tmp_path: Path) -> None:
    """After a step the list of the tables waits for the state that the step has left."""
    with run_portal(tmp_path) as (app, client):
        client.get("/")
        live = app.state.portal.live
        live.note_change("logs")
        assert live.find("logs").is_outdated(Reading.FACTS)
        client.get("/")
        assert not live.find("logs").is_outdated(Reading.FACTS)


def test_a_design_page_links_to_its_table_before_the_table_is_read(
    tmp_path: Path, outage: Outage
) -> None:
    """The links to the pages of a table are there as soon as the portal answers."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    outage.begin(hangs=True)
    with open_client(build_portal(tmp_path, url)) as client:
        assert 'href="/tables/logs/operations"' in client.get("/designs/logs.toml").text


def test_a_request_during_an_outage_ends_with_an_explanation(
    tmp_path: Path, outage: Outage
) -> None:
    """Rows and the begin of a step end after seconds, and say since when nothing answers."""
    with run_portal(tmp_path) as (app, client):
        outage.begin(hangs=True)
        assert 503 == client.get("/tables/logs/rows").status_code
        wait_until(lambda: app.state.portal.live.condition == "down")
        for answer in (
            client.get("/tables/logs/rows", headers=JSON),
            client.post("/tables/logs/buckets", data={"count": "32"}, headers=JSON),
        ):
            assert 503 == answer.status_code
            assert "have not answered since 20" in answer.json()["message"]
        text = client.get("/designs/logs.toml").text
        etag = re.search(r'name="etag" value="([0-9a-f]+)"', text)
        assert etag is not None
        saved = client.post("/designs/logs.toml", data={"etag": etag[1], "text": LOGS})
        assert 303 == saved.status_code


@pytest.mark.parametrize("hangs", [True, False])
def test_an_outage_is_shown_as_an_alert_and_a_metric(
    tmp_path: Path, outage: Outage, hangs: bool
) -> None:
    """Down and up again are shown on top of all pages, in the metrics, and sent once each."""
    with (
        run_receiver() as receiver,
        run_portal(tmp_path, alert_url=receiver.url) as (app, client),
    ):
        live = app.state.portal.live
        assert 0 == parse_metrics(client.get("/metrics").text)["rowkey_cluster_down"][""]
        outage.begin(hangs=hangs)
        wait_until(lambda: len(receiver.received) == 1)
        assert "down" == live.condition
        metrics = parse_metrics(client.get("/metrics").text)
        assert 1 == metrics["rowkey_cluster_down"][""]
        for path in ("/", "/live", "/tables/logs/live", "/tables/logs/operations"):
            page = PageReader(client.get(path).text).text
            assert "DOWN The cluster has not answered since" in page
        assert {"condition": "down", "problem": live.problem} == client.get(
            "/live", headers=JSON
        ).json()["cluster"]
        outage.is_well.set()
        wait_until(lambda: len(receiver.received) == 2)
        wait_until(lambda: live.condition == "up")
        assert "DOWN" not in PageReader(client.get("/").text).text
        assert "up again" in client.get("/live").text
    down, up = (body for _, body in receiver.received)
    assert ("down", "up") == (down["event"], up["event"])
    assert down["table"] is None
    assert down["reason"]
    assert down["url"].endswith("/live")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_with_closed_regions_is_shown_as_down(
    tmp_path: Path, outage: Outage, language: str
) -> None:
    """A table with closed regions is down, with how many of how many, and not warm any more."""
    url = f"memory:{tmp_path}"
    splits = [bytes([number]) for number in range(1, 5)]
    rowkey.open(rowkey.Design.loads(LOGS), url, splits=splits).close()
    with run_receiver() as receiver:
        app = build_portal(tmp_path, url, alert_url=receiver.url)
        stepped, client = SteppedWatch(app), open_client(app)
        live = app.state.portal.live
        stepped.run(3)
        assert "up" == live.find_condition(live.find("logs"))
        outage.closed_count = 4
        stepped.run(15)
        assert "down" == live.find_condition(live.find("logs"))
        wait_until(lambda: len(receiver.received) == 1)
        for path in ("/", "/live", "/tables/logs/live"):
            page = PageReader(client.get(path, params={"lang": language}).text).text
            assert re.search(r"4.{1,20}5|5.{1,20}4", page)
            assert "per second" not in page.partition("Region servers")[0] or path != "/live"
            on_top = {"en": "DOWN 1 of 1 tables do not", "zh": "不可用 1 张表中有 1 张"}[language]
            assert (on_top in page) == (path != "/tables/logs/live")
        metrics = parse_metrics(client.get("/metrics").text)
        assert 4 == metrics["rowkey_table_closed_regions"]['table="logs"']
        assert 1 == metrics["rowkey_table_down"]['table="logs"']
        assert not any("logs" in one for one in metrics["rowkey_table_hot"])
        assert 200 == client.get("/tables/logs/rows").status_code  # some regions are open
        outage.closed_count = 5
        stepped.run(15)
        for path in ("rows", "rows.csv", "row?row={}", "operations?count=8"):
            assert "logs has not answered since" in client.get(f"/tables/logs/{path}").text, path
        outage.closed_count = 0
        stepped.run(5)
        wait_until(lambda: len(receiver.received) == 2)
        assert "up" == live.find_condition(live.find("logs"))
        live.close()
    events = [(body["event"], body["table"], body["regions"]) for _, body in receiver.received]
    assert [("down", "logs", {"open": 1, "total": 5}), ("up", "logs", None)] == events


def test_a_state_that_is_no_longer_read_is_shown_as_stale(tmp_path: Path) -> None:
    """A portal whose reader stands still says that what it shows is old, and how old."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    stepped, client = SteppedWatch(app), open_client(app)
    with stepped.watch.view("logs"):
        stepped.run(5)
    stepped.now_s += 300
    live = app.state.portal.live
    assert "stale" == live.condition == live.find_condition(live.find("logs"))
    page = PageReader(client.get("/live").text).text
    assert "STALE The tables were last read 5 min ago" in page
    assert "As it was 5 min ago" in page
    metrics = parse_metrics(client.get("/metrics").text)
    assert 1 == metrics["rowkey_cluster_stale"][""] == metrics["rowkey_table_stale"]['table="logs"']


def test_the_number_of_threads_in_hanging_calls_is_bounded(tmp_path: Path, outage: Outage) -> None:
    """However often users ask an engine that hangs, only so many threads wait for it."""
    with run_portal(tmp_path) as (app, _):
        engines = app.state.portal.engines
        outage.begin(hangs=True)
        for _ in range(3 * engine_session.MAX_LATE_CALLS):
            with pytest.raises(Unavailable):
                engines.call(outage.is_well.wait, 0.001, stops_with="")
        late_calls = engines._late_calls[True]
        assert engine_session.MAX_LATE_CALLS == len(late_calls)
        outage.is_well.set()
        wait_until(lambda: not late_calls and not engines.find_outage(""))
        assert 7 == engines.ask(lambda: 7, 1.0)


def test_a_slow_table_does_not_delay_the_reading_of_other_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a table that a page shows takes five seconds a reading, others are read in turn."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    rowkey.open(rowkey.Design.loads(LOGS.replace('"logs"', '"more"')), url).close()
    app = build_portal(tmp_path, url)
    stepped = SteppedWatch(app)
    list_open_regions = Store.list_open_regions

    def list_slowly(store: Any, wait_s: float | None = None) -> Any:
        stepped.now_s += 5.0
        return list_open_regions(store, wait_s)

    monkeypatch.setattr(Store, "list_open_regions", list_slowly)
    with stepped.watch.view("logs"):
        for _ in range(40):
            stepped.watch.read_due()
        others = [one for one in stepped.watch.list_tables() if one.name == "more"]
        assert [True] == [stepped.now_s - one.answered_s < 30 for one in others]


def test_forty_tables_with_closed_regions_are_shown_as_down_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closed regions of forty tables are DOWN within 15 s, though each reading of load hangs."""
    url = f"memory:{tmp_path}"
    for number in range(40):
        design = rowkey.Design.loads(LOGS.replace('"logs"', f'"logs_{number}"'))
        rowkey.open(design, url).close()
    stepped = SteppedWatch(build_portal(tmp_path, url))
    stepped.run(60)  # all load is due again
    began_s, silent_s = stepped.now_s, [1.5]

    def count_slowly(store: Any, _: object) -> RegionAvailability:
        stepped.now_s += silent_s.pop() if silent_s else 0.05  # as the client of HBase waits
        return RegionAvailability(0, len(store.list_regions()))

    def list_nothing(*_: object) -> None:
        stepped.now_s += 1.5
        raise Unavailable("rs1:16020", "there was no answer")

    monkeypatch.setattr(Store, "count_open_regions", count_slowly)
    monkeypatch.setattr(Store, "list_open_regions", list_nothing)
    while len(stepped.watch.list_down_tables()) < 40:
        wait_s = stepped.watch.read_due()
        stepped.now_s += wait_s
        assert stepped.now_s - began_s < 15.0
