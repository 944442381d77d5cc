from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, build_portal, open_client
from portal.test_advise import EVENTS
from portal.test_data import JSON
from portal.test_hostile_text import PageReader
from portal.test_live_alerts import run_receiver
from portal.test_live_watch import SteppedWatch
from portal.test_metrics import parse_metrics
from portal.test_screens import read_form
from portal.test_simulate import upload, wait_until
from render.test_report import unpack_counts
from rowkey.portal.tables.overview import TableOverview, TablePage, list_tables
from rowkey.table import drop_table

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from cluster import Cluster
    from rowkey.engines.backends.hbase import HBaseEngine

TABLE = "portal_logs"
OUTAGE_LIMIT_S, OUTAGE_PAGE_LIMIT_S = 15.0, 2.0
"""Seconds until an outage is shown, and for a page during it, on a busy machine."""
SPLITS = 'splits = "per_bucket"\n[fields]'


def test_the_portal_lists_the_tables_of_a_cluster(tmp_path: Path, hbase_url: str) -> None:
    """The table of a file is found on HBase with its regions and bucket count, without drift."""
    text = LOGS.replace('"logs"', f'"{TABLE}"')
    with rowkey.open(rowkey.Design.loads(text), hbase_url, splits=[b"\x04", b"\x08"]) as table:
        table.put({"host": "web-1", "ts": 1, "note": "disk full"})
    try:
        app = build_portal(tmp_path, hbase_url)
        (tmp_path / "designs" / "logs.toml").write_text(text, encoding="utf-8")

        def visit_list() -> tuple[TablePage, TableOverview]:
            """Return the list and the row of the table; each visit reads one table or more."""
            page = list_tables(app.state.portal)
            return page, next(row for row in page.rows if row.name == TABLE)

        wait_until(lambda: visit_list()[1].stored_table is not None)
        page, ours = visit_list()
        assert ours.stored_table is not None
        figures = ours.stored_table.region_count, ours.stored_table.bucket_counts, ours.differences
        assert ("", (3, [16], ())) == (page.problem, figures)
        with open_client(app) as client:
            assert TABLE in PageReader(client.get(f"/tables/{TABLE}/load").text).text
            answer = client.get(f"/tables/{TABLE}/rows", headers=JSON).json()
            assert [{"host": "web-1", "ts": 1, "note": "disk full"}] == answer["rows"]
            path = f"/tables/{TABLE}/operations"  # which is refused until the table is read
            wait_until(lambda: 200 == client.get(path, headers=JSON).status_code)
            state = client.get(path, headers=JSON).json()
            assert (16, "none") == (state["buckets"]["parts"][0]["buckets"], state["move"]["step"])
    finally:
        drop_table(TABLE, hbase_url)


def test_live_load_of_a_cluster_survives_splits_and_moves(
    tmp_path: Path, hbase_url: str, hbase_engine: HBaseEngine
) -> None:
    """Counts are those that were written, and rows stay when a region is moved and one is split."""
    name = "portal_live"
    text = LOGS.replace('"logs"', f'"{name}"')
    splits = [b"\x04", b"\x08", b"\x0c"]
    app = build_portal(tmp_path, hbase_url)
    stepped, client = SteppedWatch(app), open_client(app)
    try:
        with (
            rowkey.open(rowkey.Design.loads(text), hbase_url, splits=splits) as table,
            stepped.watch.view(name),
        ):

            def write() -> None:
                with table.batch() as batch:
                    for number in range(320):
                        batch.put({"host": f"web-{number}", "ts": 1, "note": ""})

            _read_twice(stepped, write)
            known = _sum_rows(client, name)
            assert 320 == sum(known.values())
            assert {"", "04", "08", "0c"} == known.keys()
            admin = hbase_engine.client.admin
            first = admin.list_regions(name)[0]
            moved = admin.move_region(first)
            assert moved.server != first.server
            table.store.split(b"\x0d")
            stepped.run(2)
            document = client.get(f"/tables/{name}/live", headers=JSON).json()
            reasons = {one["start"]: one["reason"] for one in document["regions"]}
            assert "moved here from" in reasons[""]
            assert "created by a split" == reasons["0c"] == reasons["0d"]
            _read_twice(stepped, write)
            later = _sum_rows(client, name)
            assert known.keys() | {"0d"} == later.keys()
            later["0c"] += later.pop("0d")
            assert {one: 2 * count for one, count in known.items()} == later
            metrics = parse_metrics(client.get("/metrics").text)
            written = metrics["rowkey_table_writes_total"]
            assert 640 == sum(count for labels, count in written.items() if f'"{name}"' in labels)
            assert {5.0} == {
                count
                for labels, count in metrics["rowkey_table_regions"].items()
                if f'"{name}"' in labels
            }
    finally:
        app.state.portal.live.close()
        app.state.portal.engines.close()
        drop_table(name, hbase_url)


