"""How many regions a table should have, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rowkey.messages import pluralize
from rowkey.regions.placement import compute_server_imbalance
from rowkey.regions.sizing_opinions import (
    ARTICLE_NAME,
    GIB,
    MAX_REGION_BYTES,
    REGIONS_PER_SERVER,
    SMALL_TABLE_REGIONS,
    START_REGIONS_PER_SERVER,
    SizingOpinion,
    TableDemand,
    collect_opinions,
    compute_memstore_regions,
)
from rowkey.regions.split_algorithm import MAX_REGIONS
from rowkey.regions.split_policy import MAX_FILE_SIZE

BUSY_REGIONS_PER_SERVER = 2
"""Regions per server where writes are heavy and scans are not.

Derivation: with two, the balancer can move a hot one and leave its server with work; the range
found in practice is 2..4 buckets per server in forums and issue threads.
"""


@dataclass(frozen=True, slots=True)
class Sizing:
    """A recommended number of regions, with the opinions of all sources.

    Args:
        regions: how many regions to create.
        reasons: why, as sentences, in the order of the steps.
        warnings: what cannot be had with this table on these servers, as sentences.
        opinions: what each source says.
        imbalance: load of the busiest server ÷ mean, if all regions are equally loaded.
    """

    regions: int
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    opinions: tuple[SizingOpinion, ...]
    imbalance: float


def choose_region_count(demand: TableDemand) -> Sizing:
    """Choose the number of regions for a table, with the reasons.

    The steps: enough regions for the size, at least one for each server, more for heavy writes,
    then up to whole numbers per server and per leading value, never above what MemStores allow, nor
    above the 200 regions a server that the HBase book allows.

    Args:
        demand: the size and load of the table.

    Returns:
        The recommendation; its opinions disagree where the sources do.

    Source: the figures of `collect_opinions`; whole multiples by the pigeonhole principle.

    >>> choose_region_count(TableDemand(size=300 * GIB, servers=8)).regions
    32
    """
    wanted_regions, reasons = _compute_wanted_regions(demand)
    max_regions, by_heap = _compute_max_regions(demand)
    regions, rounding = _round_regions(wanted_regions, demand, max_regions)
    return Sizing(
        regions=regions,
        reasons=(*reasons, rounding),
        warnings=tuple(_collect_warnings(demand, regions, wanted_regions, is_heap_limited=by_heap)),
        opinions=collect_opinions(demand),
        imbalance=compute_server_imbalance(regions, demand.servers),
    )


def choose_first_regions(demand: TableDemand) -> int:
    """Return how many regions a table begins with whose keys can be split: two a server or more.

    Args:
        demand: the size and load of the table.
    """
    return max(choose_region_count(demand).regions, BUSY_REGIONS_PER_SERVER * demand.servers)


def compute_min_servers(demand: TableDemand) -> int:
    """Return the fewest servers that can carry the regions of a table.

    Args:
        demand: the size and load of the table.

    Source: HBase book, "Number of regions per RS": 200 at most.

    >>> compute_min_servers(TableDemand(size=1_000 * GIB, servers=8))
    8
    >>> compute_min_servers(TableDemand(size=40_000 * GIB, servers=8))
    20
    """
    each = REGIONS_PER_SERVER[1]
    servers = max(demand.servers, -(-demand.size // MAX_FILE_SIZE) // each)
    while _count_uncapped_regions(replace(demand, servers=servers)) > each * servers:
        servers += 1
    return servers


def _count_uncapped_regions(demand: TableDemand) -> int:
    """Return the number of regions for a table, however many a server then has."""
    regions, _ = _round_regions(
        _compute_wanted_regions(demand)[0], demand, _compute_heap_regions(demand)
    )
    return regions


def _compute_wanted_regions(demand: TableDemand) -> tuple[int, list[str]]:
    """Return the smallest region count that size, servers and writes require, with reasons."""
    by_size = -(-demand.size // MAX_FILE_SIZE)
    size_reason = (
        f"{demand.size_phrase} need {pluralize(by_size, 'region')} of at most 10 GiB, because "
        "HBase splits larger ones."
    )
    unknown_size_reason = (
        "The size of the table is not known: the smallest number of regions that uses all servers."
    )
    reasons = [size_reason if demand.size else unknown_size_reason]
    count = max(by_size, SMALL_TABLE_REGIONS[0])
    if by_size < SMALL_TABLE_REGIONS[0]:
        reasons.append(
            f"A small table starts with at least {SMALL_TABLE_REGIONS[0]} regions, as the "
            f"{ARTICLE_NAME} recommends."
        )
    if count < demand.servers:
        count = demand.servers
        reasons.append(
            f"{pluralize(demand.servers, 'server')} need at least one region each to take load."
        )
    busy = BUSY_REGIONS_PER_SERVER * demand.servers
    if _has_heavy_writes(demand) and count < busy:
        if demand.scans:
            reasons.append(
                "Writes are heavy, but reads scan, and each further region costs a "
                "scan another request."
            )
        else:
            count = busy
            reasons.append(
                "Writes are heavy, so each server gets "
                f"{pluralize(BUSY_REGIONS_PER_SERVER, 'region')}."
            )
    return count, reasons


def _has_heavy_writes(demand: TableDemand) -> bool:
    """Return whether writes take more than half the capacity of the servers."""
    if demand.writes is None or demand.capacity is None:
        return False
    return 2 * demand.writes > demand.capacity * demand.servers


def _compute_max_regions(demand: TableDemand) -> tuple[int, bool]:
    """Return the largest region count allowed, and whether the heap limits it."""
    by_heap, by_book = _compute_heap_regions(demand), REGIONS_PER_SERVER[1] * demand.servers
    return min(by_heap, by_book), by_heap < min(by_book, MAX_REGIONS)


def _compute_heap_regions(demand: TableDemand) -> int:
    """Return the largest region count that MemStores allow."""
    if demand.heap is None:
        return MAX_REGIONS
    by_heap = max(1, compute_memstore_regions(demand.heap, demand.families)) * demand.servers
    return min(MAX_REGIONS, by_heap)


def _round_regions(wanted_regions: int, demand: TableDemand, max_regions: int) -> tuple[int, str]:
    """Round a region count to a multiple of the leading values or the servers, with reason."""
    step, what = demand.servers, "servers"
    if demand.prefixes and demand.prefixes <= START_REGIONS_PER_SERVER * demand.servers:
        step, what = demand.prefixes, "values that the key can start with"
    up, down = -(-wanted_regions // step) * step, max_regions // step * step
    if up <= max_regions:
        return up, f"{pluralize(up, 'region')}: {up // step:,} for each of the {step:,} {what}."
    if not down:
        return max_regions, f"{pluralize(max_regions, 'region')}, the largest number allowed."
    each = f"{down // step:,} for each of the {step:,} {what}"
    return (
        down,
        f"{pluralize(down, 'region')}: {each}, because at most {max_regions:,} are allowed.",
    )


def _collect_warnings(
    demand: TableDemand, regions: int, wanted_regions: int, *, is_heap_limited: bool
) -> Iterator[str]:
    """Yield warnings about the problems that remain with a region count."""
    each = demand.size / regions
    if regions < wanted_regions and is_heap_limited:
        yield (
            f"{pluralize(wanted_regions, 'region')} would be right, but "
            f"{pluralize(demand.servers, 'server')} with this heap have "
            f"MemStores for {regions:,}. Give more heap, fewer families or more servers."
        )
    if each > MAX_REGION_BYTES:
        yield (
            f"Regions of {each / GIB:,.1f} GiB are larger than the 50 GiB that the HBase book "
            "allows: use more servers."
        )
    elif each > MAX_FILE_SIZE:
        yield f"HBase splits regions of {each / GIB:,.1f} GiB by itself: raise MAX_FILESIZE."
    imbalance = compute_server_imbalance(regions, demand.servers)
    if imbalance > 1:
        yield (
            f"{pluralize(regions, 'region')} on {pluralize(demand.servers, 'server')}: the "
            f"busiest server carries {imbalance:.2f} times the mean load. A multiple of "
            f"{demand.servers} would be even."
        )
