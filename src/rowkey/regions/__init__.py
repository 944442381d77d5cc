"""Where bytes fall: boundaries of regions, their servers, their number and their growth."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.regions.algorithm import (
        ARGUMENTS,
        MOST_REGIONS,
        CutRequest,
        SplitAlgorithm,
        Vector,
    )
    from rowkey.regions.binary import from_binary, to_binary
    from rowkey.regions.boundaries import SPLIT_BYTES_MOST, Boundaries, next_prefix
    from rowkey.regions.growth import Growth, Split, grow
    from rowkey.regions.locator import locate, locate_array, locate_fixed
    from rowkey.regions.opinions import ARTICLE, Demand, Opinion, memstore_regions, opinions_on
    from rowkey.regions.placement import balanced_placements, integer_bound, round_robin
    from rowkey.regions.policy import (
        DEFAULT_POLICY,
        FLUSH_SIZE,
        MAX_FILE_SIZE,
        SplitPolicy,
        threshold,
    )
    from rowkey.regions.ranges import NumberStringSplit, bytes_split, steps_below
    from rowkey.regions.sizing import Sizing, servers_for, size_regions
    from rowkey.regions.splits import SPLITS
else:
    __getattr__ = lazily(
        __name__,
        {
            "algorithm": "ARGUMENTS MOST_REGIONS CutRequest SplitAlgorithm Vector",
            "binary": "from_binary to_binary",
            "boundaries": "SPLIT_BYTES_MOST Boundaries next_prefix",
            "growth": "Growth Split grow",
            "locator": "locate locate_array locate_fixed",
            "opinions": "ARTICLE Demand Opinion memstore_regions opinions_on",
            "placement": "balanced_placements integer_bound round_robin",
            "policy": "DEFAULT_POLICY FLUSH_SIZE MAX_FILE_SIZE SplitPolicy threshold",
            "ranges": "NumberStringSplit bytes_split steps_below",
            "sizing": "Sizing servers_for size_regions",
            "splits": "SPLITS",
        },
    )

__all__ = [
    "ARGUMENTS",
    "ARTICLE",
    "DEFAULT_POLICY",
    "FLUSH_SIZE",
    "MAX_FILE_SIZE",
    "MOST_REGIONS",
    "SPLITS",
    "SPLIT_BYTES_MOST",
    "Boundaries",
    "CutRequest",
    "Demand",
    "Growth",
    "NumberStringSplit",
    "Opinion",
    "Sizing",
    "Split",
    "SplitAlgorithm",
    "SplitPolicy",
    "Vector",
    "balanced_placements",
    "bytes_split",
    "from_binary",
    "grow",
    "integer_bound",
    "locate",
    "locate_array",
    "locate_fixed",
    "memstore_regions",
    "next_prefix",
    "opinions_on",
    "round_robin",
    "servers_for",
    "size_regions",
    "steps_below",
    "threshold",
    "to_binary",
]
