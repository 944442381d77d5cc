from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, ORIGIN, build_portal, create_logs, open_client
from portal.test_hostile_text import PageReader
from rowkey.advise import JudgedDesign
from rowkey.move import Move
from rowkey.portal.live import watch
from rowkey.portal.tables.overview import list_tables
from rowkey.render import LANGUAGES, build_check_document, build_vectors_document

if TYPE_CHECKING:
    from starlette.testclient import TestClient

OTHER_KEY = LOGS.replace("[bucket(host, 16)][host][ts]", "[ts][host]")
WIDER = f"{LOGS}\n".replace('note = "text"', 'note = "text"\nuser = "text"')
UNCOMPRESSED = f'{LOGS}\n[families.d]\nttl = "30d"\n[writes]\narrival = "clock"\nrate = "5000/s"\n'


@pytest.fixture(autouse=True)
def _wait_for_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages wait until the tables are read, however slow the machine is."""
    for name in ("LIST_WAIT_S", "PAGE_WAIT_S"):
        monkeypatch.setattr(watch, name, 60.0)


def read_form(client: TestClient, path: str = "/designs/logs.toml") -> dict[str, str]:
    """Return the text and the version that the form of a design's page holds."""
    page = client.get(path).text
    etag = re.search(r'name="etag" value="([0-9a-f]+)"', page)
    assert etag is not None
    return {"etag": etag[1], "text": LOGS}


