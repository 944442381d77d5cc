"""The list of all pages, and the page that lists them."""

from __future__ import annotations

from collections.abc import Callable

from tools.reference import (
    claims_page,
    declarations,
    hbase_client,
    interfaces,
    plugins,
    rules,
    sources,
)
from tools.reference.markdown import build_page, build_table, read_first_line

PAGES: dict[str, Callable[[], str]] = {
    "design-file": declarations.build_design_file_page,
    "notation": declarations.build_notation_page,
    "fields": plugins.build_fields_page,
    "transforms": plugins.build_transforms_page,
    "splits": plugins.build_splits_page,
    "placements": plugins.build_placements_page,
    "catalogs": plugins.build_catalogs_page,
    "formats": plugins.build_formats_page,
    "arrivals": plugins.build_arrivals_page,
    "distributions": plugins.build_distributions_page,
    "causes": plugins.build_causes_page,
    "rules": rules.build_rules_page,
    "cli": interfaces.build_cli_page,
    "json": interfaces.build_json_page,
    "python": interfaces.build_python_page,
    "errors": declarations.build_errors_page,
    "hbase": hbase_client.build_hbase_page,
    "hbase-errors": hbase_client.build_hbase_errors_page,
    "sources": sources.build_sources_page,
}
"""The function that builds each page of the reference except the index, by file name."""
DATA_PAGES: dict[str, Callable[[], str]] = {
    "where-the-books-are-wrong": claims_page.build_claims_page,
}
"""The function that builds each page of `docs/` that comes from data, by file name."""


def build_pages() -> dict[str, str]:
    """Return the text of every page of the reference, by file name."""
    pages = {f"{name}.md": make() for name, make in PAGES.items()}
    return {"index.md": build_index_page(), **pages}


def build_data_pages() -> dict[str, str]:
    """Return the text of the pages that are built from data, by file name."""
    return {f"{name}.md": make() for name, make in DATA_PAGES.items()}


def build_index_page() -> str:
    """The reference, generated from classes and their docstrings.

    `make docs` writes it; `make check` fails if a page is stale.
    """
    rows = ([f"[{name}]({name}.md)", read_first_line(make)] for name, make in PAGES.items())
    return build_page("Reference", build_index_page, build_table(["page", "content"], rows))
