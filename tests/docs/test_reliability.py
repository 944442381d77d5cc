"""The page on reliability agrees with the measurements, and no fault was silent."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tools import reliability

RESULTS: dict[str, Any] = json.loads(reliability.MEASURED.read_text(encoding="utf-8"))


def test_the_reliability_page_equals_what_make_test_long_generates() -> None:
    """The page is what `make test-long` generates from its results."""
    assert reliability.build_page(RESULTS) == reliability.PAGE.read_text(encoding="utf-8")


def test_none_of_20000_faults_had_a_silent_wrong_answer() -> None:
    """Of 20,000 faults of 11 types and 12 objects, none had a silent wrong answer or a crash."""
    outcomes = RESULTS["figures"]["matrix"]["outcomes"]
    counts: Counter[str] = Counter()
    for one in outcomes:
        for verdicts in one["verdicts"].values():
            counts.update(verdicts)
    tried = [(one["object_name"], one["fault_name"]) for one in outcomes if one["faults"]]
    assert sum(one["faults"] for one in outcomes) >= 20_000
    assert len({name for name, _ in tried}) >= 12
    assert len({fault for _, fault in tried}) >= 11
    assert (0, 0) == (counts["silent wrong"], counts["crashed"])


def test_every_recorded_history_of_an_engine_is_linearizable() -> None:
    found = [one for name, one in RESULTS["figures"].items() if name.startswith("linear")]
    assert found
    assert 0 == sum(one["violations"] for one in found)
