"""Rows of stored tables in the portal: as the table has them, paged, exported, and only shown."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from starlette.responses import PlainTextResponse

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client, send_raw
from portal.test_hostile_text import HOSTILE, SOME_HOSTILE, check_page
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.tables.bounded_reads import ReadLimits
from rowkey.portal.tables.rows import RowQuery, read_history, read_page
from table import companion_tables

if TYPE_CHECKING:
    from rowkey.portal.server.requests import PortalRequest

JSON = {"accept": "application/json"}
ROWS = [{"host": f"web-{at % 3}", "ts": 1_000 * at, "note": f"note {at}"} for at in range(25)]


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_the_pages_of_a_table_show_each_row_once(tmp_path: Path, scheme: str) -> None:
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


def test_a_mistake_in_a_condition_answers_422_with_the_reason(tmp_path: Path) -> None:
    """A wrong condition, order, limit or token answers 422 and says what is wrong."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    for name, text in (("where", "hots = 'x'"), ("order", "hots"), ("resume", "x"), ("limit", "0")):
        answer = client.get("/tables/logs/rows", params={name: text})
        assert (422, True) == (answer.status_code, text[:4] in check_page(answer.text).text)
    assert 422 == client.get("/tables/none/rows").status_code
    assert 422 == client.get("/tables/logs/row", params={"row": "[1"}).status_code


def test_the_page_of_a_row_shows_all_versions_of_its_cells(tmp_path: Path) -> None:
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


def test_pages_of_rows_count_the_cells_of_other_programs(tmp_path: Path) -> None:
    """A page of rows says how many cells and rows of other programs it leaves out; a row which."""
    url = f"memory:{tmp_path}"
    client = open_client(build_portal(tmp_path, url))
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for number, row in enumerate(ROWS[:3]):
            if number:
                table.put(row)
            key = table.design.key.encode(row)
            table.store.mutate([RowCells(key, [Cell("d", b"\x80x", LATEST, b"1")])])
        document = client.get("/tables/logs/rows", headers=JSON).json()
        assert (2, 3, 1) == (
            len(document["rows"]),
            document["undeclared"]["cells"],
            document["undeclared"]["undeclared_rows"],
        )
        page = check_page(client.get("/tables/logs/rows").text)
        assert "does not declare: 3. Rows with such cells only, which are not shown: 1" in page.text
        assert "columns that the design does not declare are left out" in page.text  # of an export
        shown = {"row": json.dumps({name: ROWS[1][name] for name in ("host", "ts")})}
        page = check_page(client.get("/tables/logs/row", params=shown).text)
        assert "in a column that the design does not declare" in page.text


def test_pages_of_rows_leave_out_and_count_rows_that_cannot_be_decoded(tmp_path: Path) -> None:
    """A page of rows leaves out, counts and names such rows; an export is refused by their key."""
    url = f"memory:{tmp_path}"
    client = open_client(build_portal(tmp_path, url))
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for row in ROWS:
            table.put(row)
        for row_key in (b"\x05no end", b"\x07<b>"):
            table.store.mutate([RowCells(row_key, [Cell("d", b"note", LATEST, b"1")])])
        document = client.get("/tables/logs/rows", headers=JSON).json()
        assert len(ROWS) == len(document["rows"])
        assert (2, [b"\x05no end".hex(), b"\x07<b>".hex()]) == (
            document["undecodable"]["rows"],
            [one["row_key"] for one in document["undecodable"]["sample"]],
        )
        for language, text in (("en", "cannot be decoded: 2. Row keys: "), ("zh", "有 2 行")):
            page = check_page(client.get("/tables/logs/rows", params={"lang": language}).text)
            assert [True, True] == [one in page.text for one in (text, r"\x05no end, \x07<b>")]
        answer = client.get("/tables/logs/rows.csv")
        assert (422, True) == (answer.status_code, "row key 073c623e" in answer.text)
        table.store.mutate([RowCells(b"\xfe<user>", [Cell("d", b"note", LATEST, b"1")])])
        for limit in (50, 2):  # also those outside of all buckets
            document = client.get(f"/tables/logs/rows?limit={limit}", headers=JSON).json()
            assert b"\xfe<user>".hex() == document["undecodable"]["sample"][0]["row_key"]


@pytest.mark.parametrize("key", ["[host]", "[salt(4)][host]"])
def test_pages_of_rows_shared_by_events_count_the_cells_of_other_programs(key: str) -> None:
    """A page of events that share rows counts the cells of other programs, also those of none."""
    fields = {"host": "text", "n": {"type": "u16", "at": "qualifier"}, "v": "u8"}
    design = rowkey.Design("t", key, fields=fields, families={"d": {}})
    with rowkey.open(design, "memory:") as table:
        for n in range(300):
            table.put({"host": "a", "n": n, "v": 1})
        row_key = table.design.key.encode({"host": "a"}, salt=0)
        cells = [Cell("d", name, LATEST, b"1") for name in (b"\0\1x", b"\xff\xff\xffx", b"")]
        table.store.mutate([RowCells(row_key, sorted(cells))])
        page = read_page(table, RowQuery("t", limit=500))
        found = page.undeclared
        assert (300, 3, 3) == (len(page.rows), found.cell_count, found.row_count)


