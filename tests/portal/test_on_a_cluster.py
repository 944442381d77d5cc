from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import rowkey
from portal.portals import LOGS, build_portal, open_client
from portal.test_advise import EVENTS
from portal.test_data import JSON
from portal.test_hostile_text import PageReader
from portal.test_screens import read_form
from portal.test_simulate import upload
from rowkey.portal.table_overview import list_tables
from rowkey.table import drop_table

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

TABLE = "portal_logs"
SPLITS = 'splits = "per_bucket"\n[fields]'


def test_tables_of_a_cluster_are_listed(tmp_path: Path, hbase_url: str) -> None:
    """The table of a file is found on HBase with its regions and bucket count, without drift."""
    text = LOGS.replace('"logs"', f'"{TABLE}"')
    with rowkey.open(rowkey.Design.loads(text), hbase_url, splits=[b"\x04", b"\x08"]) as table:
        table.put({"host": "web-1", "ts": 1, "note": "disk full"})
    try:
        app = build_portal(tmp_path, hbase_url)
        (tmp_path / "designs" / "logs.toml").write_text(text, encoding="utf-8")
        rows, problem = list_tables(app.state.portal)
        ours = next(row for row in rows if row.name == TABLE)
        assert ours.stored is not None
        figures = ours.stored.region_count, ours.stored.bucket_counts, ours.differences
        assert ("", (3, [16], ())) == (problem, figures)
        with open_client(app) as client:
            assert TABLE in PageReader(client.get(f"/tables/{TABLE}").text).text
            answer = client.get(f"/tables/{TABLE}/rows", headers=JSON).json()
            assert [{"host": "web-1", "ts": 1, "note": "disk full"}] == answer["rows"]
            state = client.get(f"/tables/{TABLE}/operations", headers=JSON).json()
            assert (16, "none") == (state["buckets"]["parts"][0]["buckets"], state["move"]["step"])
    finally:
        drop_table(TABLE, hbase_url)


def test_a_table_of_a_cluster_is_created_and_loaded(tmp_path: Path, hbase_url: str) -> None:
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
