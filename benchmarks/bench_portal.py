"""How fast the portal answers, paints and zooms, and how many bytes its pages move."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import operator
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from timing import REPEATS, Result

ROWS, COLUMNS, SERVERS = 1_536, 1_440, 16
DESIGNS, EVENTS = 8, 20_000
MAX_MAP_S, MAX_PAINT_S, MIN_FRAMES = 0.150, 0.100, 58
MAX_PAGE_S, MAX_PAGE_BYTES = 0.300, 200_000
NOTE = (
    "A browser without a cache opens each page of a portal on the same machine; bytes are those of "
    "bodies as they are sent, of all files but maps. Pages are sent as they are, files and maps "
    "compressed. The map has a load in each of its cells, so that nothing of it is cheap. 60 "
    "frames a second are all that the browser draws."
)
DESIGN = """\
table  = "logs"
key    = "[bucket(host, {buckets})][host][ts]"
splits = "per_bucket"

[fields]
host = {{ type = "text", max_bytes = 40 }}
ts   = "timestamp_ms"
note = "text"

[writes]
rate = "2000/s"
for  = "60s"

[cluster]
servers = 16

[sample]
path = "events.csv"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
limit = 100
"""
START = """\
import sys
from pathlib import Path
from rowkey.portal import PortalSettings, run_server
run_server(
    PortalSettings(Path(sys.argv[1]), port=0), opens_browser=False,
    report=lambda url: print(url, flush=True),
)
"""
PAINT = """async (repeats) => {
  const map = document.querySelector("#map-d1").heatMap;
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const time = (act) => {
    const start = performance.now();
    act();
    pixel.drawImage(map.canvas, 0, 0, 1, 1, 0, 0, 1, 1);
    pixel.getImageData(0, 0, 1, 1);  // waits until it is drawn
    return performance.now() - start;
  };
  const context = map.canvas.getContext("2d"), { width, height } = map.canvas;
  const paints = [], fills = [];
  for (let turn = 0; turn <= repeats; turn += 1) {
    paints.push(time(() => map.paint()));
    fills.push(time(() => {
      for (let n = 0; n < 100; n += 1) context.fillRect(0, 0, width, height);
    }) / 100);
  }
  return { paints: paints.slice(1), fills: fills.slice(1), width, height };
}"""
"""Paints a map and fills its canvas, in turn, after one of each to warm up."""
ZOOM = """(count) => new Promise((resolve) => {
  const map = document.querySelector("#map-d1").heatMap, starts = [];
  const step = (now) => {
    starts.push(now);
    if (starts.length > count) {
      map.reset();
      resolve(starts.slice(1).map((one, at) => one - starts[at]));
      return;
    }
    map.zoom(starts.length % 60 < 30 ? 0.95 : 1 / 0.95, [700, 700]);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
"""Zooms in and out with each frame, and returns the milliseconds between two of them."""


FIRST_PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    const [entry] = list.getEntriesByName("first-contentful-paint");
    if (!entry) return;
    observer.disconnect();
    resolve(entry.startTime);
  }).observe({ type: "paint", buffered: true });
})"""
"""The milliseconds from the start of the navigation until the page first shows something."""


@dataclass(frozen=True)
class PreparedPortal:
    """A portal that is open in a browser.

    Args:
        browser: Chromium.
        url: where the portal listens.
        cookies: those of a user.
        pages: the paths of its pages by name.
        map_path: the path of the large map, by region.
    """

    browser: Any
    url: str
    cookies: list[Any]
    pages: Mapping[str, str]
    map_path: str


def measure_all() -> Iterator[Result]:
    """Yield all results on the portal."""
    with TemporaryDirectory() as place, open_portal(Path(place)) as portal:
        yield measure_map_response(portal)
        yield from measure_painting(portal)
        for name, path in portal.pages.items():
            yield measure_page(portal, name, path)


@contextmanager
def open_portal(place: Path) -> Iterator[PreparedPortal]:
    """Yield a portal with results, which runs in a process of its own.

    Args:
        place: an empty folder.
    """
    from playwright.sync_api import sync_playwright

    names = [f"{number}_buckets.toml" for number in range(16, 16 + 4 * DESIGNS, 4)]
    for name in names:
        text = DESIGN.format(buckets=name.partition("_")[0])
        (place / name).write_text(text, encoding="utf-8")
    lines = [f"web-{n % 500},{1_700_000_000_000 + n * 100},started\n" for n in range(EVENTS)]
    (place / "events.csv").write_text("".join(["host,ts,note\n", *lines]), encoding="utf-8")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    command = [sys.executable, "-c", START, str(place)]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        try:
            login = server.stdout.readline().strip()
            url = f"http://{urlsplit(login).netloc}"
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            context = browser.new_context()
            view = context.new_page()
            view.goto(login)
            links = view.locator(".menu a").all()
            pages = {str(path): str(path) for path in [one.get_attribute("href") for one in links]}
            pages["of a design"] = f"/designs/{names[0]}"
            single, many = compare(view, url, names[:1]), compare(view, url, names)
            enlarge_map(next(place.rglob(single.rpartition("/")[2])))
            pages[f"of a simulation of {ROWS:,} × {COLUMNS:,}"] = single
            pages[f"of a comparison of {DESIGNS} designs"] = many
            map_path = f"{single}/maps/d1/region"
            yield PreparedPortal(browser, url, context.cookies(), pages, map_path)
            browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def compare(view: Any, url: str, names: list[str]) -> str:
    """Simulate a design, or compare several, with the declared events; return the result's path."""
    view.goto(f"{url}/{'simulations' if len(names) == 1 else 'comparisons'}")
    if len(names) == 1:
        view.select_option("[name=design]", names[0])
    for name in names[1:] and names:
        view.check(f"[name='design:{name}']")
    view.select_option("[name=sample]", "declared")
    view.click("button.primary")
    view.locator("#d1").wait_for()
    return str(urlsplit(view.url).path)


