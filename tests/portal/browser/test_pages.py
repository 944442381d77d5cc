"""Every page of a portal in a browser: it fits, everybody can read it, and keys are enough."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from chromium import list_contrast_violations, list_cut_off, list_violations
from example_counts import IS_LONG
from portal.browser.servers import open_portal, serve_portal
from portal.portals import LOGS
from rowkey.portal import PortalSettings

if TYPE_CHECKING:
    from portal.browser.servers import ServedPortal

LONG_NAME = "measurements_of_all_machines_in_every_plant_of_the_northern_region"
LONG = f"""\
table = "{LONG_NAME}"
key   = "[bucket(machine_serial_number, 64)][machine_serial_number][measured_at][sensor]"

[fields]
machine_serial_number = {{ type = "text", max_bytes = 90 }}
measured_at = "timestamp_ms"
sensor  = {{ type = "text", max_bytes = 20 }}
value   = "float64"
comment = {{ type = "text", nullable = true }}
image   = {{ type = "bytes", nullable = true }}
"""
MACHINE = "SN-0000000042-" + "x" * 60
ROW = json.dumps({"machine_serial_number": MACHINE, "measured_at": 1_000, "sensor": "speed"})
PAGES = {
    "/designs/logs.toml": 200,
    "/designs/broken.toml": 200,
    f"/tables/{LONG_NAME}": 200,
    f"/tables/{LONG_NAME}/rows": 200,
    "/tables/logs/rows?where=host%20=%20%27none%27": 200,
    "/tables/logs/rows?where=hots%20=%201": 422,
    f"/tables/{LONG_NAME}/row?row={ROW}": 200,
    f"/tables/{LONG_NAME}/operations?count=128&part=0": 200,
    "/tables/logs/operations?count=x": 422,
    "/nothing": 404,
    "/tables/nothing/rows": 422,
}
"""Pages with a query, and of mistakes, by their paths, and the status of each."""
WIDTHS = (360, 1024, 1920)
LANGUAGES = ("en", "zh")
MIN_TARGET_PX = 24
"""The least height of what is pressed. Source: WCAG 2.2, 2.5.8 Target Size (Minimum)."""
SMALL_TARGETS = """(least) => [...document.querySelectorAll("button, select, input, summary")]
  .filter((one) => one.checkVisibility() && one.type !== "checkbox" && one.type !== "radio")
  .filter((one) => one.getBoundingClientRect().height < least)
  .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPortal]:
    """A portal on a directory with tables of long names and values, and a broken design."""
    folder = tmp_path_factory.mktemp("portal")
    designs = folder / "designs"
    designs.mkdir()
    for name, text in (("logs.toml", LOGS), ("broken.toml", 'table = "x"\nkey = "[a][b"\n')):
        (designs / name).write_text(text, "utf-8")
    url = f"rocks:{folder / 'data'}"
    rowkey.open(rowkey.Design.loads(LOGS), url).close()
    with rowkey.open(rowkey.Design.loads(LONG), url) as table:
        for number in range(5):
            table.put(
                {
                    "machine_serial_number": MACHINE,
                    "measured_at": 1_000 * number,
                    "sensor": "speed",
                    "value": 1.5,
                    "comment": "A long comment. " * 20 if number % 2 else None,
                    "image": bytes(range(200)),
                }
            )
    with serve_portal(PortalSettings(designs, url)) as served:
        yield served


def list_pages(view: Any, portal: ServedPortal) -> dict[str, int]:
    """Return the paths of all pages, with the status of each: `PAGES`, and all of a table or file.

    Streams of events are left out, and what is no page.
    """
    paths = {
        route.path.replace("{name}", "logs.toml" if "/designs" in route.path else LONG_NAME)
        for route in portal.app.state.portal_routes
        if route.is_safe and not route.is_public and not route.path.endswith("events")
    }
    found = [view.request.get(portal.origin + path) for path in sorted(paths) if "{" not in path]
    pages = {
        answer.url.removeprefix(portal.origin): answer.status
        for answer in found
        if answer.headers.get("content-type", "").startswith("text/html") and answer.ok
    }
    assert "/" in pages
    return {**pages, **PAGES}


