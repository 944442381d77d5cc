from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import ClientDisconnect

import rowkey
from portal.portals import (
    LOGS,
    OWN_PAGE,
    build_portal,
    digest_files,
    open_client,
    run_coroutine,
    send_raw,
)
from portal.test_hostile_text import PageReader
from rowkey.advise import JudgedDesign, compare_designs
from rowkey.errors import Unavailable
from rowkey.portal.designs.samples import (
    MAX_RECEIVING,
    MAX_SAMPLE_BYTES,
    MAX_SAMPLES,
    SampleUploads,
)
from rowkey.portal.tasks.task import TaskState
from rowkey.render import (
    LANGUAGES,
    Redaction,
    build_comparison_document,
    build_report_document,
    build_report_variables,
    build_simulation_document,
)
from rowkey.stored_messages import iter_messages

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

EVENTS = "host,ts,note\n" + "".join(f"web-{n % 7},{n * 1_000},x\n" for n in range(2_000))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    """Yield a portal whose tasks end with the test."""
    app = build_portal(tmp_path)
    yield app
    app.state.portal.tasks.close()


def upload(client: TestClient, name: str, content: bytes) -> Any:
    """Send a file as the script of the page does."""
    headers = {"content-type": "application/octet-stream", "accept": "application/json"}
    return client.post(
        "/simulations/samples", params={"name": name}, content=content, headers=headers
    )


def start(client: TestClient, **form: str) -> str:
    """Start a simulation, and return its path."""
    answer = client.post("/simulations", data={"design": "logs.toml", **form})
    assert 303 == answer.status_code, answer.text
    return str(answer.headers["location"])


def wait_for_end(client: TestClient, path: str) -> list[dict[str, Any]]:
    """Return the events of a simulation until it has ended."""
    lines = client.get(f"{path}/events").text.split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end_s = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end_s, "it never holds"
        time.sleep(0.01)


def test_a_simulation_in_the_portal_equals_that_of_the_command(
    tmp_path: Path, app: Starlette
) -> None:
    """The page has the report, and the document is that of `rowkey simulate -f json`."""
    client = open_client(app)
    stored = upload(client, "C:\\logs\\my events.csv", EVENTS.encode())
    assert 303 == stored.status_code
    sample = stored.headers["location"].partition("sample=")[2]
    assert f'value="{sample}" selected' in client.get(stored.headers["location"]).text
    path = start(client, sample=sample)
    events = wait_for_end(client, path)
    assert [*[False] * (len(events) - 1), True] == [one["is_final"] for one in events]
    (tmp_path / "my_events.csv").write_text(EVENTS, "utf-8")
    judged = JudgedDesign(rowkey.Design.loads(LOGS), tmp_path / "my_events.csv")
    _ = judged.sample, judged.simulation
    expected = build_simulation_document(judged)
    expected["source"]["path"] = "my_events.csv"
    assert json.loads(json.dumps(expected)) == client.get(f"{path}/document").json()
    report = build_report_document([judged], Redaction())
    stored_report = app.state.portal.simulations.read_result(path.rpartition("/")[2])["report"]
    assert iter_messages(report) == iter_messages(stored_report) != []
    assert "the busiest of" not in client.get(path, params={"lang": "zh"}).text
    views = report["designs"][0]["map"]["views"]
    for kind, view in views.items():
        source = f"{path}/maps/d1/{kind}"
        assert json.loads(json.dumps(view)) == client.get(source).json()
        views[kind] = {"row_count": len(view["rows"]), "source": source}
    for language in LANGUAGES:
        page = client.get(path, params={"lang": language}).text
        payload = str(build_report_variables(report, language)["payload"])
        assert [True, True] == [payload in page, 'id="d1-' in page]
        assert str(tmp_path) not in page


def test_a_load_map_is_sent_once_and_compressed(app: Starlette) -> None:
    """A browser gets a view compressed and once, and a page that tells how its file was read."""
    client = open_client(app)
    stored = upload(client, "events.csv", EVENTS.replace(",", ";").encode())
    path = start(client, sample=stored.headers["location"].partition("sample=")[2])
    wait_for_end(client, path)
    assert "events.csv are separated by ;" in client.get(path).text
    assert "以 ; 分隔" in client.get(path, params={"lang": "zh"}).text
    url = f"{path}/maps/d1/region"
    packed = client.get(url)
    plain = client.get(url, headers={"accept-encoding": "identity"})
    assert ("gzip", None) == tuple(one.headers.get("content-encoding") for one in (packed, plain))
    assert packed.json() == plain.json()
    known = {"if-none-match": packed.headers["etag"]}
    assert (304, b"") == (
        client.get(url, headers=known).status_code,
        client.get(url, headers=known).content,
    )
    assert 401 == open_client(app, logs_in=False).get(url, headers=known).status_code
    names = ("d2/region", "d1/rows", "d1/..%2Frequest", "D1/region")
    assert [404] * 4 == [client.get(f"{path}/maps/{one}").status_code for one in names]
    assert 404 == client.get(f"/simulations/{'0' * 32}/maps/d1/region").status_code


