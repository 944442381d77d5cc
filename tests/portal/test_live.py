from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import rowkey
from command_server import start_fork
from portal.portals import LOGS, build_portal, create_logs, open_client
from portal.test_live_alerts import run_receiver
from portal.test_live_watch import SteppedWatch
from portal.test_simulate import wait_until
from render.test_report import unpack_counts
from rowkey.observe.load_balance import LoadBalance
from rowkey.portal.live import alerts
from rowkey.portal.live.alerts import build_alert_document
from rowkey.portal.live.history import LAYERS
from rowkey.portal.live.page import LivePage
from rowkey.regions import to_string_binary
from rowkey.render import LANGUAGES, LIVE_FIELDS, build_live_document, list_paths

if TYPE_CHECKING:
    from starlette.testclient import TestClient

JSON = {"accept": "application/json"}
START_MS = 1_700_000_000_000
HOT: dict[str, Any] = {
    "key": "[ts][host]",
    "fields": {"host": {"type": "text", "max_bytes": 40}, "ts": "timestamp_ms"},
    "cluster": {"servers": 4},
    "splits": [to_string_binary((START_MS + 100_000 * n).to_bytes(8, "big")) for n in (1, 2, 3)],
}
SERVER = """
import json, sys, time
from pathlib import Path
import rowkey
from rowkey.portal import PortalSettings
from rowkey.portal.live import alerts
from rowkey.portal.portal import Portal

folder, url, design = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
table = rowkey.open(rowkey.Design("hot", **design), "memory:killed")
alerts.STEADY_MS = 0
live = Portal.from_settings(PortalSettings(folder, "memory:killed", alert_url=url)).live
for number in range(4):
    with table.batch() as batch:
        for row in range(900):
            batch.put({"host": f"web-{row % 50}", "ts": 1_700_000_400_000 + row})
    for one in live.list_tables():
        one.due_s.clear()
    while not live.read_due():
        pass
while live.alerts.log.list_newest(1)[0].delivery != "sent":
    time.sleep(0.01)
print("alerted", flush=True)
time.sleep(100)
"""
"""A portal without pages on a table whose writes all go to one region."""


def write_front(table: rowkey.Table, count: int) -> None:
    """Write rows of which all go to the last region."""
    with table.batch() as batch:
        for number in range(count):
            batch.put({"host": f"web-{number % 50}", "ts": START_MS + 400_000 + number})


@pytest.fixture
def hot_table(tmp_path: Path) -> Iterator[rowkey.Table]:
    """A table for four servers, whose key begins with time."""
    with rowkey.open(rowkey.Design("hot", **HOT), f"memory:{tmp_path}") as table:
        yield table


def read_map(client: TestClient, **query: str) -> dict[str, Any]:
    """Return what the script of a page draws."""
    payload: dict[str, Any] = client.get("/tables/hot/live/map", params=query).json()
    return payload


@pytest.fixture
def watched(tmp_path: Path, hot_table: rowkey.Table) -> Iterator[tuple[TestClient, SteppedWatch]]:
    """A portal that has watched the table for a minute, in which one region took all writes."""
    app = build_portal(tmp_path, f"memory:{tmp_path}")
    stepped = SteppedWatch(app)
    with stepped.watch.view("hot"):
        stepped.run(7, lambda: write_front(hot_table, 400))
    yield open_client(app), stepped
    app.state.portal.live.close()


def test_the_live_page_shows_verdict_cause_and_decoded_regions(
    watched: tuple[TestClient, SteppedWatch],
) -> None:
    """Each language shows verdict, cause, regions with decoded keys, and servers."""
    client, stepped = watched
    live = stepped.watch.get_live_load("hot")
    assert ("hot", "missed_splits") == (live.writes.level, live.causes[0].code)
    for language, words in {"en": ("hot", "What to do:"), "zh": ("热点", "建议")}.items():
        page = client.get("/tables/hot/live", params={"lang": language}).text
        assert f'<span class="word poor">{words[0]}</span>' in page
        assert words[1] in page
        assert "missed_splits" in page
        assert "ts 2023-11-14T22:15:00.000Z" in page
        assert re.search(r"s3</th>.*100%", page)
        assert len(page.encode()) < 200_000
    assert set(LANGUAGES) == {"en", "zh"}


