"""What would be better: designs on one scale."""

from rowkey.advise.comparing import MOST_DESIGNS, compare
from rowkey.advise.comparison import Compared, Comparison, Figure, Measure

__all__ = ["MOST_DESIGNS", "Compared", "Comparison", "Figure", "Measure", "compare"]
