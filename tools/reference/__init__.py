"""The generated reference: each page is a function from the classes to Markdown."""

from tools.reference.contents import PAGES, written
from tools.reference.kinds import outside

__all__ = ["PAGES", "outside", "written"]