def read_audit(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the audit log."""
    path = folder / "designs" / ".rowkey-portal" / "audit.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_each_table_is_listed_once_with_its_file_and_differences(
    tmp_path: Path, scheme: str
) -> None:
    """Each table is listed once, with its file, its figures and in what both differ."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    create_logs(url)
    lone = rowkey.Design("orders", "[bucket(id, 8)][id]", fields={"id": "u64", "n": "u8"})
    rowkey.open(lone, url, splits=[b"\x01", b"\x02"]).close()
    app = build_portal(tmp_path, url)
    designs = tmp_path / "designs"
    (designs / "broken.toml").write_text("key = ", "utf-8")
    (designs / "other_key.toml").write_text(OTHER_KEY, "utf-8")
    (designs / "wider.toml").write_text(WIDER, "utf-8")
    portal = app.state.portal
    for file in portal.workspace.list_files():  # a page checks as many as it has time for
        portal.checker.check(file)
    page = list_tables(portal)
    assert "" == page.problem
    figures = {
        table.checked.name if table.checked else table.name: (
            table.name,
            table.stored_table
            and (table.stored_table.region_count, table.stored_table.bucket_counts),
            [(one.path, one.is_safe) for one in table.differences],
        )
        for table in page.rows
    }
    assert {
        "broken.toml": ("broken.toml", None, []),
        "logs.toml": ("logs", (1, [16]), []),
        "other_key.toml": ("logs", (1, [16]), [("key", False)]),
        "wider.toml": ("logs", (1, [16]), [("fields.user", True)]),
        "orders": ("orders", (3, [8]), []),
    } == figures
    client = open_client(app)
    links = {
        name: "/tables/logs/operations?design=other_key.toml#move"
        in client.get(f"/designs/{name}").text
        for name in ("other_key.toml", "wider.toml", "logs.toml")
    }
    assert {"other_key.toml": True, "wider.toml": False, "logs.toml": False} == links
    shown = PageReader(client.get("/").text).text
    assert [] == [name for name in ("orders", "differs: 1", "same", "no file") if name not in shown]


def test_an_engine_of_one_process_can_be_opened_by_others_between_two_pages(tmp_path: Path) -> None:
    """An engine of one process can be opened by others while the portal runs."""
    url = f"rocks:{tmp_path}/data"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    for _ in range(2):
        assert "same" in client.get("/").text
        with rowkey.open("logs", url) as table:
            assert 1 == len(list(table.scan()))
        with (tmp_path / "data" / ".lock").open("ab") as lock:  # as another process does
            fcntl.flock(lock, fcntl.LOCK_EX)
            busy = client.get("/")
        assert (200, True) == (busy.status_code, "cannot be read" in busy.text)
    assert "cannot be read" not in client.get("/designs/logs.toml").text


def test_without_stored_tables_the_list_shows_the_design_files(tmp_path: Path) -> None:
    """Where nothing is stored yet, the list shows the design files, and creates nothing."""
    client = open_client(build_portal(tmp_path, f"rocks:{tmp_path}/none"))
    page = client.get("/").text
    assert [True, True] == ["logs.toml" in page, "not created" in page]
    assert not (tmp_path / "none").exists()
    assert 303 == client.get("/tables/logs").status_code  # to its file


def test_the_list_shows_the_step_of_a_table_that_is_being_moved(tmp_path: Path) -> None:
    """A table whose rows are moved shows the step, and its target says from where they come."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01) as table:
        table.put({"host": "web-1", "ts": 1, "note": "disk full"})
        with Move("logs", url) as move:
            move.run(rowkey.Design.loads(OTHER_KEY))
            app = build_portal(tmp_path, url)
            page = PageReader(open_client(app).get("/").text).text
            target = move.record.read()
    assert target is not None
    texts = ("copied", f"→ {target.target}", "gets the rows of logs")
    assert [] == [text for text in texts if text not in page]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_design_page_shows_what_the_commands_print(tmp_path: Path, language: str) -> None:
    """Findings, bytes of keys and reads are those of `check`, `vectors` and `explain`."""
    app = build_portal(tmp_path)
    path = tmp_path / "designs" / "logs.toml"
    path.write_text(UNCOMPRESSED, "utf-8")
    judged = JudgedDesign(rowkey.Design.read(path))
    check = build_check_document("", judged.design, judged.properties, judged.lint_result)
    vectors = build_vectors_document(judged.design.key, judged.design.key.generate_rows(3))
    page = PageReader(open_client(app).get("/designs/logs.toml", params={"lang": language}).text)
    text = "".join(page.text.split())
    codes = [one["code"] for one in check["findings"]]
    keys = [one["key"] for one in vectors["vectors"]]
    reads = [one["name"] for one in check["reads"]]
    assert codes
    assert [] == [one for one in (*codes, *keys, *reads) if one not in text]
    assert dict(page.elements)["html"]["lang"] == {"en": "en", "zh": "zh-Hans"}[language]


def test_the_language_is_taken_from_query_cookie_or_browser(tmp_path: Path) -> None:
    """The query decides on the language, then the cookie it left, then the browser."""
    client = open_client(build_portal(tmp_path))
    wanted = {"accept-language": "de-DE,zh-CN;q=0.8,en;q=0.5"}
    pages = [client.get("/").text, client.get("/", headers=wanted).text]
    pages += [client.get("/?lang=zh").text, client.get("/").text, client.get("/?lang=xx").text]
    pages += [client.get("/?lang=en", headers=wanted).text, client.get("/", headers=wanted).text]
    assert ["en", "zh", "zh", "zh", "zh", "en", "en"] == [
        "zh" if "<h1>表</h1>" in page else "en" for page in pages
    ]


def test_a_saved_design_is_written_and_audited(tmp_path: Path) -> None:
    """A saved text is what the file holds, and the audit log says who wrote which version."""
    client = open_client(build_portal(tmp_path))
    form = read_form(client)
    answer = client.post("/designs/logs.toml", data={**form, "text": WIDER.replace("\n", "\r\n")})
    assert (303, "/designs/logs.toml?saved") == (answer.status_code, answer.headers["location"])
    assert WIDER == (tmp_path / "designs" / "logs.toml").read_text("utf-8")
    entry = read_audit(tmp_path)[-1]
    assert ("local", "save design", "logs.toml") == (
        entry["user"],
        entry["action"],
        entry["target"],
    )
    assert (form["etag"], read_form(client)["etag"]) == (entry["etag_before"], entry["etag"])


def test_a_save_over_a_changed_file_shows_both_texts(tmp_path: Path) -> None:
    """If the file has changed, both texts are kept: the page shows one, and how they differ."""
    client = open_client(build_portal(tmp_path))
    form = read_form(client)
    path = tmp_path / "designs" / "logs.toml"
    path.write_text(OTHER_KEY, "utf-8")
    answer = client.post("/designs/logs.toml", data={**form, "text": WIDER})
    page = PageReader(answer.text)
    assert (409, OTHER_KEY) == (answer.status_code, path.read_text("utf-8"))
    assert WIDER.strip() in page.text
    assert [True, True] == [
        one in page.text for one in ('− key   = "[ts][host]"', '+ user = "text"')
    ]
    again = {
        "text": WIDER,
        "etag": next(v["value"] or "" for t, v in page.elements if t == "input"),
    }
    assert 303 == client.post("/designs/logs.toml", data=again).status_code
    assert WIDER == path.read_text("utf-8")


def test_checking_a_typed_design_does_not_save_it(tmp_path: Path) -> None:
    """The button to check shows the findings of the text in the form, and leaves the file."""
    client = open_client(build_portal(tmp_path))
    form = {**read_form(client), "text": LOGS.replace("[host]", "[hots]"), "check": "1"}
    answer = client.post("/designs/logs.toml", data=form)
    assert (200, True) == (answer.status_code, "There is no field &#39;hots&#39;" in answer.text)
    assert LOGS == (tmp_path / "designs" / "logs.toml").read_text("utf-8")


def test_fixes_in_the_portal_equal_those_of_check_fix(tmp_path: Path) -> None:
    """The page shows the fixes as a diff, and the button writes what `check --fix` writes."""
    client = open_client(build_portal(tmp_path))
    path = tmp_path / "designs" / "logs.toml"
    path.write_text(UNCOMPRESSED, "utf-8")
    expected = JudgedDesign(rowkey.Design.read(path)).apply_fixes().text
    added = [line for line in expected.splitlines() if line not in UNCOMPRESSED.splitlines()]
    page = PageReader(client.get("/designs/logs.toml").text).text
    assert added
    assert [] == [line for line in added if f"+ {line}" not in page]
    answer = client.post("/designs/logs.toml/fix", data={"etag": read_form(client)["etag"]})
    assert (303, expected) == (answer.status_code, path.read_text("utf-8"))
    assert 409 == client.post("/designs/logs.toml/fix", data={"etag": "0"}).status_code


def test_a_design_file_is_created_and_removed_once_its_name_is_typed(tmp_path: Path) -> None:
    """A new file holds a valid design under its name; it is removed once its name is typed."""
    client = open_client(build_portal(tmp_path))
    answer = client.post("/designs", data={"name": "new-one"})
    path = tmp_path / "designs" / "new-one.toml"
    assert (303, "/designs/new-one.toml?created") == (
        answer.status_code,
        answer.headers["location"],
    )
    assert "new_one" == rowkey.Design.read(path).table
    assert 409 == client.post("/designs", data={"name": "new-one.toml"}).status_code
    form = {"etag": read_form(client, "/designs/new-one.toml")["etag"], "typed_name": path.name}
    answer = client.post("/designs/new-one.toml/remove", data=form)
    assert "new-one.toml was removed" in client.get(answer.headers["location"]).text
    assert not path.exists()
    actions = [entry["action"] for entry in read_audit(tmp_path)]
    assert ["log in", "create design", "remove design"] == actions


@pytest.mark.parametrize("path", ["../secret.csv", "link.csv", "{tmp_path}/secret.csv", "a\\u0000"])
def test_a_design_page_does_not_read_a_sample_outside_of_the_folder(
    tmp_path: Path, path: str
) -> None:
    """A design cannot make a page read a file outside of the folder as its sample."""
    (tmp_path / "secret.csv").write_text("host,ts,note\ncanary,1,x\n", "utf-8")
    app = build_portal(tmp_path)
    (tmp_path / "designs" / "link.csv").symlink_to(tmp_path / "secret.csv")
    text = f'{LOGS}\n[sample]\npath = "{path.format(tmp_path=tmp_path)}"\n'
    (tmp_path / "designs" / "logs.toml").write_text(text, "utf-8")
    page = open_client(app).get("/designs/logs.toml").text
    assert [False, True] == ["canary" in page, "The declared sample is not read" in page]
    checked = app.state.portal.checker.check(app.state.portal.workspace.read("logs.toml"))
    assert (None, []) == (checked.document["sample"], checked.sampled_rows)


def test_example_rows_are_the_first_rows_of_the_sample(tmp_path: Path) -> None:
    """The example rows are the first of the sample of the folder, also after it has changed."""
    app = build_portal(tmp_path)
    designs = tmp_path / "designs"
    (designs / "logs.toml").write_text(f'{LOGS}\n[sample]\npath = "in/a.csv"\n', "utf-8")
    (designs / "in").mkdir()
    key = rowkey.Design.loads(LOGS).key
    for host in ("web-1", "database"):
        lines = [f"{host},{at},x" for at in range(1_000, 1_010)]
        (designs / "in" / "a.csv").write_text("\n".join(["host,ts,note", *lines]), "utf-8")
        text = PageReader(open_client(app).get("/designs/logs.toml").text).text
        keys = [key.encode({"host": host, "ts": at}).hex() for at in range(1_000, 1_005)]
        assert [True] * 5 == [one in "".join(text.split()) for one in keys]
        assert "first rows of the sample" in text


def test_a_table_without_a_file_shows_the_design_of_the_catalog(tmp_path: Path) -> None:
    """A table that the folder has no file for shows the design that the catalog stores."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    with_file = client.get("/tables/logs")
    assert (303, "/designs/logs.toml") == (with_file.status_code, with_file.headers["location"])
    (tmp_path / "designs" / "logs.toml").unlink()
    page = PageReader(client.get("/tables/logs").text).text
    assert [True, True] == ["[bucket(host, 16)][host][ts]" in page, "Stored design" in page]
    assert 404 == client.get("/tables/none").status_code


def test_a_link_from_another_site_reopens_the_page_with_the_session(tmp_path: Path) -> None:
    """Such a request has no cookie of the session; the page asks for itself once more."""
    client = open_client(build_portal(tmp_path), logs_in=False)
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    pages = [client.get("/designs/logs.toml", headers=headers) for headers in (link, own)]
    assert [401, 401] == [page.status_code for page in pages]
    assert [True, False] == ['http-equiv="refresh"' in page.text for page in pages]
    assert 'href="//' not in client.get(f"{ORIGIN}//evil.example", headers=link).text


def test_the_list_page_with_its_styles_is_below_200_kb(tmp_path: Path) -> None:
    """The list with its style sheets takes less than 200 kB before compression."""
    client = open_client(build_portal(tmp_path))
    page = client.get("/")
    links = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(links) >= 3
    assert 200_000 > len(page.content) + sum(len(client.get(link).content) for link in links)
