from __future__ import annotations

import asyncio
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from portal.portals import (
    ORIGIN,
    OWN_PAGE,
    build_portal,
    create_logs,
    digest_files,
    open_client,
    run_coroutine,
    send_raw,
)
from rowkey.catalog import open_catalog
from rowkey.engines import RAW_CELLS, ScanRange, open_engine
from rowkey.portal.server.security import SECURITY_HEADERS

if TYPE_CHECKING:
    from starlette.applications import Starlette

FOREIGN_HOSTS: list[list[str]] = [
    ["evil.com"],
    ["127.0.0.1.evil.com:8765"],
    ["127.0.0.1:8765.evil.com"],
    ["user@127.0.0.1:8765"],
    [""],
    [],
    ["127.0.0.1:8765", "127.0.0.1:8765"],
    ["127.0.0.1:8765", "evil.com"],
    ["127.0.0.1:8766"],
    ["127.0.0.1"],
    ["localhost.:8765"],
    ["0.0.0.0:8765"],
    ["2130706433:8765"],
    ["0x7f.1:8765"],
    ["[::]:8765"],
    ["127.0.0.1:8765 "],
    ["127.0.0.1:08765"],
    ["lоcalhost:8765"],
]
OWN_HOSTS = ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"]
FOREIGN_PAGES: list[dict[str, str]] = [
    {},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {"sec-fetch-site": "cross-site", "origin": ORIGIN},
    {"sec-fetch-site": "same-origin", "origin": "http://evil.com"},
    {"origin": "http://evil.com"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://127.0.0.1:8766"},
    {"origin": "http://127.0.0.1:8765.evil.com"},
    {"origin": "file://127.0.0.1:8765"},
    {"referer": f"{ORIGIN}/"},
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    """A portal on a folder."""
    return build_portal(tmp_path_factory.mktemp("portal"))


@pytest.mark.parametrize("hosts", FOREIGN_HOSTS, ids=repr)
def test_requests_for_other_host_names_are_refused(app: Starlette, hosts: list[str]) -> None:
    """A request under another host name, under none or under two gets no page."""
    response = send_raw(app, "GET", "/healthz", [("host", host) for host in hosts])
    assert 400 == response.status


@pytest.mark.parametrize("host", OWN_HOSTS)
def test_requests_for_the_own_host_names_are_answered(app: Starlette, host: str) -> None:
    """The names of this machine with the portal's port are answered, in any case."""
    assert 200 == send_raw(app, "GET", "/healthz", [("host", host)]).status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("headers", FOREIGN_PAGES, ids=repr)
def test_requests_from_pages_of_other_sites_change_nothing(
    app: Starlette, headers: dict[str, str], method: str
) -> None:
    """A page of another site cannot send a request that changes something."""
    form = [("host", "127.0.0.1:8765"), ("content-type", "application/x-www-form-urlencoded")]
    response = send_raw(app, method, "/logout", [*form, *headers.items()])
    assert 403 == response.status


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain;charset=UTF-8", "", "x/y"])
def test_a_body_of_a_content_type_that_needs_no_permission_is_refused(
    app: Starlette, content_type: str
) -> None:
    """A body of a type that any page may send without asking is refused."""
    headers = [("host", "127.0.0.1:8765"), ("content-type", content_type), *OWN_PAGE.items()]
    assert 403 == send_raw(app, "POST", "/logout", headers, b'{"a": 1}').status


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "same-origin"}, {"origin": ORIGIN}], ids=repr
)
def test_one_of_both_origin_headers_suffices_for_own_pages(
    app: Starlette, headers: dict[str, str]
) -> None:
    """One of both headers is enough, as older browsers send only one."""
    form = [("host", "127.0.0.1:8765"), ("content-type", "application/x-www-form-urlencoded")]
    assert 303 == send_raw(app, "POST", "/logout", [*form, *headers.items()]).status


@pytest.mark.parametrize("path", ["/", "/healthz", "/login", "/static/portal.css", "/nowhere"])
def test_every_response_has_the_security_headers(app: Starlette, path: str) -> None:
    """Pages, errors and files forbid frames, foreign content and guessed types."""
    headers = open_client(app, logs_in=False).get(path).headers
    assert SECURITY_HEADERS == {name: headers.get(name) for name in SECURITY_HEADERS}
    policy = {one.strip() for one in headers["content-security-policy"].split(";")}
    wanted = {
        "default-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "object-src 'none'",
    }
    assert wanted <= policy
    assert "unsafe" not in headers["content-security-policy"]
    assert ("no-store" in headers["cache-control"]) is not path.startswith("/static")


def test_a_form_of_more_than_1_mib_is_refused(app: Starlette) -> None:
    """A form of more than 1 MiB is refused, whether its length is announced or not."""
    client = open_client(app)
    content_type = {"content-type": "application/x-www-form-urlencoded"}
    body = b"text=" + b"a" * (1 << 20)
    pieces = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
    responses = [
        client.post("/designs", content=one, headers=content_type) for one in (body, pieces)
    ]
    assert [413, 413] == [response.status_code for response in responses]


def test_a_form_of_too_many_fields_is_refused(app: Starlette) -> None:
    """A form of very many fields is refused, also before a login, and is no defect."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = "&".join(f"a{number}=1" for number in range(1_001))
    response = open_client(app, logs_in=False).post("/login", content=body, headers=form)
    assert 413 == response.status_code


def test_a_form_that_never_ends_is_given_up(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that never sends the end of its form is given up."""
    monkeypatch.setattr("rowkey.portal.server.routes.MAX_FORM_S", 0.01)
    statuses = []

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    headers = [("host", "127.0.0.1:8765"), *OWN_PAGE.items()]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/login",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    run_coroutine(app(scope, receive, send))
    assert 400 == statuses[0]


def read_everything(url: str) -> dict[str, list[object]]:
    """Return all cells and attributes of all tables of an engine, that of the catalog too."""
    with open_engine(url, create=False) as engine:
        contents: dict[str, list[object]] = {}
        for name in engine.list_tables():
            store = engine.open_table(name)
            cursors = store.scan([ScanRange()], RAW_CELLS)
            contents[name] = [*cursors[0], store.spec]
        with closing(open_catalog(engine.catalog_url, engine, url)) as catalog:
            for name in catalog.list_tables():
                contents[f"entry {name}"] = [catalog.read(name), catalog.read_notes(name)]
        return contents


@pytest.mark.parametrize("scheme", ["memory", pytest.param("rocks", marks=pytest.mark.long)])
def test_visiting_all_pages_changes_no_file_and_no_table(tmp_path: Path, scheme: str) -> None:
    """A crawl over all pages leaves every file and every table as it was."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    create_logs(url)
    app = build_portal(tmp_path, url)
    client = open_client(app)
    before = digest_files(tmp_path / "designs"), read_everything(url)
    names = ("logs.toml", "logs", "none")
    routes = [route for route in app.state.portal_routes if route.is_safe]
    paths = {re.sub(r"\{[^}]*\}", name, route.path) for route in routes for name in names}
    seen: set[str] = set()
    while new := paths - seen:
        for path in new:
            client.head(path)
            paths |= set(re.findall(r'(?:href|src)="(/[^"#]*)"', client.get(path).text))
        seen |= new
    assert {"/", "/designs/logs.toml", "/tables/logs", "/healthz"} <= seen
    assert before == (digest_files(tmp_path / "designs"), read_everything(url))