def test_the_json_of_the_live_page_equals_that_of_the_live_command(
    watched: tuple[TestClient, SteppedWatch],
) -> None:
    """The JSON of the page is that of `rowkey live -f json`."""
    client, stepped = watched
    document = client.get("/tables/hot/live", headers=JSON).json()
    expected = build_live_document(stepped.watch.get_live_load("hot"))
    overview = client.get("/live", headers=JSON).json()
    assert [document] == overview["tables"]
    assert "up" == document.pop("condition")
    assert {"open": 4, "total": 4} == document.pop("open_regions")
    assert json.loads(json.dumps(expected)) == document
    described = {re.sub(r"\.evidence\..*", ".evidence.*", one) for one in list_paths(document)}
    assert described <= LIVE_FIELDS.keys()


@pytest.mark.parametrize("load", ["writes", "reads", "both"])
def test_the_load_map_has_the_counted_writes_and_reads(
    watched: tuple[TestClient, SteppedWatch], hot_table: rowkey.Table, load: str
) -> None:
    """Its cells are the writes and reads of the regions and servers, for every span."""
    client, stepped = watched
    intervals = stepped.watch.get_live_load("hot").intervals
    expected = [
        sum(
            (load != "reads") * (one.regions[number].writes or 0)
            + (load != "writes") * (one.regions[number].reads or 0)
            for one in intervals
        )
        for number in range(4)
    ]
    label = {"writes": "Writes", "reads": "Reads", "both": "Both"}[load]
    assert label == read_map(client, load=load)["words"]["writes"]
    for layer in LAYERS:
        (drawn,) = read_map(client, span=layer.name, load=load)["maps"]
        for view in drawn["views"].values():
            rows = len(view["rows"])
            counts = unpack_counts(view["counts"], drawn["columns"] * rows)
            assert expected == [sum(counts[row::rows]) for row in range(rows)]
        assert (layer.width_ms / 1_000, 4) == (drawn["width_s"], drawn["servers"])
        labels = [row.get("hex", "") for row in drawn["views"]["region"]["rows"]]
        assert [region.start.hex() for region in hot_table.store.list_regions()] == labels


def test_a_live_table_without_a_stored_design_is_decoded_by_the_file_in_the_folder(
    tmp_path: Path, hot_table: rowkey.Table
) -> None:
    """Where table and catalog know no design, that of the folder names keys and cause."""
    entry = hot_table.catalog.read("hot")
    assert entry is not None
    hot_table.catalog.remove("hot", entry.version)
    hot_table.store.replace_attributes({})
    app = build_portal(tmp_path, f"memory:{tmp_path}")
    (tmp_path / "designs" / "broken.toml").write_text("table = 1", encoding="utf-8")
    (tmp_path / "designs" / "front.toml").write_text(hot_table.design.dumps(), encoding="utf-8")
    stepped = SteppedWatch(app)
    with stepped.watch.view("hot"):
        stepped.run(7, lambda: write_front(hot_table, 400))
    document = open_client(app).get("/tables/hot/live", headers=JSON).json()
    app.state.portal.live.close()
    figures = document["key"], document["writes"]["level"], len(document["causes"]) > 0
    assert ("[ts][host]", "hot", True) == figures


def test_the_live_page_has_no_map_before_two_readings(
    tmp_path: Path, hot_table: rowkey.Table
) -> None:
    """Before two readings there is no map, no verdict and no error."""
    client = open_client(build_portal(tmp_path, f"memory:{tmp_path}"))
    assert [] == read_map(client)["maps"]
    document = client.get("/tables/hot/live", headers=JSON).json()
    assert ("unknown", []) == (document["writes"]["level"], document["regions"])
    assert "There are no rates yet" in client.get("/tables/hot/live").text
    for path in ("", "/map", "/events"):
        assert 404 == client.get(f"/tables/none/live{path}").status_code
    assert hot_table.design.table == "hot"


def test_the_live_overview_works_without_an_engine(tmp_path: Path) -> None:
    """The overview of a portal without an engine is a page too."""
    client = open_client(build_portal(tmp_path))
    page = client.get("/live")
    assert (200, True) == (page.status_code, "started without tables" in page.text)


