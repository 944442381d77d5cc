from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portal.portals import build_portal, digest_files, open_client
from portal.test_sessions import write_users
from rowkey.portal.server.routes import PortalRoute
from rowkey.portal.users.roles import Role

if TYPE_CHECKING:
    from starlette.applications import Starlette

PUBLIC_PATHS = {"/healthz", "/login", "/logout", "/static/{name}"}


def list_routes(app: Starlette) -> list[PortalRoute]:
    """Return all routes of a portal."""
    return list(app.state.portal_routes)


def fill_path(route: PortalRoute, value: str = "logs.toml") -> str:
    """Return the path of a route with a value for each parameter."""
    return re.sub(r"\{[^}]*\}", value, route.path)


def test_only_health_login_and_static_files_are_public(tmp_path: Path) -> None:
    """Health, login and static files are public, and nothing else is."""
    assert PUBLIC_PATHS == {
        one.path for one in list_routes(build_portal(tmp_path)) if one.is_public
    }


def test_every_other_route_answers_401_without_a_session(tmp_path: Path) -> None:
    """Each route, and each path that has none, answers 401 without a cookie or with a wrong one."""
    app = build_portal(tmp_path)
    client = open_client(app, logs_in=False)
    before = digest_files(tmp_path)
    for cookie in ("", "a" * 43):
        client.cookies.set("rowkey_session_8765", cookie)
        for route in list_routes(app):
            if not route.is_public:
                response = client.request(route.method, fill_path(route), data={"name": "new"})
                assert 401 == response.status_code, route.path
                assert "logs" not in response.text.replace(fill_path(route), "")
        assert 401 == client.get("/nowhere").status_code
        assert 401 == client.post("/").status_code
    assert before == digest_files(tmp_path)


@pytest.mark.parametrize("role", Role)
def test_each_changing_route_answers_403_to_lower_roles(tmp_path: Path, role: Role) -> None:
    """Each route that changes something answers 403 to all roles below its own, and to no other."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    client = open_client(app, logs_in=False)
    client.post("/login", data={"name": role.label, "password": role.label * 2})
    routes = [one for one in list_routes(app) if not one.is_safe and not one.is_public]
    refused = [
        one for one in routes if 403 == client.request(one.method, fill_path(one, "x")).status_code
    ]
    assert [one for one in routes if one.role > role] == refused
    assert (role is Role.OPERATOR) == (refused == [])


def test_a_read_only_portal_answers_403_to_every_change(tmp_path: Path) -> None:
    """With --read-only each request that changes something answers 403, also the operator's."""
    app = build_portal(tmp_path, is_read_only=True)
    client = open_client(app)
    before = digest_files(tmp_path)
    changing = [one for one in list_routes(app) if not one.is_safe and not one.is_public]
    assert changing
    for route in changing:
        name = {"typed_name": "logs.toml", "name": "new"}
        assert 403 == client.request(route.method, fill_path(route), data=name).status_code
    assert before == digest_files(tmp_path)
    assert "<textarea" not in client.get("/designs/logs.toml").text


def test_an_irreversible_step_needs_the_name_typed(tmp_path: Path) -> None:
    """Such a route does nothing until the name in its path is typed exactly."""
    app = build_portal(tmp_path)
    client = open_client(app)
    before = digest_files(tmp_path / "designs" / ".rowkey-portal"), digest_files(tmp_path)
    routes = [one for one in list_routes(app) if one.confirmed_value]
    assert routes
    for route in routes:
        for typed in ({}, {"typed_name": ""}, {"typed_name": "logs"}, {"typed_name": "LOGS.TOML"}):
            response = client.request(route.method, fill_path(route), data=typed)
            assert 422 == response.status_code, route.path
            assert "logs.toml" in response.text
    assert before == (digest_files(tmp_path / "designs" / ".rowkey-portal"), digest_files(tmp_path))


def test_a_changing_route_must_name_a_role_above_viewer() -> None:
    """A route that a viewer could change something by cannot be written."""
    with pytest.raises(AssertionError, match="a viewer changes nothing"):
        PortalRoute("/x", lambda request: request.redirect(), "POST")
    assert not PortalRoute("/x", lambda request: request.redirect(), "POST", Role.OPERATOR).is_safe


def test_the_page_of_an_unexpected_error_shows_no_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A page that fails says so without the error, which the log has."""

    def fail(request: object) -> None:
        raise ZeroDivisionError("secret detail", request)

    app = build_portal(tmp_path, more_routes=[PortalRoute("/fail", fail)])  # type: ignore[arg-type]
    response = open_client(app).get("/fail")
    assert (500, False) == (response.status_code, "secret" in response.text)
    assert "secret detail" in caplog.text


def test_errors_are_json_for_clients_that_accept_json(tmp_path: Path) -> None:
    """A script that accepts JSON gets the status and the sentence of an error."""
    client = open_client(build_portal(tmp_path))
    document = client.get("/designs/none.toml", headers={"accept": "application/json"}).json()
    assert (1, 404) == (document["format"], document["status"])
    assert "none.toml" in document["message"]
