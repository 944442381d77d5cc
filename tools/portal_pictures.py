"""Take the pictures of the portal for the docs, on the recording of flights that ships with rowkey.

The portal runs as users start it, and the pages are opened in a real Chromium. Run it after a
change of the pages, and look at what it wrote: `make pictures`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from playwright.sync_api import sync_playwright

import rowkey
from rowkey.portal import PortalSettings, run_server

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "src" / "rowkey" / "examples"
FOLDER = ROOT / "docs" / "pictures"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WIDTH, HEIGHT = 1_000, 640
LIVE_S = 130
"""Seconds for which a client writes, so that the map of the running table has some columns."""
URL = "memory:pictures"


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        (designs := Path(place) / "flights").mkdir()
        link = start_portal(designs)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-US")
        view.goto(link)
        take_pictures(view, link.partition("/login")[0])
        browser.close()
    for path in sorted(FOLDER.glob("*.png")):
        sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes\n")


def start_portal(folder: Path) -> str:
    """Serve a portal on the designs of the flights, and return the link that logs in."""
    for name in ("time_first", "hashed"):
        text = (EXAMPLES / "flights" / f"{name}.toml").read_text("utf-8")
        text = text.replace("../flights.parquet", "flights.parquet")
        (folder / f"{name}.toml").write_text(text, "utf-8")
    shutil.copy(EXAMPLES / "flights.parquet", folder)
    links: SimpleQueue[str] = SimpleQueue()
    options = {"opens_browser": False, "report": links.put}
    settings = PortalSettings(folder, URL, port=0)
    Thread(target=run_server, args=(settings,), kwargs=options, daemon=True).start()
    return links.get()


def take_pictures(view: Any, origin: str) -> None:
    """Go through the portal, and take a picture of each screen that the docs show."""
    view.goto(f"{origin}/designs/hashed.toml")
    save(view, "design", view.get_by_role("heading", name="The row key"))
    view.goto(f"{origin}/simulations?design=time_first.toml&sample=declared")
    submit(view, "Simulate")
    view.locator(".heat[data-ready] canvas").first.wait_for(timeout=60_000)
    save(view, "simulation", view.locator(".card").first)
    save(view, "map", view.get_by_role("heading", name="Load by region and time"))
    view.get_by_role("link", name="Find a better key").click()
    submit(view, "Search")
    view.locator(".card").nth(1).wait_for(timeout=120_000)
    save(view, "advice", view.get_by_role("heading", name="Proposed").first)
    view.goto(f"{origin}/designs/time_first.toml/create")
    view.locator("[name=sample]").select_option("declared")
    submit(view, "Create departures")
    view.get_by_role("link", name="Next: load events").wait_for(timeout=60_000)
    with write_flights("departures"):
        view.goto(f"{origin}/tables/departures/live")
        view.wait_for_timeout(LIVE_S * 1_000)
        view.locator("#map-live[data-ready]").wait_for()
        save(view, "live", view.locator("h1"))
        save(view, "live-map", view.get_by_role("heading", name="Load over time"))
        view.goto(f"{origin}/tables/departures/operations")
        view.locator("[name=design]").select_option("hashed.toml")
        submit(view, "Make a plan")
        view.get_by_role("button", name="Begin the move").wait_for()
        submit(view, "Begin the move")
        view.locator("progress").wait_for()
        save(view, "move", view.locator("h1"))
    view.goto(origin)
    save(view, "tables", view.locator("h1"))


@contextmanager
def write_flights(table_name: str) -> Iterator[None]:
    """Write flights to a table in the order of their time, for the time of a `with` block."""
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(EXAMPLES / "flights.parquet").to_pylist()
    is_stopped = Event()

    def write() -> None:
        with rowkey.open(table_name, URL) as table:
            names = table.design.fields
            for row in rows:
                if is_stopped.wait(0.001):
                    return
                named = {"time": row["time_hour"], **row}
                table.put({name: named[name] for name in names})

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        is_stopped.set()
        thread.join()


def submit(view: Any, name: str) -> None:
    """Press the button of a name, and wait for the next page."""
    with view.expect_navigation():
        view.get_by_role("button", name=name, exact=True).click()


def save(view: Any, name: str, top: Any) -> None:
    """Write the picture of what is seen below an element."""
    top.evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 24)")
    view.wait_for_timeout(500)
    view.screenshot(path=FOLDER / f"portal-{name}.png")


if __name__ == "__main__":
    main()
