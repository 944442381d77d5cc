"""The generated reference: each page is a function from the classes to Markdown."""

from tools.reference.external_plugins import build_external_plugins_page
from tools.reference.interfaces import format_command_help
from tools.reference.pages import build_data_pages, build_pages

__all__ = [
    "build_data_pages",
    "build_external_plugins_page",
    "build_pages",
    "format_command_help",
]
