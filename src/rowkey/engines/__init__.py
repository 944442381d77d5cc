"""Where bytes live: tables of families and cells, never of keys or designs."""

from rowkey.engines.contract import (
    ALL,
    Ask,
    Check,
    Cursor,
    Engine,
    Reader,
    RegionCount,
    Span,
    Store,
    TableSpec,
)

__all__ = [
    "ALL",
    "Ask",
    "Check",
    "Cursor",
    "Engine",
    "Reader",
    "RegionCount",
    "Span",
    "Store",
    "TableSpec",
]