def test_pages_of_a_table_with_companions_count_the_cells_of_other_programs(tmp_path: Path) -> None:
    """A page of a table with companions counts the undeclared cells of the table that is read."""
    with rowkey.open(companion_tables.write_designs(tmp_path), "memory:") as table:
        row = {"user": "a", "at": 7, "number": 1, "note": None, "amount": 5}
        table.put(row)
        for one, name in ((table, b"x"), (table.companions["orders_by_number"], b"y")):
            one.store.mutate(
                [RowCells(one.design.key.encode(row), [Cell("d", name, LATEST, b"1")])]
            )
        for where, column in (("", "d:x"), ("number = 1", "d:y")):
            page = read_page(table, RowQuery("orders", where))
            assert (1, {column: 1}) == (len(page.rows), page.undeclared.column_counts)


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
def test_the_link_of_each_row_leads_to_that_row(field: Any) -> None:
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


def test_values_with_markup_appear_as_text_on_row_pages(tmp_path: Path) -> None:
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
    for text in SOME_HOSTILE:
        parameters = {"where": text, "order": text, "resume": text}
        check_page(client.get("/tables/logs/rows", params=parameters).text)
        check_page(client.get("/tables/logs/row", params={"row": text}).text)


def test_an_exported_csv_has_no_formulas(tmp_path: Path) -> None:
    """No cell of the CSV begins with =, +, - or @, unless it is a number."""
    url = f"memory:{tmp_path}"
    starts = ["=1+1", "+1", "-1", "@A1", "\t=1", "plain", 'a,"b"\n=c']
    fields = {"id": "u8", "=n": "text", "delta": "i64"}
    with rowkey.open(rowkey.Design("notes", "[id]", fields=fields), url) as table:
        for at, text in enumerate(starts):
            table.put({"id": at, "=n": text, "delta": -at})
    client = open_client(build_portal(tmp_path, url))
    answer = client.get("/tables/notes/rows.csv", params={"limit": "1"})
    assert (200, "text/csv; charset=utf-8") == (
        answer.status_code,
        answer.headers["content-type"],
    )
    header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    guarded = [f"'{one}" if one[0] in "=+-@\t" else one for one in starts]
    assert (["id", "'=n", "delta"], guarded) == (header, [one[1] for one in rows])
    assert [str(-at) for at in range(len(starts))] == [one[2] for one in rows]
    assert 422 == client.get("/tables/notes/rows.csv", params={"where": "x"}).status_code


@pytest.mark.parametrize("limits", [ReadLimits(-1.0, 1 << 40), ReadLimits(3_600.0, 0)])
def test_a_search_that_stops_at_its_limit_continues_from_its_token(
    tmp_path: Path, limits: ReadLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that stop before the first match lead to the next, and together give every match."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for row in ROWS:
            table.put(row)
    client = open_client(build_portal(tmp_path, url))
    monkeypatch.setattr("rowkey.portal.tables.rows.PAGE_LIMITS", limits)
    query = {"where": "note in ('note 3', 'note 20', 'note 24')", "limit": "50"}
    rows, token, stops = [], "", 0
    while token is not None:
        page = client.get("/tables/logs/rows", params={**query, "resume": token}, headers=JSON)
        answer = page.json()
        assert (answer["next"] is not None) == answer["stopped"]
        rows += answer["rows"]
        token, stops = answer["next"], stops + answer["stopped"]
    assert [ROWS[3], ROWS[20], ROWS[24]] == sorted(rows, key=lambda one: one["ts"])
    assert stops > len(ROWS) / 2
    assert "Search on" in check_page(client.get("/tables/logs/rows", params=query).text).text
    ordered = {**query, "order": "note"}
    page = check_page(client.get("/tables/logs/rows", params=ordered).text)
    assert ("Not all rows" in page.text, "Search on" in page.text) == (True, False)
    full = client.get("/tables/logs/rows", params={"order": "note", "limit": "1"}, headers=JSON)
    assert (None, True) == (full.json()["next"], full.json()["stopped"])  # others may come before
    monkeypatch.setattr("rowkey.portal.tables.rows.EXPORT_LIMITS", limits)
    answer = client.get("/tables/logs/rows.csv", params=query)
    assert (422, True) == (answer.status_code, "not found within" in answer.text)


def test_rows_larger_than_the_memory_of_a_page_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are together larger than the memory for a page are refused; fewer are shown."""
    monkeypatch.setattr("rowkey.portal.tables.rows.PAGE_LIMITS", ReadLimits(3_600.0, 1_500))
    monkeypatch.setattr("rowkey.portal.tables.bounded_reads.SPARE_BYTES", 0)
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for at in range(64):
            table.put({"host": "web-1", "ts": at, "note": "x" * 1_000})
    client = open_client(build_portal(tmp_path, url))
    query = {"where": "host = 'web-1'", "order": "note"}
    answer = client.get("/tables/logs/rows", params=query)
    assert (422, True) == (answer.status_code, "its rows are large" in answer.text)
    few = client.get("/tables/logs/rows", params={"limit": "1"}, headers=JSON).json()
    assert 1 == len(few["rows"])


def test_a_search_stops_when_the_browser_disconnects(tmp_path: Path) -> None:
    """The thread that looks for rows learns that nobody waits for them, and stops."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for row in ROWS:
            table.put(row)
        is_abandoned = Event()
        is_abandoned.set()
        page = read_page(table, RowQuery("logs", "note = 'none'"), is_abandoned)
        assert (True, True, []) == (page.is_stopped, bool(page.token), page.rows)
    seen: list[bool] = []

    def wait(request: PortalRequest) -> PlainTextResponse:
        seen.append(request.is_abandoned.wait(20))
        return PlainTextResponse("")

    app = build_portal(tmp_path, url, more_routes=[PortalRoute("/wait", wait, is_public=True)])
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": b""},
        {"type": "http.disconnect"},
    ]
    send_raw(app, "GET", "/wait", [("host", "127.0.0.1:8765")], messages=messages)
    assert [True] == seen


