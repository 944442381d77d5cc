"""Recommendations of each source for the number of regions.

The sources disagree and leave gaps, so each recommendation keeps its own reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.messages import pluralize
from rowkey.regions.split_policy import FLUSH_SIZE, MAX_FILE_SIZE

GIB = 2**30
TIB = 2**40

ARTICLE_NAME = "article of 2021"
"""One opinion among others. Source: "HBase Hotkey: 预分区和Rowkey设计", 2021-06-07."""

MAX_REGION_BYTES = 50 * GIB
"""Largest region the book allows. Source: HBase book, 10..50 GB per region; HBASE-11985."""

MEMSTORE_HEAP_SHARE = (2, 5)
"""0.4 of the heap for all MemStores. Source: hbase.regionserver.global.memstore.size."""

REGIONS_PER_TABLE = (50, 100)
"""Regions of a table with one or two families. Source: HBase book, Table Schema Rules of Thumb."""

REGIONS_PER_SERVER = (20, 200)
"""Regions of all tables on one server. Source: HBase book, Number of Regions per RegionServer."""

START_REGIONS_PER_SERVER = 10
"""Regions to start with on each server, all tables. Source: HBase book, pre-splitting."""

SMALL_TABLE_REGIONS = (5, 10)
"""Regions of a table below 50 GB. Source: as ARTICLE, its table of region counts."""

MAX_LARGE_TABLE_REGIONS = 120
"""Regions at most of a table of 500 GB to 10 TB. Source: as ARTICLE, same table."""


@dataclass(frozen=True, slots=True)
class TableDemand:
    """What a table must hold and serve: size, servers, families, heap and writes.

    Args:
        size: bytes of the table in the files of its regions, all rows and versions, copies and
            large values in MOB files not counted; 0 if nobody knows.
        servers: region servers.
        families: column families.
        heap: bytes of heap of one server, if known.
        writes: bytes written a second, if known.
        capacity: bytes a second one server takes, if known.
        scans: whether reads scan over much of the table.
        prefixes: values of the key's leading part, such as buckets, if they can be listed.
        is_compressed: whether the size is measured after encoding and compression; else it is
            before them.
        plain_size: bytes before encoding and compression; those of `size` if 0.
    """

    size: int = 0
    servers: int = 8
    families: int = 1
    heap: int | None = None
    writes: int | None = None
    capacity: int | None = None
    scans: bool = False
    prefixes: int | None = None
    is_compressed: bool = False
    plain_size: int = 0

    @property
    def size_phrase(self) -> str:
        """Return the size with its meaning, as in `3.0 GiB after compression`."""
        digits = 0 if self.size >= 100 * GIB else 1
        return f"{self.size / GIB:,.{digits}f} GiB {self.compression_phrase}"

    @property
    def compression_phrase(self) -> str:
        """Return whether the size is one before or after encoding and compression."""
        return "after compression" if self.is_compressed else "before compression"

    def __post_init__(self) -> None:
        if not self.plain_size:
            object.__setattr__(self, "plain_size", self.size)
        for word, minimum in (("size", 0), ("servers", 1), ("families", 1), ("heap", 1),
                            ("writes", 0), ("capacity", 1), ("prefixes", 1)):  # fmt: skip
            value = getattr(self, word)
            if value is not None and not minimum <= value < 2**63:
                raise InvalidArgument(word, f"{value} is out of range", f"{minimum}..2^63-1")


@dataclass(frozen=True, slots=True)
class SizingOpinion:
    """The region counts that one source recommends, with its reason.

    Args:
        source: who says so.
        min_regions: fewest regions; None if the source sets no least.
        max_regions: most regions; None if the source sets no most.
        reason: why, with the figures it follows from.
    """

    source: str
    min_regions: int | None
    max_regions: int | None
    reason: str


def collect_opinions(demand: TableDemand) -> tuple[SizingOpinion, ...]:
    """Return the region counts that each source recommends for a table.

    >>> for row in collect_opinions(TableDemand(size=TIB, servers=8))[:2]:
    ...     print(row.min_regions, row.max_regions, row.reason)
    103 103 500 GB..10 TB: size / 10 GB, at most 120
    128 171 6..8 GB per region
    """
    return tuple(_iterate_opinions(demand))


def _iterate_opinions(demand: TableDemand) -> Iterator[SizingOpinion]:
    """Yield the region counts that each source recommends for a table."""
    yield _build_article_opinion(demand.size)
    yield SizingOpinion(
        f"{ARTICLE_NAME}, per region",
        _divide_up(demand.size, 8 * GIB),
        _divide_up(demand.size, 6 * GIB),
        "6..8 GB per region",
    )
    yield SizingOpinion(
        "HBase 2.6, hbase.hregion.max.filesize",
        _divide_up(demand.size, MAX_FILE_SIZE),
        None,
        "a region above 10 GB splits by itself",
    )
    yield SizingOpinion(
        "HBase book, region size",
        _divide_up(demand.size, MAX_REGION_BYTES),
        _divide_up(demand.size, MAX_FILE_SIZE),
        "10..50 GB per region; above 10 GB only if MAX_FILESIZE is raised",
    )
    yield _build_book_opinion(demand.families)
    least, most = (each * demand.servers for each in REGIONS_PER_SERVER)
    reason = f"{REGIONS_PER_SERVER[0]}..{REGIONS_PER_SERVER[1]} per server, all tables together"
    yield SizingOpinion("HBase book, regions per server", least, most, reason)
    start = START_REGIONS_PER_SERVER * demand.servers
    yield SizingOpinion(
        "HBase book, pre-splitting",
        None,
        start,
        f"start with {START_REGIONS_PER_SERVER} per server",
    )
    yield _build_memstore_opinion(demand)
    yield SizingOpinion(
        "arithmetic",
        demand.servers,
        None,
        f"every server takes part, evenly at multiples of {demand.servers}: the busiest carries "
        "ceil(k / servers) · servers / k of the mean",
    )


def _build_article_opinion(size: int) -> SizingOpinion:
    """Return what the article's table of region counts recommends for a size."""
    source = f"{ARTICLE_NAME}, by size"
    if size < 50 * GIB:
        return SizingOpinion(source, *SMALL_TABLE_REGIONS, "below 50 GB: 5..10")
    if size < 500 * GIB:
        return SizingOpinion(source, None, None, "between 50 and 500 GB the source says nothing")
    if size > 10 * TIB:
        return SizingOpinion(source, None, None, "above 10 TB the source says nothing")
    regions = _divide_up(size, 10 * GIB)
    if regions <= MAX_LARGE_TABLE_REGIONS:
        reason = f"500 GB..10 TB: size / 10 GB, at most {MAX_LARGE_TABLE_REGIONS}"
        return SizingOpinion(source, regions, regions, reason)
    reason = (
        f"500 GB..10 TB: size / 10 GB is {regions:,}, its own cap is {MAX_LARGE_TABLE_REGIONS}: "
        f"that makes {size / MAX_LARGE_TABLE_REGIONS / GIB:.1f} GB per region, which splits by "
        "itself at 10 GB"
    )
    return SizingOpinion(source, MAX_LARGE_TABLE_REGIONS, MAX_LARGE_TABLE_REGIONS, reason)


