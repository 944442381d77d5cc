"""The number of regions, their boundaries and growth, and imports in key order."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import mmh3
import numpy as np
import pytest

import rowkey
from rowkey.lint import LintSubject, check_design
from rowkey.regions import (
    MAX_FILE_SIZE,
    TableDemand,
    choose_region_count,
    collect_opinions,
    compute_memstore_regions,
    compute_server_imbalance,
    simulate_growth,
)
from rowkey.simulate import choose_algorithm_splits
from sources.evaluations import (
    change_design,
    get_finding,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    list_times,
    read_design,
    recount,
    simulate_example,
)

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

GIB, TIB = 2**30, 2**40
ARTICLE = "article of 2021, by size"

# No splits


@pytest.mark.claims(63)
def test_a_table_without_splits_writes_to_one_server() -> None:
    """A table without splits is one region on one server, reported as the first finding."""
    name = "regions/unsplit"
    assert [region.writes for region in simulate_example(name).regions] == [len(list_rows(name))]
    assert 8.0 == get_skew(name, 600)
    assert (["one-region-at-first"], ["integer_imbalance"]) == (list_rules(name), list_causes(name))


@pytest.mark.claims(63)
def test_the_first_region_splits_at_256_mb() -> None:
    """The first region splits at 256 MB, twice the flush size."""
    keys = np.random.default_rng(1).permutation(10_000)
    for count, expected in ((256, 1), (257, 2)):
        assert expected == simulate_growth(keys[:count], 2**20, servers=8).region_count


@pytest.mark.claims(63)
def test_a_table_with_rising_keys_splits_into_half_full_regions() -> None:
    """Rising keys leave half-full regions, and all writes go to the last one."""
    grown = simulate_growth(np.arange(200_000), 2**20, servers=8, recent_share=0.001)
    assert 0.4 < float(np.median(grown.sizes_bytes)) / MAX_FILE_SIZE < 0.6
    assert pytest.approx(1 - 1 / grown.region_count) == grown.idle_share


# How many


@pytest.mark.claims(72, 75)
def test_five_regions_on_eight_servers_have_a_skew_of_1_6() -> None:
    """Five regions on eight servers have a skew of 8/5."""
    name = "regions/small"
    assert get_skew(name, 600) == pytest.approx(8 / 5, rel=0.03)
    [cause] = simulate_example(name).causes
    assert ("integer_imbalance", 8 / 5) == (cause.code, cause.evidence["bound"])
    one = get_finding(name, "fewer-regions-than-servers")
    assert (5, 8) == (one.value, one.evidence["servers"])
    assert "keep at most as many servers busy" in one.verdict
    enough = change_design(name, cluster={"servers": 5})
    assert () == check_design(enough, select=["fewer-regions-than-servers"]).findings


@pytest.mark.claims(10, 14, 72)
@pytest.mark.parametrize("regions", [3, 5, 8, 10, 12, 16, 20])
def test_the_busiest_of_eight_servers_has_its_rounded_up_share_of_regions(regions: int) -> None:
    """The busiest of eight servers has ceil(k / 8) of k even regions."""
    loads = Counter(region % 8 for region in range(regions))
    assert pytest.approx(max(loads.values()) * 8 / regions) == compute_server_imbalance(regions, 8)
    assert ceil(regions / 8) == max(loads.values())


@pytest.mark.claims(70, 73)
def test_regions_of_ten_terabytes_in_120_regions_exceed_the_split_size() -> None:
    """The computed table size in 120 regions is 85.3 GiB a region, above the 10 GiB limit."""
    cell = 20 + (4 + 8 + 8) + 1 + len("body") + 1_015
    size = 4_000 * 30 * 86_400 * cell
    evidence = get_finding("regions/capped", "outgrown-regions").evidence
    assert (size, 120) == (evidence["size"], evidence["regions"])
    assert pytest.approx(85.3, abs=0.05) == size / 120 / GIB
    assert pytest.approx(size / 120) == evidence["region_bytes"]
    assert ceil(size / MAX_FILE_SIZE) == evidence["wanted"] == 1_024
    assert 10 * GIB == MAX_FILE_SIZE
    assert 85.3 == pytest.approx(10 * TIB / 120 / GIB, abs=0.05)
    assert [] == list_rules("regions/better_large")


@pytest.mark.claims(73)
def test_the_document_recommends_no_number_of_regions_for_some_sizes() -> None:
    """The document gives 120 regions for 10 TiB, none for 100 GiB, 5 to 10 for 20 GiB."""

    def format_estimate(size: int) -> tuple[int | None, int | None]:
        [one] = [one for one in collect_opinions(TableDemand(size=size)) if one.source == ARTICLE]
        return one.min_regions, one.max_regions

    assert [(5, 10), (None, None), (120, 120)] == [
        format_estimate(n) for n in (20 * GIB, 100 * GIB, 10 * TIB)
    ]


@pytest.mark.claims(70)
def test_the_regions_of_the_document_are_more_than_hbase_recommends() -> None:
    """The document's number of regions is above HBase's default, and the book's is below."""
    by_source = {one.source: one for one in collect_opinions(TableDemand(size=TIB))}
    article = by_source["article of 2021, per region"]
    assert (ceil(TIB / (8 * GIB)), ceil(TIB / (6 * GIB))) == (
        article.min_regions,
        article.max_regions,
    )
    limit = by_source["HBase 2.6, hbase.hregion.max.filesize"]
    assert ceil(TIB / (10 * GIB)) == limit.min_regions
    book = by_source["HBase book, region size"]
    assert (ceil(TIB / (50 * GIB)), limit.min_regions) == (book.min_regions, book.max_regions)