def test_large_values_are_shortened_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page stays small whatever a row holds, and says what it leaves out."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for note in ("y" * (1 << 20), "x" * (1 << 20)):
            table.put({"host": "web-1", "ts": 1, "note": note})
    client = open_client(build_portal(tmp_path, url))
    text = client.get("/tables/logs/rows").text
    assert (True, True) == (len(text) < 20_000, "(1,048,576 characters)" in check_page(text).text)
    query = {"row": json.dumps({"host": "web-1", "ts": 1})}
    monkeypatch.setattr("rowkey.portal.screens.data.MAX_SHOWN_CELLS", 0)
    text = client.get("/tables/logs/row", params=query).text
    assert (True, True) == (len(text) < 50_000, "first 0 are shown" in check_page(text).text)


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_rows_written_between_pages_neither_repeat_nor_hide_another(
    tmp_path: Path, scheme: str
) -> None:
    """Rows that are written and deleted between pages neither repeat nor hide one that stays."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    with rowkey.open(rowkey.Design.loads(LOGS), url) as table:
        for row in ROWS:
            table.put(row)
    client = open_client(build_portal(tmp_path, url))
    pages, token = [], ""
    while token is not None:
        page = client.get("/tables/logs/rows", params={"limit": "3", "resume": token}, headers=JSON)
        pages += page.json()["rows"]
        token = page.json()["next"]
        with rowkey.open("logs", url) as table:
            last = pages[-1]
            table.delete(last)  # the row that the token was made from
            for step in (-1, 1):
                table.put({"host": last["host"], "ts": last["ts"] + step, "note": "new"})
                table.put({"host": f"web-{step}", "ts": 1, "note": "new"})
    assert sorted(ROWS, key=lambda row: row["ts"]) == sorted(
        (row for row in pages if row["note"] != "new"), key=lambda row: row["ts"]
    )
    assert len(pages) == len({(row["host"], row["ts"]) for row in pages})


def test_a_row_with_null_and_a_binary_key_is_listed_and_found(tmp_path: Path) -> None:
    """A row with a binary key and a null is listed, and its link leads to its cells."""
    url = f"memory:{tmp_path}"
    fields = {
        "id": {"type": "bytes", "max_bytes": 8},
        "n": "i64",
        "note": {"type": "text", "nullable": True},
    }
    with rowkey.open(rowkey.Design("logs", "[id][n]", fields=fields), url) as table:
        table.put({"id": b"\x00\xff<b>", "n": -5, "note": None})
    client = open_client(build_portal(tmp_path, url))
    page = check_page(client.get("/tables/logs/rows").text)
    assert [True, True] == [one in page.text for one in ("00ff3c623e", "null")]
    link = next(
        str(one["href"]) for tag, one in page.elements if "row?row=" in str(one.get("href"))
    )
    answer = client.get(link, headers=JSON).json()
    assert (-5, None) == (answer["row"]["n"], answer["row"]["note"])
    assert 200 == client.get(link).status_code
    for where in ("n = 'x'", "id = 5", "n = null", "id = b'", "n in ()", "n = 1 or 1"):
        answer = client.get("/tables/logs/rows", params={"where": where})
        assert (where, 422) == (where, answer.status_code)
        check_page(answer.text)
