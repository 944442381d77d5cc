from __future__ import annotations

import asyncio
import logging
import re
import time
from pathlib import Path
from threading import Event

import pytest
from argon2 import PasswordHasher

from portal.portals import OWN_PAGE, build_portal, open_client, run_coroutine
from rowkey.portal import InvalidPortalSettings, hash_password
from rowkey.portal.users.login_throttle import MAX_ADDRESS_LOGINS, TooManyLogins
from rowkey.portal.users.roles import Role
from rowkey.portal.users.sessions import MAX_SESSION_S, MAX_SESSIONS, SessionStore
from rowkey.portal.users.users import UserDirectory

CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Hashes as the real one does, with less work."""


def write_users(folder: Path) -> Path:
    """Write a users file with a user of each role, whose password is the name twice."""
    path = folder / "users.toml"
    tables = [
        f'[users.{role.label}]\nrole = "{role.label}"\n'
        f'password = "{CHEAP_HASHER.hash(role.label * 2)}"\n'
        for role in Role
    ]
    path.write_text("\n".join(tables), encoding="utf-8")
    return path


def test_a_start_token_is_exchanged_once_for_a_session(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The token of the start is exchanged once for a cookie that scripts and sites cannot use."""
    caplog.set_level(logging.DEBUG)
    app = build_portal(tmp_path)
    client = open_client(app, logs_in=False)
    token = app.state.portal.sessions.create_login_token()
    assert len(token) >= 43  # 256 bits in base 64
    first = client.get("/login", params={"token": token})
    assert (303, "/") == (first.status_code, first.headers["location"])
    attributes = {one.strip().lower() for one in first.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= attributes
    assert token not in first.headers["set-cookie"]
    assert 200 == client.get("/").status_code
    log = (tmp_path / "designs" / ".rowkey-portal" / "audit.jsonl").read_text(encoding="utf-8")
    assert token not in log
    assert "log in" in log
    assert 403 == client.get("/login", params={"token": token}).status_code


@pytest.mark.parametrize("token", ["", "a", "a" * 43, "\0", "é" * 9])
def test_a_wrong_token_opens_no_session(tmp_path: Path, token: str) -> None:
    """Any other token is refused, and does not use up the right one."""
    app = build_portal(tmp_path)
    right = app.state.portal.sessions.create_login_token()
    client = open_client(app, logs_in=False)
    response = client.get("/login", params={"token": token})
    assert (403, False) == (response.status_code, "set-cookie" in response.headers)
    assert 303 == client.get("/login", params={"token": right}).status_code


def test_logging_out_ends_the_session(tmp_path: Path) -> None:
    """The cookie of a session that was ended is worth nothing, also where it was copied."""
    client = open_client(build_portal(tmp_path))
    cookies = dict(client.cookies)
    assert 303 == client.post("/logout").status_code
    client.cookies.update(cookies)
    assert 401 == client.get("/").status_code


def test_a_session_ends_after_its_time_and_the_oldest_when_there_are_too_many() -> None:
    now = 0.0
    store = SessionStore(clock=lambda: now)
    cookies = [store.exchange_token(store.create_login_token()) for _ in range(MAX_SESSIONS + 1)]
    assert None not in cookies
    found = [store.find_session(str(one)) is not None for one in cookies]
    assert [False, True, True] == [found[0], found[1], found[-1]]
    now = MAX_SESSION_S
    assert store.find_session(str(cookies[-1])) is None


@pytest.mark.parametrize("role", Role)
def test_a_user_logs_in_by_password_with_the_steps_of_the_role(tmp_path: Path, role: Role) -> None:
    """A name with its password opens a session in which the role's steps are possible."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    client = open_client(app, logs_in=False)
    form = {"name": role.label, "password": role.label * 2}
    assert 303 == client.post("/login", data=form).status_code
    expected = 303 if role >= Role.DESIGNER else 403
    assert expected == client.post("/designs", data={"name": role.label}).status_code
    assert (role >= Role.DESIGNER) == ("<textarea" in client.get("/designs/logs.toml").text)


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("viewer", "viewer"),
        ("viewer", ""),
        ("nobody", "nobodynobody"),
        ("", ""),
        ("viewer", "viewerviewer" * 200),
        ("VIEWER", "viewerviewer"),
        ("viewer", "\ud800"),
    ],
)
def test_a_wrong_name_or_password_opens_no_session(
    tmp_path: Path, name: str, password: str
) -> None:
    """A wrong name or password gets the form again, whichever of both it is."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    response = open_client(app, logs_in=False).post(
        "/login",
        content=f"name={name}&password={password}".encode("utf-8", "surrogatepass"),
        headers={**OWN_PAGE, "content-type": "application/x-www-form-urlencoded"},
    )
    assert (403, False) == (response.status_code, "set-cookie" in response.headers)
    assert "The name or the password is wrong." in response.text


