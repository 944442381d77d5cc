"""Tables that the portal creates and loads: as the commands do, once, and interruptible."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.portals import LOGS, build_portal, create_logs, open_client
from portal.test_advise import EVENTS, HOT
from portal.test_data import JSON
from portal.test_hostile_text import HOSTILE, SOME_HOSTILE, PageReader, check_page
from portal.test_screens import read_audit, read_form
from portal.test_sessions import write_users
from portal.test_simulate import upload, wait_for_end, wait_until
from rowkey.portal.tables.table_tasks import TableTask
from rowkey.portal.tasks.process_task import TaskLimits
from rowkey.progress import Progress
from rowkey.render import DIALECTS, build_create_statement
from rowkey.simulate import choose_design_splits

if TYPE_CHECKING:
    from starlette.testclient import TestClient

PAGE, CREATION = "/tables/logs/load", "/designs/logs.toml/create"
SPLIT = LOGS.replace("[fields]\nhost", 'splits = "per_bucket"\n[fields]\nhost', 1)
SAMPLED = LOGS.replace(
    "[fields]\nhost", 'splits = { algorithm = "sample", regions = 4 }\n[fields]\nhost', 1
)
DEADLINE_S = 60


def wait_for_step(client: TestClient, page: str = PAGE) -> dict[str, Any]:
    """Return the last step of the table once it has ended."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        step: dict[str, Any] = client.get(PAGE, headers=JSON).json()["step"]
        if not step["running"]:
            check_page(client.get(page, params={"lang": "en"}).text)
            return step
        check_page(client.get(page).text)
        time.sleep(0.01)
    raise AssertionError("the step does not end")


def create(client: TestClient, **form: str) -> dict[str, Any]:
    """Create the table of the design for logs, and return the step."""
    etag = read_form(client)["etag"]
    answer = client.post(CREATION, data={"etag": etag, **form})
    assert (303, CREATION) == (answer.status_code, answer.headers.get("location")), answer.text
    return wait_for_step(client, CREATION)


def load(client: TestClient, content: str, **form: str) -> dict[str, Any]:
    """Upload a file, load it into the table, and return the step."""
    stored = upload(client, "events.csv", content.encode())
    sample = stored.headers["location"].partition("sample=")[2]
    answer = client.post(PAGE, data={"sample": sample, **form})
    assert (303, PAGE) == (answer.status_code, answer.headers.get("location")), answer.text
    return wait_for_step(client)


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
def test_a_table_is_created_and_loaded_as_by_the_commands(tmp_path: Path, scheme: str) -> None:
    """Regions are those of `rowkey create`, rows those of `rowkey load`; refused ones are told."""
    url = f"memory:{tmp_path}" if scheme == "memory" else f"rocks:{tmp_path}/data"
    client = open_client(build_portal(tmp_path, url))
    declared = f'{SPLIT}\n[sample]\npath = "../none.csv"\n'  # which is left alone
    (tmp_path / "designs" / "logs.toml").write_text(declared, "utf-8")
    design = rowkey.Design.loads(SPLIT)
    splits = choose_design_splits(design).boundaries.splits
    stored = rowkey.Design.loads(declared)
    script = DIALECTS["hbase_shell"](build_create_statement(stored, splits, "logs.toml", ""))
    page = check_page(client.get(CREATION).text)
    assert [] == [line for line in script if line not in page.text]
    assert "create the table logs" in PageReader(client.get("/designs/logs.toml").text).text.lower()
    step = create(client)
    assert [{"name": "logs", "regions": 16}] == step["result"]["tables"], step["problem"]
    assert 409 == client.post(CREATION, data={"etag": read_form(client)["etag"]}).status_code
    assert "The table logs exists" in client.get(CREATION).text
    step = load(client, f"{EVENTS}web-1,never,x\n")
    result = step["result"]
    assert (1_500, 1) == (result["rows"], result["left_out"]["count"])
    pages = [PageReader(client.get(PAGE, params={"lang": one}).text).text for one in ("en", "zh")]
    assert [True] * 4 == [
        "1,500 rows written" in pages[0],
        "never" in pages[0],
        "已写入 1,500 行" in pages[1],
        "rows written" not in pages[1],
    ]
    with rowkey.open("logs", url) as table:
        assert list(splits) == [one.start for one in table.regions()][1:]
        rows = [",".join(map(str, row.values())) for row in table.scan()]
        lines = [line.split(",") for line in EVENTS.splitlines()[1:]]
        assert sorted({(host, at) for host, at, _ in lines}) == sorted(
            {tuple(row.split(",")[:2]) for row in rows}
        )
    actions = [entry["action"] for entry in read_audit(tmp_path)]
    assert ["create", "end of create", "upload sample", "load", "end of load"] == actions[1:]


