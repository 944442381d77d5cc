"""Looks at pages: their errors and requests, what does not fit, and what axe finds."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AXE = Path(__file__).parents[1] / "data" / "axe.min.js.gz"
CUT_OFF = """() => [...document.querySelectorAll("nav ul, .scroll, h1, h2, h3, .card, .box, .read")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`)"""
"""What is broader than its place, so that a reader sees its beginning only."""


@contextmanager
def watch_page(view: Any, origin: str, refused_count: int = 0) -> Iterator[Any]:
    """Yield a page, and check at the end that it had no errors and asked no other host.

    Args:
        view: the page, before it is opened.
        origin: how the URLs begin that it may ask for; `data:` is allowed too.
        refused_count: how many requests are refused, which a browser reports as errors.
    """
    said: list[str] = []
    asked: list[str] = []
    view.on("console", lambda message: said.append(message.text))
    view.on("pageerror", lambda error: said.append(str(error)))
    view.on("request", lambda request: asked.append(request.url))
    yield view
    others = [one for one in asked if not one.startswith((origin, "data:"))]
    refused = [one for one in said if one.startswith("Failed to load resource")]
    errors = [one for one in said if one not in refused]
    assert ([], [], refused_count) == (errors, others, len(refused))


def list_cut_off(view: Any) -> list[str]:
    """Return the elements of a page that are broader than their place."""
    found: list[str] = view.evaluate(CUT_OFF)
    return found


def list_violations(view: Any) -> list[tuple[str, str]]:
    """Return the serious violations that axe finds in a fully unfolded page."""
    view.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    view.evaluate(gzip.decompress(AXE.read_bytes()).decode())
    return _run_axe(view, {})


def list_contrast_violations(view: Any, scheme: str) -> list[tuple[str, str]]:
    """Return what cannot be read in another colour scheme, after `list_violations` of the page."""
    view.emulate_media(color_scheme=scheme)
    return _run_axe(view, {"runOnly": ["color-contrast"]})


def _run_axe(view: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the serious violations that axe finds."""
    options = {"resultTypes": ["violations"], **options}
    found = view.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
