"""Simulations and comparisons of the portal in a browser: uploads, maps, links and looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import list_cut_off, list_violations, watch_page
from portal.browser.servers import serve_portal
from portal.portals import LOGS
from rowkey import Design
from rowkey.advise import JudgedDesign
from rowkey.portal import PortalSettings

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

EVENTS = "host,ts,note\n" + "".join(
    f"web-{n % 7 if n % 3 else 1},{1_700_000_000_000 + n * 1_000},x\n" for n in range(3_000)
)
DESIGN = f"""{LOGS.partition("[[reads]]")[0]}
[writes]
rate = "3000/s"

[cluster]
servers  = 4
capacity = "4000/s"
"""
SPLITS = 'splits = { algorithm = "sample", regions = 24 }\n'
DESIGNS = {
    "buckets": DESIGN.replace("\n[fields]", f"{SPLITS}\n[fields]"),
    "one_region": DESIGN,
    "time_first": DESIGN.replace("[bucket(host, 16)][host][ts]", "[ts][host]"),
}
MAX_PAGE_BYTES = 200_000
SPANS = "() => [...document.querySelectorAll('.heat')].map((one) => one.heatMap.span.slice(0, 2))"
SETTINGS = "() => document.querySelector('.heat').heatMap.control.settings"


@dataclass(frozen=True)
class OpenPortal:
    """A portal in a browser, with a comparison of all designs.

    Args:
        context: the browser's context, which is logged in.
        origin: the scheme, name and port of the portal.
        comparison_url: the page of the comparison.
        events_file: the file of events that was uploaded for it.
    """

    context: Any
    origin: str
    comparison_url: str
    events_file: Path

    @contextmanager
    def open(self, url: str, width: int = 1280) -> Iterator[Any]:
        """Yield a page, and check that it has no errors and requests nothing from elsewhere."""
        view = self.context.new_page()
        view.set_viewport_size({"width": width, "height": 900})
        with watch_page(view, self.origin):
            view.goto(url if url.startswith("http") else self.origin + url)
            yield view
            view.close()


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[OpenPortal]:
    """A portal with three designs, whose comparison has ended."""
    folder = tmp_path_factory.mktemp("portal")
    designs, events = folder / "designs", folder / "events.csv"
    designs.mkdir()
    events.write_text(EVENTS, "utf-8")
    for name, text in DESIGNS.items():
        (designs / f"{name}.toml").write_text(text, "utf-8")
    with serve_portal(PortalSettings(designs)) as served:
        context = browser.new_context(locale="en")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        view = context.new_page()
        view.goto(served.create_login_url())
        view.goto(f"{served.origin}/comparisons")
        view.set_input_files("#upload [type=file]", events)
        view.wait_for_url("**/comparisons?sample=*")
        for box in view.locator("[type=checkbox]").all():
            box.check()
        view.click("button.primary")
        view.locator(".small-map canvas").nth(len(DESIGNS) - 1).wait_for()
        yield OpenPortal(context, served.origin, view.url, events)
        context.close()


def open_designs(view: Any, *numbers: int) -> None:
    """Open designs of a comparison, and wait until their maps are drawn."""
    for number in numbers:
        view.locator(f"#d{number}").evaluate("one => { one.open = true; }")
        view.locator(f"#map-d{number}[data-ready] canvas").wait_for()


def judge(name: str, events: Path) -> Simulation:
    """Return what a portal simulates, computed without one."""
    judged = JudgedDesign(Design.loads(DESIGNS[name]), events, second_half=name == "buckets")
    return judged.simulation


def test_zooming_one_compared_map_zooms_all(portal: OpenPortal) -> None:
    """A box on a small map zooms all maps, a setting is that of all, and the address holds both."""
    with portal.open(portal.comparison_url) as view:
        small = view.locator(".small-map").first
        small.scroll_into_view_if_needed()
        view.locator(".small-map canvas").nth(2).wait_for()
        frame = small.bounding_box()
        before = view.evaluate(SPANS)
        view.mouse.move(frame["x"] + frame["width"] * 0.25, frame["y"] + 20)
        view.mouse.down()
        view.mouse.move(frame["x"] + frame["width"] * 0.5, frame["y"] + 20)
        view.mouse.up()
        columns = before[0][1]
        spans = view.evaluate(SPANS)
        assert [spans[0]] * len(DESIGNS) == spans
        assert spans[0] == pytest.approx([columns / 4, columns / 2], abs=1.01)
        view.locator("#map-tools input[value=fair]").check()
        open_designs(view, 1, 2)
        view.locator("#map-d2 input[type=range]").fill("3")
        view.locator("#map-d1 input[value=server]").check()
        checked = view.locator("input[value=server]:checked, input[value=fair]:checked")
        assert 5 == checked.count()  # of two designs, and above all
        settings = {"kind": "server", "load": "writes", "scale": "fair", "brightness": 3}
        assert settings == view.evaluate(SETTINGS)
        view.wait_for_url("**?kind=server&scale=fair&brightness=3&columns=*")
        link = view.url
    with portal.open(link) as view:
        view.locator("#map-d1[data-ready]").wait_for()
        assert (settings, spans) == (view.evaluate(SETTINGS), view.evaluate(SPANS))


def test_the_map_table_shows_figures_relative_to_the_declared_capacity(portal: OpenPortal) -> None:
    """The first scale is that of a declared capacity; its figures are those of the replay."""
    with portal.open(portal.comparison_url) as view:
        open_designs(view, 3)
        view.locator("#map-d3 input[value=server]").check()
        view.locator("#map-d3[data-kind=server]").wait_for()
        view.locator("#map-d3 summary", has_text="table").click()
        cells = view.locator("#map-d3 tbody td:nth-of-type(1)")
        cells.first.wait_for()
        found = [float(text.strip("%–") or 0) / 100 for text in cells.all_inner_texts()]
        scale = view.locator("#map-scale-d3").inner_text()
        bars = view.locator("#map-d3").evaluate(BARS)
    simulation = judge("time_first", portal.events_file)
    placed = [region.server for region in simulation.regions]
    operations = simulation.build_operation_map(placed, 4)
    assert operations is not None
    expected = operations.compute_rates("writes").mean(axis=0) / 4_000
    assert "4,000 operations a second, as declared" in scale
    assert found == pytest.approx(list(expected), abs=0.006)
    later = operations.compute_rates("writes")[3:9, 1:3] / 4_000
    assert bars == [pytest.approx(list(one)) for one in (later.mean(axis=0), later.max(axis=0))]


BARS = """(one) => {
  one.heatMap.show([3, 9, 1, 3]);
  return [one.heatMap.rowLoads.means, one.heatMap.rowLoads.peaks].map((found) => [...found]);
}"""
"""The mean and the highest load of two servers in a part of the time."""


def test_a_map_cell_can_be_pinned_and_its_key_copied(portal: OpenPortal) -> None:
    """Rows by bucket begin with it; a pin has a letter; C and a button copy the key of the row."""
    simulation = judge("buckets", portal.events_file)
    buckets = sorted({region.start[0] for region in simulation.regions if region.start})
    with portal.open(portal.comparison_url) as view:
        open_designs(view, 1)
        place, stage = view.locator("#map-d1"), view.locator("#map-d1 .stage canvas")
        place.locator("input[value=prefix]").check()
        view.locator("#map-d1[data-kind=prefix]").wait_for()
        stage.focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter", "ArrowDown"):
            view.keyboard.press(key)
        readout, pins = place.locator(".readout"), place.locator(".pins li")
        prefixes = [row.get("hex") for row in place.evaluate("one => one.heatMap.view.rows")]
        assert [None, *(f"{one:02x}" for one in buckets)] == prefixes
        assert readout.inner_text().startswith(f"bucket {buckets[2]} (region")
        assert "a" == pins.locator("b").inner_text()
        assert pins.locator("span").inner_text().startswith(f"bucket {buckets[1]} (region")
        pins.get_by_text("Copy key").click()
        copied = [view.evaluate("navigator.clipboard.readText()")]
        stage.focus()
        view.keyboard.press("c")
        place.get_by_text("Copied: ").wait_for()
        copied.append(view.evaluate("navigator.clipboard.readText()"))
        assert [f"\\x{one:02X}" for one in buckets[1:3]] == copied


def test_the_map_can_be_used_while_other_rows_are_loading(portal: OpenPortal) -> None:
    """Until the rows that were chosen have come, keys work on those that are shown."""
    with portal.open(portal.comparison_url) as view:
        open_designs(view, 1)
        waiting: list[Any] = []
        view.route("**/maps/d1/prefix", lambda route: waiting.append(route))  # noqa: PLW0108
        place = view.locator("#map-d1")
        place.locator("input[value=prefix]").check()
        place.locator("canvas").focus()
        view.keyboard.press("ArrowDown")
        assert place.locator(".readout").inner_text().startswith("region 1, ")
        waiting[0].continue_()
        view.locator("#map-d1[data-kind=prefix]").wait_for()
        view.keyboard.press("ArrowDown")
        assert place.locator(".readout").inner_text().startswith("bucket ")


def test_dragging_below_the_map_zooms_into_a_time(portal: OpenPortal) -> None:
    """A drag below the map zooms into a time, and one with a finger does on the map itself."""
    with portal.open(portal.comparison_url) as view:
        open_designs(view, 1)
        stage = view.locator("#map-d1 .stage canvas")
        stage.scroll_into_view_if_needed()
        frame = stage.bounding_box()
        rows = view.evaluate("document.querySelector('#map-d1').heatMap.wholeRows")
        y = frame["y"] + frame["height"] - 8
        view.mouse.move(frame["x"] + frame["width"] * 0.5, y)
        view.mouse.down()
        view.mouse.move(frame["x"] + frame["width"] * 0.7, y - 60)
        view.mouse.up()
        span = view.evaluate("document.querySelector('#map-d1').heatMap.span")
        assert rows == span[2:]
        stage.evaluate(TOUCH)
        inner = view.evaluate("document.querySelector('#map-d1').heatMap.span")
        assert rows == inner[2:]
        assert span[0] < inner[0] < inner[1] < span[1]


TOUCH = """(canvas) => {
  const frame = canvas.getBoundingClientRect();
  const send = (type, part, y) => canvas.dispatchEvent(new PointerEvent(type, {
    pointerType: "touch", pointerId: 7, isPrimary: true, bubbles: true,
    clientX: frame.left + frame.width * part, clientY: frame.top + y,
  }));
  send("pointerdown", 0.5, 90);
  send("pointermove", 0.6, 120);
  send("pointerup", 0.6, 120);
}"""


def test_an_upload_is_checked_before_it_is_sent_and_can_be_cancelled(
    portal: OpenPortal, tmp_path: Path
) -> None:
    """What would be refused is told before it is sent, and what is being sent can be cancelled."""
    with portal.open("/simulations") as view:
        status, field = view.locator("#upload-status"), view.locator("#upload [type=file]")
        sent: list[str] = []
        view.on("request", lambda request: sent.append(request.method))
        for name, content, sentence in (
            ("a.csv", "", "is empty"),
            ("a.exe", "x", "Rename it"),
            ("b.csv", "x" * 3_000_000, "has 2.9 MB, and at most"),
        ):
            (tmp_path / name).write_text(content, "utf-8")
            if name == "b.csv":
                view.evaluate("document.querySelector('#upload').dataset.maxMegabytes = 2")
            field.set_input_files(tmp_path / name)
            assert sentence in status.inner_text()
        assert "POST" not in sent
        view.route("**/samples?*", lambda route: None)  # never answered
        field.set_input_files(portal.events_file)
        view.get_by_text("Cancel the upload").click()
        status.get_by_text("events.csv was not stored: the upload was cancelled.").wait_for()
        assert [True, False] == [
            view.locator("#upload progress").is_hidden(),
            field.is_disabled(),
        ]


@pytest.mark.parametrize(
    ("language", "width"),
    [
        ("zh", 360),
        *(pytest.param(*one, marks=pytest.mark.long) for one in (("en", 360), ("zh", 1_920))),
    ],
)
def test_simulation_pages_are_accessible_and_do_not_overflow(
    portal: OpenPortal, language: str, width: int
) -> None:
    """Nothing overflows or breaks a rule of axe, and a page without its maps is small."""
    for path in ("/simulations", "/comparisons", portal.comparison_url):
        with portal.open(f"{path}?lang={language}", width) as view:
            sizes: list[Any] = []
            view.on("response", lambda response, sizes=sizes: sizes.append(response))
            view.reload()
            if path == portal.comparison_url:
                open_designs(view, 1)
            pages = [one for one in sizes if "/maps/" not in one.url]
            moved = sum(one.request.sizes()["responseBodySize"] for one in pages)
            assert 0 < moved <= MAX_PAGE_BYTES
            assert width >= view.evaluate("document.documentElement.scrollWidth")
            assert [] == list_cut_off(view) or width < 400
            assert [] == list_violations(view)


def test_a_simulation_result_is_readable_without_javascript(portal: OpenPortal) -> None:
    """Without JavaScript the figures are in the page, and the form says what it cannot do."""
    cookies = [one for one in portal.context.cookies() if "session" in one["name"]]
    context = portal.context.browser.new_context(java_script_enabled=False, locale="en")
    context.add_cookies(cookies)
    view = context.new_page()
    view.goto(portal.comparison_url)
    assert view.locator("#comparison table").is_visible()
    assert "drawn by a script" in view.locator("noscript").first.inner_text()
    view.goto(f"{portal.origin}/simulations?lang=en")
    assert "no file can be uploaded" in view.locator("noscript p").inner_text()
    assert view.locator("#upload").is_hidden()
    assert len(DESIGNS) == view.locator("select[name=design] option").count()
    context.close()
