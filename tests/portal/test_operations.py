"""Buckets and moves in the portal: as the commands do them, confirmed, audited, by operators."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, ORIGIN, build_portal, create_logs, open_client
from portal.test_data import JSON
from portal.test_hostile_text import SOME_HOSTILE, check_page
from portal.test_screens import OTHER_KEY, read_audit
from portal.test_sessions import write_users
from rowkey.portal.tables.table_tasks import TableTask
from rowkey.progress import Progress

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from rowkey.portal.tables.table_tasks import TaskResult

PAGE = "/tables/logs/operations"
DEADLINE_S = 60


def read_state(client: TestClient) -> dict[str, Any]:
    """Return what the page of operations shows, once no step runs."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        state: dict[str, Any] = client.get(PAGE, headers=JSON).json()
        if not (state.get("step") or {}).get("running"):
            check_page(client.get(PAGE).text)
            return state
        check_page(client.get(PAGE, params={"lang": "zh"}).text)
        time.sleep(0.05)
    raise AssertionError("the step does not end")


def do_step(client: TestClient, step: str, **form: str) -> dict[str, Any]:
    """Send the form of a step, and return the state after it."""
    answer = client.post(f"/tables/logs/{step}", data=form)
    assert (303, PAGE) == (answer.status_code, answer.headers["location"])
    return read_state(client)


@pytest.mark.parametrize("scheme", ["memory", pytest.param("rocks", marks=pytest.mark.long)])
def test_a_table_is_moved_in_the_portal_as_by_the_commands(tmp_path: Path, scheme: str) -> None:
    """The steps of a move do what their commands do: rows go to the new table, which is read."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    rows = [{"host": f"web-{at}", "ts": at, "note": "x"} for at in range(20)]
    table = rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01)
    for row in rows:
        table.put(row)
    table.close()
    client = open_client(build_portal(tmp_path, url))
    (tmp_path / "designs" / "other.toml").write_text(OTHER_KEY, "utf-8")
    state = do_step(client, "move/plan", design="other.toml")
    assert (True, "none") == (state["step"]["result"]["possible"], state["move"]["step"])
    state = do_step(client, "move/run", design="other.toml")
    assert (True, "copied") == (state["step"]["result"]["passed"], state["move"]["step"])
    target = state["move"]["target"]
    state = do_step(client, "move/throttle", rows="100/s", max_p99="50ms")
    assert (100.0, 50.0) == tuple(
        state["move"]["settings"][n] for n in ("rows_per_s", "max_p99_ms")
    )
    assert do_step(client, "move/pause")["move"]["settings"]["paused"]
    assert not do_step(client, "move/resume")["move"]["settings"]["paused"]
    assert do_step(client, "move/verify", share="100")["step"]["result"]["passed"]
    assert target == do_step(client, "move/cutover", typed_name="logs")["move"]["read"]
    assert "logs" == do_step(client, "move/rollback", typed_name="logs")["move"]["read"]
    assert "cut over" == do_step(client, "move/cutover", typed_name="logs")["move"]["step"]
    state = do_step(client, "move/finish/logs", typed_name="logs")
    assert ("finished", None) == (state["move"]["step"], state["step"]["problem"])
    with rowkey.open("logs", url) as table:
        assert ("[ts][host]", rows) == (str(table.design.key), list(table.scan()))
    actions = [entry["action"] for entry in read_audit(tmp_path)]
    assert {"move run", "end of move run", "move pause", "move finish"} <= set(actions)


def test_the_previewed_costs_of_another_bucket_count_are_those_after_the_change(
    tmp_path: Path,
) -> None:
    """The costs that the page foresees for another number are those after the change."""
    url = f"memory:{tmp_path}"
    rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01).close()
    client = open_client(build_portal(tmp_path, url))
    query = {"count": "24", "part": "0"}
    preview = client.get(PAGE, params=query, headers=JSON).json()["preview"]
    check_page(client.get(PAGE, params=query).text)
    result = do_step(client, "buckets", **query)["step"]["result"]
    costs = ("gets", "scans", "reads", "buckets", "generation", "part")
    assert [result[name] for name in costs] == [preview[name] for name in costs]
    assert [24, 16] == read_state(client)["buckets"]["parts"][0]["live"]
    for count in ("0", "x", "24", "99999", "1e3"):
        page = client.get(PAGE, params={"count": count})
        assert 422 == page.status_code
        check_page(page.text)


def test_the_page_of_a_failed_step_shows_the_error(tmp_path: Path) -> None:
    """The page shows the error that the command prints, and nothing is changed."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    for step, form in (
        ("move/run", {}),
        ("move/verify", {}),
        ("move/cutover", {"typed_name": "logs"}),
        ("move/rollback", {"typed_name": "logs"}),
        ("move/finish/logs", {"typed_name": "logs"}),
    ):
        state = do_step(client, step, **form)
        assert ("none", True) == (
            state["move"]["step"],
            "no move of the table" in state["step"]["problem"],
        )
    assert 404 == client.post("/tables/logs/move/run", data={"design": "none"}).status_code
    assert 422 == client.post("/tables/logs/move/plan").status_code
    assert 422 == client.post("/tables/logs/move/pause").status_code


