"""Buckets and moves as an operator does them in a browser, while a client writes to the table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from portal.browser.servers import open_portal, serve_portal
from portal.portals import LOGS
from rowkey.errors import InvalidArgument
from rowkey.move.status import MoveSettings
from rowkey.portal import PortalSettings
from rowkey.table import drop_table

if TYPE_CHECKING:
    from portal.browser.servers import ServedPortal
    from rowkey.move.move_record import MoveRecord

STALE_S = 0.3
"""Seconds for which clients use the table without the catalog: a change waits for so long."""
COPIED_ROWS = 800
SLOW_ROWS_PER_S = 80
OTHER_KEY = LOGS.replace("[bucket(host, 16)][host][ts]", "[bucket(host, 4)][ts][host]")


@dataclass
class LogWriter:
    """A client that writes to a table until it is stopped.

    Args:
        table: the name of the table.
        url: the URL of the engine.
        rows: what it has written.
    """

    table: str
    url: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    problem: Exception | None = None

    def write_rows(self, table: rowkey.Table, count: int) -> None:
        """Write some more rows."""
        for _ in range(count):
            row = {"host": f"web-{len(self.rows) % 7}", "ts": len(self.rows), "note": "disk full"}
            table.put(row)
            self.rows.append(row)

    @contextmanager
    def keep_writing(self) -> Iterator[None]:
        """Write rows in a thread for the time of a `with` block."""
        is_stopped = Event()

        def write() -> None:
            try:
                with rowkey.open(self.table, self.url, create=False) as table:
                    while not is_stopped.wait(0.02):
                        self.write_rows(table, 1)
            except Exception as problem:  # noqa: BLE001 - raised below
                self.problem = problem

        thread = Thread(target=write)
        thread.start()
        try:
            yield
        finally:
            is_stopped.set()
            thread.join()
        if self.problem is not None:
            raise self.problem

    def check_rows(self, table_name: str) -> None:
        """Check that a new client finds every row that was written, and no other."""
        with rowkey.open(table_name, self.url, create=False) as table:
            found = sorted(table.scan(), key=lambda row: row["ts"])
            assert self.rows == found
            assert self.rows[-1] == table.get(self.rows[-1])


@pytest.fixture(
    params=[
        "memory",
        pytest.param("hbase", marks=[pytest.mark.xdist_group("hbase_cluster"), pytest.mark.long]),
    ]
)
def writer(request: pytest.FixtureRequest) -> Iterator[LogWriter]:
    """A client of a table with rows, in memory or on a real HBase."""
    url = f"memory:{token_hex(4)}"
    if request.param == "hbase":
        url = request.getfixturevalue("hbase_url")
    name = f"portal_x{token_hex(4)}"  # no number: the target of a move would count on from it
    writer = LogWriter(name, url)
    design = rowkey.Design.loads(LOGS.replace('"logs"', f'"{name}"'))
    splits = [bytes([number]) for number in (4, 8, 12)]
    with rowkey.open(design, url, max_stale=STALE_S, splits=splits) as table:
        writer.write_rows(table, COPIED_ROWS)
    yield writer
    for one in (name, f"{name}_2"):
        try:
            drop_table(one, url)
        except InvalidArgument:
            continue


@pytest.fixture
def _slow_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a copy without a limit be so slow that there is time to limit and pause it."""
    read = MoveSettings.read

    def read_slowly(record: MoveRecord) -> MoveSettings:
        settings = read(record)
        return replace(settings, rows_per_s=settings.rows_per_s or SLOW_ROWS_PER_S)

    monkeypatch.setattr(MoveSettings, "read", read_slowly)


@pytest.fixture
def portal(writer: LogWriter, tmp_path: Path) -> Iterator[ServedPortal]:
    """A portal on the engine of the table, with its design and one with another key."""
    for name, text in (("logs.toml", LOGS), ("other.toml", OTHER_KEY)):
        (tmp_path / name).write_text(text.replace('"logs"', f'"{writer.table}"'), "utf-8")
    with serve_portal(PortalSettings(tmp_path, writer.url)) as portal:
        yield portal


def end_step(view: Any, step: str) -> str:
    """Wait for the end of a step, and return the result that the page shows."""
    result = view.locator("section.notice.good").filter(has_text=step)
    result.wait_for(timeout=60_000)
    return str(result.inner_text())


def press(view: Any, name: str) -> None:
    """Press the button of a name, the only one that is shown, and wait for the next page."""
    with view.expect_navigation():
        view.get_by_role("button", name=name, exact=True).click()