def test_rate_and_servers_of_the_form_replace_those_of_the_file(app: Starlette) -> None:
    """Rate and servers of the form replace those of the file, which stays as it is."""
    client = open_client(app)
    before = app.state.portal.workspace.read("logs.toml")
    path = start(client, servers="3", rate="70/s", capacity="80/s")
    wait_for_end(client, path)
    document = client.get(f"{path}/document").json()
    text = f'{LOGS}\n[writes]\nrate = "70/s"\n[cluster]\nservers = 3\ncapacity = "80/s"\n'
    expected = build_simulation_document(JudgedDesign(rowkey.Design.loads(text)))
    assert (3, "generated") == (document["servers"], document["source"]["kind"])
    assert json.loads(json.dumps(expected)) == document
    assert before == app.state.portal.workspace.read("logs.toml")
    assert path in client.get("/simulations").text


def test_a_simulation_form_with_mistakes_starts_nothing(tmp_path: Path, app: Starlette) -> None:
    """Mistakes are told with the values that are allowed, and nothing is stored."""
    client = open_client(app)
    before = digest_files(tmp_path)
    for form, text in (
        ({"servers": "many"}, "is no number of servers"),
        ({"servers": "20000"}, "cluster.servers"),
        ({"rate": "fast"}, "is not a rate"),
        ({"sample": "declared"}, "there is no such file"),
        ({"sample": "../../etc"}, "there is no such file"),
    ):
        answer = client.post("/simulations", data={"design": "logs.toml", **form})
        assert (422, True) == (answer.status_code, text in PageReader(answer.text).text), form
    assert 404 == client.post("/simulations", data={"design": "../x.toml"}).status_code
    assert before == digest_files(tmp_path)


def test_a_simulation_of_an_unsuitable_sample_says_why(app: Starlette) -> None:
    """A simulation that cannot read its events says why on its page."""
    client = open_client(app)
    stored = upload(client, "other.csv", b"a,b\n1,2\n")
    path = start(client, sample=stored.headers["location"].partition("sample=")[2])
    wait_for_end(client, path)
    page = client.get(path).text
    assert [True, True] == [one in page for one in ("was refused", "host")]
    assert 404 == client.get(f"{path}/document").status_code


def test_the_size_and_number_of_uploads_are_limited(tmp_path: Path, app: Starlette) -> None:
    """Too large, empty or unknown files leave nothing behind, and old ones make room."""
    client = open_client(app)
    folder = app.state.portal.uploads.folder
    large = client.post(
        "/simulations/samples?name=a.csv",
        content=b"a",
        headers={
            "content-type": "application/octet-stream",
            "content-length": str(MAX_SAMPLE_BYTES + 1),
        },
    )
    assert 413 == large.status_code
    assert [422, 422] == [
        upload(client, name, content).status_code
        for name, content in (("a.csv", b""), ("a.exe", b"a"))
    ]
    assert not folder.exists() or [] == list(folder.iterdir())
    for number in range(MAX_SAMPLES + 2):
        name = f"../../{number}.csv"
        assert 303 == upload(client, name, b"host\n").status_code
    assert MAX_SAMPLES == len(app.state.portal.uploads.list_samples())
    assert [] == [one for one in tmp_path.rglob("*.csv") if folder not in one.parents]


def test_the_number_of_simultaneous_uploads_is_limited(tmp_path: Path) -> None:
    """More files at once are refused, and none stays that breaks off, or of a killed portal."""
    uploads = SampleUploads(tmp_path)
    (tmp_path / ".0123456789abcdef").mkdir()
    gate = asyncio.Event()

    async def iterate_pieces() -> AsyncIterator[bytes]:
        yield b"a"
        await gate.wait()
        raise ClientDisconnect

    async def upload_many() -> list[Any]:
        tasks = [uploads.receive("a.csv", iterate_pieces()) for _ in range(MAX_RECEIVING + 1)]
        found = asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert MAX_RECEIVING == len(uploads._list_folders())
        gate.set()
        return list(await found)

    *broken, refused = run_coroutine(upload_many())
    assert [ClientDisconnect] * MAX_RECEIVING == [type(one) for one in broken]
    assert (True, []) == (isinstance(refused, Unavailable), list(tmp_path.iterdir()))