def _read_twice(stepped: SteppedWatch, write: Any) -> None:
    """Read the counters of shown tables before and after something is written."""
    stepped.run(1)
    write()
    stepped.now_s += 1.0
    stepped.run(2)


def _sum_rows(client: Any, name: str) -> dict[str, int]:
    """Return the writes on the map by the first key of the row."""
    (drawn,) = client.get(f"/tables/{name}/live/map").json()["maps"]
    view = drawn["views"]["region"]
    rows = [row.get("hex", "") for row in view["rows"]]
    counts = unpack_counts(view["counts"], drawn["columns"] * len(rows))
    return {row: sum(counts[number :: len(rows)]) for number, row in enumerate(rows)}


def test_a_table_of_a_cluster_is_created_and_loaded_by_the_portal(
    tmp_path: Path, hbase_url: str
) -> None:
    """On HBase the portal creates the table with its regions, and loads a file into it."""
    table = "portal_created"
    text = LOGS.replace('"logs"', f'"{table}"').replace("[fields]", SPLITS, 1)
    app = build_portal(tmp_path, hbase_url)
    (tmp_path / "designs" / "logs.toml").write_text(text, encoding="utf-8")
    page = f"/tables/{table}/load"
    try:
        with open_client(app) as client:
            form = read_form(client)
            assert 303 == client.post("/designs/logs.toml/create", data=form).status_code
            step = wait_for_end_of_step(client, page)
            assert [{"name": table, "regions": 16}] == step["result"]["tables"], step["problem"]
            stored = upload(client, "events.csv", EVENTS.encode())
            sample = stored.headers["location"].partition("sample=")[2]
            assert 303 == client.post(page, data={"sample": sample}).status_code
            assert 1_500 == wait_for_end_of_step(client, page)["result"]["rows"]
            assert client.get(f"/tables/{table}/rows", headers=JSON).json()["rows"]
    finally:
        drop_table(table, hbase_url)


def wait_for_end_of_step(client: TestClient, page: str) -> dict[str, Any]:
    """Return the step of a table once it has ended."""
    end_s = time.monotonic() + 120
    while time.monotonic() < end_s:
        step: dict[str, Any] = client.get(page, headers=JSON).json()["step"]
        if not step["running"]:
            return step
        time.sleep(0.1)
    raise AssertionError("the step does not end")


@pytest.mark.parametrize(
    "faults",
    [
        ("master",),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (("master", "server1"), ("zookeeper",))
        ),
    ],
)
def test_an_outage_of_a_cluster_is_shown_within_15_seconds(
    tmp_path: Path, hbase_cluster: Cluster, faults: tuple[str, ...]
) -> None:
    """Killed servers are DOWN within 15 s, as an alert too; no page waits, and all ends again."""
    name, url = "portal_outage", hbase_cluster.url
    text = LOGS.replace('"logs"', f'"{name}"')
    rowkey.open(rowkey.Design.loads(text), url, splits=[bytes([n]) for n in range(1, 8)]).close()
    try:
        with (
            run_receiver() as receiver,
            open_client(build_portal(tmp_path, url, alert_url=receiver.url)) as client,
        ):
            live = client.app.state.portal.live  # type: ignore[attr-defined]

            def is_all_up() -> bool:
                table = live.find(name)
                is_up = table is not None and "up" == live.find_condition(table)
                return is_up and "up" == live.condition

            wait_until(is_all_up)
            assert 200 == client.get(f"/tables/{name}/operations").status_code
            began_s = time.monotonic()
            for one in faults:
                hbase_cluster.kill(one)
            try:
                wait_until(lambda: "down" == live.condition)
                assert time.monotonic() - began_s < OUTAGE_LIMIT_S
                wait_until(lambda: bool(receiver.received))
                for path in ("", "/live", "/rows", "/operations", "/load"):
                    began_s = time.monotonic()
                    page = client.get(f"/tables/{name}{path}").text
                    assert time.monotonic() - began_s < OUTAGE_PAGE_LIMIT_S
                    assert "not answered since" in page
            finally:
                for one in faults:
                    hbase_cluster.restart(one)
            wait_until(is_all_up)
            assert 200 == client.get(f"/tables/{name}/rows").status_code
            wait_until(lambda: receiver.received[-1][1]["event"] == "up")
            cluster_events = [body["event"] for _, body in receiver.received if not body["table"]]
            assert ["down", "up"] == cluster_events
    finally:
        drop_table(name, url)
