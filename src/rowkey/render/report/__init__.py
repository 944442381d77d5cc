"""The report: one HTML file that a designer sends to a colleague."""

from rowkey.render.report.document import report_document
from rowkey.render.report.judging import Judged, judged
from rowkey.render.report.page import report_page
from rowkey.render.report.redaction import KEY_BYTES, Redaction
from rowkey.render.report.words import LANGUAGES

__all__ = [
    "KEY_BYTES",
    "LANGUAGES",
    "Judged",
    "Redaction",
    "judged",
    "report_document",
    "report_page",
]
