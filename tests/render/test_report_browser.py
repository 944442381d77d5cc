"""The report in a browser: its looks, its keyboard and screen reader use, and its speed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import list_cut_off, list_violations, watch_page
from render.reports import (
    REDACTION,
    build_hostile_page,
    compare_examples,
    enlarge_map,
)
from rowkey.advise import judge_comparison
from rowkey.render import (
    Redaction,
    build_report_document,
    build_report_page,
    show,
)

if TYPE_CHECKING:
    from rowkey.advise import Comparison, JudgedDesign

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ROWS, COLUMNS = (1_536, 1_440) if IS_LONG else (768, 720)
MIN_DRAWN_COLOURS = 20
"""Colours of a map with its labels, which are smoothed, and cells of one load or more."""
MIN_BRIGHTNESS_SPREAD = 10
"""Colours of the servers of a design that is even but for chance."""
MIN_COLOURS = 100
"""Colours that a map of many loads has at least, of the 255 of its scale; a blank one has one."""
MAX_FILLS = 4_000 * ROWS * COLUMNS / (1_536 * 1_440)
"""Empty fills of the same canvas that a painting of a large map may take.

Measured are 100 to 300 for the largest, on a quiet machine and on a busy one: each of its 2.2
million cells then costs about what a hundred pixels of a fill do. Work that grew with the cells of
each row would take a hundred thousand.
"""


@pytest.fixture(scope="module")
def report(
    logs: list[JudgedDesign], comparison: Comparison, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The page of the three designs."""
    return write_page(
        tmp_path_factory, build_report_page(build_report_document(logs, Redaction(), comparison))
    )


@pytest.fixture(scope="module", params=["apache", "flights"])
def demo(request: pytest.FixtureRequest) -> Comparison:
    """The comparison of a recording that `make demo` makes."""
    return compare_examples(request.param)


@pytest.fixture(scope="module")
def demo_document(demo: Comparison) -> dict[str, Any]:
    """The report of the demo as data."""
    return build_report_document(judge_comparison(demo), Redaction(), demo)


@pytest.fixture(scope="module")
def report_view(browser: Any, report: Path) -> Iterator[Any]:
    """The page of the three designs, opened once."""
    with open_page(browser, report) as view:
        yield view


def write_page(factory: pytest.TempPathFactory, page: str) -> Path:
    """Write a page to a file of its own."""
    path = factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


