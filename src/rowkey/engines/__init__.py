"""Where bytes live: tables of families and cells, never of keys or designs."""

from rowkey.engines.backends import KINDS as ENGINES
from rowkey.engines.contract import Cursor, Engine, Reader, Store
from rowkey.engines.counts import OpenRegion, RegionCount
from rowkey.engines.damage import Examination, Repair, Rows, Saved
from rowkey.engines.opening import open_engine
from rowkey.engines.requests import ALL, Ask, Check, Span, TableSpec, now_ms
from rowkey.engines.specs import check_cluster_spec
from rowkey.engines.territory import SplitLimits, Territory

__all__ = [
    "ALL",
    "ENGINES",
    "Ask",
    "Check",
    "Cursor",
    "Engine",
    "Examination",
    "OpenRegion",
    "Reader",
    "RegionCount",
    "Repair",
    "Rows",
    "Saved",
    "Span",
    "SplitLimits",
    "Store",
    "TableSpec",
    "Territory",
    "check_cluster_spec",
    "now_ms",
    "open_engine",
]
