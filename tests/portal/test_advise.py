"""Better keys in the portal: the document of `rowkey advise`, and files that are adopted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from portal.portals import LOGS, build_portal, digest_files, open_client
from portal.test_data import JSON
from portal.test_hostile_text import check_page
from portal.test_screens import read_audit, read_form
from portal.test_simulate import upload, wait_for_end
from rowkey.advise import search
from rowkey.portal.designs.check import compare_texts
from rowkey.render import build_advice_document, format_advised_design

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from rowkey.advise import Advice

HOT = "# The events of our servers.\n" + LOGS.replace(
    "[bucket(host, 16)][host][ts]", "[ts][host]"
).replace('order = "ts desc"', 'order = "ts desc"\nlimit = 10\nrate = "5/s"')
EVENTS = "host,ts,note\n" + "".join(
    f"web-{n * n % 61},{n * 1_000},x{n % 50}\n" for n in range(1_500)
)
TWO_READS = f"""{HOT}
[[reads]]
name  = "newest <script>alert(1)</script>"
where = "note = ?"
order = "ts desc"
limit = 10
rate  = "5/s"
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    """Yield a portal with a hot design, whose tasks end with the test."""
    app = build_portal(tmp_path)
    (tmp_path / "designs" / "logs.toml").write_text(HOT, "utf-8")
    yield app
    app.state.portal.tasks.close()


def search_keys(client: TestClient) -> str:
    """Search for better keys by an uploaded file, and return the path of the result."""
    stored = upload(client, "events.csv", EVENTS.encode())
    sample = stored.headers["location"].partition("sample=")[2]
    answer = client.post("/advice", data={"design": "logs.toml", "sample": sample})
    assert 303 == answer.status_code, answer.text
    path = str(answer.headers["location"])
    assert wait_for_end(client, path)[-1]["is_final"]
    return path


def search_here(folder: Path, text: str = HOT) -> Advice:
    """Return the advice of the package on the same events."""
    (folder / "events.csv").write_text(EVENTS, "utf-8")
    return search(rowkey.Design.loads(text), folder / "events.csv")


def test_the_advice_page_shows_what_the_command_advises(tmp_path: Path, app: Starlette) -> None:
    """The document is that of `rowkey advise -f json`; each card has its key, verdict and diff."""
    client = open_client(app)
    path = search_keys(client)
    advice = search_here(tmp_path)
    expected = json.loads(json.dumps(build_advice_document(advice)))
    assert expected == client.get(path, headers=JSON).json()
    assert expected["picks"]
    text = format_advised_design(
        advice, advice.picks[0].judged, tmp_path / "logs.toml", is_temporary=True
    )
    added = [line.text for line in compare_texts(HOT, text) if line.kind == "added"]
    assert added
    for language in ("en", "zh"):
        page = check_page(client.get(path, params={"lang": language}).text)
        shown = [one["key"] for one in (expected["declared"], *expected["picks"])]
        shown += [f"+ {line}" for line in added]
        shown += [one["key"] for one in expected["refused"]]
        assert [] == [one for one in shown if one not in page.text]
        forms = [one for tag, one in page.elements if tag == "input" and one["name"] == "pick"]
        assert [str(n) for n in range(len(expected["picks"]))] == [one["value"] for one in forms]
    assert path in client.get("/advice").text


def test_an_adopted_key_writes_what_advise_write_writes(tmp_path: Path, app: Starlette) -> None:
    """The file becomes what `rowkey advise --write` writes, with its comments, and only once."""
    client = open_client(app)
    path = search_keys(client)
    for pick in ("99", "tables", "-1", "x"):
        assert 422 == client.post(f"{path}/adopt", data={"pick": pick}).status_code
    etag = read_form(client)["etag"]
    answer = client.post(f"{path}/adopt", data={"pick": "0"})
    written = tmp_path / "designs" / "logs.toml"
    assert (303, "/designs/logs.toml?adopted") == (answer.status_code, answer.headers["location"])
    advice = search_here(tmp_path)
    expected = format_advised_design(
        advice, advice.picks[0].judged, tmp_path / "logs.toml", is_temporary=True
    )
    assert expected == written.read_text("utf-8")
    assert expected.startswith("# The events of our servers.\n")
    entry = read_audit(tmp_path)[-1]
    assert ("adopt advice", etag) == (entry["action"], entry["etag_before"])
    assert 200 == client.get("/designs/logs.toml?adopted").status_code
    assert "sample" not in rowkey.Design.read(written).declaration.model_fields_set
    assert 409 == client.post(f"{path}/adopt", data={"pick": "0"}).status_code
    page = client.get(path).text
    assert [True, False] == [one in page for one in ("has changed since", 'name="pick"')]


def test_adopted_tables_are_all_written_or_none(tmp_path: Path, app: Starlette) -> None:
    """Where several tables are proposed, one form writes all their files, or none of them."""
    designs = tmp_path / "designs"
    (designs / "logs.toml").write_text(TWO_READS, "utf-8")
    client = open_client(app)
    path = search_keys(client)
    result = app.state.portal.advice.read_result(path.rpartition("/")[2])
    names = [one["name"] for one in result["table_files"]]
    assert ["logs.toml", "logs_2.toml"] == names
    (designs / names[1]).write_text("key = ", "utf-8")
    before = digest_files(designs)
    assert 409 == client.post(f"{path}/adopt", data={"pick": "tables"}).status_code
    assert {} == {
        name: one
        for name, one in digest_files(designs).items()
        if not name.startswith(".") and before.get(name) != one
    }
    (designs / names[1]).unlink()
    for language in ("zh", "en"):
        page = check_page(client.get(path, params={"lang": language}).text).text
    names_of_reads = "Serves newest <script>alert(1)</script>"
    assert [True, True] == [one in page for one in ("logs.toml, logs_2.toml", names_of_reads)]
    assert 303 == client.post(f"{path}/adopt", data={"pick": "tables"}).status_code
    written = [rowkey.Design.read(designs / name) for name in names]
    assert [(one["table"], one["key"]) for one in result["tables"]] == [
        (one.table, str(one.key)) for one in written
    ]
    assert result["has_companions"] == bool(written[0].companions)


def test_advice_does_not_read_a_sample_outside_of_the_folder(
    tmp_path: Path, app: Starlette
) -> None:
    """A design cannot make a search read a file outside of the folder as its sample."""
    (tmp_path / "secret.csv").write_text(EVENTS, "utf-8")
    text = f'{HOT}\n[sample]\npath = "../secret.csv"\n'
    (tmp_path / "designs" / "logs.toml").write_text(text, "utf-8")
    before = digest_files(tmp_path)
    client = open_client(app)
    assert 422 == client.post("/advice", data={"design": "logs.toml"}).status_code
    assert 404 == client.post("/advice", data={"design": "../logs.toml"}).status_code
    changed = {n for n, one in digest_files(tmp_path).items() if before.get(n) != one}
    assert {"designs/.rowkey-portal/audit.jsonl"} == changed
