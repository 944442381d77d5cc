"""Move the rows of a table in use to a table with another design."""

from rowkey.move.copier import CopyResult, CopyStatus, RowCopier
from rowkey.move.copy_progress import CopyInterval, CopyProgress, load_progress, save_progress
from rowkey.move.rate_limit import RateLimit

__all__ = [
    "CopyInterval",
    "CopyProgress",
    "CopyResult",
    "CopyStatus",
    "RateLimit",
    "RowCopier",
    "load_progress",
    "save_progress",
]