def test_only_one_step_of_a_table_runs_at_a_time(tmp_path: Path) -> None:
    """While a step runs, another one is refused, and a copy of it can be paused and resumed."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.5) as table:
        table.put({"host": "web-1", "ts": 1, "note": "x"})
    client = open_client(build_portal(tmp_path, url))
    (tmp_path / "designs" / "other.toml").write_text(OTHER_KEY, "utf-8")
    form = {"design": "other.toml"}
    assert 303 == client.post("/tables/logs/move/run", data=form).status_code
    assert 409 == client.post("/tables/logs/move/run", data=form).status_code
    while client.get(PAGE, headers=JSON).json()["move"]["step"] == "none":
        time.sleep(0.05)
    for step, is_paused in (("pause", True), ("resume", False)):
        assert 303 == client.post(f"/tables/logs/move/{step}").status_code
        state = client.get(PAGE, headers=JSON).json()
        assert is_paused == state["move"]["settings"]["paused"]
    assert "copied" == read_state(client)["move"]["step"]


def test_a_switch_or_drop_needs_the_name_typed(tmp_path: Path) -> None:
    """Until exactly the name is typed, both tables stay, and the same one is read."""
    url = f"memory:{tmp_path}"
    with rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01) as table:
        table.put({"host": "web-1", "ts": 1, "note": "x"})
    client = open_client(build_portal(tmp_path, url))
    (tmp_path / "designs" / "other.toml").write_text(OTHER_KEY, "utf-8")
    before = do_step(client, "move/run", design="other.toml")
    target = before["move"]["target"]
    for typed in ("", "LOGS", "logs ", " logs", "log", "logs\0", target, *SOME_HOSTILE):
        for step in ("move/cutover", "move/rollback", "move/finish/logs"):
            answer = client.post(f"/tables/logs/{step}", data={"typed_name": typed})
            assert 422 == answer.status_code
            check_page(answer.text)
        wrong = "logs" if typed == target else typed
        path = f"/tables/logs/move/finish/{target}"
        assert 422 == client.post(path, data={"typed_name": wrong}).status_code
    for referer, is_offered in ((f"{ORIGIN}{PAGE}", True), ("https://evil.example/x", False)):
        refused = client.post("/tables/logs/move/cutover", headers={"referer": referer})
        links = [one.get("href") for tag, one in check_page(refused.text).elements if tag == "a"]
        assert [is_offered, False] == [PAGE in links, "/x" in links]
    assert before == read_state(client)
    state = do_step(client, "move/finish/logs", typed_name="logs")  # the table that is read
    assert "logs is not the table that is to be dropped" in state["step"]["problem"]
    assert before["move"] == state["move"]


def test_only_operators_change_tables(tmp_path: Path) -> None:
    """Viewers and designers see rows and moves, without forms, and their requests answer 403."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url, users_file=write_users(tmp_path))
    for name, is_allowed in (("viewer", False), ("designer", False), ("operator", True)):
        client = open_client(app, logs_in=False)
        client.post("/login", data={"name": name, "password": name * 2})
        assert 200 == client.get("/tables/logs/rows").status_code
        page = check_page(client.get(PAGE).text)
        forms = [str(one.get("action")) for tag, one in page.elements if tag == "form"]
        assert is_allowed == any("/move/" in one for one in forms)
        for step in ("buckets", "move/plan", "move/run", "move/cutover", "move/finish/logs"):
            status = client.post(f"/tables/logs/{step}", data={"count": "x"}).status_code
            assert (403 != status) == is_allowed
        read_state(client)


