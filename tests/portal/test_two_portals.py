"""Several portals on one engine: each shows what the others did, as the truth is in the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rowkey
from portal.portals import LOGS, build_portal, open_client
from portal.test_data import JSON
from portal.test_operations import do_step, read_state
from portal.test_screens import OTHER_KEY

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def open_portals(folder: Path, url: str) -> tuple[TestClient, TestClient]:
    """Return clients of two portals on one engine, each with files of its own."""
    clients = []
    for name in ("one", "two"):
        place = folder / name
        place.mkdir()
        clients.append(open_client(build_portal(place, url)))
        (place / "designs" / "other.toml").write_text(OTHER_KEY, "utf-8")
    first, second = clients
    return first, second


def test_two_portals_show_the_same_changes(tmp_path: Path) -> None:
    """What one portal changes is what the other shows and goes on with."""
    url = f"memory:{tmp_path}"
    rows = [{"host": f"web-{at}", "ts": at, "note": "x"} for at in range(50)]
    with rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01) as table:
        for row in rows:
            table.put(row)
    first, second = open_portals(tmp_path, url)
    do_step(first, "buckets", count="32")
    assert [32, 16] == read_state(second)["buckets"]["parts"][0]["live"]
    do_step(first, "move/run", design="other.toml")
    assert "copied" == read_state(second)["move"]["step"]
    do_step(second, "move/cutover", typed_name="logs")
    assert "cut over" == read_state(first)["move"]["step"]
    do_step(first, "move/finish/logs", typed_name="logs")
    answer = second.get("/tables/logs/rows", headers=JSON).json()
    assert len(rows) == len(answer["rows"])


def test_two_portals_running_the_same_move_leave_one_complete_copy(tmp_path: Path) -> None:
    """Two portals that run the same move at the same time leave one complete copy."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.3) as table:
        for at in range(50):
            table.put({"host": f"web-{at}", "ts": at, "note": "x"})
    clients = open_portals(tmp_path, url)
    for client in clients:
        answer = client.post("/tables/logs/move/run", data={"design": "other.toml"})
        assert 303 == answer.status_code
    states = [read_state(client) for client in clients]
    assert ["copied", "copied"] == [state["move"]["step"] for state in states]
    assert do_step(clients[0], "move/verify", share="100")["step"]["result"]["passed"]
