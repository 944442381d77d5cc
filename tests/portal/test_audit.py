from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from portal.portals import build_portal, open_client
from portal.test_data import JSON
from portal.test_hostile_text import check_page
from portal.test_sessions import write_users
from rowkey.errors import Unavailable
from rowkey.portal.screens.audit import PAGE_ENTRIES
from rowkey.portal.users.audit import AuditLog


def test_audit_entries_of_many_threads_are_each_one_line(tmp_path: Path) -> None:
    """Entries that several threads append at once are each one line."""
    path = tmp_path / "state" / "audit.jsonl"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: AuditLog(path).append("ann", "save", f"file {n}"), range(40)))
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {f"file {n}" for n in range(40)} == {entry["target"] for entry in entries}
    assert 0o600 == path.stat().st_mode & 0o777


@pytest.mark.parametrize("window", [400, 1 << 20])
def test_audit_pages_list_each_entry_once_newest_first(
    tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages from the end to the start have each entry once, and no line that a crash has cut."""
    monkeypatch.setattr("rowkey.portal.users.audit.MAX_READ_BYTES", window)
    log = AuditLog(tmp_path / "audit.jsonl")
    assert ([], None) == log.read_page(3)
    for number in range(20):
        log.append("ann", "save", f"{number % 2}", number=number)
    with log.path.open("a", encoding="utf-8") as file:
        file.write('{"time_ms": 1, "usar": "ann", "action": "save", "target": "1"}\n')
        file.write('{"time_ms": 1, "user"')
    for target, expected in (("", range(19, -1, -1)), ("1", range(19, -1, -2)), ("x", [])):
        found: list[int] = []
        entries, end = log.read_page(3, target=target)
        while True:
            assert len(entries) <= 3
            found += [entry["number"] for entry in entries]
            if end is None:
                break
            entries, end = log.read_page(3, end, target)
        assert list(expected) == found


def test_an_audit_entry_after_a_truncated_one_begins_a_new_line(tmp_path: Path) -> None:
    """An entry that is appended to a line that a kill has cut begins a line of its own."""
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append("ann", "save", "a")
    with log.path.open("a", encoding="utf-8") as file:
        file.write('{"time_ms": 1, "user"')
    for target in ("b", "c"):
        log.append("ann", "save", target)
    assert ["c", "b", "a"] == [entry["target"] for entry in log.read_page(9)[0]]


@pytest.mark.parametrize("kind", ["pipe", "folder", "endless link"])
def test_a_pipe_or_folder_in_place_of_the_audit_log_is_refused(tmp_path: Path, kind: str) -> None:
    """A pipe, a folder or a device in the place of the log is refused at once, by its name."""
    path = tmp_path / "audit.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(Unavailable, match=r"audit\.jsonl: the audit log cannot be read"):
        AuditLog(path).read_page(3)
    with pytest.raises(Unavailable, match=r"audit\.jsonl: the audit log cannot be written"):
        AuditLog(path).append("ann", "save", "file")


def test_nobody_can_log_in_while_the_audit_log_is_not_writable(tmp_path: Path) -> None:
    """Without its audit log the portal lets nobody in, and does not tell strangers its path."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    app.state.portal.audit.path.mkdir(parents=True)
    client = open_client(app, logs_in=False)
    answer = client.post("/login", data={"name": "viewer", "password": "viewer" * 2})
    assert (503, False) == (answer.status_code, "audit.jsonl" in answer.text)
    assert 401 == client.get("/", follow_redirects=False).status_code


def test_only_operators_read_the_audit_log(tmp_path: Path) -> None:
    """The page and the document show who did what, newest first and paged; others are refused."""
    app = build_portal(tmp_path, users_file=write_users(tmp_path))
    for number in range(PAGE_ENTRIES):
        app.state.portal.audit.append("eve", "save design", f"<b>{number}", count=number)
    for name, status in (("viewer", 403), ("designer", 403), ("operator", 200)):
        client = open_client(app, logs_in=False)
        client.post("/login", data={"name": name, "password": name * 2})
        assert status == client.get("/audit").status_code
        assert (status == 200) == ('href="/audit"' in client.get("/").text)
    page = check_page(client.get("/audit", params={"lang": "zh"}).text)
    assert ("登录" in page.text, "<b>49" in page.text, "<b>0" in page.text) == (True, True, False)
    first = client.get("/audit", headers=JSON).json()
    assert "operator" == first["entries"][0]["user"]
    rest = client.get("/audit", params={"end": first["next"]}, headers=JSON).json()
    assert (3, None) == (len(rest["entries"]), rest["next"])
    one = client.get("/audit", params={"target": "<b>7"}, headers=JSON).json()
    assert [7] == [entry["count"] for entry in one["entries"]]
    assert 422 == client.get("/audit", params={"end": "-1"}).status_code


def test_a_user_name_with_a_line_feed_stays_within_its_audit_entry(tmp_path: Path) -> None:
    """A name with a line feed, or a very long one, stays within its entry."""
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append("ann", "save", 'x\n{"user":"eve"}', text="y" * 10_000)
    (line,) = log.path.read_text("utf-8").splitlines()
    assert (len(line) < 1_000, "ann") == (True, json.loads(line)["user"])
