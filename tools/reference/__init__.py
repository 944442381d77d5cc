"""The generated reference: each page is a function from the classes to Markdown."""

from tools.reference.contents import PAGES, beside, written
from tools.reference.offered import outside
from tools.reference.surface import command_help

__all__ = ["PAGES", "beside", "command_help", "outside", "written"]
