"""The page of a running table in a browser: figures that go on, the map, keyboard and looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from chromium import list_cut_off, list_violations
from portal.browser.servers import open_portal, serve_portal
from portal.test_live import HOT, write_front
from rowkey.portal import PortalSettings
from rowkey.portal.live import watch

if TYPE_CHECKING:
    from portal.browser.servers import ServedPortal

PATH = "/tables/hot/live"
UPDATE = """async () => {
  const map = document.getElementById("map-live").heatMap, before = map.view.all;
  const answer = await fetch(document.getElementById("payload").dataset.source);
  const update = map.update((await answer.json()).maps[0]);
  map.point([0, 0]);  // a mouse that moves while the counts are unpacked
  await update;
  return map.view.all > before;
}"""
"""Shows the newest map, as the page does each minute; returns whether it has more load."""


@pytest.fixture
def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPortal]:
    """A portal that reads a hot table often, while rows are written."""
    monkeypatch.setattr(watch, "WATCHED_S", 0.3)
    monkeypatch.setattr(watch, "UNWATCHED_S", 0.5)
    url, is_stopped = f"memory:{tmp_path}", Event()

    def write() -> None:
        with rowkey.open(rowkey.Design("hot", **HOT), url) as table:
            while not is_stopped.wait(0.1):
                write_front(table, 60)

    with rowkey.open(rowkey.Design("hot", **HOT), url):
        thread = Thread(target=write)
        thread.start()
        (tmp_path / "designs").mkdir()
        with serve_portal(PortalSettings(tmp_path / "designs", url)) as served:
            yield served
        is_stopped.set()
        thread.join()


def wait_for_reading(view: Any) -> str:
    """Wait until the page shows a later reading than now; return the text of its servers."""
    before = view.locator("#servers table").inner_html()
    view.wait_for_function(
        "before => document.querySelector('#servers table').innerHTML !== before", arg=before
    )
    return str(view.locator("#servers table").inner_text())


def test_a_live_page_follows_its_table_without_a_reload(portal: ServedPortal, browser: Any) -> None:
    """Verdict and figures change without a reload, and the map is read by the keyboard."""
    with open_portal(browser, portal) as view:
        view.goto(portal.origin + PATH)
        view.locator(".verdict-card.poor").wait_for()
        view.locator("#map-live[data-ready]").wait_for()  # the history has begun
        view.evaluate("window.isSamePage = true")
        view.locator("#servers .scroll").focus()
        assert "s3" in wait_for_reading(view)
        assert view.evaluate("window.isSamePage && document.activeElement.className === 'scroll'")
        assert view.evaluate(UPDATE)
        canvas = view.locator("#map-live .stage canvas")
        canvas.focus()
        for _ in range(3):
            canvas.press("ArrowDown")
        text = view.locator(".readout").inner_text()
        assert "key range 3, now on s3" in text
        assert "100% of this moment" in text
        canvas.press("s")
        view.get_by_role("link", name="Reads").click()
        view.wait_for_url("**load=reads**")
        view.locator("#map-live[data-ready]").wait_for()
        assert "fair share of the reads" in view.locator("#map-scale-live").inner_text()


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(360, "dark", "zh"), pytest.param(1920, "light", "en", marks=pytest.mark.long)],
)
def test_the_live_page_overflows_no_window_and_is_accessible(
    portal: ServedPortal, browser: Any, width: int, scheme: str, language: str
) -> None:
    """Nothing overflows from a phone to a wide screen, and axe finds no serious violation."""
    size = {"width": width, "height": 900}
    options: dict[str, Any] = {"viewport": size, "color_scheme": scheme, "bypass_csp": True}
    with open_portal(browser, portal, **options) as view:
        for path in (PATH, "/live"):
            view.goto(f"{portal.origin}{path}?lang={language}")
            view.locator(".word.poor").first.wait_for()
            assert width >= view.evaluate("document.documentElement.scrollWidth")
            assert [] == [one for one in list_cut_off(view) if "scroll" not in one]
            assert [] == list_violations(view)
