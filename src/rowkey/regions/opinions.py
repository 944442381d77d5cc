"""What each source says of the number of regions, side by side.

The sources disagree with each other and leave gaps: every row keeps its own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Refused, counted
from rowkey.regions.policy import FLUSH_SIZE, MAX_FILE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

GIB = 2**30
TIB = 2**40

ARTICLE = "article of 2021"
"""One opinion among others. Source: "HBase Hotkey: 预分区和Rowkey设计", 2021-06-07."""

REGION_BYTES_MOST = 50 * GIB
"""Largest region the book allows. Source: HBase book, 10..50 GB per region; HBASE-11985."""

MEMSTORE_SHARE = (2, 5)
"""0.4 of the heap for all MemStores. Source: hbase.regionserver.global.memstore.size."""

TABLE_REGIONS = (50, 100)
"""Regions of a table with one or two families. Source: HBase book, Table Schema Rules of Thumb."""

SERVER_REGIONS = (20, 200)
"""Regions of all tables on one server. Source: HBase book, Number of Regions per RegionServer."""

START_REGIONS = 10
"""Regions to start with on each server, all tables. Source: HBase book, pre-splitting."""

SMALL_TABLE = (5, 10)
"""Regions of a table below 50 GB. Source: as ARTICLE, its table of region counts."""

LARGE_TABLE_MOST = 120
"""Regions at most of a table of 500 GB to 10 TB. Source: as ARTICLE, same table."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a table will hold and stand.

    Args:
        size: bytes of the table in its files, all rows and versions, copies not counted; 0 if
            nobody knows.
        servers: region servers.
        families: column families.
        heap: bytes of heap of one server, if known.
        writes: bytes written a second, if known.
        capacity: bytes a second one server takes, if known.
        scans: whether reads scan over much of the table.
        prefixes: values of the key's leading part, such as buckets, if they can be listed.
    """

    size: int = 0
    servers: int = 8
    families: int = 1
    heap: int | None = None
    writes: int | None = None
    capacity: int | None = None
    scans: bool = False
    prefixes: int | None = None

    def __post_init__(self) -> None:
        for word, least in (("size", 0), ("servers", 1), ("families", 1), ("heap", 1),
                            ("writes", 0), ("capacity", 1), ("prefixes", 1)):  # fmt: skip
            given = getattr(self, word)
            if given is not None and not least <= given < 2**63:
                raise Refused(word, f"{given} is out of range", f"{least}..2^63-1")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one source says: a range of region counts, or none, and why.

    Args:
        source: who says so.
        least: fewest regions; None if the source sets no least.
        most: most regions; None if the source sets no most.
        reason: why, with the figures it follows from.
    """

    source: str
    least: int | None
    most: int | None
    reason: str


def opinions_on(demand: Demand) -> tuple[Opinion, ...]:
    """Every source's answer for this table.

    >>> for row in opinions_on(Demand(size=TIB, servers=8))[:2]:
    ...     print(row.least, row.most, row.reason)
    103 103 500 GB..10 TB: size / 10 GB, at most 120
    128 171 6..8 GB per region
    """
    return tuple(_all(demand))


def _all(demand: Demand) -> Iterator[Opinion]:
    yield _seed_table(demand.size)
    yield Opinion(
        f"{ARTICLE}, per region",
        _ceil(demand.size, 8 * GIB),
        _ceil(demand.size, 6 * GIB),
        "6..8 GB per region",
    )
    yield Opinion(
        "HBase 2.6, hbase.hregion.max.filesize",
        _ceil(demand.size, MAX_FILE_SIZE),
        None,
        "a region above 10 GB splits by itself",
    )
    yield Opinion(
        "HBase book, region size",
        _ceil(demand.size, REGION_BYTES_MOST),
        _ceil(demand.size, MAX_FILE_SIZE),
        "10..50 GB per region; above 10 GB only if MAX_FILESIZE is raised",
    )
    yield _book_table(demand.families)
    least, most = (each * demand.servers for each in SERVER_REGIONS)
    reason = f"{SERVER_REGIONS[0]}..{SERVER_REGIONS[1]} per server, all tables together"
    yield Opinion("HBase book, regions per server", least, most, reason)
    start = START_REGIONS * demand.servers
    yield Opinion(
        "HBase book, pre-splitting", None, start, f"start with {START_REGIONS} per server"
    )
    yield _memstore(demand)
    yield Opinion(
        "arithmetic",
        demand.servers,
        None,
        f"every server takes part, evenly at multiples of {demand.servers}: the busiest carries "
        "ceil(k / servers) · servers / k of the mean",
    )


def _seed_table(size: int) -> Opinion:
    """The article's own table, with what it does not say."""
    source = f"{ARTICLE}, by size"
    if size < 50 * GIB:
        return Opinion(source, *SMALL_TABLE, "below 50 GB: 5..10")
    if size < 500 * GIB:
        return Opinion(source, None, None, "between 50 and 500 GB the source says nothing")
    if size > 10 * TIB:
        return Opinion(source, None, None, "above 10 TB the source says nothing")
    wanted = _ceil(size, 10 * GIB)
    if wanted <= LARGE_TABLE_MOST:
        reason = f"500 GB..10 TB: size / 10 GB, at most {LARGE_TABLE_MOST}"
        return Opinion(source, wanted, wanted, reason)
    reason = (
        f"500 GB..10 TB: size / 10 GB is {wanted:,}, its own cap is {LARGE_TABLE_MOST}: that makes "
        f"{size / LARGE_TABLE_MOST / GIB:.1f} GB per region, which splits by itself at 10 GB"
    )
    return Opinion(source, LARGE_TABLE_MOST, LARGE_TABLE_MOST, reason)


def _book_table(families: int) -> Opinion:
    source = "HBase book, regions per table"
    if families > 2:
        return Opinion(source, None, None, f"it speaks of 1 or 2 families, not of {families}")
    reason = f"{TABLE_REGIONS[0]}..{TABLE_REGIONS[1]} for a table with 1 or 2 families"
    return Opinion(source, *TABLE_REGIONS, reason)


def _memstore(demand: Demand) -> Opinion:
    source = "HBase book, MemStore"
    if demand.heap is None:
        return Opinion(
            source, None, None, "heap · 0.4 / (128 MB · families): the heap is not given"
        )
    each = memstore_regions(demand.heap, demand.families)
    reason = (
        f"heap · 0.4 / (128 MB · families) = {counted(each, 'region')} of full MemStores per "
        "server, "
        "all tables together"
    )
    return Opinion(source, None, each * demand.servers, reason)


def memstore_regions(heap: int, families: int) -> int:
    """How many regions of one server can fill their MemStores before flushes are forced.

    Args:
        heap: bytes of heap of the server.
        families: families that are written.

    Source: HBase book: heap · 0.4 / (128 MB · families); 51 at 16 GB and one family.

    >>> memstore_regions(16 * GIB, 1)
    51
    """
    share, whole = MEMSTORE_SHARE
    return heap * share // (whole * FLUSH_SIZE * families)


def _ceil(size: int, each: int) -> int:
    return max(1, -(-size // each))
