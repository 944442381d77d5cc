from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from portal.portals import ORIGIN, OWN_PAGE, build_portal, run_coroutine
from portal.test_sessions import write_users
from rowkey.portal import InvalidPortalSettings
from rowkey.portal.users.proxy_login import ProxyLogin
from rowkey.portal.users.roles import Role
from rowkey.portal.users.users import UserDirectory

PROXY = "10.0.0.5"
NAME = "x-forwarded-user"


def open_through(folder: Path, address: str = PROXY, declaration: str = "") -> TestClient:
    """Return a client whose connections come from an address, for a portal behind a proxy."""
    users = folder / "users.toml"
    users.write_text(
        f'[proxy]\naddress = "{PROXY}"\n{declaration}\n[users.ann]\nrole = "designer"\n', "utf-8"
    )
    app = build_portal(folder, users_file=users)
    return TestClient(
        app, base_url=ORIGIN, headers=OWN_PAGE, follow_redirects=False, client=(address, 1)
    )


def test_the_header_of_the_proxy_logs_in_its_user(tmp_path: Path) -> None:
    """The header of the proxy logs in for one request, with the role of the users file."""
    client = open_through(tmp_path)
    page = client.get("/", headers={NAME: "ann"})
    assert (200, True, False) == (page.status_code, "ann" in page.text, "Log out" in page.text)
    created = client.post("/designs", data={"name": "more.toml"}, headers={NAME: "ann"})
    assert 303 == created.status_code
    log = (tmp_path / "designs" / ".rowkey-portal" / "audit.jsonl").read_text("utf-8")
    assert '"user":"ann"' in log
    assert 401 == client.get("/").status_code


@pytest.mark.parametrize("address", ["10.0.0.6", "127.0.0.1", "testclient", "10.0.0.50"])
def test_the_user_header_of_a_browser_is_ignored(tmp_path: Path, address: str) -> None:
    """A browser that reaches the portal past the proxy cannot name a user."""
    assert 401 == open_through(tmp_path, address).get("/", headers={NAME: "ann"}).status_code


@pytest.mark.parametrize(
    "headers",
    [
        [(NAME, "bob")],
        [(NAME, "")],
        [(NAME, "ann"), (NAME, "ann")],
        [(NAME, "ann, bob")],
        [(NAME, "Ann")],
        [(NAME, "ann" * 30)],
        [("x-remote-user", "ann")],
    ],
)
def test_a_missing_or_doubled_user_header_logs_nobody_in(
    tmp_path: Path, headers: list[tuple[str, str]]
) -> None:
    """An unknown name, none, two, or that of another header logs nobody in."""
    response = open_through(tmp_path).get("/", headers=[*OWN_PAGE.items(), *headers])
    assert 401 == response.status_code
    assert "address of its proxy" in response.text


@pytest.mark.parametrize("value", ["ann\xa0", "\xa0ann", "ann\x85", "ann ", "\u3000ann"])
def test_a_user_name_in_the_header_must_match_exactly(value: str) -> None:
    """A name that only looks like that of a user is another one."""
    assert "ann" != ProxyLogin(PROXY).read_name(PROXY, [value])


def test_users_missing_in_the_file_have_its_declared_role(tmp_path: Path) -> None:
    """Users whom the file does not name have the role that it declares for them."""
    declaration = 'header = "X-Remote-User"\nother_users = "viewer"'
    client = open_through(tmp_path, declaration=declaration)
    theirs = {"x-remote-user": "bob"}
    assert 200 == client.get("/", headers=theirs).status_code
    assert 403 == client.post("/designs", data={"name": "a.toml"}, headers=theirs).status_code
    assert 401 == client.get("/", headers={NAME: "bob"}).status_code


def test_passwords_and_a_proxy_login_work_together(tmp_path: Path) -> None:
    """Users with a password log in past the proxy; one without a password does not."""
    users = write_users(tmp_path)
    text = f'[proxy]\naddress = "{PROXY}"\n[users.ann]\nrole = "viewer"\n'
    users.write_text(text + users.read_text("utf-8"), "utf-8")
    directory = UserDirectory.read(users)
    assert run_coroutine(directory.verify("operator", "operatoroperator")) is not None
    assert run_coroutine(directory.verify("ann", "")) is None
    proxied = directory.find_proxied_user(PROXY, ["operator"])
    assert proxied is not None
    assert Role.OPERATOR == proxied.role


def test_all_mistakes_of_a_proxy_declaration_are_reported_with_lines(tmp_path: Path) -> None:
    """Each wrong key of the declaration is named with its line."""
    users = tmp_path / "users.toml"
    users.write_text(
        '[proxy]\naddress = "gate"\nheader = "a b"\nother_users = "root"\nport = 1\n', "utf-8"
    )
    with pytest.raises(InvalidPortalSettings) as refusal:
        UserDirectory.read(users)
    places = {mistake.path.rpartition("users.toml:")[2] for mistake in refusal.value.mistakes}
    expected = {"2 proxy.address", "3 proxy.header", "4 proxy.other_users", "5 proxy.port"}
    assert expected == places
