from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client
from portal.test_hostile_text import PageReader
from rowkey.portal.designs import check, workspace
from rowkey.portal.designs.workspace import Workspace
from rowkey.portal.screens import tables
from rowkey.portal.tables import overview
from rowkey.portal.tables.overview import TableQuery, list_tables

if TYPE_CHECKING:
    from starlette.applications import Starlette

COUNT = 24
"""Design files of the folder, beside that of the logs."""


PAGE_ROWS = 10


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages have ten tables."""
    for module in (overview, tables):
        monkeypatch.setattr(module, "PAGE_ROWS", PAGE_ROWS)


def build_many(folder: Path, url: str | None = None) -> Starlette:
    """Return a portal on a folder with many designs, of which every eighth has a warning more."""
    app = build_portal(folder, url)
    for number in range(COUNT):
        text = LOGS.replace('"logs"', f'"table_{number:03}"')
        if number % 8 == 0:
            text = text.replace("[bucket(host, 16)][host][ts]", "[ts][host]")
        (folder / "designs" / f"file_{number:03}.toml").write_text(text, "utf-8")
    return app


def count_calls(patch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Return a list that grows by the name of the file of each call of a method of `Workspace`."""
    calls: list[str] = []
    method = getattr(Workspace, name)

    def call(self: Workspace, what: object) -> object:
        calls.append(getattr(what, "name", str(what)))
        return method(self, what)

    patch.setattr(Workspace, name, call)
    return calls


def test_the_table_list_is_paged_searched_and_sorted_without_javascript(tmp_path: Path) -> None:
    """Each table is on one page; links lead to the others, a form finds names, heads sort."""
    app = build_many(tmp_path)
    client = open_client(app)
    found: list[str] = []
    path: str | None = "/"
    while path:
        page = client.get(path).text
        found += re.findall(r'href="/designs/((?:file|logs)[^"]*)"', page)
        following = re.search(r'href="([^"]*)" rel="next"', page)
        path = following and following[1].replace("&amp;", "&")
    assert sorted({*found}) == sorted(found)
    assert COUNT + 1 == len(found)
    text = PageReader(client.get("/", params={"q": "TABLE_01"}).text).text
    assert "10 of 25 tables" in text
    assert [True, False] == [name in text for name in ("table_013", "table_021")]
    head = client.get("/").text
    assert 'aria-sort="ascending"><a href="/?sort=-table">' in head
    assert "DOWN" not in head


def test_tables_are_sorted_by_the_figures_of_a_column(tmp_path: Path) -> None:
    """A column sorts by its figures, equal ones by name, and what is not known comes last."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_many(tmp_path, url)
    portal = app.state.portal
    list_tables(portal)
    for file in portal.workspace.list_files():
        portal.checker.check(file)
    worst = list_tables(portal, TableQuery(sort="findings", is_descending=True)).rows
    assert [f"table_{number:03}" for number in range(0, COUNT, 8)] == [
        row.name for row in worst[: COUNT // 8]
    ]
    assert "logs" == list_tables(portal, TableQuery(sort="regions")).rows[0].name
    last = list_tables(portal, TableQuery(page=99))
    assert (3, COUNT + 1 - 2 * PAGE_ROWS) == (last.query.page, len(last.rows))


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "page=99999999999999", "sort=secret", "sort=-", "q=%00", "q=(%5B"]
)
def test_an_invalid_query_of_the_table_list_is_ignored(tmp_path: Path, query: str) -> None:
    """What a URL says wrongly about the list is left out."""
    assert 200 == open_client(build_portal(tmp_path)).get(f"/?{query}").status_code


def test_a_second_visit_of_the_list_rechecks_only_changed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second visit reads no file and checks none; after a change, that one."""
    monkeypatch.setattr(workspace, "SETTLED_NS", -(10**12))
    monkeypatch.setattr("rowkey.portal.tables.overview.CHECK_S", 60.0)
    client = open_client(build_many(tmp_path))
    reads, checks = count_calls(monkeypatch, "read"), count_calls(monkeypatch, "read_design")
    first = client.get("/")
    assert (COUNT + 1, PAGE_ROWS) == (len(reads), len(checks))
    assert len(first.content) < 60_000
    reads.clear()
    checks.clear()
    assert first.text == client.get("/").text
    assert [] == reads == checks
    changed = tmp_path / "designs" / "file_003.toml"
    changed.write_text(changed.read_text("utf-8").replace("table_003", "table_0033"), "utf-8")
    assert "table_0033" in PageReader(client.get("/").text).text
    assert ["file_003.toml"] == reads == checks


def test_a_design_is_checked_again_when_its_companion_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found in a design is remembered until a file that it depends on changes."""
    app = build_portal(tmp_path)
    portal, folder = app.state.portal, tmp_path / "designs"
    by_note = LOGS.replace('"logs"', '"by_note"').replace(
        "[bucket(host, 16)][host][ts]", "[note][host][ts]"
    )
    by_note = by_note.replace('note = "text"', 'note = { type = "text", max_bytes = 40 }')
    (folder / "by_note.toml").write_text(by_note, "utf-8")
    main = by_note.replace('"by_note"', '"main"').replace("[note][host][ts]", "[ts][note][host]")
    (folder / "main.toml").write_text(f'{main}\n[companions]\nby_note = "by_note.toml"\n', "utf-8")
    file = portal.workspace.read("main.toml")
    first = portal.checker.check(file)
    assert first.document["ok"], first.document
    assert first is portal.checker.check(file)
    (folder / "by_note.toml").write_text("key =", "utf-8")
    assert not portal.checker.check(file).document["ok"]
    monkeypatch.setattr(check, "MAX_REMEMBERED", 1)
    portal.checker.check(portal.workspace.read("logs.toml"))
    assert 1 == len(portal.checker._results)


def test_files_are_checked_before_the_first_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal that has started checks its files, so that a sort by findings finds all."""
    monkeypatch.setattr(check, "CHECK_PAUSE_S", 0.0)
    app = build_many(tmp_path)
    portal = app.state.portal
    portal.checker._check_files()
    page = list_tables(portal, TableQuery(sort="findings", is_descending=True))
    assert all(row.checked is not None for row in page.rows)


def test_the_list_reloads_until_all_its_tables_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page without time for all tables reads those with the oldest states, one at least."""
    monkeypatch.setattr("rowkey.portal.live.watch.LIST_WAIT_S", 0.0)
    url = f"rocks:{tmp_path / 'tables'}"
    for name in ("logs_1", "logs_2", "logs_3"):
        rowkey.open(rowkey.Design.loads(LOGS.replace('"logs"', f'"{name}"')), url).close()
    app = build_portal(tmp_path, url)
    client = open_client(app)
    states = []
    for _ in range(4):
        reloads = "refresh" in client.get("/").headers
        read = [one.name for one in app.state.portal.live.list_tables() if one.stored_table]
        states.append((read, reloads))
    names = ["logs_1", "logs_2", "logs_3"]
    assert [(names[:1], True), (names[:2], True), (names, False), (names, False)] == states
