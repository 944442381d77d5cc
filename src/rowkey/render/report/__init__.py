"""Reports as plain data, with hidden values replaced."""

from rowkey.render.report.document import (
    build_allowed_document,
    build_cause_document,
    build_finding_document,
    build_glance_document,
    build_properties_document,
    build_report_document,
    sort_by_severity,
)
from rowkey.render.report.heat_map import sum_by_server
from rowkey.render.report.key_boxes import build_key_boxes
from rowkey.render.report.measures import build_measures_document
from rowkey.render.report.redaction import REDACTION_KEY_BYTES, Redaction

__all__ = [
    "REDACTION_KEY_BYTES",
    "Redaction",
    "build_allowed_document",
    "build_cause_document",
    "build_finding_document",
    "build_glance_document",
    "build_key_boxes",
    "build_measures_document",
    "build_properties_document",
    "build_report_document",
    "sort_by_severity",
    "sum_by_server",
]