@contextmanager
def open_page(browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> Iterator[Any]:
    """Yield a page whose maps are drawn, and check that it has no errors and no requests."""
    view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    with watch_page(view, path.as_uri()):
        view.goto(path.as_uri())
        view.evaluate("window.dispatchEvent(new Event('beforeprint'))")  # opens all designs
        for number in range(view.locator(".heat").count()):
            view.locator(".heat").nth(number).and_(view.locator("[data-ready]")).wait_for()
        yield view
        view.close()


DISTINCT = """(canvas) => {
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  return new Set(new Uint32Array(pixels.buffer)).size;
}"""


@pytest.mark.parametrize(
    ("demo", "width", "language"),
    [
        ("apache", 360, "en"),
        pytest.param("apache", 1920, "zh", marks=pytest.mark.long),
        pytest.param("flights", 1280, "en", marks=pytest.mark.long),
        pytest.param("flights", 360, "zh", marks=pytest.mark.long),
    ],
    indirect=["demo"],
)
def test_the_demo_report_overflows_no_window(
    browser: Any,
    demo_document: dict[str, Any],
    width: int,
    language: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """From a phone to a wide screen nothing overflows, and each map has its colours."""
    path = write_page(tmp_path_factory, build_report_page(demo_document, language))
    with open_page(browser, path, width) as view:
        assert width >= view.evaluate("document.documentElement.scrollWidth")
        assert [] == list_cut_off(view)
        maps = view.locator(".stage canvas")
        assert 3 == maps.count()
        colours = [maps.nth(number).evaluate(DISTINCT) for number in range(3)]
        small = view.locator(".small-map canvas")
        sketched = [small.nth(number).evaluate(DISTINCT) for number in range(3)]
    assert [] == [one for one in colours if one < MIN_DRAWN_COLOURS]
    assert [] == [one for one in sketched if one < 2]
    assert max(sketched) > MIN_BRIGHTNESS_SPREAD


BRIGHTEST = """(canvas) => {
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let most = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const bright = 0.2126 * pixels[at] + 0.7152 * pixels[at + 1] + 0.0722 * pixels[at + 2];
    most = Math.max(most, bright);
  }
  return [height, most];
}"""


def test_keys_switch_a_map_between_writes_and_reads(browser: Any, report: Path) -> None:
    """Arrows in the radio group, and L on the map, change cells, bars, legend and words."""
    with open_page(browser, report) as view:
        maps = [view.locator(f"#map-{name}") for name in ("d1", "d2")]
        canvas, legend = maps[0].locator(".stage canvas"), view.locator("#map-scale-d1")
        chosen = maps[0].locator("[data-choice=load] input")
        assert ["writes", "reads", "both"] == [one.get_attribute("value") for one in chosen.all()]
        chosen.first.focus()
        seen: list[str] = []
        for load, words in (
            ("writes", "the writes"),
            ("reads", "constant"),
            ("both", "the moment"),
        ):
            assert [load, load] == [one.evaluate("one => one.heatMap.load") for one in maps]
            assert words in legend.inner_text()
            assert chosen.nth(len(seen)).is_checked()
            seen.append(canvas.evaluate(PICTURE))
            view.keyboard.press("ArrowRight")
        assert 3 == len(set(seen))
        assert "writes" == maps[1].evaluate("one => one.heatMap.load")  # the group is a circle
        canvas.focus()
        view.keyboard.press("l")
        assert "; constant over time; " in maps[0].locator(".readout").inner_text()
        assert maps[0].locator("input[type=checkbox]").is_disabled()
        rates = maps[0].evaluate(RATES)
        assert pytest.approx(rates["both"]) == rates["writes"] + rates["reads"]
        maps[0].locator("summary").click()
        maps[0].locator("tbody tr").first.wait_for()
        assert ["Regions", "Writes", "Reads", "Both"] == maps[0].locator(
            "thead th"
        ).all_inner_texts()


PICTURE = """async (canvas) => {
  await new Promise(requestAnimationFrame);
  return canvas.toDataURL();
}"""
"""A map as it is after the next frame."""

RATES = """(one) => Object.fromEntries(["writes", "reads", "both"].map(
  (load) => [load, one.heatMap.viewOf("server", load).all]))"""
"""The operations a second of a map, added up over its columns, by load."""


def test_a_map_cell_without_operations_says_no_load(browser: Any, report: Path) -> None:
    """A cell without writes and reads has no load, rather than no writes."""
    with open_page(browser, report) as view:
        found = view.locator("#map-d1").evaluate(IDLE)
    assert ["no writes", "no reads", "no load"] == found


IDLE = """(one) => ["writes", "reads", "both"].map((load) => {
  const map = one.heatMap, view = map.viewOf("server", load);
  map.viewOf = () => Object.create(view, { rateAt: { value: () => 0 } });
  const said = map.describe("server", load, [0, 0]);
  delete map.viewOf;
  return said.split("; ").at(-1);
})"""
"""What a map says about a cell without a load, by load."""


ARE_DRAWN = """() => [...document.querySelectorAll(".small-map canvas")].every(
  (one) => one.height !== document.createElement("canvas").height)"""
"""Whether every small map has another height than a canvas that nothing was drawn on."""


def test_the_hotter_of_two_compared_maps_is_brighter(
    report_view: Any, logs: list[JudgedDesign]
) -> None:
    """Each design has a small map of its servers, and the hotter map is brighter."""
    small = report_view.locator(".small-map canvas")
    assert len(logs) == small.count()
    report_view.wait_for_function(ARE_DRAWN)
    found = [small.nth(number).evaluate(BRIGHTEST) for number in range(len(logs))]
    named = [small.nth(number).get_attribute("aria-label") for number in range(len(logs))]
    assert [4] * len(logs) == [height for height, _ in found]
    assert all(f"{one.simulation.verdict.skew:.2f}" in str(said)
               for one, said in zip(logs, named, strict=True))  # fmt: skip
    assert found[0][1] < found[2][1]


def test_the_table_of_a_map_adds_up_to_the_loads_of_the_servers(
    report_view: Any, logs: list[JudgedDesign]
) -> None:
    """The table has a row for each region, whose loads add up to those of the servers."""
    report_view.locator("#map-d1 summary").click()
    report_view.locator("#map-d1 tbody tr").first.wait_for()  # the rows are made on the click
    loads = report_view.locator("#map-d1 tbody tr td:nth-of-type(1)").all_inner_texts()
    assert len(logs[0].simulation.regions) == len(loads)
    assert 4 == pytest.approx(sum(float(load.strip("×–") or 0) for load in loads), abs=0.05)


def test_a_report_is_readable_without_javascript(browser: Any, report: Path) -> None:
    """Without scripts all figures are in the page, and its links lead to the designs."""
    view = browser.new_page(
        java_script_enabled=False,
        reduced_motion="reduce",
        viewport={"width": 1280, "height": 900},
    )
    view.goto(report.as_uri())
    assert view.locator("#comparison table").first.is_visible()
    view.locator("nav a").nth(2).click()
    assert view.url.endswith("#d2")
    assert view.locator("#d2 h2").bounding_box()["y"] < 900
    assert not view.locator("#d2-reads").is_visible()
    view.locator("#d2 h2").click()
    assert view.locator("#d2-reads").is_visible()
    assert "drawn by a script" in view.locator("noscript").first.inner_text()
    view.close()


@pytest.mark.parametrize("demo", ["apache"], indirect=True)
def test_the_demo_report_is_usable_by_keyboard(
    browser: Any, demo_document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Tab reaches the map; arrows, a box, 0, Enter and S select, zoom, reset, pin and sort."""
    rows = demo_document["designs"][0]["map"]["views"]["region"]["rows"]
    with open_page(browser, write_page(tmp_path_factory, build_report_page(demo_document))) as view:
        stage, readout = view.locator("#map-d1 .stage canvas"), view.locator("#map-d1 .readout")
        for _ in range(60):
            view.keyboard.press("Tab")
            if view.evaluate("document.activeElement.tagName") == "CANVAS":
                break
        assert stage.evaluate("one => one === document.activeElement")
        assert "region 0" in readout.inner_text()
        view.keyboard.press("ArrowDown")
        assert f"region 1, on server {rows[1]['server']}" in readout.inner_text()
        for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
            view.keyboard.press(key)
        assert [0, 3, 1, 3] == view.evaluate("document.querySelector('#map-d1').heatMap.span")
        view.keyboard.press("0")
        span = view.evaluate("document.querySelector('#map-d1').heatMap.span")
        assert [0, len(rows)] == span[2:]
        view.keyboard.press("Enter")
        assert 1 == view.locator("#map-d1 .pins li").count()
        view.keyboard.press("s")
        view.keyboard.press("ArrowUp")
        assert readout.inner_text().startswith("server 0; ")
        view.keyboard.press("Tab")
        assert view.evaluate("document.activeElement.tagName") == "BUTTON"


def test_a_map_cell_under_the_pointer_is_described(report_view: Any) -> None:
    """The cell under the pointer is described, a box zooms maps of one time, a click pins."""
    view, stage = report_view, report_view.locator("#map-d1 .stage canvas")
    stage.scroll_into_view_if_needed()
    frame = stage.bounding_box()
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    view.mouse.move(x, y)
    assert "× one server's fair share" in view.locator("#map-d1 .readout").inner_text()
    view.mouse.down()
    view.mouse.move(x + 60, y + 30)
    view.mouse.up()
    spans = [
        view.evaluate(f"document.querySelector('#map-{n}').heatMap.span") for n in ("d1", "d2")
    ]
    assert spans[0][1] - spans[0][0] < 100
    assert spans[0][:2] == spans[1][:2]
    view.mouse.click(x, y)
    assert 1 == view.locator("#map-d1 .pins li").count()


@pytest.mark.parametrize(
    ("demo", "language", "scheme"),
    [
        ("apache", "zh", "light"),
        pytest.param("apache", "en", "dark", marks=pytest.mark.long),
        pytest.param("flights", "en", "light", marks=pytest.mark.long),
        pytest.param("flights", "zh", "dark", marks=pytest.mark.long),
    ],
    indirect=["demo"],
)
def test_the_demo_report_violates_no_serious_accessibility_rule(
    browser: Any,
    demo: Comparison,
    language: str,
    scheme: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The program axe finds no serious violation in contrast, names, roles and headings."""
    hiding = REDACTION if language == "zh" else Redaction()
    document = build_report_document(judge_comparison(demo), hiding, demo)
    path = write_page(tmp_path_factory, build_report_page(document, language))
    with open_page(browser, path, scheme=scheme) as view:
        assert [] == list_violations(view)


@pytest.mark.parametrize(
    "colours",
    [
        pytest.param(("#ffffff", "#111111"), marks=pytest.mark.long),
        ("#111418", "#e4e4e4"),
    ],
)
def test_notebook_output_is_legible_and_changes_no_other_style(
    browser: Any,
    comparison: Comparison,
    colours: tuple[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Outputs are legible in a light and a dark notebook, and change nothing around them."""
    first = comparison.designs[0]
    results = (first.simulation, comparison, first.design, first.lint_result)
    pieces = "".join(f"<section>{show(one)._repr_html_()}</section>" for one in results)
    style = "body {{ background: {}; color: {}; font: 14px sans-serif }}".format(*colours)
    other = '<table id="other"><tr><td class="best">1</td></tr></table>'
    page = (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>cells</title>'
        f"<style>{style}</style><body><main><h1>cells</h1>{other}{pieces}</main></body></html>"
    )
    with open_page(browser, write_page(tmp_path_factory, page), 900) as view:
        assert view.evaluate("document.documentElement.scrollWidth") <= 900
        assert "400" == view.evaluate(
            "getComputedStyle(document.querySelector('#other td')).fontWeight"
        )
        assert [] == list_violations(view)


def test_markup_in_names_runs_no_script_in_a_report(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A page of hostile names opens without a dialog, an error or a request."""
    shown: list[str] = []
    with open_page(browser, write_page(tmp_path_factory, build_hostile_page())) as view:
        view.on("dialog", lambda dialog: shown.append(dialog.message))
        view.locator("#map-d1 .stage canvas").focus()
        view.locator("#map-d1 summary").click()
        assert 1 == view.locator("h1").count()
    assert [] == shown


PAINTS = """async () => {
  const map = document.querySelector("#map-d1").heatMap;
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const timed = (act) => {
    const taken = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const from = performance.now();
      act();
      pixel.drawImage(map.canvas, 0, 0, 1, 1, 0, 0, 1, 1);
      pixel.getImageData(0, 0, 1, 1);
      taken.push(performance.now() - from);
    }
    return taken.sort((a, b) => a - b)[1];
  };
  const context = map.canvas.getContext("2d");
  const fill = timed(() => {
    for (let n = 0; n < 100; n += 1) {
      context.fillRect(0, 0, map.canvas.width, map.canvas.height);
    }
  }) / 100;
  const whole = timed(() => map.paint());
  let turn = 0;
  const zoomed = timed(() => {
    turn += 1;
    map.show([turn * 9, map.columns / 2 + turn, turn * 5, map.view.rows.length / 2 + turn]);
    map.paint();
  });
  map.reset();
  map.paint();
  const image = context.getImageData(0, 0, map.canvas.width, map.canvas.height).data;
  const colours = new Set(new Uint32Array(image.buffer)).size;
  return { fill, whole, zoomed, colours, columns: map.columns, rows: map.view.rows.length };
}"""


def test_a_large_map_is_painted_in_a_bounded_number_of_fills(
    browser: Any,
    logs: list[JudgedDesign],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A large map is painted and zoomed in a bounded number of fills."""
    document = build_report_document(logs[:1], Redaction())
    enlarge_map(document, ROWS, COLUMNS)
    with open_page(
        browser, write_page(tmp_path_factory, build_report_page(document)), 1920
    ) as view:
        took = view.evaluate(PAINTS)
    assert (ROWS, COLUMNS) == (took["rows"], took["columns"])
    for name in ("whole", "zoomed"):
        fills = took[name] / took["fill"]
        print(f"{name}: {fills:,.0f} times an empty fill of {took['fill']:.4f} ms")
        assert fills < MAX_FILLS
    assert MIN_COLOURS < took["colours"]