def test_no_page_violates_an_accessibility_rule(browser: Any, portal: ServedPortal) -> None:
    """The program axe finds no violation in a light or a dark page, and no page is large."""
    refused = sum(one >= 400 for one in PAGES.values())
    found: list[tuple[object, ...]] = []
    with open_portal(browser, portal, refused) as view:
        for number, (path, status) in enumerate(list_pages(view, portal).items()):
            view.emulate_media(color_scheme="light")
            answer = view.goto(portal.origin + path)
            assert (path, status) == (path, answer.status)
            assert len(answer.body()) < 200_000
            if IS_LONG or number % 2 == 0:  # `make test` looks at every other page
                found += [(path, *one) for one in list_violations(view)]
            if IS_LONG or number % 4 == 0:  # one style sheet has the colours of all pages
                found += [(path, *one) for one in list_contrast_violations(view, "dark")]
    assert not found, "\n".join(map(str, found))


def list_languages(path: str) -> tuple[str, ...]:
    """Return the languages in which a page is read: one, and both in `make test-long`."""
    return LANGUAGES if IS_LONG else (LANGUAGES[len(path) % 2],)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_overflows_its_window(browser: Any, portal: ServedPortal, language: str) -> None:
    """From a phone to a wide screen nothing overflows or is cut off, or is too small to press."""
    refused = sum(
        status >= 400 and language in list_languages(path) for path, status in PAGES.items()
    )
    found: list[tuple[object, ...]] = []
    with open_portal(browser, portal, refused, locale=language) as view:
        for path in list_pages(view, portal):
            if language not in list_languages(path):
                continue
            view.goto(portal.origin + path)
            assert view.get_attribute("html", "lang").startswith(language)
            view.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            for width in WIDTHS:
                view.set_viewport_size({"width": width, "height": 900})
                if view.evaluate("document.documentElement.scrollWidth") > width:
                    found.append((path, width, "is broader than the window"))
                small = view.evaluate(SMALL_TARGETS, MIN_TARGET_PX) if width == WIDTHS[0] else []
                found += [(path, width, one) for one in [*list_cut_off_titles(view), *small]]
    assert not found, "\n".join(map(str, found))


def list_cut_off_titles(view: Any) -> list[str]:
    """Return what is cut off, apart from regions that scroll by keys."""
    return [one for one in list_cut_off(view) if not one.startswith("DIV scroll")]


def test_the_login_page_violates_no_accessibility_rule(browser: Any, portal: ServedPortal) -> None:
    """The page of those who are not logged in has no violations, light or dark."""
    with open_portal(browser, portal, 1) as view:
        with view.expect_navigation():
            view.get_by_role("button", name="Log out").click()
        assert 401 == view.goto(portal.origin).status
        assert [] == [*list_violations(view), *list_contrast_violations(view, "dark")]


def test_the_cells_of_a_row_are_reached_by_keyboard_with_visible_focus(
    browser: Any, portal: ServedPortal
) -> None:
    """From the list of tables to the cells of a row, each place that has the focus is marked."""
    with open_portal(browser, portal) as view:
        follow_by_keys(view, LONG_NAME)
        follow_by_keys(view, "Rows")
        for text in ("sensor = 'speed'", "measured_at desc"):
            move_focus(view, "INPUT")
            view.keyboard.type(text)
        view.keyboard.press("Enter")
        view.get_by_text("1970-01-01T00:00:04").first.wait_for()
        follow_by_keys(view, "Cells 1")
        view.get_by_role("heading", name="Values").wait_for()
        assert "Tables" == skip_to_content(view)


def move_focus(view: Any, wanted: str) -> None:
    """Press Tab until an element has the focus: of a tag, or whose text begins with a text."""
    for _ in range(60):
        view.keyboard.press("Tab")
        tag, text, outline = view.evaluate(
            """() => { const one = document.activeElement;
            return [one.tagName, one.textContent.trim().replace(/\\s+/g, " "),
                    getComputedStyle(one).outlineStyle]; }"""
        )
        assert "none" != outline, f"{tag} {text} does not show its focus"
        if tag == wanted or text.startswith(wanted):
            return
    raise AssertionError(f"no Tab leads to {wanted}")


def follow_by_keys(view: Any, label: str) -> None:
    """Open a link by keys."""
    before = view.url
    move_focus(view, label)
    view.keyboard.press("Enter")
    view.wait_for_url(lambda url: url != before)


def skip_to_content(view: Any) -> str:
    """Skip the menu by keys, and return the text of the link that comes next."""
    view.keyboard.press("Tab")
    view.keyboard.press("Enter")
    view.keyboard.press("Tab")
    return str(view.evaluate("document.activeElement.textContent"))