def get_figure(view: Any, section: str, name: str) -> str:
    """Return a figure of a section of the page."""
    term = view.locator(f"{section} dl.figures div").filter(has_text=name)
    return str(term.locator("dd").inner_text())


def test_buckets_are_doubled_in_the_browser_while_a_client_writes(
    browser: Any, portal: ServedPortal, writer: LogWriter
) -> None:
    """From the list of tables to 32 buckets, with the cost before and the result after."""
    with writer.keep_writing(), open_portal(browser, portal) as view:
        view.get_by_role("link", name=writer.table).first.click()
        view.get_by_role("link", name="Buckets and moves").click()
        view.get_by_label("Buckets: bucket(host, 16)").fill("32")
        press(view, "Show the cost")
        costs = view.locator(".costs tbody tr").all_inner_texts()
        assert "Row keys that a get tries\t1\t2" == costs[0]
        press(view, "Set 32 buckets")
        view.locator("#progress, section.notice.good").first.wait_for()
        assert "Set 32 buckets" not in view.content()
        assert "32" in end_step(view, "Change of the number of buckets: done")
        assert "32 also stored under 16" == get_figure(view, "#buckets", "bucket(host")
        view.goto(portal.origin)
        row = view.locator("tbody tr").filter(has_text=writer.table).first
        figures = row.locator("td.number").all_inner_texts()
        assert ["2", "32"] == figures[1:]
    writer.check_rows(writer.table)


@pytest.mark.usefixtures("_slow_copy")
def test_a_table_is_moved_in_the_browser_while_a_client_writes(
    browser: Any, portal: ServedPortal, writer: LogWriter
) -> None:
    """Plan, copy with a limit and a pause, cut over by the typed name, roll back, and finish."""
    target = f"{writer.table}_2"
    with writer.keep_writing(), open_portal(browser, portal, 1) as view:
        view.goto(f"{portal.origin}/tables/{writer.table}/operations")
        view.get_by_label("Design file").select_option("other.toml")
        press(view, "Make a plan")
        assert f"to {target}" in end_step(view, "Plan of the move: done")
        press(view, "Begin the move")
        view.locator("#progress-text", has_text="Copying rows").wait_for()
        press(view, "Pause")
        view.get_by_text("paused").first.wait_for()
        view.get_by_label("Rows per second at most").fill("5000/s")
        press(view, "Set the limits")
        assert "5000/s" == view.get_by_label("Rows per second at most").input_value()
        press(view, "Resume")
        assert f"rows are equal in {target}" in end_step(view, "Copy and verification: done")
        assert "passed" == get_figure(view, "#move", "Last verification")
        assert "Cut over" == view.locator("[aria-current=step]").inner_text().split("\n")[-1]
        for step, label, read in (
            ("Cut-over", "Cut over", target),
            ("Rollback", "Roll back", writer.table),
            ("Cut-over", "Cut over", target),
        ):
            confirm(view, label, writer.table)
            assert f"{read} is read now" in end_step(view, f"{step}: done")
            assert read == get_figure(view, "#move", "Clients read")
        confirm(view, "Finish the move", "something", is_refused=True)
        view.go_back()
        confirm(view, "Finish the move", writer.table)
        assert "dropped" in end_step(view, "Finish: done")
        assert 5 == view.locator(".stages .done").count()
    writer.check_rows(target)


@pytest.mark.parametrize("writer", ["memory"], indirect=True)
def test_without_javascript_a_page_reloads_until_the_step_has_ended(
    browser: Any, portal: ServedPortal, writer: LogWriter
) -> None:
    """Where JavaScript is off, the page loads itself again until it shows the result."""
    with open_portal(browser, portal, java_script_enabled=False) as view:
        view.goto(f"{portal.origin}/tables/{writer.table}/operations?count=24&part=0")
        press(view, "Set 24 buckets")
        assert "24" in end_step(view, "Change of the number of buckets: done")


def confirm(view: Any, label: str, typed: str, *, is_refused: bool = False) -> None:
    """Take a step that wants a name to be typed."""
    form = view.locator("form.typed").filter(has=view.get_by_role("button", name=label))
    if not form.is_visible():
        view.locator("summary").filter(has_text=re.compile(f"^{label}$")).click()
    form.locator('[name="typed_name"]').fill(typed)
    with view.expect_navigation():
        form.get_by_role("button", name=label).click()
    if is_refused:
        view.get_by_text("Nothing was changed").wait_for()