def test_a_table_created_with_an_adopted_key_has_even_regions(tmp_path: Path) -> None:
    """Drop a log, see it HOT, adopt a pick, create, load: the rows lie evenly in the regions."""
    url = f"memory:{tmp_path}"
    app = build_portal(tmp_path, url)
    (tmp_path / "designs" / "logs.toml").write_text(HOT + '[writes]\nrate = "20000/s"\n', "utf-8")
    client = open_client(app)
    stored = upload(client, "events.csv", EVENTS.encode())
    sample = stored.headers["location"].partition("sample=")[2]
    form = {"design": "logs.toml", "sample": sample}
    path = client.post("/simulations", data=form).headers["location"]
    wait_for_end(client, path)
    assert "poor" == client.get(f"{path}/document").json()["verdict"]["grade"]
    page = check_report(client.get(path).text)
    assert f"/advice?design=logs.toml&sample={sample}" in page
    path = client.post("/advice", data=form).headers["location"]
    wait_for_end(client, path)
    assert 303 == client.post(f"{path}/adopt", data={"pick": "0"}).status_code
    assert "" == (create(client, sample=sample)["problem"] or "")
    assert "" == (load(client, EVENTS)["problem"] or "")
    with rowkey.open("logs", url) as table:
        starts = [one.start for one in table.regions()]
        keys = [table.design.key.encode(row) for row in table.scan()]
    counts = [sum(start <= key for key in keys) for start in [*starts, b"\xff" * 99]]
    shares = [one - other for one, other in pairwise(counts)]
    assert len(shares) > 1
    assert max(shares) < 3 * len(keys) / len(shares)
    app.state.portal.tasks.close()


def check_report(page: str) -> list[str]:
    """Return the links of a page."""
    return [str(one.get("href")) for tag, one in PageReader(page).elements if tag == "a"]


def test_split_keys_come_from_the_sample_chosen_in_the_form(tmp_path: Path) -> None:
    """A design whose regions follow from a sample is created by the file that is chosen."""
    url = f"memory:{tmp_path}"
    client = open_client(build_portal(tmp_path, url))
    (tmp_path / "designs" / "logs.toml").write_text(SAMPLED, "utf-8")
    etag = read_form(client)["etag"]
    assert 422 == client.post(CREATION, data={"etag": etag}).status_code
    stored = upload(client, "events.csv", EVENTS.encode())
    step = create(client, sample=stored.headers["location"].partition("sample=")[2])
    (tmp_path / "events.csv").write_text(EVENTS, "utf-8")
    design = rowkey.Design.loads(SAMPLED)
    expected = choose_design_splits(design, tmp_path / "events.csv").boundaries.splits
    assert None is step["problem"]
    with rowkey.open("logs", url) as table:
        assert list(expected) == [one.start for one in table.regions()][1:]


def test_a_design_file_that_changed_since_it_was_shown_creates_no_table(tmp_path: Path) -> None:
    """What is created is what the page showed: a file that has changed since is refused."""
    client = open_client(build_portal(tmp_path, f"memory:{tmp_path}"))
    etag = read_form(client)["etag"]
    (tmp_path / "designs" / "logs.toml").write_text(SPLIT, "utf-8")
    assert 409 == client.post(CREATION, data={"etag": etag}).status_code
    assert 404 == client.get(PAGE).status_code


def test_a_cancelled_load_is_continued_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled load keeps what it wrote; the next one goes on, or begins at the first row."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url)
    client = open_client(app)
    report = TableTask.report

    def cancel_first(step: TableTask, now: Progress) -> None:
        if now.done:
            assert 303 == client.post(f"{PAGE}/cancel").status_code
        report(step, now)

    monkeypatch.setattr(TableTask, "report", cancel_first)
    stored = upload(client, "events.csv", EVENTS.encode())
    sample = stored.headers["location"].partition("sample=")[2]
    assert 303 == client.post(PAGE, data={"sample": sample}).status_code
    assert "load was cancelled" in wait_for_step(client)["problem"]
    assert "load 已取消" in client.get(PAGE, params={"lang": "zh"}).text
    monkeypatch.undo()
    for form, before in (({}, 1_500), ({"restart": "1"}, 0)):
        client.post(PAGE, data={"sample": sample, **form})
        assert before == wait_for_step(client)["result"]["rows_before"]


