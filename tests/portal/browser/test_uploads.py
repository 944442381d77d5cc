"""Files of events that a user gives a portal in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from portal.browser.servers import open_portal, serve_portal
from portal.test_advise import EVENTS
from rowkey.portal import PortalSettings


def test_an_uploaded_file_becomes_the_first_design(browser: Any, tmp_path: Path) -> None:
    """From the empty list of tables to the page of a design, with one file and two presses."""
    designs, events = tmp_path / "designs", tmp_path / "web log.csv"
    designs.mkdir()
    events.write_text(EVENTS, "utf-8")
    settings = PortalSettings(designs)
    with serve_portal(settings) as portal, open_portal(browser, portal) as view:
        view.set_input_files("#upload [type=file]", events)
        view.wait_for_url("**/drafts?sample=*")
        assert "web_log.toml" == view.get_by_role("textbox", name="New design file").input_value()
        view.locator("form[action='/drafts'] button.primary").click()
        view.locator(".notice.good a").click()
        view.wait_for_url("**/designs/web_log.toml")
        assert "web_log" in view.locator("h1").inner_text()
