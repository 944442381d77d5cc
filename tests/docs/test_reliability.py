"""The page on reliability agrees with the measurements, and no fault was silent."""

from __future__ import annotations

import json
from typing import Any

from tools import reliability

RESULTS: dict[str, Any] = json.loads(reliability.MEASURED.read_text(encoding="utf-8"))


def test_the_page_is_drawn_from_what_was_measured() -> None:
    """The page is what `make test-long` generates from its results."""
    assert reliability.build_page(RESULTS) == reliability.PAGE.read_text(encoding="utf-8")


def test_all_faults_were_tried_and_each_silent_one_is_named() -> None:
    """Of 20,000 faults of 11 types and 12 objects, the page names each silent wrong answer."""
    outcomes = RESULTS["figures"]["matrix"]["outcomes"]
    page = reliability.PAGE.read_text(encoding="utf-8")
    for one in outcomes:
        for wrong in one["wrong"]:
            assert f"--object {one['object_name']} --fault {one['fault_name']}" in page, wrong
    tried = [(one["object_name"], one["fault_name"]) for one in outcomes if one["faults"]]
    assert sum(one["faults"] for one in outcomes) >= 20_000
    assert len({name for name, _ in tried}) >= 12
    assert len({fault for _, fault in tried}) >= 11


def test_no_history_breaks_the_order_of_a_row() -> None:
    """Every recorded history of an engine is linearizable."""
    found = [one for name, one in RESULTS["figures"].items() if name.startswith("linear")]
    assert found
    assert 0 == sum(one["violations"] for one in found)
