"""A text that was typed into the editor outlives the session, the portal and the tab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chromium import list_violations
from portal.browser.servers import serve_portal
from portal.portals import LOGS
from portal.test_sessions import write_users
from rowkey.portal import PortalSettings

TYPED = LOGS + "# typed\n"
OFFER = "#backup:not([hidden])"


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser that has opened nothing yet."""
    context = browser.new_context()
    yield context
    context.close()


def write_logs(folder: Path, text: str = LOGS) -> Path:
    """Write the design file of the tests, and return it."""
    path = folder / "logs.toml"
    path.write_text(text, "utf-8")
    return path


def type_text(page: Any, text: str = TYPED) -> None:
    """Type a text into the editor."""
    page.locator("#text").fill(text)


def save(page: Any) -> None:
    """Press the button that saves."""
    page.locator('[name="save"]').click()


def test_a_text_typed_before_a_restart_of_the_portal_is_restored_and_saved(
    tmp_path: Path, context: Any
) -> None:
    """After a save that met a new portal, the link leads back, and the text is taken and saved."""
    file, page = write_logs(tmp_path), context.new_page()
    with serve_portal(PortalSettings(tmp_path)) as portal:
        page.goto(portal.create_login_url())
        page.goto(f"{portal.origin}/designs/logs.toml")
        type_text(page)
        port = urlsplit(portal.origin).port
    assert port is not None
    with page.expect_event("requestfailed"):
        save(page)
    with serve_portal(PortalSettings(tmp_path), port) as portal:
        page.close()
        page = context.new_page()
        page.goto(f"{portal.origin}/designs/logs.toml")
        page.locator("#backup-hint:not([hidden])").wait_for()
        page.goto(portal.create_login_url())
        assert page.url == f"{portal.origin}/designs/logs.toml"
        page.locator(f"{OFFER} .diff .added").wait_for()
        assert "+ # typed" in page.locator(f"{OFFER} .diff").inner_text()
        assert page.locator(f"{OFFER} .changed").is_hidden()
        page.locator("#text").press("x")
        assert (LOGS, []) == (page.locator("#text").input_value(), list_violations(page))
        page.locator(f"{OFFER} button.primary").click()
        assert TYPED == page.locator("#text").input_value()
        save(page)
        page.wait_for_url("**?saved")
        assert (TYPED, 0) == (file.read_text("utf-8"), page.locator(OFFER).count())
        assert 0 == page.evaluate("localStorage.length")


def test_a_text_typed_before_a_lost_session_is_offered_after_the_login(
    tmp_path: Path, context: Any
) -> None:
    """After the login the text is offered to its user, and a changed file is not overwritten."""
    designs = tmp_path / "designs"
    designs.mkdir()
    file, page = write_logs(designs), context.new_page()
    with serve_portal(PortalSettings(designs, users_file=write_users(tmp_path))) as portal:

        def log_in(user: str) -> None:
            page.locator('[name="name"]').fill(user)
            page.locator('[name="password"]').fill(user * 2)
            page.locator("form.fields button").click()
            page.wait_for_url("**/designs/logs.toml")

        page.goto(f"{portal.origin}/designs/logs.toml")
        log_in("designer")
        type_text(page)
        context.clear_cookies()
        save(page)
        page.locator("#backup-hint:not([hidden])").wait_for()
        log_in("operator")
        assert 0 == page.locator(OFFER).count()
        context.clear_cookies()
        page.reload()
        write_logs(designs, LOGS + "# of another\n")
        log_in("designer")
        page.locator(f"{OFFER} .changed:not([hidden])").wait_for()
        page.locator(f"{OFFER} .diff .removed").wait_for()
        page.locator(f"{OFFER} button.primary").click()
        save(page)
        page.locator(".notice.poor .diff").wait_for()
        assert LOGS + "# of another\n" == file.read_text("utf-8")
        assert (TYPED, 0) == (page.locator("#text").input_value(), page.locator(OFFER).count())
        save(page)
        page.wait_for_url("**?saved")
        assert TYPED == file.read_text("utf-8")


def test_an_unsaved_text_is_offered_until_it_is_discarded(tmp_path: Path, context: Any) -> None:
    """What a closed tab had is offered until it is discarded; no more than twenty are kept."""
    write_logs(tmp_path)
    with serve_portal(PortalSettings(tmp_path)) as portal:
        page = context.new_page()
        page.goto(portal.create_login_url())
        page.evaluate(
            """() => { for (let n = 0; n < 30; n += 1) {
              localStorage.setItem(`rowkey text /designs/${n}.toml local`, `{"at": ${n}}`);
            } }"""
        )
        address = f"{portal.origin}/designs/logs.toml"
        page.goto(address)
        type_text(page)
        page.close()
        page = context.new_page()
        page.goto(address)
        page.locator(OFFER).wait_for()
        assert 20 == page.evaluate("localStorage.length")
        page.locator(f"{OFFER} button:not(.primary)").click()
        page.goto(address)
        assert (LOGS, 0) == (page.locator("#text").input_value(), page.locator(OFFER).count())
        assert page.locator("#text").is_editable()
