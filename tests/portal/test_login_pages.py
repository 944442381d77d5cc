"""After a login the page that was asked for is opened, and never one of another site."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from portal.portals import ORIGIN, build_portal, open_client
from portal.test_sessions import write_users
from rowkey.errors import NotSupported, Unavailable
from rowkey.portal import PortalSettings, create_login_link
from rowkey.portal.running_portal import lock_state
from rowkey.portal.server.requests import PortalRequest
from rowkey.portal.users.login_pages import MAX_PAGE_CHARS, clean_page

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

PAGES = (
    "/",
    "/designs/logs.toml",
    "/tables/logs/rows?where=host%20=%20%27a%27",
    "/drafts?sample=1",
)
FOREIGN = (
    "//evil.com",
    "///evil.com/",
    "/\\evil.com",
    "\\\\evil.com",
    "/\t/evil.com",
    "/\n/evil.com",
    "\t//evil.com",
    " //evil.com",
    "/\u0000/evil.com",
    "http://evil.com/designs/logs.toml",
    "https:evil.com",
    "javascript:alert(1)",
    "evil.com",
    "@evil.com",
    "",
    "/%2f%2fevil.com",
    "/..//evil.com",
    "/designs/../..//evil.com",
    "/designs/logs.toml\r\nSet-Cookie: a=b",
    "/designs/logs.toml#//evil.com",
    '/designs/"><script>',
    "/login?token=abc",
    "/logout",
    "/nowhere",
    "/designs/ａ",
    "/designs/" + "a" * MAX_PAGE_CHARS,
)
LOGIN = {"name": "operator", "password": "operatoroperator"}


def log_in(client: TestClient, page: str | None) -> str:
    """Return where the form of a user leads that asks for a page."""
    form = LOGIN if page is None else {**LOGIN, "page": page}
    answer = client.post("/login", data=form)
    assert 303 == answer.status_code
    return str(answer.headers["location"])


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    """A portal with users."""
    folder = tmp_path_factory.mktemp("portal")
    return build_portal(folder, users_file=write_users(folder))


@pytest.mark.parametrize("page", PAGES)
def test_a_login_leads_to_the_page_that_was_requested(app: Starlette, page: str) -> None:
    """The form on a page leads there, also after a wrong password."""
    client = open_client(app, logs_in=False)
    field = f'name="page" value="{page}"'
    assert field in client.get(page).text
    wrong = client.post("/login", data={**LOGIN, "password": "x", "page": page})
    assert (403, True) == (wrong.status_code, field in wrong.text)
    assert page == log_in(client, page)


@pytest.mark.parametrize("page", FOREIGN)
def test_a_login_form_leads_to_no_other_site(app: Starlette, page: str) -> None:
    """Any other address leads to the start page, whether a form or a cookie has it."""
    client = open_client(app, logs_in=False)
    assert "/" == log_in(client, page)


@given(st.text(st.sampled_from("/\\.%25fF:@?#\t\n\r\0 designs.toml;&=-é"), max_size=30))
def test_no_accepted_return_path_leads_to_another_site(app: Starlette, text: str) -> None:
    """What is accepted is the path of a page of this portal as browsers read it."""
    request = PortalRequest(Request({"type": "http", "app": app}), app.state.portal)
    for candidate in (text, "/" + text, "/designs/" + text):
        page = clean_page(request, candidate)
        assert page in ("", candidate)
        target = urlsplit(urljoin(f"{ORIGIN}/login", page))
        assert ORIGIN == f"{target.scheme}://{target.netloc}"


@pytest.mark.parametrize(
    ("path", "referer", "page"),
    [
        ("/designs/logs.toml", "/designs/logs.toml?saved", "/designs/logs.toml?saved"),
        ("/designs/logs.toml/fix", "/designs/logs.toml", "/designs/logs.toml"),
        ("/designs/logs.toml", None, "/designs/logs.toml"),
        ("/designs/logs.toml/fix", None, ""),
        ("/drafts", "//evil.com", "/drafts"),
        (
            "/tables/logs/move",
            "/tables/logs/operations?design=a",
            "/tables/logs/operations?design=a",
        ),
    ],
)
def test_a_form_that_meets_a_login_is_not_sent_again(
    app: Starlette, path: str, referer: str | None, page: str
) -> None:
    """A form that meets a login is not sent again: the page with it is opened."""
    client = open_client(app, logs_in=False)
    headers = {} if referer is None else {"referer": ORIGIN + referer}
    answer = client.post(path, data={"text": "SECRET TEXT"}, headers=headers)
    assert (401, False) == (answer.status_code, "SECRET TEXT" in answer.text)
    found = answer.text.partition('name="page" value="')[2].partition('"')[0]
    assert page == found


@pytest.mark.parametrize("page", PAGES)
def test_a_login_link_leads_to_the_page_remembered_by_the_browser(
    tmp_path: Path, page: str
) -> None:
    """The browser remembers the page that one person asked for, for one login."""
    app = build_portal(tmp_path)
    client = open_client(app, logs_in=False)
    assert f'<a href="{page}">' in client.get(page).text
    sessions = app.state.portal.sessions
    for expected in (page, "/"):
        answer = client.get("/login", params={"token": sessions.create_login_token()})
        assert (303, expected) == (answer.status_code, answer.headers["location"])


@pytest.mark.parametrize("page", FOREIGN)
def test_a_login_link_leads_to_no_other_site_by_a_forged_cookie(tmp_path: Path, page: str) -> None:
    """Another program of this machine may set the cookie: it leads to no other site either."""
    app = build_portal(tmp_path)
    client = open_client(app, logs_in=False)
    client.cookies.set("rowkey_page_8765", quote(page, safe=""), path="/login")
    token = app.state.portal.sessions.create_login_token()
    assert "/" == client.get("/login", params={"token": token}).headers["location"]


def test_background_requests_do_not_change_the_page_remembered_for_the_login(
    tmp_path: Path,
) -> None:
    """What a page asks for in the background is not opened after the login."""
    client = open_client(build_portal(tmp_path), logs_in=False)
    headers = {"sec-fetch-mode": "cors"}
    assert "set-cookie" not in client.get("/designs/logs.toml", headers=headers).headers


def test_a_login_without_a_requested_page_opens_the_start_page(tmp_path: Path) -> None:
    """The page of the design that the portal was started with is opened first."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path), start_page=("designs", "a.toml"))
    assert "/designs/a.toml" == log_in(open_client(app, logs_in=False), None)


