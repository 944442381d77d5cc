import re
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rowkey import Design, Simulation
from rowkey.advise import judge_simulation
from rowkey.render import print_simulation
from rowkey.render.verdict import format_reasons
from rowkey.simulate import MapLoad, run

EVENTS = {"rate": "500/s", "for": "20s"}
FIELDS = {"host": {"type": "text", "distinct": 500}, "ts": "timestamp_s"}


DESIGNS: dict[str, dict[str, Any]] = {
    "even": {"key": "[bucket(host, ts, 16)][host][ts]", "splits": "per_bucket"},
    "hot": {"key": "[ts][host]", "splits": {"algorithm": "uniform", "regions": 16}},
    "nearly even": {"key": "[bucket(host, ts, 33)][host][ts]", "splits": "per_bucket"},
    "thin": {
        "key": "[bucket(host, 16)][host][ts]",
        "splits": "per_bucket",
        "writes": {"rate": "200/s", "for": "20s"},
    },
    "collision": {
        "key": "[bucket(host, 8)][host][ts]",
        "splits": "per_bucket",
        "fields": {**FIELDS, "host": {"type": "u32", "distinct": 500, "draw": "zipf"}},
        "writes": {"rate": "2000/s", "for": "10s"},
        "reads": [{"name": "all", "where": ""}],
    },
}


@cache
def simulate(name: str) -> Simulation:
    """Simulate a design over events generated from its declaration."""
    return run(Design("logs", **{"fields": FIELDS, "writes": EVENTS, **DESIGNS[name]}), seed=1)


def print_result(found: Simulation, width: int, load: MapLoad = "writes") -> list[str]:
    """Return the printed lines of a result on a page of a width."""
    page = StringIO()
    print_simulation(judge_simulation(found), Console(file=page, width=width), load)
    return page.getvalue().splitlines()


def print_map(found: Simulation, width: int, load: MapLoad = "writes") -> list[str]:
    """Return the lines of the heat map, from the legend to the times below the map."""
    lines = print_result(found, width, load)
    start = next(n for n, line in enumerate(lines) if line.startswith("a column is "))
    return lines[start : lines.index("", start)]


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("name", ["even", "hot"])
def test_the_printed_map_is_complete_from_80_characters_on(name: str, width: int) -> None:
    """From 80 characters on, legend, shares and both times of the map are complete."""
    found = simulate(name)
    lines = print_map(found, width)
    assert 2 + len(found.regions) + 1 == len(lines)
    assert [] == [line for line in lines if len(line) > width]
    assert lines[1].endswith("# >12")
    assert all(line.endswith("%") for line in lines[2:-1])
    assert ["2024-01-01", "00:00:00", "2024-01-01", "00:00:20"] == lines[-1].split()


def test_a_region_without_writes_is_a_blank_line_of_the_map() -> None:
    """A region without writes has a blank line, one with all writes a full line."""
    rows = [line.rsplit(maxsplit=1)[1] for line in print_map(simulate("hot"), 100)[2:-1]]
    assert [
        region.writes / simulate("hot").operation_count for region in simulate("hot").regions
    ] == [float(share.rstrip("%")) / 100 for share in rows]


def test_the_printed_map_has_the_share_of_reads() -> None:
    """Where reads are declared, the second share of a region is that of their operations."""
    found = simulate("collision")
    load = found.total_read_load
    assert load is not None
    lines = print_map(found, 100)
    assert ["writes", "reads"] == lines[2].split()
    shares = [float(line.rsplit(maxsplit=1)[1].rstrip("%")) / 100 for line in lines[3:-1]]
    assert pytest.approx(shares, abs=0.0006) == load.regions.operations / load.regions.total
    assert all(len(line) <= 100 for line in lines)


MAP_START = len("   3 s3  bucket 3 ")
"""Characters before the cells of a design by eight buckets."""


def test_the_printed_map_can_show_reads_or_writes_and_reads() -> None:
    """Reads are the same in each column and named constant; both have a third share."""
    found = simulate("collision")
    load, writes = found.total_read_load, [one.writes for one in found.regions]
    assert load is not None
    lines = print_map(found, 80, "reads")
    assert lines[0].endswith("reads, constant over time, in fair shares of a server:")
    bars = [re.sub(r"( +\S+%){2}$", "", line)[MAP_START:] for line in lines[3:-1]]
    assert all(line and len(set(line)) == 1 for line in bars)
    lines = print_map(found, 80, "both")
    assert ["writes", "reads", "both"] == lines[2].split()
    assert all(len(line) <= 80 for line in lines)
    shares = [float(line.rsplit(maxsplit=1)[1].rstrip("%")) / 100 for line in lines[3:-1]]
    rates = [2_000 * one / sum(writes) for one in writes] + load.regions.operations
    assert pytest.approx(rates / rates.sum(), abs=0.0006) == shares


def test_the_map_of_reads_is_replaced_by_a_reason_if_none_is_declared() -> None:
    """The line in its place says why."""
    assert "no heat map of reads: the design declares no read that can be run" in print_result(
        simulate("even"), 100, "reads"
    )


