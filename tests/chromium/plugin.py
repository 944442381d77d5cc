"""The fixture for a browser: one Chromium per session, and a loud notice where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from oracles.plugin import give_up

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
DISABLED_FEATURES = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
"""Features of Chromium that tests do without: the first two render two hidden pages for each new
window, in more time than most tests need; Playwright turns the others off, and this replaces it."""
ARGUMENTS = ["--no-sandbox", f"--disable-features={','.join(DISABLED_FEATURES)}"]
MISSING = (
    "no page was opened in a browser. Install Debian's chromium and the dev group, or name a "
    "Chromium in the variable CHROMIUM."
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one the tests are skipped loudly, or fail."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up(MISSING)
    if CHROMIUM is None:
        give_up(MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