@pytest.mark.claims(74)
def test_the_figures_of_the_book_are_computed() -> None:
    """The book's figures for MemStores, regions a table and regions a server are computed."""
    assert 16 * GIB * 4 // 10 // (128 * 2**20) == 51 == compute_memstore_regions(16 * GIB, 1)
    assert 51 // 2 == compute_memstore_regions(16 * GIB, 2)
    by_source = {one.source: one for one in collect_opinions(TableDemand(servers=8))}
    assert (50, 100) == (
        by_source["HBase book, regions per table"].min_regions,
        by_source["HBase book, regions per table"].max_regions,
    )
    server = by_source["HBase book, regions per server"]
    assert (8 * 20, 8 * 200) == (server.min_regions, server.max_regions)
    assert 80 == by_source["HBase book, pre-splitting"].max_regions


@pytest.mark.claims(75)
@pytest.mark.parametrize("servers", [8, 16, 30])
def test_two_regions_per_server_are_proposed_for_writes_and_one_with_scans(servers: int) -> None:
    """Two regions a server for many writes, and one where reads scan too."""
    idle, heavy = 10_000, 80_000 * servers
    sizes = {
        (writes, scans): choose_region_count(
            TableDemand(size=GIB, servers=servers, writes=writes, capacity=100_000, scans=scans)
        ).regions
        for writes in (idle, heavy)
        for scans in (False, True)
    }
    assert 2 * servers == sizes[heavy, False] > sizes[idle, False]
    assert servers == sizes[heavy, True] < sizes[heavy, False]


@pytest.mark.claims(75)
@pytest.mark.parametrize(
    ("rate", "limit", "expected"), [("10/s", 10, 8), ("100/s", 10, 16), ("100/s", None, 8)]
)
def test_the_proposed_number_of_regions_follows_capacity_and_rate(
    rate: str, limit: int | None, expected: int
) -> None:
    """The proposed number of regions follows from the file's capacity, rate and limits."""
    day = {"name": "a day of an item", "where": "item = ? and ts >= ? and ts < ?", "span": "1d"}
    design = change_design(
        "regions/small",
        families={"d": {"ttl": "1h"}},
        cluster={"servers": 8, "capacity": "20/s"},
        writes={"rate": rate, "for": "10s"},
        reads=[day if limit is None else {**day, "limit": limit}],
    )
    assert expected == LintSubject(design).sizing.regions
    [one] = check_design(design, select=["fewer-regions-than-servers"]).findings
    assert expected == one.evidence["proposed"]


@pytest.mark.claims(75)
def test_more_regions_than_servers_do_not_lower_the_share_of_the_busiest() -> None:
    """The busiest of eight servers has the same share with 8, 16 and 64 regions."""
    shares = {regions: simulate(regions).skews[-1].server_skew for regions in (8, 16, 64)}
    assert pytest.approx(dict.fromkeys(shares, 1.0), abs=0.06) == shares
    assert 2.0 == pytest.approx(simulate(4).skews[-1].server_skew, rel=0.03)


