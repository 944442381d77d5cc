"""What a design bears: estimated after a change, and simulated with the change made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.advise import JudgedDesign
from rowkey.design import Design

if TYPE_CHECKING:
    from rowkey.advise.robustness import ChangedLoad

EVENTS = 40_000
FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}
READS = [{"name": "one", "where": "host = ? and ts = ?", "rate": "100/s"}]


def draw_hosts(exponent: float) -> list[str]:
    """Return the host of each event: 300 hosts in a Zipf distribution."""
    shares = np.arange(1.0, 301) ** -exponent
    numbers = np.random.default_rng(1).choice(300, EVENTS, p=shares / shares.sum())
    return [f"h{number}" for number in numbers]


def judge(hosts: list[str], servers: int = 4, rate: int = 2_000, ttl: str = "30d") -> JudgedDesign:
    """Return a judged table with a region for each of 16 buckets of hosts."""
    design = Design(
        "t", "[bucket(host, 16)][host][ts]", fields=FIELDS, splits="per_bucket",
        cluster={"servers": servers}, families={"d": {"ttl": ttl}},
        writes={"rate": f"{rate}/s", "time": "ts"}, reads=READS,
    )  # fmt: skip
    times = np.arange(len(hosts)) // 2_000 + 1_700_000_000
    return JudgedDesign(design, pa.table({"host": hosts, "ts": times}))


def get_change(judged: JudgedDesign, change: str) -> ChangedLoad:
    """Return the load after one change."""
    (found,) = [one for one in judged.robustness if one.change == change]
    return found


@pytest.fixture(scope="module")
def judged() -> JudgedDesign:
    """Return the table with 300 unequal hosts."""
    return judge(draw_hosts(0.8))


@pytest.mark.parametrize(("change", "servers"), [("one_more_server", 5), ("double_servers", 8)])
def test_the_estimated_skew_for_more_servers_equals_a_simulation(
    judged: JudgedDesign, change: str, servers: int
) -> None:
    """The skew over more servers is that of a simulation with as many."""
    found = get_change(judged, change)
    assert (str(servers), "fair share") == (found.subject, found.unit)
    real = judge(draw_hosts(0.8), servers).simulation.verdict.skew
    assert pytest.approx(real, rel=0.03) == found.value


def test_the_estimated_skew_for_a_busier_value_equals_a_simulation(judged: JudgedDesign) -> None:
    """The skew is that of a sample in which the busiest host occurs ten times as often."""
    found = get_change(judged, "heaviest_value")
    assert "host h0" == found.subject
    hosts = [one for host in draw_hosts(0.8) for one in [host] * (10 if host == "h0" else 1)]
    real = judge(hosts).simulation.verdict.skew
    assert pytest.approx(real, rel=0.05) == found.value
    assert found.value > 1.5 * judged.simulation.verdict.skew


def test_the_estimated_skew_for_a_more_uneven_distribution_equals_a_simulation(
    judged: JudgedDesign,
) -> None:
    """The skew is that of a sample drawn from the more uneven distribution."""
    found = get_change(judged, "zipf")
    real = judge(draw_hosts(1.0)).simulation.verdict.skew
    assert pytest.approx(real, rel=0.08) == found.value
    assert found.value > judged.simulation.verdict.skew


def test_five_times_the_rates_give_five_times_the_load_on_the_busiest_server(
    judged: JudgedDesign,
) -> None:
    """The busiest server takes the writes and the reads of five times the rate."""
    found = get_change(judged, "rate")
    larger = judge(draw_hosts(0.8), rate=10_000)
    [writes] = [one for one in larger.verdict.assessments if one.topic == "writes"]
    assert writes.utilization is not None
    reads = 5 * 100 * 1.05 / 4 / 10_000
    assert pytest.approx(writes.utilization + reads, rel=0.05) == found.value


def test_the_size_after_a_year_counts_only_rows_within_the_time_to_live() -> None:
    """A table that is kept for ten years is as large after one as one that is kept for it."""
    ten_days, year, ten_years = (
        get_change(judge(draw_hosts(0.0)[:4_000], ttl=ttl), "year").value
        for ttl in ("10d", "365d", "3650d")
    )
    assert pytest.approx(36.5 * ten_days) == year == pytest.approx(ten_years)


def test_no_busiest_value_is_reported_of_unique_values() -> None:
    """Neither a busiest value nor a more uneven distribution is told of unique values."""
    names = {one.change for one in judge([f"h{n}" for n in range(EVENTS)]).robustness}
    assert names == {"rate", "one_more_server", "double_servers", "year"}


def test_robustness_is_not_reported_of_too_few_events() -> None:
    """Nothing is said of events that are too few to judge the writes."""
    assert () == judge(["a", "b"] * 20).robustness
