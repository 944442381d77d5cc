"""How load lies, and why."""

from rowkey.heat.causes import KINDS as CAUSES
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Came, Evidence, Finding, Measured
from rowkey.heat.foresight import declared_facts, foreseen
from rowkey.heat.leading import (
    entities,
    is_of_time,
    leading_part,
    moves_with_clock,
    values_together,
)
from rowkey.heat.placements import Placements
from rowkey.heat.proposals import Spreading, splits_at_quantiles, spread_key, wider_bucket
from rowkey.heat.reachable import region_shares
from rowkey.heat.region_counts import Matrix, RegionCounts
from rowkey.heat.skew import (
    balancer_cost,
    effective,
    entropy,
    even_share,
    even_spread,
    gini,
    horticulture,
    peak_to_mean,
    variation,
)
from rowkey.heat.windows import PER_SERVER, WIDTHS_S, EqualCounts, Shares, Skew, WindowCounts

__all__ = [
    "CAUSES",
    "PER_SERVER",
    "WIDTHS_S",
    "Came",
    "Cause",
    "EqualCounts",
    "Evidence",
    "Finding",
    "Matrix",
    "Measured",
    "Placements",
    "RegionCounts",
    "Shares",
    "Skew",
    "Spreading",
    "WindowCounts",
    "balancer_cost",
    "declared_facts",
    "effective",
    "entities",
    "entropy",
    "even_share",
    "even_spread",
    "foreseen",
    "gini",
    "horticulture",
    "is_of_time",
    "leading_part",
    "moves_with_clock",
    "peak_to_mean",
    "region_shares",
    "splits_at_quantiles",
    "spread_key",
    "values_together",
    "variation",
    "wider_bucket",
]
