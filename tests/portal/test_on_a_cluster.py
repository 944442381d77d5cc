from __future__ import annotations

from typing import TYPE_CHECKING

import rowkey
from portal.portals import LOGS, build_portal, open_client
from portal.test_data import JSON
from portal.test_hostile_text import PageReader
from rowkey.portal.table_overview import list_tables
from rowkey.table import drop_table

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "portal_logs"


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
