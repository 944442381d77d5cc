"""When HBase splits a region by itself."""

from __future__ import annotations

from enum import Enum

from rowkey.errors import InvalidArgument

MAX_FILE_SIZE = 10_737_418_240
"""Source: hbase.hregion.max.filesize of 2.6.4, 10 GiB; a table's MAX_FILESIZE overrides it."""

FLUSH_SIZE = 134_217_728
"""Source: hbase.hregion.memstore.flush.size of 2.6.4, 128 MiB."""

_MAX_CUBED_REGIONS = 100
"""Regions beyond which the cube is not computed. Source: IncreasingToUpperBound…SplitPolicy."""


class SplitPolicy(Enum):
    """The policies, by the names of their classes in HBase; a region splits above their threshold.

    Source: org.apache.hadoop.hbase.regionserver, 2.6.4.
    """

    STEPPING = "SteppingSplitPolicy"
    """Two flushes for a table's only region on its server, else the file size. Today's default."""
    CONSTANT_SIZE = "ConstantSizeRegionSplitPolicy"
    """The file size; HBase moves it by ±12.5 % at random, so that regions do not split at once."""
    INCREASING = "IncreasingToUpperBoundRegionSplitPolicy"
    """Two flushes times the cube of the table's regions on the server, up to the file size."""
    DISABLED = "DisabledRegionSplitPolicy"
    """Never."""


DEFAULT_POLICY = SplitPolicy.STEPPING
"""Source: hbase.regionserver.region.split.policy of 2.6.4."""


def compute_split_threshold(
    policy: SplitPolicy,
    regions_of_table_on_server: int,
    max_file_size: int = MAX_FILE_SIZE,
    flush_size: int = FLUSH_SIZE,
) -> int | None:
    """Return the bytes of the largest store above which a region splits.

    Args:
        policy: the table's policy.
        regions_of_table_on_server: regions of the table on the region's server, itself included.
        max_file_size: MAX_FILESIZE of the table, bytes.
        flush_size: MEMSTORE_FLUSHSIZE of the table, bytes.

    Returns:
        None if it never splits by itself. HBase adds a jitter to max_file_size, whose mean is 0.

    Raises:
        InvalidArgument: a size or number is below its minimum.

    Source: getSizeToCheck of each policy's class; the minimum sizes from TableDescriptorChecker.

    >>> [compute_split_threshold(SplitPolicy.INCREASING, n) // 2**20 for n in (1, 2, 3, 4)]
    [256, 2048, 6912, 10240]
    """
    region_count = regions_of_table_on_server
    for word, value, minimum in (
        ("regions_of_table_on_server", region_count, 0),
        ("max_file_size", max_file_size, 2 << 20),
        ("flush_size", flush_size, 1 << 20),
    ):
        if value < minimum:
            raise InvalidArgument(word, f"{value:,} is too small", f"{minimum:,} or more")
    match policy:
        case SplitPolicy.DISABLED:
            return None
        case SplitPolicy.CONSTANT_SIZE:
            return max_file_size
        case SplitPolicy.STEPPING:
            return 2 * flush_size if region_count == 1 else max_file_size
        case SplitPolicy.INCREASING:
            cubed = (
                2 * flush_size * region_count**3
                if 0 < region_count <= _MAX_CUBED_REGIONS
                else max_file_size
            )
            return min(max_file_size, cubed)
