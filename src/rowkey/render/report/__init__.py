"""A report as plain data: what a page shows of designs, with what is to be hidden left out."""

from rowkey.render.report.boxes import key_boxes
from rowkey.render.report.document import (
    allowed_document,
    cause_document,
    finding_document,
    glance_document,
    gravest,
    properties_document,
    report_document,
)
from rowkey.render.report.judging import Judged, judged, judged_together
from rowkey.render.report.maps import by_server
from rowkey.render.report.measures import measures_document
from rowkey.render.report.redaction import KEY_BYTES, Redaction

__all__ = [
    "KEY_BYTES",
    "Judged",
    "Redaction",
    "allowed_document",
    "by_server",
    "cause_document",
    "finding_document",
    "glance_document",
    "gravest",
    "judged",
    "judged_together",
    "key_boxes",
    "measures_document",
    "properties_document",
    "report_document",
]
