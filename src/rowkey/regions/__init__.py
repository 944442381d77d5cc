"""Where bytes fall: boundaries of regions, their servers, their number and their growth."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.regions.boundaries import MAX_SPLIT_BYTES, Boundaries, compute_prefix_stop
    from rowkey.regions.growth import RegionGrowth, SimulatedSplit, simulate_growth
    from rowkey.regions.locator import locate_fixed_keys, locate_key_array, locate_keys
    from rowkey.regions.placement import (
        compute_server_imbalance,
        draw_balanced_placements,
        place_round_robin,
    )
    from rowkey.regions.range_splits import NumberStringSplit, split_byte_range, split_prefix
    from rowkey.regions.sizing import (
        Sizing,
        choose_first_regions,
        choose_region_count,
        compute_min_servers,
    )
    from rowkey.regions.sizing_opinions import (
        ARTICLE_NAME,
        REGIONS_PER_SERVER,
        SizingOpinion,
        TableDemand,
        collect_opinions,
        compute_memstore_regions,
    )
    from rowkey.regions.split_algorithm import (
        DESIGN_ARGUMENTS,
        MAX_REGIONS,
        SplitAlgorithm,
        SplitRequest,
        SplitVector,
    )
    from rowkey.regions.split_policy import (
        DEFAULT_POLICY,
        FLUSH_SIZE,
        MAX_FILE_SIZE,
        SplitPolicy,
        compute_split_threshold,
    )
    from rowkey.regions.splits import SPLIT_ALGORITHMS
    from rowkey.regions.string_binary import from_string_binary, to_string_binary
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "split_algorithm": (
                "DESIGN_ARGUMENTS MAX_REGIONS SplitRequest SplitAlgorithm SplitVector"
            ),
            "string_binary": "from_string_binary to_string_binary",
            "boundaries": "MAX_SPLIT_BYTES Boundaries compute_prefix_stop",
            "growth": "RegionGrowth SimulatedSplit simulate_growth",
            "locator": "locate_keys locate_key_array locate_fixed_keys",
            "sizing_opinions": (
                "ARTICLE_NAME REGIONS_PER_SERVER TableDemand SizingOpinion "
                "compute_memstore_regions collect_opinions"
            ),
            "placement": "draw_balanced_placements compute_server_imbalance place_round_robin",
            "split_policy": (
                "DEFAULT_POLICY FLUSH_SIZE MAX_FILE_SIZE SplitPolicy compute_split_threshold"
            ),
            "range_splits": "NumberStringSplit split_byte_range split_prefix",
            "sizing": "Sizing choose_first_regions choose_region_count compute_min_servers",
            "splits": "SPLIT_ALGORITHMS",
        },
    )

__all__ = [
    "ARTICLE_NAME",
    "DEFAULT_POLICY",
    "DESIGN_ARGUMENTS",
    "FLUSH_SIZE",
    "MAX_FILE_SIZE",
    "MAX_REGIONS",
    "MAX_SPLIT_BYTES",
    "REGIONS_PER_SERVER",
    "SPLIT_ALGORITHMS",
    "Boundaries",
    "NumberStringSplit",
    "RegionGrowth",
    "SimulatedSplit",
    "Sizing",
    "SizingOpinion",
    "SplitAlgorithm",
    "SplitPolicy",
    "SplitRequest",
    "SplitVector",
    "TableDemand",
    "choose_first_regions",
    "choose_region_count",
    "collect_opinions",
    "compute_memstore_regions",
    "compute_min_servers",
    "compute_prefix_stop",
    "compute_server_imbalance",
    "compute_split_threshold",
    "draw_balanced_placements",
    "from_string_binary",
    "locate_fixed_keys",
    "locate_key_array",
    "locate_keys",
    "place_round_robin",
    "simulate_growth",
    "split_byte_range",
    "split_prefix",
    "to_string_binary",
]
