"""How many regions, where they begin, how they grow; and imports in the order of the keys."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter
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
from sources.judged import (
    by_hand,
    causes,
    changed,
    clock,
    found,
    read,
    rows,
    rules,
    simulated,
    skew,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.simulate import Simulation

GIB, TIB = 2**30, 2**40
ARTICLE = "article of 2021, by size"

# No splits


@pytest.mark.claims(63)
def test_without_splits_one_server_takes_everything() -> None:
    """One region is one server of eight, and the first finding."""
    name = "regions/unsplit"
    assert [region.writes for region in simulated(name).regions] == [len(rows(name))]
    assert 8.0 == skew(name, 600)
    assert (["one-region-at-first"], ["integer_imbalance"]) == (rules(name), causes(name))


@pytest.mark.claims(63)
def test_the_first_region_splits_at_256_megabytes() -> None:
    """Twice the flush size of 128 MB: the 257th of a stream of megabytes makes two of one."""
    keys = np.random.default_rng(1).permutation(10_000)
    for count, expected in ((256, 1), (257, 2)):
        assert expected == simulate_growth(keys[:count], 2**20, servers=8).region_count


@pytest.mark.claims(63)
def test_by_itself_a_front_splits_behind_it() -> None:
    """Keys that rise leave each region half full behind them, and all writes in the last one."""
    grown = simulate_growth(np.arange(200_000), 2**20, servers=8, recent_share=0.001)
    assert 0.4 < float(np.median(grown.sizes_bytes)) / MAX_FILE_SIZE < 0.6
    assert pytest.approx(1 - 1 / grown.region_count) == grown.idle_share


# How many


@pytest.mark.claims(72, 75)
def test_five_regions_keep_five_of_eight_servers_busy() -> None:
    """A region is on one server: the fullest has eight fifths of a fair share."""
    name = "regions/small"
    assert skew(name, 600) == pytest.approx(8 / 5, rel=0.03)
    [cause] = simulated(name).causes
    assert ("integer_imbalance", 8 / 5) == (cause.code, cause.evidence["bound"])
    one = found(name, "fewer-regions-than-servers")
    assert (5, 8) == (one.value, one.evidence["servers"])
    assert "keep at most as many servers busy" in one.verdict
    enough = changed(name, cluster={"servers": 5})
    assert () == check_design(enough, select=["fewer-regions-than-servers"]).findings


@pytest.mark.claims(10, 14, 72)
@pytest.mark.parametrize("regions", [3, 5, 8, 10, 12, 16, 20])
def test_regions_that_the_servers_do_not_divide_are_uneven(regions: int) -> None:
    """The busiest of eight servers has ceil(k / 8) of k even regions; a round robin shows it."""
    loads = Counter(region % 8 for region in range(regions))
    assert pytest.approx(max(loads.values()) * 8 / regions) == compute_server_imbalance(regions, 8)
    assert ceil(regions / 8) == max(loads.values())


@pytest.mark.claims(70, 73)
def test_ten_terabytes_in_120_regions_split_anyway() -> None:
    """By rate, time to live and the bytes of a cell, computed here: 85.3 GiB a region, not 10."""
    cell = 20 + (4 + 8 + 8) + 1 + len("body") + 1_015
    size = 4_000 * 30 * 86_400 * cell
    evidence = found("regions/capped", "outgrown-regions").evidence
    assert (size, 120) == (evidence["size"], evidence["regions"])
    assert pytest.approx(85.3, abs=0.05) == size / 120 / GIB
    assert pytest.approx(size / 120) == evidence["region_bytes"]
    assert ceil(size / MAX_FILE_SIZE) == evidence["wanted"] == 1_024
    assert 10 * GIB == MAX_FILE_SIZE
    assert 85.3 == pytest.approx(10 * TIB / 120 / GIB, abs=0.05)
    assert [] == rules("regions/better_large")


@pytest.mark.claims(73)
def test_the_documents_table_of_sizes_has_a_gap() -> None:
    """Of 10 TiB it says 120; of 100 GiB nothing; of 20 GiB five to ten."""

    def said(size: int) -> tuple[int | None, int | None]:
        [one] = [one for one in collect_opinions(TableDemand(size=size)) if one.source == ARTICLE]
        return one.min_regions, one.max_regions

    assert [(5, 10), (None, None), (120, 120)] == [said(n) for n in (20 * GIB, 100 * GIB, 10 * TIB)]


@pytest.mark.claims(70)
def test_six_to_eight_gigabytes_a_region_are_fewer_than_a_region_may_have() -> None:
    """The document's count is above what the default limit asks for, and the book's below it."""
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
def test_the_books_figures() -> None:
    """51 MemStores at 16 GB; 50 to 100 regions a table; 20 to 200 a server, ten to start with."""
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
def test_throughput_wants_more_regions_and_scans_fewer(servers: int) -> None:
    """Two a server where writes take over half of what servers stand; one where reads scan too."""
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
def test_the_same_design_gets_more_regions_for_writes_and_fewer_for_scans(
    rate: str, limit: int | None, expected: int
) -> None:
    """From its own file: what a server takes, what comes, and whether a read ends at a limit."""
    day = {"name": "a day of an item", "where": "item = ? and ts >= ? and ts < ?", "span": "1d"}
    design = changed(
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
def test_beyond_the_servers_more_regions_take_no_more() -> None:
    """The busiest of eight servers has the same share of 8, 16 and 64 even regions."""
    shares = {regions: simulate(regions).skews[-1].server_skew for regions in (8, 16, 64)}
    assert pytest.approx(dict.fromkeys(shares, 1.0), abs=0.06) == shares
    assert 2.0 == pytest.approx(simulate(4).skews[-1].server_skew, rel=0.03)


def simulate(regions: int) -> Simulation:
    """The small table in so many regions."""
    splits = {"algorithm": "uniform", "regions": regions}
    return rowkey.simulate.run(changed("regions/better_small", splits=splits))


# Where they begin


@pytest.mark.claims(71)
def test_splits_of_hexadecimal_digits_are_in_lower_case() -> None:
    """Equal steps of eight digits; in capitals they would miss what a digest begins with."""
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
def test_an_algorithm_fits_one_sort_of_prefix(lead: str, algorithm: str, *, meets: bool) -> None:
    """Ten thousand keys, in their regions: the fullest has little more than its share, or much."""
    design = changed(
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
def test_an_import_in_the_order_of_keys_is_one_region_at_a_time() -> None:
    """By hand: in each window of equal numbers one bucket has everything, all over time alike."""
    name = "imports/sorted"

    def key(row: Mapping[str, Any]) -> bytes:
        customer = struct.pack(">I", row["customer"])
        return bytes([mmh3.hash(customer, 0, signed=False) % 16]) + customer

    made = [key(row) for row in rows(name)]
    assert made == sorted(made)
    counted = by_hand(name, key, [bytes([n]) for n in range(1, 16)], clock(name))
    total, median, worst = counted.shares["regions"]
    assert (1.0, 1.0) == (median, worst)
    assert total < 1.2 / 16
    shares = simulated(name).region_shares
    assert pytest.approx(total) == shares.total
    assert (median, worst) == (shares.median, shares.worst)
    assert (["sorted-import"], ["moving_front"]) == (rules(name), causes(name))


@pytest.mark.claims(79)
def test_the_same_rows_shuffled_are_even() -> None:
    """Under the same key every window has all regions, and nothing is found."""
    shares = simulated("imports/better_shuffled").region_shares
    assert shares.worst < 2 / 16
    assert skew("imports/better_shuffled") < 1.1
    assert ([], []) == (rules("imports/better_shuffled"), causes("imports/better_shuffled"))
    assert read("imports/sorted").key.terms == read("imports/better_shuffled").key.terms


@pytest.mark.claims(64)
def test_spread_locality_and_uniqueness_are_three_measures() -> None:
    """Of orders in the document's form and today's: none of the three stands for another."""
    joined, better = simulated("orders_by_user/joined"), simulated("orders_by_user/better")
    assert max(joined.verdict.skew, better.verdict.skew) < 1.25 * joined.verdict.even_skew
    assert [False, True] == [one.reads[0].serves_order for one in (joined, better)]
    unique = [rowkey.derive_properties(one.design).is_unique for one in (joined, better)]
    assert [False, True] == unique
    assert all(before < after for before, after in pairwise(better.boundaries.splits))
