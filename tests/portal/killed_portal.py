"""Kill a portal at each change of the disk, start it again, and print what is wrong then.

`killed_portal.py FOLDER FIRST STRIDE` runs with the shim loaded. A child process goes through all
steps from the begin, and is killed at the change FIRST, FIRST + STRIDE, and so on, until one is not
killed. For each, a line of JSON says at which change, how many steps were done, and what is wrong.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portal.load_columns import START_MS, build_interval
from portal.portals import LOGS, open_client
from reliability.shim import Shim
from rowkey.pandas_guard import skip_pandas
from rowkey.portal import PortalSettings, build_app, create_login_link
from rowkey.portal.designs import samples
from rowkey.portal.designs.drafts import DraftRequest
from rowkey.portal.live.load_column import build_minute_columns
from rowkey.portal.running_portal import lock_state
from rowkey.portal.tasks import results
from rowkey.portal.tasks.child_process import ProgressWriter, run_call

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from rowkey.portal.portal import Portal

    Step = Callable[[TestClient, Portal], Any]
    State = dict[str, Any]

KEPT = 2
"""Samples and results that are kept here, so that few steps remove the oldest."""
LOST_LOGIN = "the entry of the audit log for the login after the start is lost"
RESULT = {"figures": list(range(1_000))}


def save(client: TestClient, portal: Portal, name: str, text: str) -> None:
    """Save a design file."""
    form = {"text": text, "etag": portal.workspace.read(name).etag}
    assert 303 == client.post(f"/designs/{name}", data=form).status_code


def remove(client: TestClient, portal: Portal, name: str) -> None:
    """Remove a design file."""
    form = {"typed_name": name, "etag": portal.workspace.read(name).etag}
    assert 303 == client.post(f"/designs/{name}/remove", data=form).status_code


def upload(client: TestClient, name: str) -> None:
    """Upload a file of events."""
    kind = {"content-type": "application/octet-stream"}
    content = b"host,ts\n" + b"a,1\n" * 50
    path = f"/simulations/samples?name={name}"
    assert 303 == client.post(path, content=content, headers=kind).status_code


def run_process_task(portal: Portal, number: int) -> None:
    """Store a request for a draft, and its result as its process does."""
    task = portal.drafts.create_task(DraftRequest(f"{number}.toml", "a.csv", "", 8, "ann", number))
    call = {
        "function": f"{__name__}:finish_task",
        "arguments": {},
        "result_file": str(task.result_file),
    }
    run_call(call, ProgressWriter(io.BytesIO()))


def finish_task(report: ProgressWriter) -> dict[str, Any]:
    """Return the result of a task."""
    del report
    return dict(RESULT)


def run_step(portal: Portal, table: str) -> None:
    """Run a long step on a table, and wait for its end."""
    step = portal.table_tasks.start(table, "load", "ann", lambda _: ({"rows": 9}, ["9 rows"]))
    while step.is_running or portal.table_tasks._files.read(table) is None:
        time.sleep(0.001)
    while (portal.table_tasks._files.read(table) or {}).get("document") is None:
        time.sleep(0.001)


def add_load(portal: Portal, minute: int) -> None:
    """Add a minute of load to the history."""
    end_ms = START_MS + 60_000 * minute
    interval = build_interval([9], minute, 60.0)
    columns = build_minute_columns(interval, end_ms)
    portal.live.history.add("logs", columns, end_ms)


def add_alert(portal: Portal, number: int) -> None:
    """Store an alert."""
    with portal.live.history.database.change() as connection:
        connection.execute(
            "INSERT INTO alerts (table_name, event, at_ms, document, delivery) "
            "VALUES ('logs', 'hot', ?, '{}', 'none')",
            (number,),
        )


def log_in_by_command(client: TestClient, portal: Portal) -> None:
    """Log in by a link that a command has created."""
    link = create_login_link(portal.settings)
    assert 303 == client.get(link.removeprefix(portal.settings.origin)).status_code


STEPS: tuple[Step, ...] = (
    lambda client, _: client.post("/designs", data={"name": "logs"}),
    lambda client, portal: save(client, portal, "logs.toml", LOGS),
    lambda client, portal: save(client, portal, "logs.toml", LOGS + "# more\n" * 500),
    lambda client, _: client.post("/designs", data={"name": "other"}),
    lambda client, portal: remove(client, portal, "other.toml"),
    lambda client, _: upload(client, "a.csv"),
    lambda client, _: upload(client, "b.csv"),
    lambda client, _: upload(client, "c.csv"),
    lambda _, portal: run_process_task(portal, 1),
    lambda _, portal: run_process_task(portal, 2),
    lambda _, portal: run_process_task(portal, 3),
    lambda _, portal: run_step(portal, "logs"),
    lambda _, portal: run_step(portal, "logs"),
    lambda _, portal: add_load(portal, 1),
    lambda _, portal: add_alert(portal, 1),
    lambda _, portal: add_load(portal, 2),
    log_in_by_command,
)
"""What is done in a portal; all of it is answered, and was written before."""


def start(settings: PortalSettings) -> tuple[TestClient, Portal]:
    """Return a started portal, and a client that is logged in."""
    app = build_app(settings)
    client = open_client(app)
    return client, app.state.portal


def observe(client: TestClient, portal: Portal) -> State:
    """Return what a portal shows, by store, without ids and times."""
    step = portal.table_tasks.find("logs")
    drafts = portal.drafts
    requests = drafts.list_requests(100)
    database = portal.live.history.database
    with database.read() as connection:
        rows = connection.execute("SELECT at_ms FROM alerts").fetchall() if connection else []
    history = portal.live.history.read_columns("logs", 0)
    entries = portal.audit.read_page(1_000)[0][::-1]
    for path in ("/", "/audit", "/drafts", "/simulations"):
        assert 200 == client.get(path).status_code, path
    return {
        "designs": {one.name: len(one.text) for one in portal.workspace.list_files()},
        "audit": [one["action"] for one in entries if one["action"] != "log in"],
        "samples": [(one.path.name, one.size_bytes) for one in portal.uploads.list_samples()],
        "results": {request.name: drafts.read_result(one) == RESULT for one, request in requests},
        "step": None if step is None else (step.name, step.document, bool(step.problem)),
        "history": len(history),
        "alerts": [int(row[0]) for row in rows],
    }


def find_problems(settings: PortalSettings, before: State, after: State) -> list[str]:
    """Return what is wrong in a portal that is started after a kill.

    Args:
        settings: those of the portal.
        before: what it has to show of the steps that were done.
        after: the same, with the step in which it was killed.
    """
    try:
        with lock_state(settings):
            client, portal = start(settings)
            with client:
                newest = portal.audit.read_page(1)[0]
                found = observe(client, portal)
                problems = [] if newest and newest[0]["action"] == "log in" else [LOST_LOGIN]
                problems += [
                    f"{name} is {found[name]}; expected {before[name]} or {after[name]}"
                    for name in found
                    if not is_allowed(name, found[name], before[name], after[name])
                ]
                problems += find_remains(settings)
                state = settings.storage_folder
                if (state.stat().st_mode & 0o777, (state / ".gitignore").read_text()) != (
                    0o700,
                    "*\n",
                ):
                    problems.append("others can read the folder of the portal's files")
                if "logs.toml" in found["designs"]:
                    save(client, portal, "logs.toml", LOGS)
                for number in range(KEPT):
                    upload(client, f"later{number}.csv")
                run_process_task(portal, 100)
                run_step(portal, "logs")
                add_load(portal, 100)
                if KEPT != len(portal.uploads.list_samples()):
                    problems.append("samples are not removed any more")
                portal.live.history.database.close()
    except Exception as problem:  # noqa: BLE001 - each is told
        return [f"{type(problem).__name__}: {problem}"]
    return problems


def is_allowed(name: str, found: Any, before: Any, after: Any) -> bool:
    """Return whether a store may show something after a kill within a step."""
    if found in (before, after):
        return True
    if name == "step":  # it had begun, and was interrupted
        return bool(found == ("load", None, True) and after is not None)
    if name == "audit":  # a step has two entries
        return bool(found == after[: len(found)] and len(found) >= len(before))
    if name == "samples":  # the oldest is removed later
        return bool(found[1:] == before and found[:1] == after[:1])
    if name == "results":  # the oldest is removed, then the new request and its result are stored
        new = after.keys() - before.keys()
        kept = {one: found[one] for one in found.keys() - new}
        return kept in (before, {one: before[one] for one in before.keys() & after.keys()})
    return False


def find_remains(settings: PortalSettings) -> list[str]:
    """Return the files that a kill has left half written, where users see them or for ever."""
    parts = [one.name for one in settings.folder.iterdir() if one.name.endswith(".part")]
    return [f"{name} is left" for name in parts]


def go_through(settings: PortalSettings, report: Callable[[TestClient, Portal], object]) -> None:
    """Start a portal and do all steps.

    Args:
        settings: those of the portal.
        report: called at the start and after each step.
    """
    with lock_state(settings):
        client, portal = start(settings)
        report(client, portal)
        for step in STEPS:
            step(client, portal)
            report(client, portal)
        portal.live.history.database.close()


def kill_at(settings: PortalSettings, shim: Shim, nth: int) -> tuple[bool, int]:
    """Go through all steps in a child process that is killed at a change of the disk.

    Returns:
        Whether it was killed, and how many steps were done; -1 if not even the start.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            shim.kill(nth)
            go_through(settings, lambda *_: os.write(writer, b"."))
            os._exit(0)
        os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        done = len(pipe.read()) - 1
    status = os.waitpid(child, 0)[1]
    assert status == 0 or os.WIFSIGNALED(status), f"the child fails after step {done}"
    return status != 0, done


def main() -> None:
    """Kill portals, and print a line for each."""
    folder, first, stride = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    samples.MAX_SAMPLES = results.MAX_RESULTS = KEPT
    shim = Shim(folder)
    states: list[State] = []
    whole = folder / "whole"
    whole.mkdir()
    go_through(PortalSettings(whole), lambda *parts: states.append(observe(*parts)))
    states = [states[0], *states]
    nth = first
    while True:
        place = folder / f"killed-{nth}"
        place.mkdir()
        is_killed, done = kill_at(PortalSettings(place), shim, nth)
        if not is_killed:
            break
        before, after = states[done + 1], states[min(done + 2, len(states) - 1)]
        problems = find_problems(PortalSettings(place), before, after)
        sys.stdout.write(json.dumps({"nth": nth, "done": done, "problems": problems}) + "\n")
        sys.stdout.flush()
        shutil.rmtree(place)
        nth += stride


if __name__ == "__main__":
    with skip_pandas():
        main()