def _build_book_opinion(families: int) -> SizingOpinion:
    """Return what the HBase book recommends for a number of families."""
    source = "HBase book, regions per table"
    if families > 2:
        return SizingOpinion(
            source,
            None,
            None,
            f"the book speaks of tables with 1 or 2 families, not with {families}",
        )
    reason = f"{REGIONS_PER_TABLE[0]}..{REGIONS_PER_TABLE[1]} for a table with 1 or 2 families"
    return SizingOpinion(source, *REGIONS_PER_TABLE, reason)


def _build_memstore_opinion(demand: TableDemand) -> SizingOpinion:
    """Return the opinion with as many regions as the heap has MemStores for."""
    source = "HBase book, MemStore"
    if demand.heap is None:
        return SizingOpinion(
            source, None, None, "heap · 0.4 / (128 MB · families): the heap is not given"
        )
    each = compute_memstore_regions(demand.heap, demand.families)
    reason = (
        f"heap · 0.4 / (128 MB · families) = {pluralize(each, 'region')} of full MemStores per "
        "server, "
        "all tables together"
    )
    return SizingOpinion(source, None, each * demand.servers, reason)


def compute_memstore_regions(heap: int, families: int) -> int:
    """Return how many regions of a server can fill their MemStores at the same time.

    Args:
        heap: bytes of heap of the server.
        families: families that are written.

    Source: HBase book: heap · 0.4 / (128 MB · families); 51 at 16 GB and one family.

    >>> compute_memstore_regions(16 * GIB, 1)
    51
    """
    share, whole = MEMSTORE_HEAP_SHARE
    return heap * share // (whole * FLUSH_SIZE * families)


def _divide_up(size: int, region_bytes: int) -> int:
    """Return how many regions of some size hold a table, rounded up."""
    return max(1, -(-size // region_bytes))