def test_of_300_regions_the_200_busiest_are_listed(tmp_path: Path) -> None:
    """Of 300 regions the 200 busiest are listed, and the page stays small."""
    splits = [to_string_binary(bytes([n // 256, n % 256])) for n in range(1, 300)]
    text = LOGS.replace("[bucket(host, 16)][host][ts]", "[host][ts]") + f"splits = {splits}\n"
    text = text.replace("[fields]", f"splits = {json.dumps(splits)}\n[fields]").rpartition(
        "splits"
    )[0]
    with rowkey.open(rowkey.Design.loads(text), f"memory:{tmp_path}") as table:
        app = build_portal(tmp_path, f"memory:{tmp_path}")
        stepped = SteppedWatch(app)
        with stepped.watch.view("logs"):
            stepped.run(5, lambda: table.put({"host": "~", "ts": 1, "note": ""}))
        page = open_client(app).get("/tables/logs/live").text
        app.state.portal.live.close()
    assert "The 200 busiest are listed." in page
    assert len(page.encode()) < 200_000
    assert '<td class="number">299</td>' not in page or "busiest" in page


def test_a_killed_portal_does_not_repeat_an_alert_and_keeps_the_load(
    tmp_path: Path, hot_table: rowkey.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal that was killed does not alert again, and has the load of before."""
    monkeypatch.setattr(alerts, "STEADY_MS", 0)
    url = f"memory:{tmp_path}"
    with run_receiver() as receiver:
        app = build_portal(tmp_path, url, alert_url=receiver.url)
        words = (str(tmp_path / "designs"), receiver.url, json.dumps(HOT))
        with start_fork(SERVER, *words) as (process, number):
            assert process.stdout is not None
            assert "alerted\n" == process.stdout.readline()
            os.kill(number, signal.SIGKILL)
        stepped, live = SteppedWatch(app), app.state.portal.live
        assert 2_700 == sum(one.counts[0].sum() for one in live.history.read_columns("hot", 0))
        live.alerts.start()
        with stepped.watch.view("hot"):
            stepped.run(7, lambda: write_front(hot_table, 900))
        assert "hot" == live.get_live_load("hot").writes.level
        assert [1] == [one.id for one in live.alerts.log.list_newest(10)]
        with stepped.watch.view("hot"):
            stepped.run(62)
        wait_until(lambda: len(receiver.received) == 2)
        live.close()
    events = [(body["id"], body["event"]) for _, body in receiver.received]
    assert [(1, "hot"), (2, "cool")] == events


def test_the_live_pages_list_the_alerts(
    tmp_path: Path, watched: tuple[TestClient, SteppedWatch]
) -> None:
    """The pages list alerts with time, table, level, server and cause."""
    client, stepped = watched
    live = stepped.watch.get_live_load("hot")
    document = build_alert_document(live, "hot", 1_700_000_000_000, "http://portal")
    stepped.watch.alerts.log.add("hot", "hot", document, "failed")
    for path in ("/live", "/tables/hot/live"):
        page = client.get(path).text
        assert "2023-11-14 22:13 UTC" in page
        assert "could not be sent" in page
        assert re.search(r"Writes \d\.\d\d× s3", page)
    assert tmp_path.is_dir()
    create_logs(f"memory:{tmp_path}")
    assert "There were no alerts." in client.get("/tables/logs/live").text


@pytest.mark.parametrize(
    ("regions", "level", "expected"),
    [
        ((22, 5, 5), "hot", 22),  # halves of split regions stay where they were split
        ((22, 5, 5), "even", None),
        ((11, 11, 10), "hot", None),
        ((2, 1, 1), "hot", None),
        ((5, 22, 5), "warm", None),  # another server is the busiest
    ],
)
def test_uneven_load_by_too_many_regions_on_a_server_is_not_blamed_on_the_key(
    regions: tuple[int, ...], level: str, expected: int | None
) -> None:
    """An uneven load on the server that has most of the regions is not the fault of the key."""
    balances = LoadBalance(level, 9_000, 3, 2.2, 1.02, 5, "a"), LoadBalance("idle", 0, 3)
    live = cast("Any", SimpleNamespace(writes=balances[0], reads=balances[1]))
    servers = [{"name": name, "regions": n} for name, n in zip("abc", regions, strict=True)]
    page = LivePage(live, {"servers": servers, "regions": [{}] * sum(regions)})
    crowded = page.crowded_server
    assert expected == (None if crowded is None else crowded["regions"])