def test_the_result_of_the_last_step_is_shown_after_a_restart_of_the_portal(tmp_path: Path) -> None:
    """After a restart its result is shown in each language; one that was running is interrupted."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    step = load(client, EVENTS)
    client = open_client(build_portal(tmp_path, url))
    assert step == client.get(PAGE, headers=JSON).json()["step"]
    assert "已写入 1,500 行" in client.get(PAGE, params={"lang": "zh"}).text
    path = tmp_path / "designs" / ".rowkey-portal" / "steps" / "logs.json"
    state = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**state, "finished_ms": None}), "utf-8")
    client = open_client(build_portal(tmp_path, url))
    step = client.get(PAGE, headers=JSON).json()["step"]
    assert (False, True) == (step["running"], "was stopped before load was done" in step["problem"])
    assert "门户已停止" in client.get(PAGE, params={"lang": "zh"}).text
    for broken in (b"{", b"[]", b'{"messages": []}', b'{"messages": [["a"]]}'):
        path.write_bytes(broken)
        client = open_client(build_portal(tmp_path, url))
        assert None is client.get(PAGE, headers=JSON).json()["step"]


def test_only_operators_create_and_load_tables(tmp_path: Path) -> None:
    """Designers see what would be created, and their requests to do it answer 403."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    app = build_portal(tmp_path, url, users_file=write_users(tmp_path))
    for name, is_allowed in (("viewer", False), ("designer", False), ("operator", True)):
        client = open_client(app, logs_in=False)
        client.post("/login", data={"name": name, "password": name * 2})
        assert [200, 200] == [client.get(one).status_code for one in (PAGE, CREATION)]
        for path in (PAGE, CREATION, f"{PAGE}/cancel"):
            assert (403 != client.post(path).status_code) == is_allowed


def test_invalid_names_create_and_load_nothing(tmp_path: Path) -> None:
    """Names that are no names answer an error; values of a refused row appear as text."""
    url = f"memory:{tmp_path}"
    create_logs(url)
    client = open_client(build_portal(tmp_path, url))
    for text in ("../logs", *SOME_HOSTILE):
        answer = client.post(PAGE, data={"sample": text})
        assert 422 == answer.status_code
        check_page(answer.text)
        check_page(client.post(CREATION, data={"etag": text, "sample": text}).text)
    quoted = "".join('"' + text.replace('"', '""') + '",x,y\n' for text in HOSTILE[:9])
    load(client, f"{EVENTS}{quoted}")
    check_page(client.get(PAGE, params={"lang": "zh"}).text)


def test_a_step_that_ends_while_its_page_is_rendered_is_shown_as_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page then follows the step and opens again, in place of one without the next link."""
    url = f"memory:{tmp_path}"
    app = build_portal(tmp_path, url)
    portal, is_ended = app.state.portal, Event()
    portal.table_tasks.start("logs", "create", "ann", lambda _: (is_ended.wait(30), ({}, ()))[1])
    refresh = portal.live.refresh

    def end_step(*arguments: object, **named: object) -> None:
        refresh(*arguments, **named)
        is_ended.set()
        wait_until(lambda: not portal.table_tasks.find("logs").is_running)

    monkeypatch.setattr(type(portal.live), "refresh", lambda _, *a, **n: end_step(*a, **n))
    page = open_client(app).get("/designs/logs.toml/create").text
    assert 'id="progress"' in page


def test_boundaries_follow_from_a_sample_within_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process reads the sample; if it may use too little, or is refused, no table is created."""
    url = f"memory:{tmp_path}"
    app = build_portal(tmp_path, url)
    client = open_client(app)
    (tmp_path / "designs" / "logs.toml").write_text(SAMPLED, "utf-8")
    samples = [
        upload(client, name, content.encode()).headers["location"].partition("sample=")[2]
        for name, content in (("events.csv", EVENTS), ("other.csv", "a,b\n1,2\n"))
    ]
    refused = create(client, sample=samples[1])
    assert "other.csv" in refused["problem"]
    assert str(tmp_path) not in refused["problem"]
    limits = "rowkey.portal.screens.create.SPLITS_LIMITS"
    with monkeypatch.context() as patch:
        patch.setattr(limits, TaskLimits(time_s=0.001))
        assert "it may use 0.001 s" in create(client, sample=samples[0])["problem"]
    assert "最多可用 0.001 秒" in client.get(CREATION, params={"lang": "zh"}).text
    assert not app.state.portal.engines.has_table("logs")
    assert [{"name": "logs", "regions": 4}] == create(client, sample=samples[0])["result"]["tables"]
    app.state.portal.tasks.close()
