"""The generated reference: each page is a function from the classes to Markdown."""

from tools.reference.contents import PAGES, written
from tools.reference.kinds import outside
from tools.reference.surface import command_help

__all__ = ["PAGES", "command_help", "outside", "written"]
