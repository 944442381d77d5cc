"""Which pages the reference has, and the page that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.reference import books, clusters, kinds, rules, sources, surface, words
from tools.reference.markdown import first_line, page, table

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES: dict[str, Callable[[], str]] = {
    "design-file": words.design_file,
    "notation": words.notation,
    "fields": kinds.fields,
    "transforms": kinds.transforms,
    "splits": kinds.splits,
    "places": kinds.places,
    "catalogs": kinds.catalogs,
    "formats": kinds.formats,
    "arrivals": kinds.arrivals,
    "draws": kinds.draws,
    "causes": kinds.causes,
    "rules": rules.rules,
    "cli": surface.cli,
    "json": surface.json,
    "python": surface.python,
    "errors": words.error_tree,
    "hbase": clusters.client,
    "hbase-errors": clusters.client_errors,
    "sources": sources.sources,
}
"""Every page but the index, by the name of its file."""
BESIDE: dict[str, Callable[[], str]] = {
    "where-the-books-are-wrong": books.where_the_books_are_wrong,
}
"""Pages that are written from data and stand beside the reference, by the names of their files."""


def written() -> dict[str, str]:
    """The text of every page by the name of its file."""
    pages = {f"{name}.md": make() for name, make in PAGES.items()}
    return {"index.md": _index(), **pages}


def beside() -> dict[str, str]:
    """The text of every page beside the reference by the name of its file."""
    return {f"{name}.md": make() for name, make in BESIDE.items()}


def _index() -> str:
    """What the classes say of themselves.

    Written by `make docs`, never by hand; `make check` fails where a page is not what they say.
    """
    rows = ([f"[{name}]({name}.md)", first_line(make)] for name, make in PAGES.items())
    return page("Reference", _index, table(["page", "holds"], rows))
