"""What is known of designs as HTML: a report that needs no other file, and pieces of a notebook."""

from rowkey.render.page.fragments import Shown, show
from rowkey.render.page.page import report_page
from rowkey.render.page.words import LANGUAGES

__all__ = [
    "LANGUAGES",
    "Shown",
    "report_page",
    "show",
]
