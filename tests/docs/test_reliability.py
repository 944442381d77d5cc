"""The page on reliability agrees with the measurements, and no fault was silent."""

from __future__ import annotations

import json
from typing import Any

from tools import reliability

RESULTS: dict[str, Any] = json.loads(reliability.MEASURED.read_text(encoding="utf-8"))
STATES = ("closed", "killed")


def test_the_page_is_drawn_from_what_was_measured() -> None:
    """The page is what `make test-long` generates from its results."""
    assert reliability.build_page(RESULTS) == reliability.PAGE.read_text(encoding="utf-8")


def test_all_faults_were_tried_and_none_was_silent() -> None:
    """Each file had 200 flipped bits, 40 cuts and 40 zeroed ranges without a wrong result."""
    for state in STATES:
        outcomes = RESULTS["figures"][f"files {state}"]
        assert [] == [wrong for one in outcomes for wrong in one["wrong"]]
        tried = {(one["file"], one["fault"]): one["faults"] for one in outcomes}
        for file in ("t/descriptor.json", "t/CURRENT", "MANIFEST", ".catalog/t.json"):
            counts = [tried[file, fault] for fault in reliability.FAULTS]
            assert [200, 40, 40, 1] == counts, file


def test_no_history_breaks_the_order_of_a_row() -> None:
    """Every recorded history of an engine is linearizable."""
    found = [one for name, one in RESULTS["figures"].items() if name.startswith("linear")]
    assert found
    assert 0 == sum(one["violations"] for one in found)
