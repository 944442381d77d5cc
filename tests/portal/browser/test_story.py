"""From a log to an even table, as a user goes through it in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from portal.browser.servers import open_portal, serve_portal
from portal.browser.test_operations import press
from rowkey.errors import InvalidArgument
from rowkey.portal import PortalSettings
from rowkey.table import drop_table

LINE_COUNT = 6_000
LINES = "".join(
    f"10.0.{n % 61}.{n % 7} - - [17/May/2015:{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02} +0000] "
    f'"GET /page/{n * 31 % 997} HTTP/1.1" 200 {n % 4000} "-" "agent"\n'
    for n in range(LINE_COUNT)
)
"""An access log of Apache with one request a second, each of its own."""
BAD_KEY = 'key = "[time][client]"\nsplits = { algorithm = "sample", regions = 16 }\n'


@pytest.fixture(
    params=[
        "rocks",
        pytest.param("hbase", marks=[pytest.mark.xdist_group("hbase_cluster"), pytest.mark.long]),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The URL of an engine without tables, and the name of the table that is created there."""
    name = f"access_{token_hex(4)}"
    url = f"rocks:{tmp_path}/data"
    if request.param == "hbase":
        url = request.getfixturevalue("hbase_url")
    yield url, name
    with suppress(InvalidArgument):  # it was not created
        drop_table(name, url)


def test_a_dropped_log_becomes_an_even_table_in_the_browser(
    browser: Any, place: tuple[str, str], tmp_path: Path
) -> None:
    """A dropped log is drafted, a bad key found hot, a better one adopted, created and loaded."""
    url, name = place
    (tmp_path / "designs").mkdir()
    log = tmp_path / "access.log"
    log.write_text(LINES, "ascii")
    settings = PortalSettings(tmp_path / "designs", url)
    with serve_portal(settings) as portal, open_portal(browser, portal) as view:
        if url.startswith("hbase"):  # the tables of other tests are listed
            view.goto(f"{portal.origin}/drafts")
        view.set_input_files("#upload [type=file]", log)
        view.wait_for_url("**/drafts?sample=*")
        view.get_by_label("New design file", exact=True).fill(f"{name}.toml")
        press(view, "Draft")
        view.get_by_text("is read as a log of apache").wait_for()
        view.get_by_role("link", name="Open the design").first.click()

        text = view.locator("textarea").input_value()
        text = re.sub(r"^splits\s*=.*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^key\s*=.*\n", BAD_KEY, text, count=1, flags=re.MULTILINE)
        text = text.replace("[cluster]\n", '[cluster]\ncapacity = "1/s"\n')
        view.locator("textarea").fill(text)
        view.locator("text=RK101 >> visible=true").first.wait_for()  # as it is typed
        press(view, "Save")
        view.get_by_role("link", name="Simulate", exact=True).last.click()
        press(view, "Simulate")
        view.locator(".card.poor").wait_for()
        assert "8.00×" in view.locator(".card").inner_text()

        view.get_by_role("link", name="Find a better key").click()
        press(view, "Search")
        view.locator("#picks .card.good").first.wait_for(timeout=60_000)
        press(view, "Adopt key 1")
        assert not view.locator(".notation").first.inner_text().startswith("[time]")

        view.get_by_role("link", name=f"Create the table {name}").first.click()
        press(view, f"Create {name}")
        view.get_by_role("link", name="Next: load events").click(timeout=60_000)
        press(view, "Load")
        view.get_by_text(f"{LINE_COUNT:,} rows written").wait_for(timeout=60_000)
        view.get_by_role("link", name="Watch its load").click()
        view.locator("#live .verdict-card.good").first.wait_for()
        verdict = view.locator("#live .verdict-card").first.inner_text()
        assert "even" in verdict
        assert f"of {LINE_COUNT:,} requests" in verdict
