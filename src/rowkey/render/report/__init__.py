"""Reports as plain data, with hidden values replaced."""

from rowkey.render.report.document import (
    build_report_document,
    build_summary_document,
)
from rowkey.render.report.heat_map import MAX_MAP_ROWS, pack_counts
from rowkey.render.report.key_boxes import build_key_boxes

__all__ = [
    "MAX_MAP_ROWS",
    "build_key_boxes",
    "build_report_document",
    "build_summary_document",
    "pack_counts",
]
