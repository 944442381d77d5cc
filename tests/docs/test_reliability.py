"""The page on reliability agrees with the measurements, and no fault was silent."""

from __future__ import annotations

import json
from typing import Any

from tools import reliability

RESULTS: dict[str, Any] = json.loads(reliability.MEASURED.read_text(encoding="utf-8"))


def test_the_page_is_drawn_from_what_was_measured() -> None:
    """The page is what `make test-long` generates from its results."""
    assert reliability.build_page(RESULTS) == reliability.PAGE.read_text(encoding="utf-8")


def test_no_history_breaks_the_order_of_a_row() -> None:
    """Every recorded history of an engine is linearizable."""
    found = [one for name, one in RESULTS["figures"].items() if name.startswith("linear")]
    assert found
    assert 0 == sum(one["violations"] for one in found)