def test_a_cancelled_upload_leaves_no_file(
    app: Starlette, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the connection ends within a file, none of it stays, and no defect is logged."""
    cookie = next(iter(open_client(app).cookies.jar))
    headers = {
        "host": "127.0.0.1:8765",
        "cookie": f"{cookie.name}={cookie.value}",
        "content-type": "application/octet-stream",
        **OWN_PAGE,
    }
    path, query = "/simulations/samples", b"name=a.csv"
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"host\n", "more_body": True},
        {"type": "http.disconnect"},
    ]
    cut = send_raw(app, "POST", path, headers.items(), query=query, messages=messages)
    assert (400, "", []) == (cut.status, caplog.text, app.state.portal.uploads.list_samples())
    assert [] == list(app.state.portal.uploads.folder.iterdir())
    whole = send_raw(app, "POST", path, headers.items(), b"host\n", query=query)
    assert (303, 1) == (whole.status, len(app.state.portal.uploads.list_samples()))


def test_the_page_of_a_cancelled_simulation_says_so(app: Starlette) -> None:
    """A cancelled simulation ends, and its page says so without a script."""
    client = open_client(app)
    path = start(client)
    task = app.state.portal.tasks.find(path.rpartition("/")[2])
    page = client.get(path).text
    assert ('http-equiv="refresh"' in page) == ("<progress" in page)
    assert 303 == client.post(f"{path}/cancel").status_code
    wait_until(lambda: task.process is None)
    assert task.state in (TaskState.CANCELLED, TaskState.DONE)
    page = client.get(path).text
    assert 'http-equiv="refresh"' not in page
    assert task.state is TaskState.DONE or "was cancelled" in page


def test_a_viewer_starts_no_simulation_on_a_read_only_portal(tmp_path: Path) -> None:
    """A read-only portal shows old results and has no form."""
    client = open_client(build_portal(tmp_path, is_read_only=True))
    page = client.get("/simulations").text
    assert "<select" not in page
    assert 403 == client.post("/simulations", data={"design": "logs.toml"}).status_code
    assert 404 == client.get("/simulations/00").status_code


def test_a_comparison_in_the_portal_equals_that_of_the_command(
    tmp_path: Path, app: Starlette
) -> None:
    """Several designs replay one file, and their report has the comparison; one alone has none."""
    client = open_client(app)
    other = LOGS.replace("[bucket(host, 16)][host][ts]", "[ts][host]")
    (tmp_path / "designs" / "by_time.toml").write_text(other, "utf-8")
    stored = upload(client, "events.csv", EVENTS.encode())
    form = {"sample": stored.headers["location"].partition("sample=")[2], "design:logs.toml": "1"}
    many = {f"design:{number}.toml": "1" for number in range(9)}
    assert [422, 422] == [client.post("/comparisons", data=one).status_code for one in (form, many)]
    assert 'name="design:by_time.toml"' in client.get("/comparisons").text
    answer = client.post("/comparisons", data={**form, "design:by_time.toml": "1"})
    path = answer.headers["location"]
    wait_for_end(client, path)
    (tmp_path / "events.csv").write_text(EVENTS, "utf-8")
    comparison = compare_designs(
        [rowkey.Design.loads(text) for text in (LOGS, other)],
        tmp_path / "events.csv",
        names=["logs", "by_time"],
    )
    expected = json.loads(json.dumps(build_comparison_document(comparison)))
    document = client.get(f"{path}/document").json()
    assert expected.keys() == document.keys()
    figures = [
        [(one["name"], one["verdict"], one["writes"]) for one in found["designs"]]
        for found in (expected, document)
    ]
    assert figures[0] == figures[1]
    assert 'id="comparison"' in client.get(path).text


def test_a_comparison_reads_no_sample_that_its_designs_declare(
    tmp_path: Path, app: Starlette
) -> None:
    """Without a file in the form, a comparison would replay the sample of its designs."""
    secret = tmp_path / "secret.csv"
    secret.write_text(EVENTS, "utf-8")
    for name in ("a", "b"):
        text = f'{LOGS}\n[sample]\npath = "{secret}"\n'
        (tmp_path / "designs" / f"{name}.toml").write_text(text, "utf-8")
    client = open_client(app)
    for sample in ("", "declared"):
        form = {"design:a.toml": "1", "design:b.toml": "1", "sample": sample}
        assert 422 == client.post("/comparisons", data=form).status_code
    for name in ("a", "b"):
        (tmp_path / "designs" / f"{name}.toml").write_text(LOGS, "utf-8")
    assert 422 == client.post("/comparisons", data={**form, "sample": ""}).status_code
    assert [] == app.state.portal.simulations.list_ids()


def test_an_unreadable_stored_request_stops_no_other_simulation(app: Starlette) -> None:
    """A stored request that cannot be read stops no other one."""
    client = open_client(app)
    path = start(client)
    folder = app.state.portal.simulations.folder / path.rpartition("/")[2]
    (folder / "request.json").write_text('{"other": 1}', "utf-8")
    assert 404 == client.get(path).status_code
    assert path not in client.get("/simulations").text
    path = start(client, rate="50/s")
    assert path in client.get("/simulations").text
    wait_for_end(client, path)
    result = app.state.portal.simulations.folder / path.rpartition("/")[2] / "result.json"
    result.write_text('{"messages": [], "report": {"designs": []}, "document": {"x": 1}}', "utf-8")
    assert 200 == client.get("/").status_code


def test_the_list_links_the_newest_simulation_until_the_file_changes(
    tmp_path: Path, app: Starlette
) -> None:
    text = f'{LOGS}\n[writes]\nrate = "50/s"\n'
    (tmp_path / "designs" / "logs.toml").write_text(text, "utf-8")
    client = open_client(app)
    path = start(client)
    wait_for_end(client, path)
    other = start(client, servers="2")
    wait_for_end(client, other)
    document = client.get(f"{path}/document").json()
    share = f"{document['equal_count']['servers']['worst']:.0%}"
    page = PageReader(client.get("/").text)
    links = [str(one.get("href")) for tag, one in page.elements if tag == "a"]
    assert [True, False] == [one in links for one in (path, other)]
    assert f"the busiest server takes {share}" in page.text
    (tmp_path / "designs" / "logs.toml").write_text(f"{text}\n", "utf-8")
    assert path not in client.get("/").text


def test_a_simulation_replays_no_sample_outside_of_the_folder(
    tmp_path: Path, app: Starlette
) -> None:
    """Events are generated where that is asked for; a sample outside of the folder is not read."""
    (tmp_path / "secret.csv").write_text(EVENTS, "utf-8")
    text = f'{LOGS}\n[sample]\npath = "{tmp_path}/secret.csv"\n'
    (tmp_path / "designs" / "logs.toml").write_text(text, "utf-8")
    client = open_client(app)
    path = start(client, rate="50/s")
    wait_for_end(client, path)
    assert "generated" == client.get(f"{path}/document").json()["source"]["kind"]
    (tmp_path / "designs" / "other.toml").write_text(text, "utf-8")
    form = {"design:logs.toml": "1", "design:other.toml": "1", "sample": ""}
    assert 422 == client.post("/comparisons", data=form).status_code


def test_the_form_offers_the_file_of_the_newest_simulation(app: Starlette) -> None:
    """The newest simulation of a design says which uploaded file its next one begins with."""
    client = open_client(app)
    chosen = {}
    upload(client, "other.csv", b"host,ts\nweb-1,1\n")
    sample = upload(client, "mine.csv", EVENTS.encode()).headers["location"].partition("sample=")[2]
    upload(client, "newest.csv", b"host,ts\nweb-1,1\n")
    data = {"design": "logs.toml", "sample": sample, "rate": "70/s", "servers": "3"}
    path = client.post("/simulations", data=data).headers["location"]
    wait_for_end(client, path)
    links = [str(one.get("href")) for _, one in PageReader(client.get(path).text).elements]
    again = next(one for one in links if one.startswith("/simulations?design="))
    for form in ("/simulations?design=logs.toml", "/advice?design=logs.toml", again):
        page = PageReader(client.get(form).text)
        chosen[form] = [
            one.get("value") for tag, one in page.elements if tag == "option" and "selected" in one
        ]
    assert {sample} == {values[-1] for values in chosen.values()}
    page = PageReader(client.get(again).text)
    values = {one.get("name"): one.get("value") for tag, one in page.elements if tag == "input"}
    assert ["70/s", "3"] == [values["rate"], values["servers"]]
