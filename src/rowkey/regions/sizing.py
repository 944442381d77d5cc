"""How many regions a table should have, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowkey.errors import counted
from rowkey.regions.algorithm import MOST_REGIONS
from rowkey.regions.opinions import (
    ARTICLE,
    GIB,
    REGION_BYTES_MOST,
    SERVER_REGIONS,
    SMALL_TABLE,
    START_REGIONS,
    Demand,
    Opinion,
    memstore_regions,
    opinions_on,
)
from rowkey.regions.placement import integer_bound
from rowkey.regions.policy import MAX_FILE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_REGIONS = 2
"""Regions per server where writes are heavy and scans are not.

Derivation: with two, the balancer can move a hot one and leave its server with work; the range
found in practice is 2..4 buckets per server in forums and issue threads.
"""


@dataclass(frozen=True, slots=True)
class Sizing:
    """One recommendation beside all opinions.

    Args:
        regions: how many regions to create.
        reasons: why, as sentences, in the order of the steps.
        warnings: what cannot be had with this table on these servers, as sentences.
        opinions: what each source says.
        bound: load of the busiest server ÷ mean, if all regions are equally loaded.
    """

    regions: int
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    bound: float


def size_regions(demand: Demand) -> Sizing:
    """The number of regions for a table, with its reasons.

    The steps: enough regions for the size, at least one for each server, more for heavy writes,
    then up to whole numbers per server and per leading value, never above what MemStores allow.

    Args:
        demand: what the table will hold and stand.

    Returns:
        The recommendation; its opinions disagree where the sources do.

    Source: the figures of `opinions_on`; whole multiples by the pigeonhole principle.

    >>> size_regions(Demand(size=300 * GIB, servers=8)).regions
    32
    """
    wanted, reasons = _wanted(demand)
    most, by_heap = _most(demand)
    regions, rounding = _rounded(wanted, demand, most)
    return Sizing(
        regions=regions,
        reasons=(*reasons, rounding),
        warnings=tuple(_warnings(demand, regions, wanted, by_heap=by_heap)),
        opinions=opinions_on(demand),
        bound=integer_bound(regions, demand.servers),
    )


def servers_for(demand: Demand) -> int:
    """The fewest servers, from those there are on, that carry the regions a table should have.

    Args:
        demand: what the table will hold and stand.

    Source: HBase book, "Number of regions per RS": 200 at most.

    >>> servers_for(Demand(size=1_000 * GIB, servers=8))
    8
    >>> servers_for(Demand(size=40_000 * GIB, servers=8))
    20
    """
    each = SERVER_REGIONS[1]
    servers = max(demand.servers, -(-demand.size // MAX_FILE_SIZE) // each)
    while size_regions(replace(demand, servers=servers)).regions > each * servers:
        servers += 1
    return servers


def _wanted(demand: Demand) -> tuple[int, list[str]]:
    """The least number that size, servers and writes ask for."""
    by_size = -(-demand.size // MAX_FILE_SIZE)
    size = f"{demand.size / GIB:,.1f} GB"
    known = f"{size} in regions of at most 10 GB, above which HBase splits them, are {by_size:,}."
    unknown = "Nobody said how large the table becomes: the least number that uses the servers."
    reasons = [known if demand.size else unknown]
    count = max(by_size, SMALL_TABLE[0])
    if by_size < SMALL_TABLE[0]:
        reasons.append(
            f"A small table starts with at least {SMALL_TABLE[0]}, as the {ARTICLE} has it."
        )
    if count < demand.servers:
        count = demand.servers
        reasons.append(f"{counted(demand.servers, 'server')} take part only with a region each.")
    busy = BUSY_REGIONS * demand.servers
    if _is_busy(demand) and count < busy:
        if demand.scans:
            reasons.append("Writes are heavy, but reads scan: every region more is a request more.")
        else:
            count = busy
            reasons.append(f"Writes are heavy: {counted(BUSY_REGIONS, 'region')} per server.")
    return count, reasons


def _is_busy(demand: Demand) -> bool:
    """Whether writes take more than half of what the servers can stand."""
    if demand.writes is None or demand.capacity is None:
        return False
    return 2 * demand.writes > demand.capacity * demand.servers


def _most(demand: Demand) -> tuple[int, bool]:
    """The most regions allowed, and whether it is the heap that says so."""
    if demand.heap is None:
        return MOST_REGIONS, False
    by_heap = max(1, memstore_regions(demand.heap, demand.families)) * demand.servers
    return min(MOST_REGIONS, by_heap), by_heap < MOST_REGIONS


def _rounded(wanted: int, demand: Demand, most: int) -> tuple[int, str]:
    """A multiple of the leading values, or of the servers, and which it is."""
    step, what = demand.servers, "servers"
    if demand.prefixes and demand.prefixes <= START_REGIONS * demand.servers:
        step, what = demand.prefixes, "values the key can begin with"
    up, down = -(-wanted // step) * step, most // step * step
    if up <= most:
        return up, f"{counted(up, 'region')}: {up // step:,} for each of the {step:,} {what}."
    if not down:
        return most, f"{counted(most, 'region')}, the most there may be."
    each = f"{down // step:,} for each of the {step:,} {what}"
    return down, f"{counted(down, 'region')}: {each}, as {most:,} is the most there may be."


def _warnings(demand: Demand, regions: int, wanted: int, *, by_heap: bool) -> Iterator[str]:
    """What stays wrong with this number."""
    each = demand.size / regions
    if regions < wanted and by_heap:
        yield (
            f"{counted(wanted, 'region')} would be right, but "
            f"{counted(demand.servers, 'server')} with this heap have "
            f"MemStores for {regions:,}. Give more heap, fewer families or more servers."
        )
    if each > REGION_BYTES_MOST:
        yield f"Regions of {each / GIB:,.1f} GB are larger than the 50 GB the book allows."
    elif each > MAX_FILE_SIZE:
        yield f"Regions of {each / GIB:,.1f} GB split by themselves: raise MAX_FILESIZE."
    bound = integer_bound(regions, demand.servers)
    if bound > 1:
        yield (
            f"{counted(regions, 'region')} on {counted(demand.servers, 'server')}: the busiest "
            f"carries {bound:.2f} "
            f"times the mean. A multiple of {demand.servers} would be even."
        )
