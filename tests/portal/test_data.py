"""Rows of stored tables in the portal: as the table has them, paged, exported, and only shown."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client
from portal.test_hostile_text import HOSTILE, check_page
from rowkey.portal.table_rows import RowQuery, read_history, read_page

if TYPE_CHECKING:
    from pathlib import Path

JSON = {"accept": "application/json"}
ROWS = [{"host": f"web-{at % 3}", "ts": 1_000 * at, "note": f"note {at}"} for at in range(25)]


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_pages_give_each_row_once(tmp_path: Path, scheme: str) -> None:
    """The pages together are what a scan returns, in its order."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for row in ROWS:
            table.put(row)
    client = open_client(build_portal(tmp_path, url))
    query = {"where": "host in ('web-0', 'web-1') and ts >= 3000", "order": "", "limit": "4"}
    rows, token = [], ""
    while token is not None:
        answer = client.get("/tables/logs/rows", params={**query, "resume": token}, headers=JSON)
        page = answer.json()
        rows += page["rows"]
        token = page["next"]
    expected = [one for one in ROWS if one["host"] != "web-2" and one["ts"] >= 3_000]
    assert sorted(expected, key=lambda one: (one["host"], one["ts"])) == rows
    page = check_page(client.get("/tables/logs/rows", params=query).text)
    assert [True, True] == [one in page.text for one in ("1970-01-01T00:00:03", "Next page")]
    links = [str(values.get("href")) for _, values in page.elements]
    chinese = next(one for one in links if "lang=zh" in one)
    page = check_page(client.get(f"/tables/logs/rows{chinese}").text)
    assert [True, True] == [one in page.text for one in ("1970-01-01T00:00:03", "下一页")]


def test_mistakes_in_conditions_are_named(tmp_path: Path) -> None:
    """A wrong condition, order, limit or token answers 422 and says what is wrong."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    for name, text in (("where", "hots = 'x'"), ("order", "hots"), ("resume", "x"), ("limit", "0")):
        answer = client.get("/tables/logs/rows", params={name: text})
        assert (422, True) == (answer.status_code, text[:4] in check_page(answer.text).text)
    assert 422 == client.get("/tables/none/rows").status_code
    assert 422 == client.get("/tables/logs/row", params={"row": "[1"}).status_code


def test_a_row_shows_all_its_versions(tmp_path: Path) -> None:
    """The page of a row has each stored cell with its time, and the delete of a deleted row."""
    url = f"memory:{tmp_path}"
    text = f"{LOGS}\n[families.d]\nversions = 3\n"
    identity = {"host": "web-1", "ts": 1}
    client = open_client(build_portal(tmp_path, url))
    with rowkey.open(rowkey.Design.loads(text), url) as table:
        for note in ("first", "second"):
            table.put({**identity, "note": note})
            time.sleep(0.002)  # of two puts of one millisecond only the last is stored
        shown = {"row": json.dumps(identity)}
        history = client.get("/tables/logs/row", params=shown, headers=JSON).json()
        assert {**identity, "note": "second"} == {**history["row"], "ts": 1}
        assert [{"note": "second"}, {"note": "first"}] == [
            one["values"] for one in history["cells"]
        ]
        table.delete(identity)
        page = check_page(client.get("/tables/logs/row", params=shown).text)
    assert [True] * 3 == [one in page.text for one in ("no such row", "delete", "second")]
    missing = {"row": json.dumps({"host": "none", "ts": 1})}
    assert 404 == client.get("/tables/logs/row", params=missing).status_code


@pytest.mark.parametrize(
    "field",
    [
        {"type": "text", "max_bytes": 20},
        {"type": "bytes", "max_bytes": 9},
        {"type": "choice", "of": ["1", "null", "<y>"]},
        {"type": "decimal", "precision": 9, "scale": 2},
        *("bool", "date", "digits", "float64", "i64", "ipv6", "timestamp_ns", "u64", "uuid"),
    ],
    ids=str,
)
def test_a_link_finds_its_row(field: Any) -> None:
    """The link of each row of a page leads to the row that the page shows, of any type."""
    field = {"type": field, "width": 5} if field == "digits" else field
    fields = {"id": field, "z": "u8", "note": "text"}
    design = rowkey.Design("t", "[id][z]", fields=fields)
    with rowkey.open(design, "memory:") as table:
        for row in design.key.generate_rows(30):
            table.put({**row, "note": "12"})
        page = read_page(table, RowQuery("t"))
        assert page.identities
        for identity, shown in zip(page.identities, page.displayed_rows, strict=True):
            history = read_history(table, identity)
            assert (shown, [{"note": "12"}]) == (
                history.values,
                [one.values for one in history.cells],
            )


def test_hostile_rows_are_only_shown(tmp_path: Path) -> None:
    """Values that try to become a part of the page appear as text, and their links work."""
    url = f"memory:{tmp_path}"
    texts = [one for one in HOSTILE if len(one.encode()) <= 40]
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for at, text in enumerate(texts):
            table.put({"host": text, "ts": at, "note": text})
    client = open_client(build_portal(tmp_path, url))
    page = check_page(client.get("/tables/logs/rows", params={"limit": "1000"}).text)
    links = [str(values["href"]) for tag, values in page.elements if tag == "a"]
    links = [one for one in links if "/row?" in one]
    assert len(texts) == len(links)
    for link in links[::10]:
        answer = client.get(link)
        assert 200 == answer.status_code
        check_page(answer.text)
    for text in HOSTILE[:25]:
        parameters = {"where": text, "order": text, "resume": text}
        check_page(client.get("/tables/logs/rows", params=parameters).text)
        check_page(client.get("/tables/logs/row", params={"row": text}).text)


def test_an_export_holds_no_formulas(tmp_path: Path) -> None:
    """No cell of the CSV begins with =, +, - or @, unless it is a number."""
    url = f"memory:{tmp_path}"
    starts = ["=1+1", "+1", "-1", "@A1", "\t=1", "plain", 'a,"b"\n=c']
    fields = {"id": "u8", "=n": "text", "delta": "i64"}
    with rowkey.open(rowkey.Design("notes", "[id]", fields=fields), url) as table:
        for at, text in enumerate(starts):
            table.put({"id": at, "=n": text, "delta": -at})
    client = open_client(build_portal(tmp_path, url))
    answer = client.get("/tables/notes/rows.csv", params={"limit": "2"})
    assert (200, "text/csv; charset=utf-8") == (
        answer.status_code,
        answer.headers["content-type"],
    )
    header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    guarded = [f"'{one}" if one[0] in "=+-@\t" else one for one in starts]
    assert (["id", "'=n", "delta"], guarded) == (header, [one[1] for one in rows])
    assert [str(-at) for at in range(len(starts))] == [one[2] for one in rows]
    assert 422 == client.get("/tables/notes/rows.csv", params={"where": "x"}).status_code