def test_a_login_link_from_the_command_works_once(tmp_path: Path) -> None:
    """The file has no token; a newer link replaces an older one; both are used up by one login."""
    settings = PortalSettings(tmp_path)
    with lock_state(settings):
        app = build_portal(tmp_path, state_folder=settings.storage_folder)
        client = open_client(app, logs_in=False)
        old, new = (create_login_link(settings) for _ in range(2))
        content = settings.login_link_file.read_bytes()
        assert new.rpartition("=")[2].encode() not in content
        statuses = [client.get(link).status_code for link in (old, new, new)]
    assert [403, 303, 403] == statuses
    assert not settings.login_link_file.exists()


def test_the_login_link_command_needs_a_running_portal(tmp_path: Path) -> None:
    """Without one, or where users have passwords, the command says what to do instead."""
    settings = PortalSettings(tmp_path)
    with pytest.raises(Unavailable, match="no running portal has"):
        create_login_link(settings)
    with lock_state(settings):
        link = create_login_link(settings)
    with pytest.raises(Unavailable, match="no running portal has"):
        create_login_link(settings)
    with lock_state(settings):
        client = open_client(
            build_portal(tmp_path, state_folder=settings.storage_folder), logs_in=False
        )
        assert 403 == client.get(link).status_code  # it was for an earlier start
    with_users = replace(settings, users_file=write_users(tmp_path))
    with lock_state(with_users), pytest.raises(NotSupported, match="log in by their passwords"):
        create_login_link(settings)