def simulate(regions: int) -> Simulation:
    """Simulate the small table with a number of regions."""
    splits = {"algorithm": "uniform", "regions": regions}
    return rowkey.simulate.run(change_design("regions/better_small", splits=splits))


# Where they begin


@pytest.mark.claims(71)
def test_split_keys_of_hexadecimal_digits_are_in_lower_case() -> None:
    """Split keys of hexadecimal digits are lower-case, as digests are."""
    expected = [f"{2**32 * n // 16:08x}".encode() for n in range(1, 16)]
    assert expected == list(choose_algorithm_splits("hex_string", 16).boundaries.splits)
    assert b"f0000000" == expected[-1] > b"F0000000"


@pytest.mark.claims(56, 71)
@pytest.mark.parametrize(
    ("lead", "algorithm", "meets"),
    [
        ("digest(item, 4, as=hex)", "hex_string", True),
        ("digest(item, 4, as=hex)", "uniform", False),
        ("digest(item, 4, as=hex)", "decimal_string", False),
        ("bucket(item, 10000, as=decimal)", "decimal_string", True),
        ("digest(item, 4)", "uniform", True),
        ("digest(item, 4)", "hex_string", False),
    ],
)
def test_a_split_algorithm_is_even_only_for_its_type_of_prefix(
    lead: str, algorithm: str, *, meets: bool
) -> None:
    """A split algorithm is even for its own type of prefix, and uneven for others."""
    design = change_design(
        "regions/better_small",
        key=f"[{lead}][item][ts]",
        splits={"algorithm": algorithm, "regions": 16},
    )
    splits = list(design.splits.compute_boundaries(design.key).splits)
    keys = [design.key.encode({"item": item, "ts": 0}) for item in range(10_000)]
    fullest = max(Counter(bisect_right(splits, key) for key in keys).values()) / len(keys)
    assert meets == (fullest < 1.2 / 16)
    told = check_design(design, select=["missed-splits"]).findings
    assert meets == (not told)


# Imports


@pytest.mark.claims(79)
def test_a_sorted_import_writes_one_bucket_at_a_time() -> None:
    """A sorted import writes one bucket in each window, although all are even in total."""
    name = "imports/sorted"

    def key(row: Mapping[str, Any]) -> bytes:
        customer = struct.pack(">I", row["customer"])
        return bytes([mmh3.hash(customer, 0, signed=False) % 16]) + customer

    made = [key(row) for row in list_rows(name)]
    assert made == sorted(made)
    counted = recount(name, key, [bytes([n]) for n in range(1, 16)], list_times(name))
    total, mean, worst = counted.shares["regions"]
    assert 1.0 == worst
    assert mean > 0.9
    assert total < 1.2 / 16
    shares = simulate_example(name).region_shares
    assert pytest.approx(total) == shares.total
    assert pytest.approx((mean, worst)) == (shares.mean, shares.worst)
    assert (["sorted-import"], ["moving_front"]) == (list_rules(name), list_causes(name))


@pytest.mark.claims(79)
def test_a_shuffled_import_is_even_in_every_window() -> None:
    """The same rows in random order are even in every window, without a cause."""
    shares = simulate_example("imports/better_shuffled").region_shares
    assert shares.worst < 2 / 16
    assert get_skew("imports/better_shuffled") < 1.1
    assert ([], []) == (
        list_rules("imports/better_shuffled"),
        list_causes("imports/better_shuffled"),
    )
    assert (
        read_design("imports/sorted").key.terms == read_design("imports/better_shuffled").key.terms
    )


@pytest.mark.claims(64)
def test_spread_locality_and_uniqueness_of_keys_are_independent() -> None:
    """Spread, locality and uniqueness of keys differ independently of each other."""
    joined, better = (
        simulate_example("orders_by_user/joined"),
        simulate_example("orders_by_user/better"),
    )
    assert max(joined.verdict.skew, better.verdict.skew) < 1.25 * joined.verdict.even_skew
    assert [False, True] == [one.reads[0].serves_order for one in (joined, better)]
    unique = [rowkey.derive_properties(one.design).is_unique for one in (joined, better)]
    assert [False, True] == unique
    assert all(before < after for before, after in pairwise(better.boundaries.splits))
