"""Drafts in the portal: the file of `rowkey init`, written once and never over another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from portal.portals import build_portal, digest_files, open_client
from portal.test_hostile_text import HOSTILE, check_page
from portal.test_screens import read_audit
from portal.test_simulate import upload, wait_for_end
from rowkey.advise import draft_design
from rowkey.portal import PortalSettings, build_app

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

EVENTS = "when;host;note\n" + "".join(
    f"2024-01-02 03:{n // 60 % 60:02}:{n % 60:02};web-{n % 7};x{n}\n" for n in range(600)
)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    """Yield a portal whose tasks end with the test."""
    app = build_portal(tmp_path)
    yield app
    app.state.portal.tasks.close()


def upload_file(client: TestClient, content: str = EVENTS, name: str = "web log.csv") -> str:
    """Upload a file, and return its id."""
    stored = upload(client, name, content.encode())
    return str(stored.headers["location"].partition("sample=")[2])


def test_a_draft_in_the_portal_equals_that_of_init(tmp_path: Path, app: Starlette) -> None:
    """The new file is what `rowkey init` writes, and the page tells what was detected."""
    client = open_client(app)
    sample = upload_file(client)
    form = client.get("/drafts", params={"sample": sample}).text
    assert [True, True] == [one in form for one in ('value="web_log.toml"', "selected")]
    answer = client.post("/drafts", data={"sample": sample, "name": "web", "servers": "4"})
    path = answer.headers["location"]
    assert wait_for_end(client, path)[-1]["is_final"]
    (tmp_path / "web_log.csv").write_text(EVENTS, "utf-8")
    expected = draft_design(tmp_path / "web_log.csv", table="web", servers=4, is_temporary=True)
    written = tmp_path / "designs" / "web.toml"
    assert expected.text.replace(f"{tmp_path}/", "") == written.read_text("utf-8")
    assert "web" == rowkey.Design.read(written).table
    for language in ("en", "zh"):
        page = check_page(client.get(path, params={"lang": language}).text)
        assert [True] * 3 == [
            one in page.text for one in (";", str(expected.design.key), "web.toml")
        ]
        assert str(tmp_path) not in page.text
    assert expected.assumptions
    assert ["draft design", "web.toml"] == [
        read_audit(tmp_path)[-1][n] for n in ("action", "target")
    ]


def test_the_portal_makes_the_same_drafts_on_a_relative_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal on the folder `.` makes the same drafts, although tasks run in other folders."""
    monkeypatch.chdir(tmp_path)
    app = build_app(PortalSettings(Path()))
    try:
        client = open_client(app)
        path = client.post("/drafts", data={"sample": upload_file(client), "name": "web"}).headers[
            "location"
        ]
        wait_for_end(client, path)
        assert "web.toml" in client.get(path).text
        assert 'href="/designs/web.toml"' in client.get(path).text
    finally:
        app.state.portal.tasks.close()
    assert (tmp_path / "web.toml").is_file()


def test_a_draft_overwrites_no_existing_file(tmp_path: Path, app: Starlette) -> None:
    """A name that is taken, before or while the draft is made, keeps the file that has it."""
    client = open_client(app)
    sample = upload_file(client)
    before = digest_files(tmp_path)
    for name, status in (("logs.toml", 409), ("../x", 422), ("rowkey.toml", 422), (".x", 422)):
        assert status == client.post("/drafts", data={"sample": sample, "name": name}).status_code
    assert 422 == client.post("/drafts", data={"sample": "0" * 16, "name": "x"}).status_code
    assert before == digest_files(tmp_path)
    path = client.post("/drafts", data={"sample": sample, "name": "late"}).headers["location"]
    (tmp_path / "designs" / "late.toml").write_text("key = ", "utf-8")
    wait_for_end(client, path)
    page = check_page(client.get(path).text)
    assert ["key = ", True] == [
        (tmp_path / "designs" / "late.toml").read_text("utf-8"),
        "There is a file of this name" in page.text,
    ]


def test_column_names_with_markup_appear_as_text_in_a_draft(app: Starlette) -> None:
    """Names of columns and values of a file that try to be markup appear as text."""
    client = open_client(app)
    quoted = ['"' + text.replace('"', '""') + '"' for text in HOSTILE[:12]]
    content = ",".join(quoted) + "\n" + "".join(",".join(quoted) + "\n" for _ in range(20))
    path = client.post(
        "/drafts", data={"sample": upload_file(client, content), "name": "hostile"}
    ).headers["location"]
    wait_for_end(client, path)
    check_page(client.get(path).text)
    check_page(client.get("/drafts").text)
    check_page(client.get("/designs/hostile.toml").text)


def test_the_list_of_an_empty_folder_asks_for_a_file_of_events(tmp_path: Path) -> None:
    """Where there is no design file yet, the list of tables takes a file of events."""
    app = build_portal(tmp_path)
    (tmp_path / "designs" / "logs.toml").unlink()
    page = check_page(open_client(app).get("/").text)
    forms = [one for tag, one in page.elements if tag == "form" and one.get("id") == "upload"]
    assert [("/simulations/samples", "/drafts")] == [
        (one["data-action"], one["data-next"]) for one in forms
    ]
