"""What would be better: designs on one scale, and a first design from a sample."""

from rowkey.advise.comparing import MOST_DESIGNS, compare
from rowkey.advise.comparison import Compared, Comparison, Figure, Measure
from rowkey.advise.drafting import Draft, first_draft

__all__ = [
    "MOST_DESIGNS",
    "Compared",
    "Comparison",
    "Draft",
    "Figure",
    "Measure",
    "compare",
    "first_draft",
]
