"""The number of regions by each source, by their contradictions, and as recommended."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.regions import (
    MAX_FILE_SIZE,
    SizingOpinion,
    TableDemand,
    choose_region_count,
    collect_opinions,
    compute_memstore_regions,
    compute_min_servers,
)

GIB, TIB = 2**30, 2**40


def get_estimate(demand: TableDemand, source: str) -> SizingOpinion:
    """Return the estimate of one source for a table."""
    (row,) = [row for row in collect_opinions(demand) if source in row.source]
    return row


@pytest.mark.parametrize(
    ("size", "least", "most"),
    [(0, 5, 10), (50 * GIB - 1, 5, 10), (50 * GIB, None, None), (500 * GIB - 1, None, None),
     (500 * GIB, 50, 50), (TIB, 103, 103), (2 * TIB, 120, 120), (10 * TIB, 120, 120),
     (10 * TIB + 1, None, None)],
)  # fmt: skip
def test_the_sizing_table_of_the_article_lacks_some_sizes_and_caps_the_regions(
    size: int, least: int | None, most: int | None
) -> None:
    """The article's table by size has its gap and its cap."""
    row = get_estimate(TableDemand(size=size), "by size")
    assert (least, most) == (row.min_regions, row.max_regions)
    assert (least is None) == ("says nothing" in row.reason)


def test_a_remark_says_that_the_cap_of_120_regions_makes_them_too_large() -> None:
    """The cap of 120 gives 10 TB regions of 85.3 GB, which split: a remark says so."""
    reason = get_estimate(TableDemand(size=10 * TIB), "by size").reason
    assert "1,024" in reason
    assert "85.3 GB" in reason


def test_recommended_regions_for_1_tb_on_8_servers_are_the_documented_ones() -> None:
    """1 TB on 8 servers of 16 GB of heap with one family has the documented figures."""
    demand = TableDemand(size=TIB, servers=8, heap=16 * GIB)
    expected = {
        "per region": (128, 171), "max.filesize": (103, None), "region size": (21, 103),
        "regions per table": (50, 100), "regions per server": (160, 1_600),
        "pre-splitting": (None, 80), "MemStore": (None, 408), "arithmetic": (8, None),
    }  # fmt: skip
    rows = {source: get_estimate(demand, source) for source in expected}
    assert expected == {source: (row.min_regions, row.max_regions) for source, row in rows.items()}


def test_a_source_without_its_inputs_sets_no_bound_and_says_why() -> None:
    """Without a heap, or with many families, a source sets no bound and gives the reason."""
    assert get_estimate(TableDemand(), "MemStore").max_regions is None
    assert get_estimate(TableDemand(families=3), "regions per table").min_regions is None
    assert 17 == compute_memstore_regions(16 * GIB, 3)


@pytest.mark.parametrize(
    ("demand", "regions"),
    [
        (TableDemand(), 8),
        (TableDemand(servers=3), 6),
        (TableDemand(size=20 * GIB, servers=5), 5),
        (TableDemand(size=200 * GIB), 24),
        (TableDemand(size=TIB), 104),
        (TableDemand(size=10 * TIB), 1_024),
        (TableDemand(size=10 * TIB, heap=16 * GIB), 408),
        (TableDemand(prefixes=16), 16),
        (TableDemand(size=200 * GIB, prefixes=16), 32),
        (TableDemand(size=200 * GIB, prefixes=256), 24),
        (TableDemand(writes=9, capacity=2), 16),
        (TableDemand(writes=9, capacity=2, scans=True), 8),
        (TableDemand(writes=7, capacity=2), 8),
    ],
)
def test_the_recommended_number_follows_size_then_servers_then_writes(
    demand: TableDemand, regions: int
) -> None:
    """The recommendation follows size, then servers, then writes, in whole multiples."""
    assert regions == choose_region_count(demand).regions


def test_each_problem_that_a_recommendation_leaves_gets_a_warning() -> None:
    """Too little heap, regions that split, and a remainder each get a warning."""
    heap = choose_region_count(TableDemand(size=10 * TIB, heap=16 * GIB)).warnings
    assert ["MemStores", "MAX_FILESIZE"] == [
        word for line in heap for word in ("MemStores", "MAX_FILESIZE") if word in line
    ]
    (remainder,) = choose_region_count(TableDemand(prefixes=10)).warnings
    assert "1.60" in remainder
    assert "50 GiB" in choose_region_count(TableDemand(size=100 * TIB, heap=GIB)).warnings[-1]
    assert () == choose_region_count(TableDemand(size=TIB, heap=32 * GIB)).warnings


def test_a_server_never_gets_more_regions_than_the_book_allows() -> None:
    """A table that needs more has as many as are allowed, and is told of the servers it needs."""
    demand = TableDemand(size=10 * TIB, servers=5)
    sizing = choose_region_count(demand)
    assert 1_000 == sizing.regions
    assert any("raise MAX_FILESIZE" in one for one in sizing.warnings)
    assert 6 == compute_min_servers(demand)
    assert 1_026 == choose_region_count(replace(demand, servers=6)).regions


demands = st.builds(
    TableDemand,
    size=st.integers(0, 50 * TIB),
    servers=st.integers(1, 60),
    families=st.integers(1, 4),
    heap=st.none() | st.integers(GIB, 64 * GIB),
    writes=st.none() | st.integers(0, 100),
    capacity=st.none() | st.integers(1, 10),
    scans=st.booleans(),
    prefixes=st.none() | st.integers(1, 300),
)


@given(demands)
@example(TableDemand(size=10 * GIB + 1, families=2, heap=GIB, servers=1))
def test_a_recommendation_fits_size_and_heap_or_warns(demand: TableDemand) -> None:
    sizing = choose_region_count(demand)
    assert sizing.reasons
    assert collect_opinions(demand) == sizing.opinions
    if demand.heap is not None:
        most = max(1, compute_memstore_regions(demand.heap, demand.families)) * demand.servers
        assert sizing.regions <= most
    if sizing.regions * MAX_FILE_SIZE < demand.size:
        assert any("GiB" in warning for warning in sizing.warnings)
    if sizing.regions % demand.servers:
        assert sizing.imbalance > 1
        assert any("times the mean" in warning for warning in sizing.warnings)
    if demand.prefixes is None:
        assert 1 == sizing.imbalance


@pytest.mark.parametrize(
    "wrong", [{"size": -1}, {"servers": 0}, {"families": 0}, {"heap": 0}, {"size": 2**63}]
)
def test_a_sizing_argument_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    """A number out of its range is refused."""
    with pytest.raises(InvalidArgument):
        TableDemand(**wrong)  # type: ignore[arg-type]