def test_invalid_table_and_file_names_are_refused_on_step_pages(tmp_path: Path) -> None:
    """Names of tables and files that are no names answer an error, and appear as text."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    before = read_state(client)
    for text in ("../logs", "..", *SOME_HOSTILE):
        check_page(client.get(PAGE, params={"count": text, "part": text}).text)
        form = {"design": text, "count": text, "share": text, "rows": text, "typed_name": text}
        for step in ("move/run", "move/plan", "move/throttle", "buckets", "move/cutover"):
            answer = client.post(f"/tables/logs/{step}", data=form)
            assert answer.status_code in (404, 422)
            check_page(answer.text)
    assert before == read_state(client)


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_other_pages_answer_while_a_step_runs(tmp_path: Path, scheme: str) -> None:
    """Lists, rows and the page of the step answer meanwhile, and say how far it is."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    create_logs(url)
    app = build_portal(tmp_path, url)
    client, is_seen = open_client(app), Event()

    def work(step: TableTask) -> TaskResult:
        with app.state.portal.engines.open_table("logs"):
            step.report(Progress("copy", 45, 100, "rows"))
            is_seen.wait(DEADLINE_S)
        return {"rows": 1}, ["done"]

    step = app.state.portal.table_tasks.start("logs", "move run", "ann", work)
    while step.progress.phase == "":
        time.sleep(0.001)
    try:
        for path in ("/tables/logs/rows", "/tables/logs/load", "/designs/logs.toml"):
            assert 200 == client.get(path).status_code
        assert "Copy and verification 45%" in check_page(client.get("/").text).text
        page = check_page(client.get(PAGE).text)
        for words in ("begun by ann", "Copying rows: 45 of 100 (45%)"):
            assert words in page.text
        page = check_page(client.get("/tables/logs/load", params={"lang": "zh"}).text)
        assert ("复制与校验" in page.text, "move run" in page.text) == (True, False)
    finally:
        is_seen.set()
    assert {"rows": 1} == read_state(client)["step"]["result"]
    assert "45%" not in client.get("/").text


