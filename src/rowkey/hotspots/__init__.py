"""Load by region and time: how uneven it is, and which causes make it so."""

from rowkey.hotspots.cause_search import (
    build_declared_facts,
    predict_causes,
    recognise_causes,
)
from rowkey.hotspots.causes import CAUSES as CAUSES
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.declared_part import (
    MIN_ENTITY_EVENTS,
    MIN_GROWTH,
    DeclaredGrowth,
    DeclaredPart,
    count_table_values,
    find_declared_part,
    measure_declared_growth,
)
from rowkey.hotspots.leading_parts import (
    CLOCK_ARRIVALS,
    RANDOM_ARRIVAL,
    find_bucket_clock_field,
    find_clock_field,
    find_leading_part,
    is_in_another_order,
    is_time_only,
    is_within_one_step,
    list_entity_fields,
)
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.hotspots.load_result import (
    COUNTER_TYPE,
    CauseFinding,
    LoadResult,
    MeasuredSkew,
    assign_row_codes,
    compute_colocated_share,
    count_repeated_rows,
    find_indivisible_fields,
    find_null_rows,
)
from rowkey.hotspots.placements import Placements
from rowkey.hotspots.read_cause_search import recognise_read_causes
from rowkey.hotspots.read_causes import READ_CAUSES as READ_CAUSES
from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult
from rowkey.hotspots.region_counts import LoadMap, RegionCounts
from rowkey.hotspots.region_coverage import (
    compute_region_shares,
    count_unwritten_regions,
    find_equal_steps,
    has_many_empty,
)
from rowkey.hotspots.skew import (
    WARM_RATIO,
    compute_even_deviation,
    compute_even_skew,
)
from rowkey.hotspots.time_density import SAME_RATE, TimeDensity, measure_time_density
from rowkey.hotspots.windows import (
    MIN_EVENTS_PER_SERVER,
    MIN_PEAK_EVENTS,
    WINDOW_WIDTHS_S,
    BusiestShares,
    EqualCountWindows,
    Skew,
    WindowCounts,
)

__all__ = [
    "CAUSES",
    "CLOCK_ARRIVALS",
    "COUNTER_TYPE",
    "MIN_ENTITY_EVENTS",
    "MIN_EVENTS_PER_SERVER",
    "MIN_GROWTH",
    "MIN_PEAK_EVENTS",
    "RANDOM_ARRIVAL",
    "READ_CAUSES",
    "SAME_RATE",
    "WARM_RATIO",
    "WINDOW_WIDTHS_S",
    "BusiestShares",
    "Cause",
    "CauseFinding",
    "DeclaredGrowth",
    "DeclaredPart",
    "EqualCountWindows",
    "LoadMap",
    "LoadResult",
    "MeasuredSkew",
    "Placements",
    "ReadCause",
    "ReadCauseFinding",
    "ReadLoadResult",
    "RegionCounts",
    "Skew",
    "TimeDensity",
    "WindowCounts",
    "assign_row_codes",
    "build_declared_facts",
    "compute_colocated_share",
    "compute_even_deviation",
    "compute_even_skew",
    "compute_least_skew",
    "compute_region_shares",
    "count_repeated_rows",
    "count_table_values",
    "count_unwritten_regions",
    "find_bucket_clock_field",
    "find_clock_field",
    "find_declared_part",
    "find_equal_steps",
    "find_indivisible_fields",
    "find_leading_part",
    "find_null_rows",
    "has_many_empty",
    "is_in_another_order",
    "is_time_only",
    "is_within_one_step",
    "list_entity_fields",
    "measure_declared_growth",
    "measure_time_density",
    "predict_causes",
    "recognise_causes",
    "recognise_read_causes",
]