def test_wrong_passwords_do_not_lock_the_user_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ten wrong passwords the right one is accepted, elsewhere at once and there soon."""
    monkeypatch.setattr("rowkey.portal.users.login_throttle.GAP_S", 0.1)
    store = SessionStore(UserDirectory.read(write_users(tmp_path)))

    async def try_passwords() -> tuple[list[str | None], float, float]:
        wrong = [await store.log_in("10.0.0.1", "viewer", "wrong") for _ in range(10)]
        waits_s = []
        for address in ("10.0.0.2", "10.0.0.1"):
            begin_s = time.monotonic()
            assert await store.log_in(address, "viewer", "viewerviewer") is not None
            waits_s.append(time.monotonic() - begin_s)
        return wrong, waits_s[0], waits_s[1]

    wrong, elsewhere_s, there_s = run_coroutine(try_passwords())
    assert [None] * 10 == wrong
    assert elsewhere_s < there_s
    assert 0.1 <= there_s < 5


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_behind_https_the_session_cookie_is_sent_only_encrypted(
    tmp_path: Path, scheme: str
) -> None:
    """Where a proxy ends the encryption, browsers send the cookie on encrypted connections only."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    form = {"name": "viewer", "password": "viewerviewer"}
    origin = {"origin": f"{scheme}://127.0.0.1:8765"}
    answer = open_client(app, logs_in=False).post("/login", data=form, headers=origin)
    cookie = answer.headers["set-cookie"].lower()
    assert (303, scheme == "https") == (answer.status_code, "; secure" in cookie)


def test_simultaneous_logins_do_not_delay_other_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While many addresses log in at once, pages are answered; one address sends few at once."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    store: SessionStore = app.state.portal.sessions
    gate = Event()
    monkeypatch.setattr(PasswordHasher, "verify", lambda *_: gate.wait(20))
    addresses = [f"10.0.0.{number // MAX_ADDRESS_LOGINS}" for number in range(80)]

    async def try_at_once() -> list[str | None]:
        tries = [
            asyncio.create_task(store.log_in(address, f"name {number}", "x"))
            for number, address in enumerate(addresses)
        ]
        await asyncio.sleep(0.05)
        with pytest.raises(TooManyLogins):
            await store.log_in(addresses[0], "viewer", "x")
        client = open_client(app, logs_in=False)
        assert 200 == (await asyncio.to_thread(client.get, "/login")).status_code
        gate.set()
        return list(await asyncio.gather(*tries))

    assert [None] * len(addresses) == run_coroutine(try_at_once())


def test_a_start_token_does_not_log_in_where_users_have_passwords(tmp_path: Path) -> None:
    """The users file is hidden, and its passwords are in no page and no list."""
    designs = tmp_path / "designs"
    designs.mkdir()
    users_file = write_users(designs)
    client = open_client(build_portal(tmp_path, users_file=users_file), logs_in=False)
    client.post("/login", data={"name": "operator", "password": "operatoroperator"})
    assert "users.toml" not in client.get("/").text
    assert 404 == client.get("/designs/users.toml").status_code
    assert 422 == client.post("/designs", data={"name": "users"}).status_code


def test_passwords_are_hashed_with_the_recommended_argon2id() -> None:
    """A password is hashed with the parameters that argon2-cffi recommends, each time anew."""
    first, second = hash_password("secret"), hash_password("secret")
    assert first != second
    assert re.match(r"\$argon2id\$v=19\$m=65536,t=3,p=4\$", first)


def test_all_mistakes_of_a_users_file_are_reported(tmp_path: Path) -> None:
    """The error has every mistake with its line, and never a password."""
    path = tmp_path / "users"
    path.write_text(
        'x = 1\n[users.a]\nrole = "king"\npassword = "secret"\n[users.b]\nage = 3\n', "utf-8"
    )
    with pytest.raises(InvalidPortalSettings) as refusal:
        UserDirectory.read(path)
    text = str(refusal.value)
    places = ["users:1 x", "users:3 users.a.role", "users:4 users.a.password", "users.b.age"]
    assert [] == [place for place in places if place not in text]
    assert "secret" not in text


@pytest.mark.parametrize("content", [b"", b"[users]", b"users = 3", b"\xff", b"[[", b"[users.a]"])
def test_a_users_file_without_users_opens_no_portal(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "users"
    path.write_bytes(content)
    with pytest.raises(InvalidPortalSettings):
        UserDirectory.read(path)