def test_the_time_left_of_a_step_is_estimated_from_its_phase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is left takes as long for each row as what was done since the phase began."""
    now = [100.0]
    monkeypatch.setattr("rowkey.portal.tasks.task.time.monotonic", lambda: now[0])
    step = TableTask("logs", "move run", "ann")
    for seconds, report, expected in (
        (0, ("copy", 500, 2_000), None),
        (10, ("copy", 600, 2_000), 140.0),
        (0, ("copy", 1_500, 2_000), 5.0),
        (0, ("verify", 0, 0), None),
        (5, ("verify", 10, 0), None),
    ):
        now[0] += seconds
        step.report(Progress(*report))
        assert expected == step.remaining_s


@pytest.mark.parametrize(
    ("step", "is_target_read", "verification", "current", "forms"),
    [
        ("none", False, None, "Plan", {"plan"}),
        ("announced", False, None, "Copy", {"run", "throttle", "pause", "finish/logs_2"}),
        ("copying", False, None, "Copy", {"run", "throttle", "pause", "finish/logs_2"}),
        ("copied", False, None, "Verify", {"verify", "cutover", "finish/logs_2"}),
        ("copied", False, False, "Verify", {"verify", "cutover", "finish/logs_2"}),
        ("copied", False, True, "Cut over", {"verify", "cutover", "finish/logs_2"}),
        ("switching", False, True, "Cut over", {"cutover"}),
        ("switching", True, True, "Cut over", {"rollback"}),
        ("cut over", True, True, "Finish", {"verify", "rollback", "finish/logs"}),
        ("finishing", True, True, "Finish", {"finish/logs"}),
        ("finishing", False, True, "Finish", {"finish/logs_2"}),
        ("finished", True, True, None, set()),
    ],
)
def test_each_stage_of_a_move_offers_only_its_next_steps(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    is_target_read: bool,
    verification: bool | None,
    current: str | None,
    forms: set[str],
) -> None:
    """At each stage of a move the page marks it, and has the forms of its next steps only."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    status = {
        "table": "logs",
        "target": "logs_2",
        "step": step,
        "read": "logs_2" if is_target_read else "logs",
        "rows": 7,
        "share": 0.5,
        "verification": None
        if verification is None
        else {"passed": verification, "differences": 3},
        "staying": [{"column": "d:x", "cells": 80, "reason": "", "row_key": ""}],
        "settings": {"rows_per_s": 20_000.0, "max_p99_ms": None, "paused": False},
        "history": [{"time_ms": 1, "step": "copied", "details": {"rows": 7}}],
    }
    monkeypatch.setattr(
        "rowkey.portal.tables.stored_tables.build_move_status_document", lambda *_: status
    )
    for language in ("zh", "en"):
        page = check_page(client.get(PAGE, params={"lang": language}).text)
        actions = [str(one["action"]) for tag, one in page.elements if tag == "form"]
        found = [one.partition("/move/")[2] for one in actions if "/move/" in one]
        assert forms == {*found}
        # What only the unread table has is lost by consent, in a repair too.
        losing = [one for one in found if one.startswith(("finish", "verify"))]
        asked = [one for one in page.elements if one[1].get("name") == "consents"]
        assert len(asked) == (0 if step == "finishing" else len(losing))
    at = page.text.split()
    marked = [one for one in page.elements if one[1].get("aria-current") == "step"]
    assert (current is not None) == (len(marked) == 1)
    if current is not None:
        number = ("Plan", "Copy", "Verify", "Cut over", "Finish").index(current)
        assert number == at.count("✓")


def test_a_step_does_not_begin_if_the_audit_log_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the audit log cannot be written, nothing is changed; else its begin comes first."""
    url = f"memory:{tmp_path}"
    rowkey.open(rowkey.Design.loads(LOGS), url, max_stale=0.01).close()
    app = build_portal(tmp_path, url)
    client, portal = open_client(app), app.state.portal

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(portal.audit), "append", fail)
        assert 500 == client.post("/tables/logs/buckets", data={"count": "8"}).status_code
    assert None is portal.table_tasks.find("logs")
    state = do_step(client, "buckets", count="32")
    assert [32] == [part["buckets"] for part in state["buckets"]["parts"]]
    assert 'action="/tables/logs/buckets/retire"' in client.get("/tables/logs/operations").text
    state = do_step(client, "buckets/retire")
    assert [[32]] == [part["live"] for part in state["buckets"]["parts"]]
    assert "/buckets/retire" not in client.get("/tables/logs/operations").text
    actions = [entry["action"] for entry in read_audit(tmp_path)]
    assert [
        "log in", "buckets set", "end of buckets set", "buckets retire", "end of buckets retire"
    ] == actions  # fmt: skip