def test_the_verdict_is_printed_before_the_causes() -> None:
    """The design is printed first, then its verdict, then the causes and what to do."""
    lines = print_result(simulate("hot"), 100)
    assert "logs  [ts][host]" == lines[0]
    assert lines[1].startswith("GOOD: writes: uneven but harmless, the busiest of 8 servers takes")
    assert any(line.startswith("  because ") for line in lines[2:6])
    assert {"because"} == {reason.split()[0] for reason, _ in format_reasons(simulate("hot"))}


def test_an_even_design_is_printed_without_a_cause() -> None:
    """Neither an even design nor one whose buckets the servers share nearly evenly has a reason."""
    for name in ("even", "nearly even"):
        assert "even" == simulate(name).verdict.level
        assert [] == list(format_reasons(simulate(name)))


def test_each_map_line_has_region_number_server_and_first_key() -> None:
    """A line of the map has the region's number, its server, and its first key."""
    third = simulate("even").regions[3]
    assert (b"\3", 3) == (third.start, third.server)
    assert print_map(simulate("even"), 100)[5].startswith("   3 s3  bucket 3 ")


def simulate_on_servers(servers: int, path: Path | None = None, **words: Any) -> Simulation:
    """Simulate a design on some servers, with some windows of few events."""
    design = Design(
        "logs", "[bucket(host, 16)][host][ts]", fields=FIELDS, splits="per_bucket",
        cluster={"servers": servers}, **words,
    )  # fmt: skip
    return run(design, path, seed=1)


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("name", DESIGNS)
def test_no_printed_line_is_longer_than_the_page(name: str, width: int) -> None:
    """From 80 characters on, no line is longer than the page."""
    assert [] == [line for line in print_result(simulate(name), width) if len(line) > width]


def test_keys_and_quoted_options_are_never_broken_over_two_lines() -> None:
    """A key, its parts and quoted options are never broken over two lines."""
    for width in (80, 100):
        lines = print_result(simulate("collision"), width)
        remedy = simulate("collision").causes[0].remedy
        for word in re.findall(r'"[^"]+"', remedy):
            assert any(word in line for line in lines)


def test_the_worst_window_has_its_year_only_on_a_wide_page() -> None:
    """The worst window has its year on a wide page, and only month and day on a narrow one."""
    assert any(
        line.endswith("× at 2024-01-01 00:00:00") for line in print_result(simulate("hot"), 120)
    )
    assert any(line.endswith("× at 01-01 00:00:00") for line in print_result(simulate("hot"), 80))


def test_a_hot_design_without_a_single_cause_is_printed_as_such() -> None:
    """A design that is not even and has no single cause is reported as such."""
    nameless = replace(simulate("collision"))
    vars(nameless)["causes"] = []
    lines = print_result(nameless, 100)
    assert any("no single cause was found:" in line for line in lines)
    assert not any("no single cause" in line for line in print_result(simulate("even"), 100))
    assert not any("no single cause" in line for line in print_result(simulate("collision"), 100))


def test_the_verdict_on_one_server_says_why_it_is_even() -> None:
    """The verdict on one server says why it is even, without wrong plurals."""
    found = simulate_on_servers(1, writes={"rate": "5/s", "for": "20s"})
    lines = print_result(found, 100)
    assert lines[1].startswith("GOOD: writes: even, one server takes all writes; at 5/s that is ")
    assert not any(re.search(r"\b1 (servers|regions|rows|ranges)\b", line) for line in lines)


def test_skipped_lines_of_a_sample_are_counted_as_rows(tmp_path: Path) -> None:
    """Broken lines of a sample are counted as rows."""
    path = tmp_path / "rows.csv"
    rows = [f"h{n % 9},{1_700_000_000 + n}" for n in range(40)]
    path.write_text("\n".join(["host,ts", *rows, "broken,never"]) + "\n")
    lines = print_result(simulate_on_servers(8, path), 100)
    (line,) = (line for line in lines if "left out" in line)
    assert line.startswith("  1 row left out; ")


def test_the_cost_of_a_scan_has_its_mean_and_largest_number_of_regions() -> None:
    """The cost of a read is printed with its mean and largest ranges and regions."""
    assert any(
        line.startswith("read all, mean: 8 ranges (at most 8), 8 regions (at most 8), ")
        for line in print_result(simulate("collision"), 200)
    )


def test_rows_overwritten_at_their_own_time_are_printed_as_versions(tmp_path: Path) -> None:
    """Overwritten rows are printed as versions where the time is the timestamp."""
    path = tmp_path / "rows.csv"
    path.write_text("host,ts\n" + "".join(f"h{n % 9},{1_700_000_000 + n}000\n" for n in range(90)))
    fields = {"host": "text", "ts": {"type": "timestamp_ms", "at": "timestamp"}}
    design = Design("logs", "[host]", fields=fields, families={"d": {"versions": 3}})
    lines = print_result(run(design, path), 200)
    expected = "81 events (90.0%) overwrote an existing row, as versions apart by ts; "
    assert f"{expected}3 versions of a cell are kept" in lines
