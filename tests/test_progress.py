"""How far work is: shares, speeds and the time left, of reports that follow each other."""

from __future__ import annotations

import pytest

from rowkey import Progress


@pytest.mark.parametrize(
    ("done", "total", "share", "remaining_s"),
    [
        (600, 2_000, 0.3, 140.0),
        (2_000, 2_000, 1.0, 0.0),
        (500, 2_000, 0.25, None),
        (600, 0, None, None),
        (2_100, 2_000, None, None),
    ],
)
def test_the_time_left_is_estimated_from_the_rate_since_the_first_report(
    done: int, total: int, share: float | None, remaining_s: float | None
) -> None:
    """Only what was done since the first report counts for the time left, if the total is known."""
    first = Progress("copy", 500, 2_000, "rows").follow(Progress(), 100.0)
    last = Progress("copy", done, total, "rows").follow(first, 110.0)
    assert (share, remaining_s) == (last.share, last.estimate_remaining_s())
    assert (done - 500) / 10 == last.rate


def test_the_rate_of_a_phase_is_measured_from_its_first_report() -> None:
    """The first report of another phase begins it, with what is done by then."""
    copied = Progress("copy", 90, 100).follow(Progress("copy").follow(Progress(), 0.0), 9.0)
    begun = Progress("verify", 50, 100).follow(copied, 10.0)
    assert (50, 10.0, 0.0) == (begun.done_at_start, begun.started_s, begun.rate)
    assert 5.0 == Progress("verify", 75, 100).follow(begun, 15.0).estimate_remaining_s()
    assert 25.0 == Progress("verify", 75, 100).follow(begun, 15.0).estimate_remaining_s(100)
