"""Reports as one self-contained HTML file, and results as HTML in notebooks."""

from rowkey.render.languages import LANGUAGES
from rowkey.render.page.notebook import NotebookResult, show
from rowkey.render.page.report_page import build_report_page, build_report_variables

__all__ = [
    "LANGUAGES",
    "NotebookResult",
    "build_report_page",
    "build_report_variables",
    "show",
]
