"""Storage engines: tables of families and cells, without keys or designs."""

from rowkey.engines.backends import ENGINES
from rowkey.engines.cell_blocks import build_blocks
from rowkey.engines.contract import Cursor, Engine, Operations, Reader, SendCheck, Store
from rowkey.engines.damage import (
    CellInspection,
    Examination,
    RepairResult,
    RowInterval,
    SalvageResult,
)
from rowkey.engines.engine_url import anchor_url, open_engine
from rowkey.engines.ordering.row_clock import RowClock, get_time_ms
from rowkey.engines.region_tracker import (
    OpenRegion,
    RegionAvailability,
    RegionRequestCounts,
    RegionTracker,
    SplitLimits,
)
from rowkey.engines.requests import (
    MAX_VERSIONS,
    NEWEST_CELLS,
    RAW_CELLS,
    CellCondition,
    CellSelection,
    ScanRange,
    TableSpec,
    check_cluster_spec,
)

__all__ = [
    "ENGINES",
    "MAX_VERSIONS",
    "NEWEST_CELLS",
    "RAW_CELLS",
    "CellCondition",
    "CellInspection",
    "CellSelection",
    "Cursor",
    "Engine",
    "Examination",
    "OpenRegion",
    "Operations",
    "Reader",
    "RegionAvailability",
    "RegionRequestCounts",
    "RegionTracker",
    "RepairResult",
    "RowClock",
    "RowInterval",
    "SalvageResult",
    "ScanRange",
    "SendCheck",
    "SplitLimits",
    "Store",
    "TableSpec",
    "anchor_url",
    "build_blocks",
    "check_cluster_spec",
    "get_time_ms",
    "open_engine",
]
