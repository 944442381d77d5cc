"""How load lies, and why."""

from rowkey.heat.causes import KINDS as CAUSES
from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding, Measured
from rowkey.heat.foresight import foreseen
from rowkey.heat.matrix import Matrix
from rowkey.heat.placements import Placements
from rowkey.heat.shares import EqualCounts, Shares
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
from rowkey.heat.windows import PER_SERVER, WIDTHS_S, Skew, WindowCounts

__all__ = [
    "CAUSES",
    "PER_SERVER",
    "WIDTHS_S",
    "Cause",
    "EqualCounts",
    "Evidence",
    "Finding",
    "Matrix",
    "Measured",
    "Placements",
    "Shares",
    "Skew",
    "WindowCounts",
    "balancer_cost",
    "effective",
    "entropy",
    "even_share",
    "even_spread",
    "foreseen",
    "gini",
    "horticulture",
    "peak_to_mean",
    "variation",
]
