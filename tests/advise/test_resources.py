"""What a design needs: servers, disk and cost by the book's arithmetic, measured on a sample."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rowkey.advise import (
    JudgedDesign,
    Resources,
    compare_designs,
    estimate_resources,
    judge_design,
    search,
)
from rowkey.cells import compute_cell_bytes
from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.render import (
    build_advice_document,
    build_comparison_document,
    format_advice,
    format_comparison,
)
from rowkey.simulate import choose_source_splits, open_source, run_on_source

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

SPREAD_KEY, HOT_KEY = "[bucket(host, 16)][host][ts]", "[ts][host]"
PRICES = {"price_per_server_hour": 0.5, "price_per_gib_month": 0.04}
TTL_S, GIB = 86_400, 2**30
EVENTS = 4_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1_600
TAIL = {"name": "tail", "where": "host = ?", "order": "ts desc", "limit": 10}


@cache
def build_sample(count: int = EVENTS, line: str = "INFO request served in {n} ms") -> pa.Table:
    """Return a sample of log lines of 200 hosts."""
    chance = Random(1)
    return pa.table(
        {
            "host": [f"web-{chance.randrange(200):03}" for _ in range(count)],
            "ts": [1_700_000_000_000 + n for n in range(count)],
            "line": [line.format(n=n % 7, hex=chance.randbytes(20).hex()) for n in range(count)],
        }
    )


def build_design(key: str = SPREAD_KEY, rate: str | None = "5000/s", **options: Any) -> Design:
    """Return a design of log lines."""
    family = {"ttl": f"{TTL_S}s", **options.pop("family", {})}
    cluster = {"servers": 8, "capacity": "10000/s", **options.pop("cluster", {})}
    uniform = {"algorithm": "uniform", "regions": 8}
    splits = options.pop("splits", "per_bucket" if key.startswith("[bucket") else uniform)
    fields: dict[str, Any] = {
        "host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_ms", "line": "text",
    }  # fmt: skip
    writes = {} if rate is None else {"rate": rate}
    return Design(
        "logs", key, fields=fields, splits=splits, families={"d": family}, cluster=cluster,
        writes={**writes, **options.pop("writes", {})}, **options,
    )  # fmt: skip


def simulate(design: Design, sample: pa.Table | None = None) -> Simulation:
    """Return the replay of a sample on a design, with all fields."""
    events = build_sample() if sample is None else sample
    source = open_source(design, events, None, second_half=False, seed=0, keeps_all_fields=True)
    return run_on_source(design, source, seed=0)


def estimate(key: str = SPREAD_KEY, rate: str | None = "5000/s", **options: Any) -> Resources:
    """Return what a design of log lines needs."""
    sample = options.pop("sample", None)
    return estimate_resources(simulate(build_design(key, rate, **options), sample))


def test_resource_figures_equal_those_computed_from_the_hbase_book() -> None:
    """KeyValues of the book, the rate, the ttl, three copies, 730 hours and the prices."""
    needs = estimate(cluster=PRICES)
    table = build_sample().to_pydict()
    sizes = [
        compute_cell_bytes(1 + len(host) + 1 + 8, 1, len("line"), len(line)) + 1
        for host, line in zip(table["host"], table["line"], strict=True)
    ]
    event_bytes = sum(sizes) / len(sizes)
    disk_bytes = 5_000 * TTL_S * event_bytes * 3
    assert pytest.approx(event_bytes) == needs.event_disk_bytes
    assert pytest.approx(disk_bytes) == needs.disk_bytes.value
    assert 5_000 == needs.operations_per_s.value
    assert needs.servers.value == 1  # half of 10,000/s is 5,000/s, all on one server
    cost = 730 * 0.5 + disk_bytes / GIB * 0.04
    assert pytest.approx(cost) == needs.cost_per_month.value
    assert f"1 server × 730 h × 0.5 + {disk_bytes / GIB:,.1f} GiB × 0.04" == (
        needs.cost_per_month.formula
    )


def test_cost_never_falls_when_the_write_rate_rises() -> None:
    """More writes need as many servers, as much disk and as much money, or more."""
    simulation = simulate(build_design(cluster=PRICES, reads=[{**TAIL, "rate": "3000/s"}]))
    costs: list[tuple[float, ...]] = []
    for rate in (1, 100, 1_000, 4_000, 5_000, 9_000, 15_000, 30_000, 45_000):
        object.__setattr__(simulation.design.writes, "rate", float(rate))
        needs = estimate_resources(simulation)
        figures = needs.servers, needs.operations_per_s, needs.disk_bytes, needs.cost_per_month
        assert all(one.value is not None for one in figures), rate
        costs.append(tuple(one.value or 0.0 for one in figures))
    for figures_by_rate in zip(*costs, strict=True):
        assert sorted(figures_by_rate) == list(figures_by_rate)
    assert costs[0][0] < costs[-1][0]


def test_with_the_needed_servers_the_busiest_takes_half_its_capacity_at_most() -> None:
    simulation = simulate(build_design(rate="25000/s"))
    busiest = judge_design(simulation, []).assessments[0].utilization
    assert busiest is not None
    skew = busiest * 8 * 10_000 / 25_000
    needs = estimate_resources(simulation)
    assert ceil(25_000 * skew / 5_000) == needs.servers.value
    assert f"(25,000 writes × skew {skew:.2f} + 0 operations of reads) / (50% of 10,000)" in (
        needs.servers.formula
    )


def test_more_servers_do_not_help_if_one_region_takes_all_writes() -> None:
    """Where one region takes all writes, more servers take nothing off it."""
    assert estimate(HOT_KEY, "5000/s").servers.value == 1
    needs = estimate(HOT_KEY, "20000/s", cluster=PRICES)
    assert (None, None) == (needs.servers.value, needs.cost_per_month.value)
    assert "no number of servers is enough: the busiest region" in needs.servers.reason
    assert needs.servers.reason == needs.cost_per_month.reason


@pytest.mark.parametrize("burst", [4, 8, 16])
def test_the_load_of_a_host_of_fixed_pace_does_not_rise_in_a_burst_of_other_hosts(
    burst: int,
) -> None:
    """A host with a fixed pace takes as much of a server when others come more often."""
    chance = Random(4)
    hosts: list[str] = []
    times: list[int] = []
    for minute in range(100):
        is_busy = minute == 70
        others = 120 * burst if is_busy else 120
        hosts += ["web-hot"] * 80 + [f"web-{chance.randrange(900):03}" for _ in range(others)]
        times += sorted(60_000 * minute + chance.randrange(60_000) for _ in range(80 + others))
    sample = pa.table({"host": hosts, "ts": times, "line": ["line"] * len(hosts)})
    simulation = simulate(build_design(rate="6000/s"), sample)
    peak = simulation.write_peak
    assert peak is not None
    assert peak.factor > burst / 2
    assert "" == estimate_resources(simulation).servers.reason


@pytest.mark.parametrize("splits", [["h1"], ["h1", *(f"x{n:02}" for n in range(14))]])
def test_empty_regions_do_not_change_the_needed_servers(splits: list[str]) -> None:
    """Two regions of half the writes each need two servers, whatever regions are empty."""
    sample = build_sample()
    hosts = [f"h{n % 2}" for n in range(sample.num_rows)]
    sample = sample.set_column(0, "host", pa.array(hosts))
    needs = estimate("[host][ts]", "9000/s", family={"ttl": "10m"}, sample=sample, splits=splits)
    assert 2 == needs.servers.value, needs.servers


def test_a_server_holds_at_most_200_regions_whatever_the_load() -> None:
    """A server holds 200 regions of 10 GiB at most, whatever the load."""
    needs = estimate(rate="1000/s", family={"ttl": "1400d"})
    assert needs.disk_bytes.value is not None
    assert ceil(needs.disk_bytes.value / 3 / (2_000 * GIB)) == needs.servers.value
    assert "200 regions × 10 GiB" in needs.servers.formula


def test_bursts_raise_the_needed_servers_but_not_the_disk() -> None:
    """Servers have to bear the peak; the table grows by the rate."""
    plain = estimate()
    peak = estimate(writes={"bursts": [{"at": "1h", "for": "1m", "times": 4}]})
    assert 20_000 == peak.operations_per_s.value
    assert plain.disk_bytes == peak.disk_bytes
    assert (plain.servers.value or 0) < (peak.servers.value or 0)


@cache
def measure_plain_bytes(line: str) -> float:
    """Return the bytes of an event on disk without encoding and compression."""
    return estimate(sample=build_sample(line=line)).event_disk_bytes


@pytest.mark.parametrize("encoding", ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"])
def test_zstd_shrinks_repeated_lines_and_hardly_random_ones(encoding: str) -> None:
    family = {"compression": "ZSTD", "encoding": encoding}
    for line, least, most in (("INFO served in {n} ms", 0, 0.35), ("{hex}", 20, 0.75)):
        needs = estimate(sample=build_sample(line=line), family=family)
        assert least < needs.event_disk_bytes < most * measure_plain_bytes(line)


def test_fast_diff_writes_less_than_prefix_and_prefix_less_than_none() -> None:
    sizes = [
        estimate(family={"encoding": encoding}).event_disk_bytes
        for encoding in ("FAST_DIFF", "PREFIX", "NONE", "ROW_INDEX_V1")
    ]
    assert sorted(sizes) == sizes


def test_rewritten_rows_add_nothing_to_a_family_of_one_version() -> None:
    """A row that is written again adds nothing to a family that keeps one version."""
    events = build_sample().append_column("level", pa.array(["INFO"] * EVENTS))
    design = Design(
        "hosts", "[host]", fields={"host": {"type": "text", "distinct": 200}, "level": "text"},
        families={"d": {"versions": 1}}, writes={"rate": "100/s"},
    )  # fmt: skip
    needs = estimate_resources(simulate(design, events))
    key_bytes = len(design.key.encode({"host": "web-000"}))
    cell = compute_cell_bytes(key_bytes, 1, len("level"), len("INFO")) + 1
    assert pytest.approx(200 * 3 * cell) == needs.disk_bytes.value


def test_each_family_counts_its_own_dfs_replication() -> None:
    """A family with `dfs_replication` has so many copies, another one three."""
    three, two = estimate(), estimate(family={"dfs_replication": 2})
    assert pytest.approx((three.disk_bytes.value or 0) * 2 / 3) == two.disk_bytes.value


@pytest.mark.parametrize(
    ("options", "name", "reason"),
    [
        ({"rate": None}, "servers", "declare [writes] rate"),
        ({"rate": None}, "operations_per_s", "declare [writes] rate"),
        ({"rate": None}, "disk_bytes", "declare [writes] rate"),
        ({"rate": None, "cluster": PRICES}, "cost_per_month", "declare [writes] rate"),
        ({"family": {"ttl": 2**31 - 1}}, "disk_bytes", "declare its ttl"),
        ({}, "cost_per_month", "declare price_per_server_hour or price_per_gib_month"),
        ({"sample": build_sample(50)}, "servers", "too few events"),
    ],
)
def test_an_unknown_figure_names_the_option_to_declare(
    options: dict[str, Any], name: str, reason: str
) -> None:
    """A figure is unknown where its inputs are, with what to declare."""
    figure = getattr(estimate(**options), name)
    assert (None, "") == (figure.value, figure.formula)
    assert reason in figure.reason


def test_a_price_counts_without_the_figures_of_the_other_price() -> None:
    """A declared price counts alone, and does not need the figures of the other."""
    needs = estimate(cluster={"price_per_server_hour": 2}, family={"ttl": 2**31 - 1})
    assert 730 * 2 == needs.cost_per_month.value
    assert "1 server × 730 h × 2" == needs.cost_per_month.formula


def test_figures_that_were_not_measured_are_listed_as_assumptions() -> None:
    """Without a sample, or a codec, or a rate of a read, an assumption says so."""
    design = build_design(reads=[TAIL], writes={"for": "1s"})
    generated = open_source(design, None, None, second_half=False, seed=0)
    needs = estimate_resources(run_on_source(design, generated, seed=0))
    assert not needs.is_measured
    no_sample, no_rate = needs.assumptions
    assert no_sample.endswith("before encoding and compression: there is no sample")
    assert "reads without a rate are not counted: tail" == no_rate
    assert ("bytes on disk of family d are not compressed: LZO is not available",) == (
        estimate(family={"compression": "LZO"}).assumptions
    )


@pytest.mark.parametrize("price", [0, -1, 1e12, float("nan"), float("inf"), "1 EUR", True])
@pytest.mark.parametrize("name", PRICES)
def test_a_price_of_zero_or_less_is_a_mistake_at_its_option(name: str, price: Any) -> None:
    """Other prices are mistakes at their option."""
    with pytest.raises(InvalidDesign) as caught:
        build_design(cluster={name: price})
    assert [f"cluster.{name}"] == [one.path for one in caught.value.mistakes]


def test_advise_shows_the_needed_resources_of_each_key() -> None:
    """The declared key and each pick have their figures, in text and as a document."""
    design = build_design(HOT_KEY, "20000/s", cluster=PRICES, reads=[{**TAIL, "rate": "10/s"}])
    advice = search(design, build_sample())
    assert advice.picks
    lines = " ".join(" ".join(format_advice(advice, 100)).split())
    assert "no number of servers is enough" in lines
    document = build_advice_document(advice)
    for pick, entry in zip(advice.picks, document["picks"], strict=True):
        needs = pick.judged.resources
        assert needs.servers.value == entry["resources"]["servers"]["value"]
        assert f"a month = {needs.cost_per_month.formula}" in lines
    assert document["declared"]["resources"]["servers"]["reason"]


def test_a_comparison_shows_the_needed_resources_of_each_design() -> None:
    """The needs are measures of a comparison; prices of one design hold for all."""
    designs = [build_design(SPREAD_KEY, cluster=PRICES), build_design(HOT_KEY)]
    comparison = compare_designs(designs, build_sample())
    names = ("servers", "operations_per_s", "disk_bytes", "cost_per_month", "disk_event_bytes")
    for name in names:
        figures = comparison.find_measure(name).figures
        assert all(figure.value is not None for figure in figures), name
    shown = "\n".join(format_comparison(comparison))
    for label in ("servers needed", "cost of a month", "GiB on disk, all copies"):
        assert label in shown
    measures = {one["name"] for one in build_comparison_document(comparison)["measures"]}
    assert set(names) <= measures


def test_a_comparison_without_rates_has_no_rows_of_needed_resources() -> None:
    """Without a rate nothing is said of servers, operations and cost."""
    designs = [build_design(SPREAD_KEY, None), build_design(HOT_KEY, None)]
    shown = "\n".join(format_comparison(compare_designs(designs, build_sample())))
    assert "bytes of an event, disk" in shown
    assert "servers needed" not in shown
    assert "operations" not in shown


@pytest.mark.parametrize("codec", ["ZSTD", "LZO"])
def test_all_commands_report_the_same_table_size(codec: str) -> None:
    """The size of a table is one number, compressed where that is measured, for all that judges."""
    sample = build_sample()
    design = build_design(rate="9000/s", family={"ttl": "900d", "compression": codec})
    judged = JudgedDesign(design, sample)
    [warning] = [one for one in judged.lint_result.findings if one.code == "RK802"]
    demand = judged.source.estimate_demand(design)
    size, meaning = demand.size, demand.compression_phrase
    assert ("after compression" if codec == "ZSTD" else "before compression") == meaning
    shown = f"{size / GIB:,.{0 if size >= 100 * GIB else 1}f} GiB {meaning}"
    assert (size, True) == (warning.evidence["size"], shown in warning.message)
    [sizing] = [one for one in (choose_source_splits(design, judged.source, 0).sizing,) if one]
    assert shown in sizing.reasons[0]
    disk, rows = judged.resources.disk_bytes.value, 9_000 * 900 * 86_400
    assert disk is not None
    assert pytest.approx(disk / 3 / rows) == judged.resources.event_disk_bytes
    if codec == "ZSTD":
        assert pytest.approx(disk / 3, rel=1e-6) == size
        assert demand.plain_size > 3 * size
    again = search(design, sample).declared.lint_result.findings
    assert warning.message in [one.message for one in again]