def enlarge_map(folder: Path) -> None:
    """Replace the map of a stored simulation by a large one."""
    result_file = folder / "result.json"
    result = json.loads(result_file.read_text(encoding="utf-8"))
    # Counts from 1 to 127 are bytes of their own in the map's encoding.
    counts = np.random.default_rng(6).zipf(1.3, (COLUMNS, ROWS)).clip(1, 127).astype(np.uint8)
    packed = base64.b64encode(zlib.compress(counts.tobytes())).decode()
    rows = [
        {"first": n, "last": n, "server": n % SERVERS, "start": f"host {n}"} for n in range(ROWS)
    ]
    view = json.dumps({"rows": rows, "counts": packed, "marks": []})
    (folder / "map-d1-region.json.gz").write_bytes(gzip.compress(view.encode()))
    shown = result["report"]["designs"][0]["map"]
    shown["columns"] = COLUMNS
    shown["views"]["region"]["row_count"] = ROWS
    result_file.write_text(json.dumps(result), encoding="utf-8")


def measure_map_response(portal: PreparedPortal) -> Result:
    """Measure how long the server takes to send a large map."""
    place = urlsplit(portal.url)
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in portal.cookies)
    times, size = [], 0
    for _ in range(REPEATS + 1):
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30)
        start_s = time.perf_counter()
        headers = {"cookie": cookie, "accept-encoding": "gzip"}
        connection.request("GET", portal.map_path, headers=headers)
        response = connection.getresponse()
        size = len(response.read())
        times.append(time.perf_counter() - start_s)
        assert response.status == http.client.OK
        connection.close()
    took_s = statistics.median(times[1:])
    return Result(
        f"sending a map of {ROWS:,} × {COLUMNS:,}",
        "maps/s",
        [1 / one for one in times[1:]],
        goal=f"at most {MAX_MAP_S * 1e3:.0f} ms",
        met=took_s <= MAX_MAP_S,
        notes=f"{took_s * 1e3:.1f} ms for {size / 1e6:.2f} MB",
    )


def measure_painting(portal: PreparedPortal) -> Iterator[Result]:
    """Yield how fast a large map is painted and zoomed."""
    context = portal.browser.new_context(viewport={"width": 1_920, "height": 1_000})
    context.add_cookies(portal.cookies)
    view = context.new_page()
    view.goto(portal.url + portal.map_path.partition("/maps/")[0])
    view.locator("#map-d1[data-ready] canvas").wait_for()
    found = view.evaluate(PAINT, REPEATS)
    took_ms = statistics.median(found["paints"])
    fills = statistics.median(map(operator.truediv, found["paints"], found["fills"]))
    browser = f"Chromium {portal.browser.version}, playwright {version('playwright')}"
    yield Result(
        f"painting a map of {ROWS:,} × {COLUMNS:,}",
        "paints/s",
        [1e3 / one for one in found["paints"]],
        goal=f"at most {MAX_PAINT_S * 1e3:.0f} ms",
        met=took_ms <= MAX_PAINT_S * 1e3,
        notes=f"{took_ms:.1f} ms on {found['width']} × {found['height']} pixels, {fills:.0f} times "
        f"an empty fill of these; {browser}",
    )
    rates = []
    for _ in range(REPEATS):
        frames_ms = view.evaluate(ZOOM, 120)
        rates.append(1e3 * len(frames_ms) / sum(frames_ms))
    yield Result(
        "zooming into it and out again",
        "frames/s",
        rates,
        goal=f"at least {MIN_FRAMES} frames a second",
        met=statistics.median(rates) >= MIN_FRAMES,
    )
    context.close()


def measure_page(portal: PreparedPortal, name: str, path: str) -> Result:
    """Measure when a page first shows something, and what it moves."""
    times, moved, requests = [], 0, 0
    for _ in range(REPEATS + 1):
        context = portal.browser.new_context()
        context.add_cookies(portal.cookies)
        view = context.new_page()
        seen: list[Any] = []
        view.on("requestfinished", lambda request, seen=seen: seen.append(request))
        view.goto(portal.url + path)
        view.wait_for_load_state("networkidle")
        times.append(view.evaluate(FIRST_PAINT) / 1e3)
        sizes = [one.sizes()["responseBodySize"] for one in seen if "/maps/" not in one.url]
        moved, requests = sum(sizes), len(seen)
        context.close()
    took_s = statistics.median(times[1:])
    return Result(
        f"page {name}",
        "first paints/s",
        [1 / one for one in times[1:]],
        goal=f"at most {MAX_PAGE_S * 1e3:.0f} ms and {MAX_PAGE_BYTES / 1e3:.0f} kB",
        met=took_s <= MAX_PAGE_S and moved <= MAX_PAGE_BYTES,
        notes=f"{took_s * 1e3:.0f} ms, {moved / 1e3:.1f} kB but for maps, {requests} requests",
    )
